// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// In f32, narrowed once; the series where the difference cancels.
// CHECK-LABEL: func @sinh
// CHECK: spyre.convert %arg0 : tensor<5xf16> to tensor<5xf32>
// CHECK-COUNT-2: spyre.exp
// CHECK: spyre.where3
// CHECK: spyre.convert {{.*}} : tensor<5xf32> to tensor<5xf16>
func.func @sinh(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %0 = torch.aten.sinh %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// max + softplus(-|x - y|).
// CHECK-LABEL: func @logaddexp
// CHECK-DAG: %[[M:.*]] = spyre.maximum
// CHECK-DAG: %[[D:.*]] = spyre.sub
// CHECK-DAG: %[[A:.*]] = spyre.abs {{.*}}ins(%[[D]]
// CHECK-DAG: %[[S:.*]] = spyre.softplus
// CHECK: spyre.add {{.*}}ins(%[[M]][d0, d1], %[[S]][d0, d1])
func.func @logaddexp(%x: !torch.vtensor<[3,5],f16>, %y: !torch.vtensor<[5],f16>) -> !torch.vtensor<[3,5],f16> {
  %0 = torch.aten.logaddexp %x, %y : !torch.vtensor<[3,5],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[3,5],f16>
  return %0 : !torch.vtensor<[3,5],f16>
}

// -----

// x log(w) / (w - 1) for w = 1 + x as f32 has it.
// CHECK-LABEL: func @log1p_f32
// CHECK: spyre.add {{.*}} : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
// CHECK: %[[W:.*]] = spyre.minimum
// CHECK: %[[E:.*]] = spyre.sub {{.*}}ins(%[[W]][d0]
// CHECK: spyre.log {{.*}}ins(%[[W]][d0])
// CHECK: spyre.where3 {{.*}}ins(%[[E]][d0]
func.func @log1p_f32(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %0 = torch.aten.log1p %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}

// -----

// The largest magnitude is taken out; the cube root by square roots.
// CHECK-LABEL: func @norm3
// CHECK: %[[A:.*]] = spyre.abs {{.*}} : tensor<3x5xf16> -> tensor<3x5xf16>
// CHECK: spyre.max {{.*}}ins(%[[A]]
// CHECK: spyre.realdiv
// CHECK: spyre.sum {{.*}} : tensor<3x5xf32> -> tensor<3x1xf32>
// CHECK-COUNT-16: spyre.sqrt
// CHECK-NOT: spyre.log
// CHECK: return
func.func @norm3(%x: !torch.vtensor<[3,5],f16>) -> !torch.vtensor<[3],f16> {
  %int3 = torch.constant.int 3
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.linalg_vector_norm %x, %int3, %0, %false, %none : !torch.vtensor<[3,5],f16>, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f16>
  return %1 : !torch.vtensor<[3],f16>
}

// -----

// A NaN of 16 bits is the largest number. In f32 each operand gives way where it is one.
// CHECK-LABEL: func @fmin
// CHECK: spyre.minimum {{.*}}ins(%arg0[d0], %arg1[d0])
// CHECK: spyre.where3 {{.*}} %arg3[d0], %arg2[d0])
// CHECK: spyre.where3 {{.*}} %arg2[d0], %arg3[d0])
// CHECK: spyre.minimum
func.func @fmin(%a: !torch.vtensor<[5],f16>, %b: !torch.vtensor<[5],f16>, %c: !torch.vtensor<[5],f32>, %d: !torch.vtensor<[5],f32>) -> (!torch.vtensor<[5],f16>, !torch.vtensor<[5],f32>) {
  %0 = torch.aten.fmin %a, %b : !torch.vtensor<[5],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  %1 = torch.aten.fmin %c, %d : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0, %1 : !torch.vtensor<[5],f16>, !torch.vtensor<[5],f32>
}

// -----

// CHECK-LABEL: func @isfinite
// CHECK: spyre.lesserequal {{.*}} -> tensor<5xi1>
func.func @isfinite(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],i1> {
  %0 = torch.aten.isfinite %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],i1>
  return %0 : !torch.vtensor<[5],i1>
}

// -----

// One product with the batch in its K; an input times 0 is not read.
// CHECK-LABEL: func @addbmm
// CHECK: spyre.matmul {{.*}} : tensor<2x45xf16>, tensor<45x7xf16> -> tensor<2x7xf16>
// CHECK-NOT: %arg0
// CHECK: return
func.func @addbmm(%c: !torch.vtensor<[2,7],f16>, %a: !torch.vtensor<[5,2,9],f16>, %b: !torch.vtensor<[5,9,7],f16>) -> !torch.vtensor<[2,7],f16> {
  %float0 = torch.constant.float 0.000000e+00
  %float2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.addbmm %c, %a, %b, %float0, %float2 : !torch.vtensor<[2,7],f16>, !torch.vtensor<[5,2,9],f16>, !torch.vtensor<[5,9,7],f16>, !torch.float, !torch.float -> !torch.vtensor<[2,7],f16>
  return %0 : !torch.vtensor<[2,7],f16>
}

