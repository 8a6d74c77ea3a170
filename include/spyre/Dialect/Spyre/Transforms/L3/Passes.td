//===- Passes.td - From layouts to a placed and verified plan -----*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TRANSFORMS_L3_PASSES
#define SPYRE_TRANSFORMS_L3_PASSES

include "mlir/Pass/PassBase.td"

def SpyreDivideWork : Pass<"spyre-divide-work", "::mlir::func::FuncOp"> {
  let summary = "Divide every operation's iteration space over the cores";
  let description = [{
    Input: L2, or buffers without a division. Lowering: every device operation gets
    work slices: at most `cores` in all, equal slices, stick dims counted in whole
    sticks, at most one reduced dim, no operand's span on a core beyond the device's
    limit. With `cores` 1 an operation is still divided where a span demands it.
    Output: the same operations, or the two parts of one.

    Each operation first gets the heuristic's division (`spyre::planning::divide`).
    `search` then tries all legal divisions of matmuls with the cost model, and
    whether the pointwise operations after one are better divided like it;
    `exhaustive` tries all divisions of all operations until nothing improves
    (`spyre::planning::DivisionGraph`). What counts is the modelled time of an
    operation and of those that it shares values with: dividing a value alike keeps
    it in LX. No step makes the sum larger.

    An operation without a legal division is cut in two along a dim whose extent has
    poor divisors (`spyre::planning::proposeCuts`), and both parts are divided; the
    second writes what the first has left of the result. Where that does not help either
    the program is refused; with `leave-undivided` the operation stays as it is, for tiles
    over time (`spyre-tile-time`, `spyre-split-far`) to make it smaller. Divisions that the function's `spyre.schedule` says, or
    operations themselves (`spyre.plan`), are obeyed, or refused; so is a hint that no operation has any more.

    ```mlir
    // spyre-opt --spyre-divide-work
    !a = tensor<512x4096xf16, #spyre.layout<[64, 512, 64], order [0, 1], SEN169_FP16>>
    !b = tensor<4096x4096xf16, #spyre.layout<[64, 4096, 64], order [0, 1], SEN169_FP16>>
    func.func @f(%x: !a, %y: !b) -> !a {
      %0 = spyre.batchmatmul (d0 = 512, d1 = 4096, d2 = 4096) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : !a, !b -> !a
      return %0 : !a
    }
    // becomes
    func.func @f(…) -> … {
      %0 = spyre.batchmatmul (d0 = 512 / 4, d1 = 4096 / 8, d2 = 4096) ins(%arg0[d0, d2], %arg1[d2, d1]) -> [d0, d1] : …
      return %0 : …
    ```
  }];
  let options = [
    Option<"cores", "cores", "int64_t", "0", "Cores to use; 0: all of the device's">,
    Option<"search", "search", "bool", "true", "Search divisions of matmuls with the cost model">,
    Option<"exhaustive", "exhaustive", "bool", "false", "Search divisions of all operations">,
    Option<"leaveUndivided", "leave-undivided", "bool", "false",
           "Leave operations without a legal division as they are">,
    Option<"resume", "resume", "bool", "false",
           "Only what has been left undivided; schedules are obeyed already">,
    Option<"record", "record", "bool", "false", "Record the divisions in `spyre.chosen_schedule`">,
    Option<"recordAddresses", "record-addresses", "bool", "false",
           "Number the operations, for spyre-place-buffers to record addresses">];
}

