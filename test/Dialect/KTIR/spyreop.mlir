// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func.func @floats
func.func @floats(%x: f16, %y: f32, %d: !spyreop.df16) -> f16 {
  // CHECK: spyreop.exp %arg0 : f16
  %0 = spyreop.exp %x : f16
  // CHECK: spyreop.sqrt %arg1 : f32
  %1 = spyreop.sqrt %y : f32
  // CHECK: spyreop.rsqrt %arg2 : !spyreop.df16
  %2 = spyreop.rsqrt %d : !spyreop.df16
  // CHECK: spyreop.reciprocal %arg0 : f16
  %3 = spyreop.reciprocal %x : f16
  // CHECK: spyreop.sigmoid %arg0 : f16
  %4 = spyreop.sigmoid %x : f16
  // CHECK: spyreop.silu %arg0 : f16
  %5 = spyreop.silu %x : f16
  // CHECK: spyreop.gelu %arg2 : !spyreop.df16
  %6 = spyreop.gelu %d : !spyreop.df16
  // CHECK: spyreop.realdiv %arg0, %arg0 : f16
  %7 = spyreop.realdiv %x, %x : f16
  // CHECK: spyreop.softplus %arg0 beta 2.000000e+00 threshold 2.000000e+01 : f16
  %8 = spyreop.softplus %x beta 2.0 threshold 20.0 : f16
  // CHECK: spyreop.compare <lesserequal> %arg0, %arg0 : f16
  %9 = spyreop.compare <lesserequal> %x, %x : f16
  // CHECK: spyreop.select %arg0, %arg0, %arg0 : f16
  %10 = spyreop.select %x, %x, %x : f16
  // CHECK: spyreop.constant 2.500000e+00 : f16
  %11 = spyreop.constant 2.5 : f16
  return %0 : f16
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: f16, %d: !spyreop.df16, %p: !spyreop.fp32_fused) {
  // CHECK: %{{.*}}, %{{.*}} = spyreop.exx2 %arg0 : f16
  %m, %s = spyreop.exx2 %x : f16
  // CHECK: spyreop.exx2_fused %arg1 : !spyreop.df16 -> !spyreop.df16_fused
  %f = spyreop.exx2_fused %d : !spyreop.df16 -> !spyreop.df16_fused
  // CHECK: spyreop.layernormscale %{{.*}} squares %{{.*}} : f16
  %l = spyreop.layernormscale %m squares %s : f16
  // CHECK: spyreop.layernormscale_fused %arg2 : !spyreop.fp32_fused -> f32
  %k = spyreop.layernormscale_fused %p : !spyreop.fp32_fused -> f32
  // CHECK: spyreop.layernormnorm %arg0 squares %{{.*}} scale %{{.*}} weight %arg0 bias %arg0 : f16
  %n = spyreop.layernormnorm %x squares %m scale %l weight %x bias %x : f16
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%i: i32, %j: i64, %x: tensor<64xf16>, %m: memref<4x!spyreop.fp16_fused>) {
  // CHECK: spyreop.addi32toi32 %arg0, %arg0
  %0 = spyreop.addi32toi32 %i, %i
  // CHECK: spyreop.muli32toi32 %arg0, %arg0
  %1 = spyreop.muli32toi32 %i, %i
  // CHECK: spyreop.addi64toi64 %arg1, %arg1
  %2 = spyreop.addi64toi64 %j, %j
  // CHECK: spyreop.idx32toaddr %arg0 base %arg0 stride %arg0
  %3 = spyreop.idx32toaddr %i base %i stride %i
  // CHECK: spyreop.slice_reduction %arg2 {reduction_kind = #spyreop.reduction_kind<abs_max>, reduction_scope = #spyreop.reduction_scope<across_slice>} : tensor<64xf16> -> tensor<64xf16>
  %4 = spyreop.slice_reduction %x {reduction_kind = #spyreop.reduction_kind<abs_max>,
      reduction_scope = #spyreop.reduction_scope<across_slice>} : tensor<64xf16> -> tensor<64xf16>
  return
}
