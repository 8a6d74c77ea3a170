// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// Windows that do not overlap are a view of the input; one product, the bias beside it.
// CHECK-LABEL: func @patches
// CHECK-NOT: spyre.concat
// CHECK: %[[P:.*]] = spyre.linear {{.*}} : tensor<50x48xf16>, tensor<16x48xf16> -> tensor<50x16xf16>
// CHECK: spyre.add {{.*}} -> tensor<2x16x5x5xf16>
func.func @patches(%x: !torch.vtensor<[2,3,21,20],f16>, %w: !torch.vtensor<[16,3,4,4],f16>, %b: !torch.vtensor<[16],f16>) -> !torch.vtensor<[2,16,5,5],f16> {
  %false = torch.constant.bool false
  %c0 = torch.constant.int 0
  %c1 = torch.constant.int 1
  %c4 = torch.constant.int 4
  %s = torch.prim.ListConstruct %c4, %c4 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %c0, %c0 : (!torch.int, !torch.int) -> !torch.list<int>
  %d = torch.prim.ListConstruct %c1, %c1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.convolution %x, %w, %b, %s, %p, %d, %false, %p, %c1 : !torch.vtensor<[2,3,21,20],f16>, !torch.vtensor<[16,3,4,4],f16>, !torch.vtensor<[16],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[2,16,5,5],f16>
  return %0 : !torch.vtensor<[2,16,5,5],f16>
}

// -----

// Taps side by side, with zeros around the input.
// CHECK-LABEL: func @taps
// CHECK: spyre.concat {{.*}} along 2 : tensor<1x8x1xf16>, tensor<1x8x9xf16>, tensor<1x8x1xf16> -> tensor<1x8x11xf16>
// CHECK: %[[T:.*]] = spyre.concat {{.*}} along 2 : tensor<1x9x8xf16>, tensor<1x9x8xf16>, tensor<1x9x8xf16> -> tensor<1x9x24xf16>
// CHECK: spyre.linear
func.func @taps(%x: !torch.vtensor<[1,8,9],f16>, %w: !torch.vtensor<[4,8,3],f16>) -> !torch.vtensor<[1,4,9],f16> {
  %none = torch.constant.none
  %c1 = torch.constant.int 1
  %s = torch.prim.ListConstruct %c1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.conv1d %x, %w, %none, %s, %s, %s, %c1 : !torch.vtensor<[1,8,9],f16>, !torch.vtensor<[4,8,3],f16>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,9],f16>
  return %0 : !torch.vtensor<[1,4,9],f16>
}

// -----

// Channels by themselves are added up in f32; pooling takes the largest tap, or the dims of a view.
// CHECK-LABEL: func @alone
// CHECK-NOT: spyre.matmul
// CHECK-COUNT-2: spyre.add {{.*}} tensor<1x8x1x7xf32>
// CHECK: spyre.convert {{.*}} to tensor<1x8x1x7xf16>
// CHECK-COUNT-2: spyre.maximum {{.*}} tensor<1x8x5xf16>
// CHECK: spyre.max (d0 = 1, d1 = 8, d2 = 3, d3 = 2)
func.func @alone(%x: !torch.vtensor<[1,8,9],f16>, %w: !torch.vtensor<[8,1,3],f16>) -> (!torch.vtensor<[1,8,5],f16>, !torch.vtensor<[1,8,3],f16>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %c0 = torch.constant.int 0
  %c1 = torch.constant.int 1
  %c2 = torch.constant.int 2
  %c3 = torch.constant.int 3
  %c8 = torch.constant.int 8
  %l0 = torch.prim.ListConstruct %c0 : (!torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %c1 : (!torch.int) -> !torch.list<int>
  %l2 = torch.prim.ListConstruct %c2 : (!torch.int) -> !torch.list<int>
  %l3 = torch.prim.ListConstruct %c3 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.conv1d %x, %w, %none, %l1, %l0, %l1, %c8 : !torch.vtensor<[1,8,9],f16>, !torch.vtensor<[8,1,3],f16>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,8,7],f16>
  %1 = torch.aten.max_pool1d %0, %l3, %l1, %l0, %l1, %false : !torch.vtensor<[1,8,7],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,8,5],f16>
  %2 = torch.aten.max_pool1d %0, %l2, %l2, %l0, %l1, %false : !torch.vtensor<[1,8,7],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,8,3],f16>
  return %1, %2 : !torch.vtensor<[1,8,5],f16>, !torch.vtensor<[1,8,3],f16>
}
