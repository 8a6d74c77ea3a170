//===- Passes.td - Passes on plain tensors --------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From what the program wrote to what the device executes, before it is said where
// anything lies: precision, decomposition, views, iteration dims.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TRANSFORMS_L1PASSES
#define SPYRE_TRANSFORMS_L1PASSES

include "mlir/Pass/PassBase.td"

def SpyreCollectHints : Pass<"spyre-collect-hints", "::mlir::func::FuncOp"> {
  let summary = "Number hints for the plan, and make scopes part of locations";
  let description = [{
    Input: anything above L3. Lowering: hints of device operations (`spyre.plan`: work slices by dim,
    a space and an address for the result) get numbers, and the function notes where
    each of them stood (`spyre.hints`), so that `spyre-divide-work` finds those that no
    operation has any more. Scopes (`spyre.scope`, of any operation) become part of the
    operation's location, which all operations have that are made of it. What is numbered already stays.
    [What they mean](formats/schedule.md).

    ```mlir
    // spyre-opt --spyre-collect-hints
    func.func @f(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
      %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.plan = {splits = [32, 1]}, spyre.scope = "tail"} : tensor<64x128xf16> -> tensor<64x128xf16>
      return %0 : tensor<64x128xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<64x128xf16>) -> tensor<64x128xf16> attributes {spyre.hints = […]} {
      %0 = spyre.exp (d0 = 64, d1 = 128) ins(%arg0[d0, d1]) -> [d0, d1] {spyre.plan = {hint = 0 : i64, splits = {"0" = 32 : i64, "1" = 1 : i64}}} : …
      return %0 : tensor<64x128xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyrePassIntegers : Pass<"spyre-pass-integers", "::mlir::func::FuncOp"> {
  let summary = "Integers of the host that are f32 numbers on the device";
  let description = [{
    Input: L1 as converted from torch. Lowering: an argument of integers that a conversion to
    f32 reads is taken as f32 beside (or in place of) what others read, with the host's type
    in `spyre.host_type`; a result that is converted to integers is f32, and copied out as
    integers. Other conversions of integers are reported. Output: none of them.

    ```mlir
    // spyre-opt --spyre-pass-integers
    func.func @f(%x: tensor<64xi64> {spyre.on_host}) -> (tensor<64xi64> {spyre.on_host}) {
      %0 = spyre.convert %x : tensor<64xi64> to tensor<64xf32>
      %1 = spyre.neg (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
      %2 = spyre.convert %1 : tensor<64xf32> to tensor<64xi64>
      return %2 : tensor<64xi64>
    }
    // becomes
    func.func @f(%arg0: tensor<64xf32> {spyre.host_type = i64, spyre.on_host}) -> (tensor<64xf32> {spyre.host_type = i64, spyre.on_host}) {
      %0 = spyre.neg (d0 = 64) ins(%arg0[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreStrictPrecision : Pass<"spyre-strict-precision", "::mlir::func::FuncOp"> {
  let summary = "Programs of 16-bit types in f32, for precision=strict";
  let description = [{
    Input: L1 as converted from torch. Lowering: every value of a 16-bit float type is f32,
    from arguments that the host passes (copied in as f32) to results that it takes (narrowed
    by the copy). What one function passes to another stays 16 bits, and so does what 8-bit
    formats are made of. Where the program has no f32 of its own, its products are cut into
    two pieces, `spyre.pieces`, not three.

    ```mlir
    // spyre-opt --spyre-strict-precision
    func.func @f(%x: tensor<32x128xf16> {spyre.on_host}) -> (tensor<32x128xf16> {spyre.on_host}) {
      %0 = spyre.exp (d0 = 32, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<32x128xf16> -> tensor<32x128xf16>
      return %0 : tensor<32x128xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<32x128xf32> {spyre.host_type = f16, spyre.on_host}) -> (tensor<32x128xf32> {spyre.host_type = f16, spyre.on_host}) attributes {spyre.pieces = 2 : i64} {
      %0 = spyre.exp (d0 = 32, d1 = 128) ins(%arg0[d0, d1]) -> [d0, d1] : tensor<32x128xf32> -> tensor<32x128xf32>
      return %0 : tensor<32x128xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreResolvePrecision : Pass<"spyre-resolve-precision", "::mlir::func::FuncOp"> {
  let summary = "Decide each f32 operation's format and remove conversions";
  let description = [{
    Input: L1 as converted from torch, with `spyre.convert` where the program
    converts. Lowering: in an f32 island (a connected f32 part of the program) every
    operation gets a format: DL16 where a named rule with an error argument says that
    nothing is lost (PrecisionRules.cpp) or where the device has no f32 form (operands
    rounded once, accumulation in f32), else f32. Conversions between values of
    different format become `spyre.dl16tofp32` and `spyre.fp32todl16`; the others
    vanish. Each choice of DL16 leaves a remark (category `precision`). Output: no
    `spyre.convert`; every f32 operation has an f32 form.

    An island that takes or returns f32 at the program's boundary is computed in f32 only:
    by forms of the device's own or by several operations (`spyre-split-products`,
    `spyre-expand-functions`). What has neither is reported, all in one diagnostic. With
    `fast-products` its products have 16-bit factors and results instead, and one remark
    names them.

    ```mlir
    // spyre-opt --spyre-resolve-precision
    func.func @f(%x: tensor<32x128xf16>, %w: tensor<128x192xf16>) -> tensor<32x192xf16> {
      %0 = spyre.convert %x : tensor<32x128xf16> to tensor<32x128xf32>
      %1 = spyre.convert %w : tensor<128x192xf16> to tensor<128x192xf32>
      %2 = spyre.matmul %0, %1 : tensor<32x128xf32>, tensor<128x192xf32> -> tensor<32x192xf32>
      %3 = spyre.convert %2 : tensor<32x192xf32> to tensor<32x192xf16>
      return %3 : tensor<32x192xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<32x128xf16>, %arg1: tensor<128x192xf16>) -> tensor<32x192xf16> {
      %0 = spyre.matmul %arg0, %arg1 : tensor<32x128xf16>, tensor<128x192xf16> -> tensor<32x192xf16>
      return %0 : tensor<32x192xf16>
    }
    ```
  }];
  let options = [
    Option<"fastProducts", "fast-products", "bool", /*default=*/"false",
           "f32 products at 16 bits, as a program that asks for speed has them">];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreExactJumps : Pass<"spyre-exact-jumps", "::mlir::func::FuncOp"> {
  let summary = "Comparisons, roundings and differences of arguments see the host's numbers";
  let description = [{
    Input: L1 as converted from torch. The device's 16-bit format has one bit of fraction
    less than f16. Lowering: an operation whose result jumps (comparisons, floor) or whose
    operands cancel (the table says which), and that reads f16 arguments of the host
    (`spyre.on_host`), directly or through operations that keep their numbers, is computed
    in f32, from f32 forms of the arguments: in their place, or as arguments more where
    the 16-bit form is read, too (`spyre.array`, `spyre.host_type`). Results that
    were only moved or rounded to integers leave as f32, too, and all known numbers that an
    operation of the host reads (`spyre.on_host = "read"`), which may decide by them. Output:
    the same program.

    ```mlir
    // spyre-opt --spyre-exact-jumps
    func.func @f(%x: tensor<64xf16> {spyre.on_host}) -> tensor<64xi1> {
      // 0.1, rounded up to DL16; the bound is f16's.
      %c = spyre.constant dense<1.000980e-01> : tensor<f16> {spyre.bound = 0.0999755859375} : tensor<f16>
      %0 = spyre.greaterequal (d0 = 64) ins(%x[d0], %c[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
      return %0 : tensor<64xi1>
    }
    // becomes
    func.func @f(%arg0: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}) -> tensor<64xi1> {
      %0 = spyre.constant dense<0.0999755859> : tensor<f32> : tensor<f32>
      %1 = spyre.sub (d0 = 64) ins(%arg0[d0], %0[]) -> [d0] : tensor<64xf32>, tensor<f32> -> tensor<64xf32>
      %2 = spyre.convert %1 : tensor<64xf32> to tensor<64xf16>
      %3 = spyre.constant dense<0.000000e+00> : tensor<f16> : tensor<f16>
      %4 = spyre.greaterequal (d0 = 64) ins(%2[d0], %3[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
      return %4 : tensor<64xi1>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreWidenRange : Pass<"spyre-widen-range", "::mlir::func::FuncOp"> {
  let summary = "bf16 constants beyond the device's range are computed with in f32";
  let description = [{
    Input: L1 as converted from torch. bf16 has numbers that DL16 (2^-31 to 2^33) has not,
    such as an epsilon of 1e-12. Lowering: an operation with such a constant becomes
    an f32 operation, and so do those that read what it computes, until the numbers are of
    common size again (a quotient by `x + 1e-12` is); results that the host takes leave as f32.
    Operations without an f32 form that would read such numbers are reported, all in one
    diagnostic. Output: f32 operations with `spyre.wide`, which stay f32.

    ```mlir
    // spyre-opt --spyre-widen-range
    func.func @f(%x: tensor<64xbf16>) -> tensor<64xbf16> {
      %e = spyre.constant dense<9.999780e-13> : tensor<bf16> : tensor<bf16>
      %0 = spyre.add (d0 = 64) ins(%x[d0], %e[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
      %1 = spyre.rsqrt (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xbf16> -> tensor<64xbf16>
      %2 = spyre.mul (d0 = 64) ins(%x[d0], %1[d0]) -> [d0] : tensor<64xbf16>, tensor<64xbf16> -> tensor<64xbf16>
      return %2 : tensor<64xbf16>
    }
    // becomes
    func.func @f(%arg0: tensor<64xbf16>) -> tensor<64xbf16> {
      %0 = spyre.constant dense<1.001870e-12> : tensor<bf16> : tensor<bf16>
      %1 = spyre.convert %arg0 : tensor<64xbf16> to tensor<64xf32>
      %2 = spyre.constant dense<1.00186526E-12> : tensor<f32> : tensor<f32>
      %3 = spyre.add (d0 = 64) ins(%1[d0], %2[]) -> [d0] {spyre.wide} : tensor<64xf32>, tensor<f32> -> tensor<64xf32>
      %4 = spyre.convert %3 : tensor<64xf32> to tensor<64xbf16>
      %5 = spyre.rsqrt (d0 = 64) ins(%3[d0]) -> [d0] {spyre.wide} : tensor<64xf32> -> tensor<64xf32>
      %6 = spyre.convert %5 : tensor<64xf32> to tensor<64xbf16>
      %7 = spyre.mul (d0 = 64) ins(%arg0[d0], %6[d0]) -> [d0] : tensor<64xbf16>, tensor<64xbf16> -> tensor<64xbf16>
      return %7 : tensor<64xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreWidenArguments : Pass<"spyre-widen-arguments", "::mlir::func::FuncOp"> {
  let summary = "Arguments that are read as f32 are copied in as f32";
  let description = [{
    Input: L1 with every operation's format decided (spyre-resolve-precision). Lowering:
    a `spyre.dl16tofp32` of an f16 argument of the host (`spyre.on_host`), read directly or
    through operations that keep its numbers, becomes an f32 form of the argument, which
    has the bit that the 16-bit form lacks. Output: no such cast.

    ```mlir
    // spyre-opt --spyre-widen-arguments
    func.func @f(%x: tensor<64xf16> {spyre.on_host}) -> tensor<64xf32> {
      %0 = spyre.dl16tofp32 (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf32>
      %1 = spyre.neg (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    // becomes
    func.func @f(%arg0: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}) -> tensor<64xf32> {
      %0 = spyre.neg (d0 = 64) ins(%arg0[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreCentreKeys : Pass<"spyre-centre-keys", "::mlir::func::FuncOp"> {
  let summary = "Subtract the mean key before f32 scores that a softmax reads";
  let description = [{
    Input: L1 with the program's conversions. Lowering: a softmax does not change when
    all scores of a row move by the same amount, and q k - q c is the same for every
    key k. Where a program computes scores in f32 that only a softmax over the keys
    reads (through scaling, views, masks and comparisons with -inf), the keys are
    centred: c is their mean, of more than 2,048 keys that of 256 spread over them (any
    vector will do, and all keys would have to be read once more). The device holds scores at 16 bits, so what is far from 0
    would lose the fraction that decides between keys. A 16-bit program's own scores
    have lost it already; they are left alone.

    ```mlir
    // spyre-opt --spyre-centre-keys
    func.func @f(%q: tensor<5x64xf16>, %k: tensor<70x64xf16>) -> tensor<5x70xf32> {
      %q32 = spyre.convert %q : tensor<5x64xf16> to tensor<5x64xf32>
      %k32 = spyre.convert %k : tensor<70x64xf16> to tensor<70x64xf32>
      %kt = spyre.view %k32[d1, d0] : tensor<70x64xf32> -> tensor<64x70xf32>
      %0 = spyre.matmul %q32, %kt : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
      %1 = spyre.softmax %0 along 1 : tensor<5x70xf32> -> tensor<5x70xf32>
      return %1 : tensor<5x70xf32>
    }
    // becomes
    func.func @f(%arg0: tensor<5x64xf16>, %arg1: tensor<70x64xf16>) -> tensor<5x70xf32> {
      %0 = spyre.mean (d0 = 70, d1 = 64) ins(%arg1[d0, d1]) -> [0, d1] constants {scaling_factor = 0.014285714285714285 : f64} : tensor<70x64xf16> -> tensor<1x64xf16>
      %1 = spyre.sub (d0 = 70, d1 = 64) ins(%arg1[d0, d1], %0[0, d1]) -> [d0, d1] : tensor<70x64xf16>, tensor<1x64xf16> -> tensor<70x64xf16>
      %2 = spyre.convert %arg0 : tensor<5x64xf16> to tensor<5x64xf32>
      %3 = spyre.convert %arg1 : tensor<70x64xf16> to tensor<70x64xf32>
      %4 = spyre.view %3[d1, d0] : tensor<70x64xf32> -> tensor<64x70xf32>
      %5 = spyre.convert %1 : tensor<70x64xf16> to tensor<70x64xf32>
      %6 = spyre.view %5[d1, d0] : tensor<70x64xf32> -> tensor<64x70xf32>
      %7 = spyre.matmul %2, %6 : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
      %8 = spyre.softmax %7 along 1 : tensor<5x70xf32> -> tensor<5x70xf32>
      return %8 : tensor<5x70xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreDecompose : Pass<"spyre-decompose", "::mlir::func::FuncOp"> {
  let summary = "Composites to device operations";
  let description = [{
    Input: L1 with composites in the format in which they are to be computed.
    Lowering: softmax is max, sub, exp, sum, realdiv; log_softmax is max, sub, exp,
    sum, log, sub; rms_norm is mul, mean, add, rsqrt, mul and a mul with the weight;
    matmul and linear are batchmatmul (mul where one element is contracted; a linear's
    weight is read transposed, its bias added). Output: no composite.

    ```mlir
    // spyre-opt --spyre-decompose
    func.func @f(%x: tensor<32x128xf16>, %w: tensor<192x128xf16>) -> tensor<32x192xf16> {
      %0 = spyre.linear %x, %w : tensor<32x128xf16>, tensor<192x128xf16> -> tensor<32x192xf16>
      return %0 : tensor<32x192xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<32x128xf16>, %arg1: tensor<192x128xf16>) -> tensor<32x192xf16> {
      %0 = spyre.batchmatmul (d0 = 32, d1 = 192, d2 = 128) ins(%arg0[d0, d2], %arg1[d1, d2]) -> [d0, d1] : tensor<32x128xf16>, tensor<192x128xf16> -> tensor<32x192xf16>
      return %0 : tensor<32x192xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreSplitProducts : Pass<"spyre-split-products", "::mlir::func::FuncOp"> {
  let summary = "Products of f32 from those of 16-bit numbers";
  let description = [{
    Input: composites decomposed. Lowering: the factors of an f32 product are cut into three
    16-bit pieces each, rows and columns scaled by powers of two so that none is lost; one
    contraction makes the product of the first pieces, a second one what all larger pairs of
    pieces make less the first, a third one what all pairs make less both. The result is their
    sum in f32, as good as an f32 product (docs/developer/numerics.md says how good). Products
    of few rows or columns are multiplied and summed in f32 by the SIMD units. Output: no f32
    product.

    ```mlir
    // spyre-opt --spyre-split-products
    func.func @f(%x: tensor<64x128xf32>, %w: tensor<128xf32>) -> tensor<64xf32> {
      %0 = spyre.batchmatmul (d0 = 64, d1 = 128) ins(%x[d0, d1], %w[d1]) -> [d0] : tensor<64x128xf32>, tensor<128xf32> -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    // becomes
    func.func @f(%arg0: tensor<64x128xf32>, %arg1: tensor<128xf32>) -> tensor<64xf32> {
      %0 = spyre.mul (d0 = 64, d1 = 128) ins(%arg0[d0, d1], %arg1[d1]) -> [d0, d1] : tensor<64x128xf32>, tensor<128xf32> -> tensor<64x128xf32>
      %1 = spyre.sum (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0] : tensor<64x128xf32> -> tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreExpandFunctions : Pass<"spyre-expand-functions", "::mlir::func::FuncOp"> {
  let summary = "Functions of f32 numbers that the device has for 16-bit ones only";
  let description = [{
    Input: composites decomposed. Lowering: log, tanh, gelu and softplus of f32 tensors become
    series and polynomials of operations that have an f32 form, with f32's accuracy
    (docs/developer/numerics.md). Output: every f32 operation has an f32 form.

    ```mlir
    // spyre-opt --spyre-expand-functions
    func.func @f(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %0 = spyre.tanh (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf32> -> tensor<64x128xf32>
      return %0 : tensor<64x128xf32>
    }
    // becomes
    func.func @f(%arg0: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %0 = spyre.abs (d0 = 64, d1 = 128) ins(%arg0[d0, d1]) -> [d0, d1] : tensor<64x128xf32> -> tensor<64x128xf32>
      …
      %37 = spyre.where3 (d0 = 64, d1 = 128) ins(%36[d0, d1], %34[d0, d1], %13[d0, d1]) -> [d0, d1] : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
      return %37 : tensor<64x128xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreFoldViews : Pass<"spyre-fold-views", "::mlir::func::FuncOp"> {
  let summary = "Views into the access maps of the operations around them";
  let description = [{
    Input: device operations, constants and views. Lowering: a bijective view that is
    the only use of an operation's result is taken over by the operation, which then
    writes in the view's shape; other views are folded into the maps of the operations
    that read them; what is left (a view of an argument that is returned, a
    composition that is no sum of digits) is copied by `spyre.identity`. A constant of
    one number is read as a 0-d constant. Output: no `spyre.view`.

    ```mlir
    // spyre-opt --spyre-fold-views
    func.func @f(%x: tensor<2x32x128xf16>) -> tensor<64x128xf16> {
      %0 = spyre.view %x[d0 floordiv 32, d0 mod 32, d1] : tensor<2x32x128xf16> -> tensor<64x128xf16>
      %1 = spyre.exp (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
      return %1 : tensor<64x128xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<2x32x128xf16>) -> tensor<64x128xf16> {
      %0 = spyre.exp (d0 = 64, d1 = 128) ins(%arg0[d0 floordiv 32, d0 mod 32, d1]) -> [d0, d1] : tensor<2x32x128xf16> -> tensor<64x128xf16>
      return %0 : tensor<64x128xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreWidenRows : Pass<"spyre-widen-rows", "::mlir::func::FuncOp"> {
  let summary = "Softmaxes of 16-bit numbers in f32";
  let description = [{
    Input: composites decomposed. Lowering: what depends on the largest number of a row, by
    operations that have a form for f32, is computed in f32 where exponentials of it are summed
    up; what it starts from is widened and what others read of it narrowed. It is the form
    in which a loop over parts of the rows can carry their sums (`spyre-carry-reductions`).

    ```mlir
    // spyre-opt --spyre-widen-rows
    !s = tensor<64x512xf16>
    !r = tensor<64x1xf16>
    func.func @f(%s: !s) -> !s {
      %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
      %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
      %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
      %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
      %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
      return %p : !s
    }
    // becomes
    func.func @f(%arg0: tensor<64x512xf16>) -> tensor<64x512xf16> {
      %0 = spyre.dl16tofp32 (d0 = 64, d1 = 512) ins(%arg0[d0, d1]) -> [d0, d1] : tensor<64x512xf16> -> tensor<64x512xf32>
      %1 = spyre.max (d0 = 64, d1 = 512) ins(%0[d0, d1]) -> [d0, 0] : tensor<64x512xf32> -> tensor<64x1xf32>
      …
      %6 = spyre.fp32todl16 (d0 = 64, d1 = 512) ins(%5[d0, d1]) -> [d0, d1] : tensor<64x512xf32> -> tensor<64x512xf16>
      return %6 : tensor<64x512xf16>
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreDeferScaling : Pass<"spyre-defer-scaling", "::mlir::func::FuncOp"> {
  let summary = "Scale rows after a contraction instead of before";
  let description = [{
    Input: composites decomposed. Lowering: where the first operand of a contraction is
    divided or multiplied by numbers that the contracted dim has no part in (the quotients
    of a softmax), or set to zero by rows, this is done to the product, if that has half as
    many elements or less. What is scaled must be at most 1 (exponentials of a softmax) and
    16-bit floats other than bf16, so that the sums stay in the device's range; casts in
    between stay before the contraction.

    ```mlir
    // spyre-opt --spyre-defer-scaling
    !s = tensor<64x512xf16>
    !r = tensor<64x1xf16>
    func.func @f(%s: !s, %v: tensor<512x64xf16>) -> tensor<64x64xf16> {
      %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
      %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
      %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
      %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
      %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
      %o = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%p[d0, d2], %v[d2, d1]) -> [d0, d1] : !s, tensor<512x64xf16> -> tensor<64x64xf16>
      return %o : tensor<64x64xf16>
    }
    // becomes
    func.func @f(…) -> … {
      …
      %4 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%2[d0, d2], %arg1[d2, d1]) -> [d0, d1] : …
      %5 = spyre.realdiv (d0 = 64, d1 = 64) ins(%4[d0, d1], %3[d0, 0]) -> [d0, d1] : …
      return %5 : …
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreSeparateUpdates : Pass<"spyre-separate-updates", "::mlir::func::FuncOp"> {
  let summary = "A tensor for each update";
  let description = [{
    Input: device operations, common subexpressions merged. Lowering: where several operations
    update one tensor, or others read it, too, all but the last get one of their own, made
    again. Output: what is updated has no other use.

    ```mlir
    // spyre-opt --spyre-separate-updates
    !h = tensor<64xf16>
    func.func @f(%x: !h, %y: !h, %z: !h) -> (tensor<128xf16>, tensor<128xf16>) {
      %0 = spyre.identity (d0 = 64) ins(%x[d0]) -> [d0] : !h -> tensor<128xf16>
      %1 = spyre.identity (d0 = 64) ins(%y[d0]) outs(%0[d0 + 64]) : !h -> tensor<128xf16>
      %2 = spyre.identity (d0 = 64) ins(%z[d0]) outs(%0[d0 + 64]) : !h -> tensor<128xf16>
      return %1, %2 : tensor<128xf16>, tensor<128xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<64xf16>, %arg1: tensor<64xf16>, %arg2: tensor<64xf16>) -> (tensor<128xf16>, tensor<128xf16>) {
      %0 = spyre.identity (d0 = 64) ins(%arg0[d0]) -> [d0] : tensor<64xf16> -> tensor<128xf16>
      %1 = spyre.identity (d0 = 64) ins(%arg0[d0]) -> [d0] : tensor<64xf16> -> tensor<128xf16>
      %2 = spyre.identity (d0 = 64) ins(%arg1[d0]) outs(%1[d0 + 64]) : tensor<64xf16> -> tensor<128xf16>
      %3 = spyre.identity (d0 = 64) ins(%arg2[d0]) outs(%0[d0 + 64]) : tensor<64xf16> -> tensor<128xf16>
      return %2, %3 : tensor<128xf16>, tensor<128xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreSkipHidden : Pass<"spyre-skip-hidden", "::mlir::func::FuncOp"> {
  let summary = "Do not compute what a mask hides that is known at compile time";
  let description = [{
    Input: composites decomposed, the mask a constant. Lowering: rows of scores are taken in
    bands, and each band computes the columns from the first to the last that the mask shows to
    one of its rows, in whole sticks, if by the OpFunc table's rules for padding the others
    change nothing (-inf for a largest number, zeros for sums and products) and it saves time by
    the device's rates: halves of a causal mask, the window of a sliding one. Results that leave
    the rows are written band by band. Masks of finite numbers hide nothing.

    ```mlir
    // spyre-opt --spyre-skip-hidden=bands=2
    !s = tensor<2x65xf16>
    func.func @f(%s: !s) -> tensor<2x1xf16> {
      // The first row sees three columns, the second all.
      %c = spyre.constant dense<"0x0700000000000000FEFFFFFFFFFFFFFF03"> : tensor<2x65xi1> : tensor<2x65xi1>
      %i = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>
      %0 = spyre.where3 (d0 = 2, d1 = 65) ins(%c[d0, d1], %s[d0, d1], %i[]) -> [d0, d1] : tensor<2x65xi1>, !s, tensor<f16> -> !s
      %1 = spyre.exp (d0 = 2, d1 = 65) ins(%0[d0, d1]) -> [d0, d1] : !s -> !s
      %2 = spyre.sum (d0 = 2, d1 = 65) ins(%1[d0, d1]) -> [d0, 0] : !s -> tensor<2x1xf16>
      return %2 : tensor<2x1xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<2x65xf16>) -> tensor<2x1xf16> {
      …
      %3 = spyre.where3 (d0 = 1, d1 = 64) ins(…, %arg0[d0, d1], %2[]) -> [d0, d1] : …
      %4 = spyre.exp (d0 = 1, d1 = 64) ins(%3[d0, d1]) -> [d0, d1] : …
      %5 = spyre.sum (d0 = 1, d1 = 64) ins(%4[d0, d1]) -> [d0, 0] : …
      …
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
  let options = [
    Option<"bands", "bands", "int64_t", /*default=*/"0",
           "Bands of each mask; 0: as many as are worth it">,
    Option<"inParts", "in-parts", "bool", /*default=*/"false",
           "Also rows whose columns no scratchpad holds, to be read in parts">,
  ];
}

def SpyreMoveScaling : Pass<"spyre-move-scaling", "::mlir::func::FuncOp"> {
  let summary = "Scale the factor of a product that is computed, not the argument";
  let description = [{
    Input: composites decomposed. Lowering: where one factor of a product is an argument times
    a number and the other one is computed by an elementwise operation, neither for anybody
    else, the other one is scaled, if it has no more elements: the product then reads the
    argument while it computes. Scores of attention are this, whose keys are centred.

    ```mlir
    // spyre-opt --spyre-move-scaling
    !t = tensor<64x128xf16>
    func.func @f(%q: !t, %k: !t, %c: tensor<1x128xf16>) -> tensor<64x64xf16> {
      %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
      %0 = spyre.mul (d0 = 64, d1 = 128) ins(%q[d0, d1], %n[]) -> [d0, d1] : !t, tensor<f16> -> !t
      %1 = spyre.sub (d0 = 64, d1 = 128) ins(%k[d0, d1], %c[0, d1]) -> [d0, d1] : !t, tensor<1x128xf16> -> !t
      %2 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%0[d0, d2], %1[d1, d2]) -> [d0, d1] : !t, !t -> tensor<64x64xf16>
      return %2 : tensor<64x64xf16>
    }
    // becomes
    func.func @f(…) -> … {
      %0 = spyre.constant … : tensor<f16>
      %1 = spyre.sub (d0 = 64, d1 = 128) ins(%arg1[d0, d1], %arg2[0, d1]) -> [d0, d1] : …
      %2 = spyre.mul (d0 = 64, d1 = 128) ins(%1[d0, d1], %0[]) -> [d0, d1] : …
      %3 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%arg0[d0, d2], %2[d1, d2]) -> [d0, d1] : …
      return %3 : …
    ```
  }];
}

def SpyreSafeRows : Pass<"spyre-safe-rows", "::mlir::func::FuncOp"> {
  let summary = "Softmaxes of rows that are masked altogether, without asking";
  let description = [{
    Input: composites decomposed, dead operations gone. Lowering: where zeros are chosen in
    place of a softmax's quotients for rows whose scores are all -inf, the row's largest
    score is kept finite and its sum at least 1 instead, which gives the same numbers.

    ```mlir
    // spyre-opt --spyre-safe-rows
    !s = tensor<64x512xf16>
    !r = tensor<64x1xf16>
    func.func @f(%s: !s) -> !s {
      %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
      %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
      %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
      %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
      %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
      %n = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>
      %q = spyre.equal (d0 = 64, d1 = 512) ins(%s[d0, d1], %n[]) -> [d0, d1] : !s, tensor<f16> -> tensor<64x512xi1>
      %a = spyre.min (d0 = 64, d1 = 512) ins(%q[d0, d1]) -> [d0, 0] : tensor<64x512xi1> -> tensor<64x1xi1>
      %z = spyre.constant dense<0.0> : tensor<f16> : tensor<f16>
      %w = spyre.where3 (d0 = 64, d1 = 512) ins(%a[d0, 0], %z[], %p[d0, d1]) -> [d0, d1] : tensor<64x1xi1>, tensor<f16>, !s -> !s
      return %w : !s
    }
    // becomes
    func.func @f(…) -> … {
      %0 = spyre.max (d0 = 64, d1 = 512) ins(%arg0[d0, d1]) -> [d0, 0] : …
      %1 = spyre.constant dense<-6.550400e+04> : …
      %2 = spyre.maximum (d0 = 64) ins(%0[d0, 0], %1[]) -> [d0, 0] : …
      …
      return %8 : …
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

def SpyreSplitDims : Pass<"spyre-split-dims", "::mlir::func::FuncOp"> {
  let summary = "Split iteration dims and intermediate tensors until maps are simple";
  let description = [{
    Input: views folded. Lowering: an iteration dim whose maps take it apart is split
    there; where a coordinate of an intermediate tensor then mixes iteration dims, the
    tensor gets the split dims as its own and its writer and other readers follow;
    iteration dims of extent 1 are dropped (their coordinates are 0). Output: as far as
    the program's own shapes allow, each coordinate is one iteration dim and a
    constant; only arguments and results, whose shapes are given, and the generated dim
    of a contraction, which the device has only one of, may keep mixed coordinates.

    ```mlir
    // spyre-opt --spyre-split-dims
    func.func @f(%x: tensor<2x32x128xf16>) -> tensor<2x32x128xf16> {
      %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0 floordiv 32, d0 mod 32, d1]) -> [d0, d1] : tensor<2x32x128xf16> -> tensor<64x128xf16>
      %1 = spyre.neg (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0 floordiv 32, d0 mod 32, d1] : tensor<64x128xf16> -> tensor<2x32x128xf16>
      return %1 : tensor<2x32x128xf16>
    }
    // becomes
    func.func @f(%arg0: tensor<2x32x128xf16>) -> tensor<2x32x128xf16> {
      %0 = spyre.exp (d0 = 2, d1 = 32, d2 = 128) ins(%arg0[d0, d1, d2]) -> [d0, d1, d2] : tensor<2x32x128xf16> -> tensor<2x32x128xf16>
      %1 = spyre.neg (d0 = 2, d1 = 32, d2 = 128) ins(%0[d0, d1, d2]) -> [d0, d1, d2] : tensor<2x32x128xf16> -> tensor<2x32x128xf16>
      return %1 : tensor<2x32x128xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spyre::SpyreDialect"];
}

#endif // SPYRE_TRANSFORMS_L1PASSES
