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
    Writes work slices on every device operation: at most `cores` in all, equal
    slices, stick dims counted in whole sticks, at most one reduced dim, no
    operand's span on a core beyond the device's limit. With `cores` 1 an operation
    is still divided where a span demands it.

    Each operation first gets the heuristic's division (`spyre::planning::divide`).
    `search` then tries all legal divisions of matmuls with the cost model, and
    whether the pointwise operations after one are better divided like it;
    `exhaustive` tries all divisions of all operations until nothing improves
    (`spyre::planning::DivisionGraph`). What counts is the modelled time of an
    operation and of those that it shares values with: dividing a value alike keeps
    it in LX. No step makes the sum larger.

    An operation without a legal division is cut in two along a dim whose extent has
    poor divisors (`spyre::planning::proposeCuts`), and both parts are divided; the
    second writes what the first has left of the result.

    ```mlir
    %0 = spyre.batchmatmul (d0 = 512, d1 = 4096, d2 = 4096) ins(...)
    // heuristic: d0 = 512, d1 = 4096 / 32, d2 = 4096
    // search:    d0 = 512 / 4, d1 = 4096 / 8, d2 = 4096
    ```
  }];
  let options = [
    Option<"cores", "cores", "int64_t", "0", "Cores to use; 0: all of the device's">,
    Option<"search", "search", "bool", "true", "Search divisions of matmuls with the cost model">,
    Option<"exhaustive", "exhaustive", "bool", "false", "Search divisions of all operations">];
}

def SpyreBufferize : Pass<"spyre-bufferize", "::mlir::ModuleOp"> {
  let summary = "Tensors to buffers (L2 to L3)";
  let description = [{
    Every tensor becomes a `!spyre.buffer`: arguments stay arguments, results
    become output arguments after them, constants become one-stick arguments at
    the end, everything else a `spyre.alloc` in device memory without a place.
    A result that is an argument, or that is returned twice, is copied. Argument
    attributes record role, array name, value and tail.
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyrePlaceBuffers : Pass<"spyre-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "Place buffers in LX or in the pool";
  let description = [{
    A buffer goes to LX when every core that reads a part of it has written that
    part (or holds a copy), and first fit over the lifetimes finds room; an LX
    buffer records what each core holds. All other buffers share the pool, first
    fit over lifetimes. Remarks say why a buffer is not kept in LX.
  }];
  let options = [
    Option<"useLX", "lx", "bool", "true", "Keep buffers in LX">,
    Option<"capacity", "capacity", "int64_t", "0", "LX bytes a core; 0: the device's (for tests)">];
}

def SpyreVerifyPlan : Pass<"spyre-verify-plan", "::mlir::func::FuncOp"> {
  let summary = "Check the contract of L3 and report every violation";
  let description = [{
    Every buffer is placed inside its memory (L3-1); live buffers do not overlap
    (L3-2); work slices are at most the device's cores (L3-3), divide their dim
    evenly, in sticks where the dim is in a stick (L3-4), at most one reduced dim
    is cut (L3-5); a core reads in LX only what it holds (L3-6); an operand's span
    on a core is within the limit (L3-7); nothing is read before it is written
    (L3-8). Notes point at the other side.
  }];
}

def SpyreVerifyProvenance : Pass<"spyre-verify-provenance", "::mlir::ModuleOp"> {
  let summary = "Check that every operation knows where it comes from";
  let description = [{
    Every device operation and every descriptor has a location with a position in the
    program's text and, with `operations`, the name of the program's operation around it
    (`torch.aten.mm`; `in0`, `return` for copies of arguments and results). Reports every
    one that has not.
  }];
  let options = [Option<"operations", "operations", "bool", "true",
                        "Ask for the operation's name, too (not for programs written at L1 or below)">];
}

#endif // SPYRE_TRANSFORMS_L3_PASSES
