//===- SdscBundle.td - The sdscbundle dialect ---------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What bundle.mlir is written in: base addresses passed by the launcher, and
// executions of descriptors. Source: docs/formats/superdsc-rules.md, section 2.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_SDSCBUNDLE_TD
#define SPYRE_DIALECT_SUPERDSC_SDSCBUNDLE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SdscBundle_Dialect : Dialect {
  let name = "sdscbundle";
  let cppNamespace = "::mlir::sdscbundle";
  let summary = "Bundles: which descriptors run, in which order, at which addresses";
  let description = [{
    A bundle is one function whose parameters are base addresses
    (`!sdscbundle.input_arg<index>`): the HBM pool's first, if it has one, then
    one for each argument; and the sizes of symbolic dims. The pool may be made in the body
    instead (`sdscbundle.device_mem_allocate`). The body computes addresses with `arith`, `affine.apply`
    and `scf.for` and executes descriptors.

    Attributes of the function, which `bundle.mlir` itself does not show (they
    come from and go to `launch_spec.json`):

    - `sdscbundle.arguments`: an array of `#sdscbundle.argument`, one an argument
    - `sdscbundle.pool_bytes`: the size of the HBM pool
    - `sdscbundle.has_pool`: unit, present if the first parameter is the pool
    - `sdscbundle.argument_numbers`: `array<i64>`, a number an argument: its place in the
      kernel's list, which `bundle.mlir` has in the names (`%arg_2_base_addr`). Absent
      where they count from 0

    ```mlir
    #map_0 = affine_map<(d0)[s0] -> (s0 + 16384*d0)>
    func.func @sdsc_bundle(%pool_base_addr: !sdscbundle.input_arg<index>, %arg_0_base_addr: !sdscbundle.input_arg<index>)
        attributes {sdscbundle.has_pool, sdscbundle.pool_bytes = 4096 : i64} {
      %pool = sdscbundle.input_arg_extract value from %pool_base_addr : !sdscbundle.input_arg<index> -> index
      %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %loop_bound_0 = arith.constant 4 : index
      scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
        %addr_0 = affine.apply #map_0(%i_0)[%arg_0]
        sdscbundle.sdsc_execute (%addr_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
      }
      return
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def SdscBundle_InputArgType : TypeDef<SdscBundle_Dialect, "InputArg"> {
  let mnemonic = "input_arg";
  let summary = "A value that the launcher passes";
  let description = [{
    It is an address, or the size of a symbolic dim, which is a multiple of `granularity`
    and at most `max_value`.

    ```mlir
    func.func private @f(!sdscbundle.input_arg<index>, !sdscbundle.input_arg<index, granularity = 64, max_value = 4096>)
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType,
                        OptionalParameter<"int64_t">:$granularity,
                        OptionalParameter<"int64_t">:$maxValue);
  let assemblyFormat = [{
    `<` $elementType (`,` `granularity` `=` $granularity^)? (`,` `max_value` `=` $maxValue^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// A size, not an address.
    bool isSize() const { return getMaxValue() != 0; }
  }];
}

def SdscBundle_ArgumentAttr : AttrDef<SdscBundle_Dialect, "Argument"> {
  let mnemonic = "argument";
  let summary = "What an argument must be: an entry of launch_spec.json";
  let description = [{
    The keys and their meaning are those of `docs/formats/launch_spec.md`.

    ```mlir
    func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) attributes {sdscbundle.arguments = [
        #sdscbundle.argument<input, array = "in0", shape = [64, 128], dtype = "float16",
          device_size = [2, 64, 64], stride_map = [64, 128, 1], device_dtype = "SEN169_FP16">]} {
      return
    }
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$role,
    "::mlir::StringAttr":$array,
    "::mlir::StringAttr":$result,
    "::mlir::DenseI64ArrayAttr":$shape,
    "::mlir::StringAttr":$dtype,
    "::mlir::DenseI64ArrayAttr":$stride,
    "::mlir::DenseI64ArrayAttr":$deviceSize,
    "::mlir::DenseI64ArrayAttr":$strideMap,
    "::mlir::StringAttr":$deviceDtype,
    "::mlir::FloatAttr":$value,
    "::mlir::StringAttr":$elementArrangement,
    "::mlir::StringAttr":$tail,
    "::mlir::StringAttr":$overflow,
    "::mlir::DenseI64ArrayAttr":$view);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class SdscBundle_Op<string mnemonic, list<Trait> traits = []>
    : Op<SdscBundle_Dialect, mnemonic, traits>;

def SdscBundle_InputArgExtractOp : SdscBundle_Op<"input_arg_extract", [Pure]> {
  let summary = "The address or size that the launcher passed";
  let description = [{
    It is an address or a size, of type `index`.

    ```mlir
    func.func @f(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
      %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
      return
    }
    ```
  }];
  let arguments = (ins SdscBundle_InputArgType:$input);
  let results = (outs Index:$result);
  let assemblyFormat = "`value` `from` $input attr-dict `:` qualified(type($input)) `->` type($result)";
  let hasVerifier = 1;
}

def SdscBundle_DeviceMemAllocateOp : SdscBundle_Op<"device_mem_allocate"> {
  let summary = "Device memory of the bundle's own: the pool, where no argument passes it";
  let description = [{
    It gives at most 14 GiB; larger buffers get allocations of their own.

    ```mlir
    func.func @f() {
      %pool = sdscbundle.device_mem_allocate 262144 bytes : index
      return
    }
    ```
  }];
  let arguments = (ins I64Attr:$bytes);
  let results = (outs Index:$result);
  let assemblyFormat = "$bytes `bytes` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def SdscBundle_SdscExecuteOp : SdscBundle_Op<"sdsc_execute"> {
  let summary = "Execute one descriptor";
  let description = [{
    It runs the descriptor in `sdsc_filename` with operand k bound to the symbol id
    `symbol_ids[k]`. Ids are negative and distinct; without `symbol_ids` there are
    no operands and the descriptor's addresses are concrete. The quoted spelling
    of the attribute is the reference's; the unquoted one parses too.

    ```mlir
    func.func @f(%arg_0: index, %arg_1: index) {
      sdscbundle.sdsc_execute (%arg_0, %arg_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
      return
    }
    ```

    In a module that holds descriptors as `sdsc.descriptor @sdsc_0`, the file name
    `sdsc_0.json` stands for that symbol: the name without `.json`.
  }];
  let arguments = (ins
    Variadic<Index>:$addresses,
    StrAttr:$sdsc_filename,
    OptionalAttr<I64ArrayAttr>:$symbol_ids);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The ids, empty if there are none.
    ::llvm::SmallVector<int64_t> getSymbolIdValues();
    /// The symbol of the descriptor in the same module: the file name without ".json".
    ::llvm::StringRef getDescriptorSymbol();
  }];
}

#endif // SPYRE_DIALECT_SUPERDSC_SDSCBUNDLE_TD