// -----

// CHECK-LABEL: func @trilinear
// CHECK-COUNT-2: spyre.mul {{.*}}xf32>
// CHECK: spyre.sum {{.*}}xf32> -> tensor<2x3xf32>
func.func @trilinear(%a: !torch.vtensor<[2,4],f16>, %b: !torch.vtensor<[3,4,5],f16>, %c: !torch.vtensor<[2,5],f16>) -> !torch.vtensor<[2,3],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.prim.ListConstruct %int1, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %2 = torch.prim.ListConstruct %int1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.prim.ListConstruct %int2, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  %4 = torch.aten._trilinear %a, %b, %c, %0, %1, %2, %3, %int1 : !torch.vtensor<[2,4],f16>, !torch.vtensor<[3,4,5],f16>, !torch.vtensor<[2,5],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,3],f16>
  return %4 : !torch.vtensor<[2,3],f16>
}

// -----

// bf16 in f32, narrowed once.
// CHECK-LABEL: func @asin
// CHECK: spyre.convert %arg0 : tensor<5xbf16> to tensor<5xf32>
// CHECK: spyre.sqrt {{.*}} : tensor<5xf32>
// CHECK: spyre.convert {{.*}} : tensor<5xf32> to tensor<5xbf16>
func.func @asin(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.asin %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @acos_bf16
// CHECK: spyre.sqrt {{.*}} : tensor<5xf32>
func.func @acos_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.acos %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @asin_f32
// CHECK: spyre.sqrt {{.*}} : tensor<5xf32>
func.func @asin_f32(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %0 = torch.aten.asin %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}

// -----

// CHECK-LABEL: func @acos_f32
// CHECK: spyre.sqrt {{.*}} : tensor<5xf32>
func.func @acos_f32(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %0 = torch.aten.acos %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}

// -----

// CHECK-LABEL: func @acosh_bf16
// CHECK: spyre.log {{.*}} : tensor<5xf32>
func.func @acosh_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.acosh %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @atanh_bf16
// CHECK: spyre.log {{.*}} : tensor<5xf32>
func.func @atanh_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.atanh %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @erfc_bf16
// CHECK: spyre.exp {{.*}} : tensor<5xf32>
func.func @erfc_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.erfc %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @asinh_f16
// CHECK: spyre.log {{.*}} : tensor<5xf32>
func.func @asinh_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %0 = torch.aten.asinh %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// CHECK-LABEL: func @asinh_bf16
// CHECK: spyre.log {{.*}} : tensor<5xf32>
func.func @asinh_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.asinh %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @atan_f16
// CHECK: spyre.reciprocal {{.*}} : tensor<5xf32>
func.func @atan_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %0 = torch.aten.atan %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// CHECK-LABEL: func @atan_bf16
// CHECK: spyre.reciprocal {{.*}} : tensor<5xf32>
func.func @atan_bf16(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %0 = torch.aten.atan %x : !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @atan_f32
// CHECK: spyre.reciprocal {{.*}} : tensor<5xf32>
func.func @atan_f32(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %0 = torch.aten.atan %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}

// -----

// CHECK-LABEL: func @logit
// CHECK: spyre.log {{.*}} : tensor<5xf32>
func.func @logit(%x: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  %none = torch.constant.none
  %0 = torch.aten.logit %x, %none : !torch.vtensor<[5],bf16>, !torch.none -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

// CHECK-LABEL: func @hypot
// CHECK: spyre.sqrt {{.*}} : tensor<5xf32>
// CHECK: spyre.convert {{.*}} : tensor<5xf32> to tensor<5xf16>
func.func @hypot(%x: !torch.vtensor<[5],f16>, %y: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %0 = torch.aten.hypot %x, %y : !torch.vtensor<[5],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// CHECK-LABEL: func @products
// CHECK-COUNT-3: spyre.matmul
func.func @products(%a: !torch.vtensor<[3,4],f16>, %v: !torch.vtensor<[4],f16>) -> (!torch.vtensor<[3],f16>, !torch.vtensor<[],f16>, !torch.vtensor<[],f16>) {
  %0 = torch.aten.mv %a, %v : !torch.vtensor<[3,4],f16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[3],f16>
  %1 = torch.aten.dot %v, %v : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[],f16>
  %2 = torch.aten.vdot %v, %v : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[],f16>
  return %0, %1, %2 : !torch.vtensor<[3],f16>, !torch.vtensor<[],f16>, !torch.vtensor<[],f16>
}

// -----

// Angles of f32 less multiples of pi/2, in parts that none of the products rounds; an f16 argument is
// read as the host has it.
// CHECK-LABEL: func @sines
// CHECK: spyre.floor
// CHECK-COUNT-6: spyre.sub
// CHECK: spyre.where3
func.func @sines(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[5],f16> {spyre.on_host}) -> (!torch.vtensor<[5],f32>, !torch.vtensor<[5],f16>) {
  %0 = torch.aten.sin %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  %1 = torch.aten.cos %y : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0, %1 : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f16>
}
