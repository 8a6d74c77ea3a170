// RUN: spyre-opt %s --spyre-divide-work=search=false | FileCheck %s --check-prefix=HEURISTIC
// RUN: spyre-opt %s --spyre-divide-work | FileCheck %s
// RUN: spyre-opt %s --spyre-divide-work=exhaustive=true | FileCheck %s
// RUN: spyre-opt %s --spyre-divide-work=cores=1 | FileCheck %s --check-prefix=ONE
// RUN: spyre-opt %s --spyre-divide-work --spyre-divide-work | FileCheck %s
// RUN: not spyre-opt %s --spyre-divide-work=cores=33 2>&1 | FileCheck %s --check-prefix=TOO-MANY

// TOO-MANY: error: spyre-divide-work: cores=33: the device has 32 cores
// TOO-MANY-NOT: see current operation

#A = #spyre.layout<[16, 512, 64], order [0, 1], SEN169_FP16>
#B = #spyre.layout<[64, 1024, 64], order [0, 1], SEN169_FP16>
#C = #spyre.layout<[64, 512, 64], order [0, 1], SEN169_FP16>

// The heuristic cuts rows only: 16 rows a core fill half of the array's pipeline,
// and 32 cores read the whole second operand. Cut both ways it is cheaper, and
// what follows is divided like it, so that its operand stays where it is.
// HEURISTIC-LABEL: func.func @matmul_then_pointwise
// HEURISTIC: spyre.batchmatmul (d0 = 512 / 32, d1 = 4096, d2 = 1024)
// HEURISTIC: spyre.exp (d0 = 512 / 32, d1 = 4096)
// CHECK-LABEL: func.func @matmul_then_pointwise
// CHECK: spyre.batchmatmul (d0 = 512 / [[M:4|8]], d1 = 4096 / [[N:4|8]], d2 = 1024)
// CHECK: spyre.exp (d0 = 512 / [[M]], d1 = 4096 / [[N]])
// CHECK: spyre.neg (d0 = 512 / [[M]], d1 = 4096 / [[N]])
// ONE-LABEL: func.func @matmul_then_pointwise
// ONE: spyre.batchmatmul (d0 = 512, d1 = 4096, d2 = 1024)
func.func @matmul_then_pointwise(%a: tensor<512x1024xf16, #A>, %b: tensor<1024x4096xf16, #B>) -> tensor<512x4096xf16, #C> {
  %0 = spyre.batchmatmul (d0 = 512, d1 = 4096, d2 = 1024) ins(%a[d0, d2], %b[d2, d1]) -> [d0, d1] : tensor<512x1024xf16, #A>, tensor<1024x4096xf16, #B> -> tensor<512x4096xf16, #C>
  %1 = spyre.exp (d0 = 512, d1 = 4096) ins(%0[d0, d1]) -> [d0, d1] : tensor<512x4096xf16, #C> -> tensor<512x4096xf16, #C>
  %2 = spyre.neg (d0 = 512, d1 = 4096) ins(%1[d0, d1]) -> [d0, d1] : tensor<512x4096xf16, #C> -> tensor<512x4096xf16, #C>
  return %2 : tensor<512x4096xf16, #C>
}

// Negative: pointwise operations take the same time however they are divided, and
// a division by hand stays.
// HEURISTIC-LABEL: func.func @nothing_to_gain
// HEURISTIC: spyre.exp (d0 = 512 / 32, d1 = 4096)
// HEURISTIC: spyre.batchmatmul (d0 = 512 / 2, d1 = 4096, d2 = 4096)
// CHECK-LABEL: func.func @nothing_to_gain
// CHECK: spyre.exp (d0 = 512 / 32, d1 = 4096)
// CHECK: spyre.batchmatmul (d0 = 512 / 2, d1 = 4096, d2 = 4096)
func.func @nothing_to_gain(%x: tensor<512x4096xf16, #C>, %y: tensor<4096x4096xf16, #spyre.layout<[64, 4096, 64], order [0, 1], SEN169_FP16>>) -> tensor<512x4096xf16, #C> {
  %0 = spyre.exp (d0 = 512, d1 = 4096) ins(%x[d0, d1]) -> [d0, d1] : tensor<512x4096xf16, #C> -> tensor<512x4096xf16, #C>
  %1 = spyre.batchmatmul (d0 = 512 / 2, d1 = 4096, d2 = 4096) ins(%0[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<512x4096xf16, #C>, tensor<4096x4096xf16, #spyre.layout<[64, 4096, 64], order [0, 1], SEN169_FP16>> -> tensor<512x4096xf16, #C>
  return %1 : tensor<512x4096xf16, #C>
}