def SpyreCarryReductions : Pass<"spyre-carry-reductions", "::mlir::func::FuncOp"> {
  let summary = "Softmaxes and sums of them that may go on from part to part (L3)";
  let description = [{
    Input: L3 whose buffers have no place yet, no loops. Lowering: where what follows the largest
    number of a row is shifted by it, and then multiplied (the shift and scale laws of the OpFunc
    table), the sums over the row, of products too, get a buffer in f32 each that starts with zeros; a part
    of the row turns the old largest number into the new one, multiplies the sums by what that
    changes, and adds its own. What reads the terms of the sums beside computes them again.
    A product of what another product makes, element by element, adds up its parts, too; so does
    one whose contracted dim is longer than a core reaches (with `products` only products are
    carried). A sum of squared differences of a long
    row from a number that is computed from the row's own sum is carried with that sum, about the
    mean of the parts so far, and mended where that changes; a constant that stands for the elements
    of the row carries `spyre.shared_out`, the number of the operand, and is less for each part;
    where a schedule or `deviations-apart` says so, both are carried by themselves. The operations that a loop over parts of the row does again carry `spyre.carried`, the number of
    their group, for `spyre-tile-time`. As it stands the program computes the same as before.

    ```mlir
    // spyre-opt --spyre-carry-reductions
    !s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
    !r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
    func.func @f(%s: !s, %o: !r) {
      %m = spyre.alloc : !r
      spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
      %t = spyre.alloc : !s
      spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
      %e = spyre.alloc : !s
      spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) outs(%e[d0, d1]) : !s -> !s
      %l = spyre.alloc : !r
      spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%l[d0, 0]) : !s -> !r
      spyre.identity (d0 = 64) ins(%l[d0, 0]) outs(%o[d0, 0]) : !r -> !r
      return
    }
    // becomes
    func.func @f(…) {
      …
      spyre.max (d0 = 64, d1 = 512) ins(%arg0[d0, d1]) outs(%2[d0, 0]) {spyre.carried = 0 : i64} : …
      spyre.identity (d0 = 64) ins(%arg2[]) outs(%1[d0, 0]) : …
      spyre.maximum (d0 = 64) ins(%1[d0, 0], %2[d0, 0]) outs(%0[d0, 0]) {spyre.carried = 0 : i64} : …
      …
      spyre.sum (d0 = 64, d1 = 512) ins(%6[d0, d1]) outs(%8[d0, 0]) {spyre.carried = 0 : i64} : …
      spyre.identity (d0 = 64) ins(%arg3[]) outs(%7[d0, 0]) : …
      spyre.mul (d0 = 64) ins(%7[d0, 0], %5[d0, 0]) outs(%7[d0, 0]) {spyre.carried = 0 : i64} : …
      spyre.add (d0 = 64) ins(%7[d0, 0], %8[d0, 0]) outs(%7[d0, 0]) {spyre.carried = 0 : i64} : …
      spyre.identity (d0 = 64) ins(%7[d0, 0]) outs(%arg1[d0, 0]) : …
      return
    ```
  }];
  let options = [
    Option<"products", "products", "bool", "false", "Products alone; softmaxes stay what they are">,
    Option<"deviationsApart", "deviations-apart", "bool", "false",
           "Carry sums of squared deviations by themselves">,
    Option<"record", "record", "bool", "false", "Record that in `spyre.chosen_schedule`">];
}

