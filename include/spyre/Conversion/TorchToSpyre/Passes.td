//===- Passes.td - torch to L1 ----------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of the stack: what torch-mlir exported becomes device operations and
// composites on plain tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_TORCHTOSPYRE_PASSES
#define SPYRE_CONVERSION_TORCHTOSPYRE_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTorchToSpyre : Pass<"convert-torch-to-spyre", "::mlir::ModuleOp"> {
  let summary = "torch dialect to L1: operations on plain tensors";
  let description = [{
    Input: a module with one public function in torch-mlir's raw form, its backend
    form or without decomposition; static shapes. Lowering: one table says what each
    torch operation becomes (device operation, reduction, view, composite); torch
    constants and lists are folded into what uses them; `_assert_tensor_metadata`
    is checked and dropped; copies are values. The type that the text gives a result
    decides: operands are converted to it (`spyre.convert`), scalars are rounded to
    it once. Output: `spyre` operations, `func`, nothing of `torch`.

    What cannot be converted is reported in one go, each operation with its place,
    name, types and the reason; the module is then left as it was.

    ```mlir
    // spyre-opt --convert-torch-to-spyre
    func.func @main(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[8],f16>) -> !torch.vtensor<[4,8],f16> {
      %int1 = torch.constant.int 1
      %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[4,8],f16>, !torch.vtensor<[8],f16>, !torch.int -> !torch.vtensor<[4,8],f16>
      return %0 : !torch.vtensor<[4,8],f16>
    }
    // becomes
    func.func @main(%arg0: tensor<4x8xf16>, %arg1: tensor<8xf16>) -> tensor<4x8xf16> {
      %0 = spyre.add (d0 = 4, d1 = 8) ins(%arg0[d0, d1], %arg1[d1]) -> [d0, d1] : tensor<4x8xf16>, tensor<8xf16> -> tensor<4x8xf16>
      return %0 : tensor<4x8xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect", "::mlir::func::FuncDialect"];
}

def SpyreSpecializeShapes : Pass<"spyre-specialize-shapes", "::mlir::ModuleOp"> {
  let summary = "A program with open sizes becomes one for given shapes";
  let description = [{
    Input: operations of torch. Lowering: the public function's arguments get the
    `shapes` of the option, if a size of theirs is `?`. `torch.bind_symbolic_shape` of
    the arguments gives `torch.symbolic_int`s their values; shapes that contradict it, or
    the symbols' `min_val` and `max_val`, are errors at the argument. Other tensors get
    their sizes from their own binding, else from the operands, by a table of rules.
    Arithmetic on known numbers (`aten.size.int`, `aten.mul.int`, `aten.ge.int`, …) is
    folded, `prim.If` with a known condition becomes the branch taken, assertions that
    hold go, and so do the symbols. What stays unknown stays `?`; without the option all
    but the first holds, too.

    A `torch.prim.Loop` becomes its trips, one behind the other, with the counter as a
    constant: its condition is folded as other numbers are, also where it is computed of
    tensors that only constants have a part in. Private functions are inlined where loops
    or branches call them. A loop whose number of trips stays unknown though all sizes are
    known is an error. What the trips write side by side becomes one concatenation. Of many trips
    several make a piece, which reads a part of what all go through: pieces are equal, and
    `spyre-outline-layers` makes one function of them. Operations of trips carry `spyre.trip`.

    ```mlir
    // spyre-opt --spyre-specialize-shapes=shapes=6x4
    func.func @main(%x: !torch.vtensor<[?,4],f16>) -> !torch.vtensor<[?],f16> {
      %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
      torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 4)> : !torch.vtensor<[?,4],f16>
      %int4 = torch.constant.int 4
      %1 = torch.aten.mul.int %0, %int4 : !torch.int, !torch.int -> !torch.int
      %2 = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
      %3 = torch.aten.view %x, %2 : !torch.vtensor<[?,4],f16>, !torch.list<int> -> !torch.vtensor<[?],f16>
      return %3 : !torch.vtensor<[?],f16>
    }
    // becomes
    func.func @main(%arg0: !torch.vtensor<[6,4],f16>) -> !torch.vtensor<[24],f16> {
      …
      %2 = torch.constant.int 24
      %3 = torch.prim.ListConstruct %2 : (!torch.int) -> !torch.list<int>
      %4 = torch.aten.view %arg0, %3 : !torch.vtensor<[6,4],f16>, !torch.list<int> -> !torch.vtensor<[24],f16>
      return %4 : !torch.vtensor<[24],f16>
    }
    ```
  }];
  let options = [ListOption<"shapes", "shapes", "std::string",
                            "A shape an argument: 4x3, scalar (no dims) or ? (as it is)">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def SpyreFoldTorchConstants : Pass<"spyre-fold-torch-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute what no argument has a part in";
  let description = [{
    Input: operations of torch. Lowering: an operation that makes a tensor from numbers
    (`arange`, `full`, `eye`, `empty`), and every one behind it whose tensors are all known
    (comparisons of positions, `tril`, casts, views), is computed by lib/Host and becomes
    a `torch.vtensor.literal`; `Int.Tensor` and its like become constants. Large ones are computed
    run by run (`host::evaluateRuns`) and become literals of `#spyre.runs`. Literals of the
    program by themselves are left to the device, and so is what is one number
    everywhere.

    ```mlir
    // spyre-opt --spyre-fold-torch-constants
    func.func @main() -> !torch.vtensor<[4],i1> {
      %none = torch.constant.none
      %int0 = torch.constant.int 0
      %int1 = torch.constant.int 1
      %int2 = torch.constant.int 2
      %int4 = torch.constant.int 4
      %0 = torch.aten.arange.start_step %int0, %int4, %int1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si64>
      %1 = torch.aten.le.Scalar %0, %int2 : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],i1>
      return %1 : !torch.vtensor<[4],i1>
    }
    // becomes
    func.func @main() -> !torch.vtensor<[4],i1> {
      …
      %5 = torch.vtensor.literal(dense<[true, true, true, false]> : tensor<4xi1>) : !torch.vtensor<[4],i1>
      return %5 : !torch.vtensor<[4],i1>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreOutlineLayers : Pass<"spyre-outline-layers", "::mlir::ModuleOp"> {
  let summary = "Structurally equal layers become calls of one function";
  let description = [{
    Input: a module with one function, in any form that `convert-torch-to-spyre`
    takes. A layer is the longest run of operations (at least `min-operations`, a
    matrix product among them) that is repeated one behind the other with nothing
    different but the tensors that come from outside. Output: the function is a
    sequence of calls: of what stands before the layers, of the layer once an
    instance, of what stands behind. A program without layers is left as it is.
    Trips of a loop (`spyre.trip`) are layers only in large pieces and if there are many of
    them, but then also without a product: few are planned better where they are.

    Tensors cross from one function to the next in device memory, in the default
    layout: the cut is made where the fewest do, which is the residual stream.

    ```mlir
    // spyre-opt --spyre-outline-layers=min-operations=2
    func.func @main(%x: !torch.vtensor<[4,4],f16>, %a: !torch.vtensor<[4,4],f16>, %b: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
      %0 = torch.aten.mm %x, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      %1 = torch.aten.tanh %0 : !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      %2 = torch.aten.mm %1, %b : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      %3 = torch.aten.tanh %2 : !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      return %3 : !torch.vtensor<[4,4],f16>
    }
    // becomes
    func.func private @main_layer(%arg0: !torch.vtensor<[4,4],f16>, %arg1: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
      %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      %1 = torch.aten.tanh %0 : !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
      return %1 : !torch.vtensor<[4,4],f16>
    }
    func.func @main(%arg0: !torch.vtensor<[4,4],f16>, %arg1: !torch.vtensor<[4,4],f16>, %arg2: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
      %0 = call @main_layer(%arg0, %arg1) : (!torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16>
      %1 = call @main_layer(%0, %arg2) : (!torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16>
      return %1 : !torch.vtensor<[4,4],f16>
    }
    ```
  }];
  let options = [Option<"minOperations", "min-operations", "uint64_t", "16",
                        "Operations that a layer has at least">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def SpyreSplitHost : Pass<"spyre-split-host", "::mlir::ModuleOp"> {
  let summary = "Operations of the host become calls between device functions";
  let description = [{
    Input: a module as `spyre-outline-layers` leaves it, in which the operations that the
    host computes carry `spyre.host`, the reason as a string. Output: the program is a
    sequence of calls of private functions, which hold what the device computes, and
    `spyre.host_call`s. Operations are put in an order with few changes between the two
    (what is ready of one kind is done first); operations that draw random numbers keep
    theirs. A function that is taken apart is inlined where it is called.

    Views of what is on the host anyway, and read there only, are made there: they cost
    nothing. So are device functions that would do nothing else. An operation that takes
    a number which the program computes, or gives one, is the host's.

    A module without marked operations is left as it is, unless `force` is given (a
    signature that holds more than tensors of the device).

    ```mlir
    // spyre-opt --spyre-split-host
    func.func @main(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
      %0 = torch.aten.relu %x : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
      %1 = torch.aten.erfinv %0 {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
      %2 = torch.aten.exp %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
      return %2 : !torch.vtensor<[4,64],f16>
    }
    // becomes
    func.func private @main_part0(%arg0: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
      %0 = torch.aten.relu %arg0 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
      return %0 : !torch.vtensor<[4,64],f16>
    }
    func.func private @main_part1(%arg0: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
      %0 = torch.aten.exp %arg0 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
      return %0 : !torch.vtensor<[4,64],f16>
    }
    func.func @main(%arg0: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
      %0 = call @main_part0(%arg0) : (!torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16>
      %1 = spyre.host_call "aten.erfinv"(%0) {arguments = [0 : index], items = array<i64: -1>, numbers = array<i64: 0>, reason = "no form"} : (!torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16>
      %2 = call @main_part1(%1) : (!torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16>
      return %2 : !torch.vtensor<[4,64],f16>
    }
    ```
  }];
  let options = [Option<"force", "force", "bool", "false",
                        "Take the program apart even if nothing is marked">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::spyre::SpyreDialect"];
}

#endif // SPYRE_CONVERSION_TORCHTOSPYRE_PASSES