def SpyreTileTime : Pass<"spyre-tile-time", "::mlir::func::FuncOp"> {
  let summary = "Run neighbouring operations tile by tile (L3)";
  let description = [{
    Input: L3 whose buffers have no place yet, operations divided, no loops. Lowering:
    neighbouring operations that share a dim of the data become the body of a loop over
    tiles of that dim (`spyre::planning::findNests`), where that moves less between device
    memory and the cores: a value that only they use becomes a buffer of one tile, an
    argument that several of them read is loaded once, a result that they read again is
    stored once. Cores share each tile along one dim of the data; operations that do not
    have it are left undivided, for `spyre-divide-work` to divide. Output: L3. A function
    with loops or placed buffers is left as it is: somebody else has decided. Where the
    function's `spyre.schedule` says nests, these are made and no others. Remarks say what
    each nest takes, and the second best.

    ```mlir
    // spyre-opt --spyre-tile-time
    !h = !spyre.buffer<65536x512xf16, #spyre.layout<[8, 65536, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @f(%x: !h, %o: !h) {
      %a = spyre.alloc : !h
      spyre.exp (d0 = 65536, d1 = 512) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
      spyre.add (d0 = 65536, d1 = 512) ins(%a[d0, d1], %x[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
      return
    }
    // becomes
    func.func @f(…) {
      …
      scf.for %arg2 = … {
        %0 = spyre.alloc : …
        spyre.identity (d0 = … / 32, d1 = 512) loops(%arg2) ins(%arg0[d0 + s0 * …, d1]) outs(%0[d0, d1]) : …
        %1 = spyre.alloc : …
        spyre.exp (d0 = … / 32, d1 = 512) loops(%arg2) ins(%0[d0, d1]) outs(%1[d0, d1]) : …
        spyre.add (d0 = … / 32, d1 = 512) loops(%arg2) ins(%1[d0, d1], %0[d0, d1]) outs(%arg1[d0 + s0 * …, d1]) : …
      }
      return
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"cores", "cores", "int64_t", "0", "Cores to use; 0: all of the device's">,
    Option<"preferCarried", "prefer-carried", "bool", "false",
           "Cut what spyre-carry-reductions has marked, whatever it takes">,
    Option<"seed", "seed", "int64_t", "0",
           "Not 0: tiles as it draws them among the legal ones, whatever they take">,
    Option<"seconds", "seconds", "double", "0", "For looking at more nests than usual">,
    Option<"record", "record", "bool", "false", "Record the nests in `spyre.chosen_schedule`">];
}

def SpyreSplitFar : Pass<"spyre-split-far", "::mlir::func::FuncOp"> {
  let summary = "Operations beyond the cores' reach, in parts (L3)";
  let description = [{
    Input: L3 whose buffers have no place yet. Lowering: an operation without a legal division, as
    all cores together do not reach one of its operands, is done in parts, one after the other
    (`spyre::planning::divideInParts`): boxes of its iteration space, each in loops over equal
    tiles that the device's cores divide. What ends inside a stick, or has poor divisors, becomes a
    box of its own. Where a dim that is reduced is beyond reach, parts of it are reduced and put
    together by the combiner: sums and products of 16-bit numbers in f32. Where even one stick of
    each dim is beyond reach (a cast between two sticks that lie far apart, 64 rows that are turned), the
    operand is copied to a layout in which it is not. Output: L3; what is left is refused.
    Operations that have a legal division stay as they are.

    ```mlir
    // spyre-opt --spyre-split-far
    !a = !spyre.buffer<768x768xf16, #spyre.layout<[12, 768, 64], order [0, 1], SEN169_FP16>, hbm>
    !b = !spyre.buffer<768x768xf16, #spyre.layout<[12, 768, 64], order [1, 0], SEN169_FP16>, hbm>
    module attributes {spyre.device = "mock4"} {
      func.func @f(%x: !a, %o: !b) {
        spyre.restickify (d0 = 768, d1 = 768) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !b
        return
      }
    }
    // becomes
      func.func @f(…) {
        …
        scf.for %arg2 = … {
          …
          scf.for %arg3 = … {
            spyre.restickify (d0 = 256 / 2, d1 = 256 / 2) loops(%arg2, %arg3) ins(%arg0[d0 + s0 * 256, d1 + s1 * 256]) outs(%arg1[d0 + s0 * 256, d1 + s1 * 256]) : …
          }
        }
        return
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def SpyreBufferize : Pass<"spyre-bufferize", "::mlir::ModuleOp"> {
  let summary = "Tensors to buffers (L2 to L3)";
  let description = [{
    Input: L2, divided. Lowering: every tensor becomes a `!spyre.buffer`: arguments stay arguments, results
    become output arguments after them, constants become one-stick arguments at
    the end, everything else a `spyre.alloc` in device memory without a place.
    A result that is an argument, or that is returned twice, is copied. Output: L3 without
    places; attributes of the arguments record role, array name, value and tail.

    ```mlir
    // spyre-opt --spyre-bufferize
    !t = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
    func.func @f(%x: !t) -> !t {
      %0 = spyre.exp (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
      %1 = spyre.neg (d0 = 64 / 32, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : !t -> !t
      return %1 : !t
    }
    // becomes
    func.func @f(%arg0: … {spyre.array = "in0", spyre.role = "input", spyre.tail = "zero"}, %arg1: … {spyre.array = "out0", …spyre.role = "output"…}) {
      %0 = spyre.alloc : …
      spyre.exp (d0 = 64 / 32, d1 = 128) ins(%arg0[d0, d1]) outs(%0[d0, d1]) : …
      spyre.neg (d0 = 64 / 32, d1 = 128) ins(%0[d0, d1]) outs(%arg1[d0, d1]) : …
      return
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyrePlaceBuffers : Pass<"spyre-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "Place buffers in LX or in the pool";
  let description = [{
    Input: L3 without places. Lowering: a buffer goes to LX when every core that reads a part of it has written that
    part (or holds a copy), and first fit over the lifetimes finds room; an LX
    buffer records what each core holds. All other buffers share the pool, first
    fit over lifetimes. Output: L3 in which every buffer has a place. Remarks say why a
    buffer is not kept in LX; where the function's `spyre.schedule` says that a result has to
    be there, this is an error. So is an address that the schedule says and that is misaligned, too high, or
    in use by another such address at the same time; all others go around.

    ```mlir
    // spyre-opt --spyre-place-buffers
    !h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @f(%x: !h, %o: !h) {
      %t = spyre.alloc : !h
      spyre.exp (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
      spyre.neg (d0 = 64 / 32, d1 = 128) ins(%t[d0, d1]) outs(%o[d0, d1]) : !h -> !h
      return
    }
    // becomes
    func.func @f(…) {
      %0 = spyre.alloc lx(0) holding<cores 32, slices[32, 1], (d0) -> (d0 mod 32, 0)> : …
      spyre.exp (d0 = 64 / 32, d1 = 128) ins(%arg0[d0, d1]) outs(%0[d0, d1]) : …
      spyre.neg (d0 = 64 / 32, d1 = 128) ins(%0[d0, d1]) outs(%arg1[d0, d1]) : …
      return
    ```
  }];
  let options = [
    Option<"useLX", "lx", "bool", "true", "Keep buffers in LX">,
    Option<"capacity", "capacity", "int64_t", "0", "LX bytes a core; 0: the device's (for tests)">,
    Option<"record", "record", "bool", "false",
           "Record addresses in LX in `spyre.chosen_schedule`, of results that lie in one buffer">];
}

def SpyreVerifyPlan : Pass<"spyre-verify-plan", "::mlir::func::FuncOp"> {
  let summary = "Check the contract of L3 and report every violation";
  let description = [{
    Input, output: L3. The rules: every buffer is placed inside its memory (L3-1); live buffers do not overlap
    (L3-2); work slices are at most the device's cores (L3-3), divide their dim
    evenly, in sticks where the dim is in a stick (L3-4), at most one reduced dim
    is cut (L3-5); a core reads in LX only what it holds (L3-6); an operand's span
    on a core is within the limit (L3-7); nothing is read before it is written
    (L3-8); an operation that writes where it reads does so element by element, or reads
    nothing of what it overwrites (L3-9); a relayout goes from LX to LX (L3-10), takes what some core holds, and leaves
    to each core what it holds from then on (L3-6). All violations are reported, each with its number; notes point at
    the other side.

    ```mlir
    // spyre-opt --spyre-verify-plan
    !h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
    !l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
    func.func @other_core(%x: !h, %o: !h) {
      %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
      spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
      // error: L3-6: core 0 reads another part of the LX buffer than it holds
      spyre.neg (d0 = 128 / 16, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
      return
    }
    ```
  }];
}

def SpyreVerifyProvenance : Pass<"spyre-verify-provenance", "::mlir::ModuleOp"> {
  let summary = "Check that every operation knows where it comes from";
  let description = [{
    Every device operation and every descriptor has a location with a position in the
    program's text and, with `operations`, the name of the program's operation around it
    (`torch.aten.mm`; `in0`, `return` for copies of arguments and results). The pass reports
    every one that has not.

    ```mlir
    // spyre-opt --spyre-verify-provenance
    func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
      %0 = spyre.abs (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16> loc("torch.aten.abs"("program.mlir":7:3))
      // error: provenance: does not say which operation of the program it comes from
      %1 = spyre.neg (d0 = 4, d1 = 64) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
      return %1 : tensor<4x64xf16>
    }
    ```
  }];
  let options = [Option<"operations", "operations", "bool", "true",
                        "Ask for the operation's name, too (not for programs written at L1 or below)">];
}

#endif // SPYRE_TRANSFORMS_L3_PASSES
