// RUN: spyre-opt %s | spyre-opt | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: torch.assume_strict_symbolic_shapes
func.func @f(%x: !torch.vtensor<[2,?],f16>, %n: !torch.int) -> !torch.vtensor<[2],f16>
    attributes {torch.assume_strict_symbolic_shapes} {
  // CHECK: torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  %s = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  // CHECK: torch.bind_symbolic_shape %{{.*}}, [%{{.*}}], affine_map<()[s0] -> (2, s0)> : !torch.vtensor<[2,?],f16>
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (2, s0)> : !torch.vtensor<[2,?],f16>
  // CHECK: torch.constant.int -1
  %int-1 = torch.constant.int -1
  // CHECK: torch.constant.float 0xFFF0000000000000
  %float = torch.constant.float 0xFFF0000000000000
  // CHECK: torch.constant.bool true
  %true = torch.constant.bool true
  // CHECK: torch.prim.ListConstruct : () -> !torch.list<int>
  %empty = torch.prim.ListConstruct  : () -> !torch.list<int>
  // CHECK: torch.prim.ListConstruct %{{.*}}, %{{.*}} : (!torch.int, !torch.int) -> !torch.list<int>
  %list = torch.prim.ListConstruct %int-1, %n : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: %[[R:.*]]:2 = torch.aten.max.dim %{{.*}} : !torch.vtensor<[2,?],f16>, !torch.int, !torch.bool -> !torch.vtensor<[2],f16>, !torch.vtensor<[2],si64>
  %v, %i = torch.aten.max.dim %x, %int-1, %true : !torch.vtensor<[2,?],f16>, !torch.int, !torch.bool -> !torch.vtensor<[2],f16>, !torch.vtensor<[2],si64>
  // CHECK: torch.operator "my.op"(%[[R]]#0) : (!torch.vtensor<[2],f16>) -> !torch.vtensor<[2],f16>
  %0 = torch.operator "my.op"(%v) : (!torch.vtensor<[2],f16>) -> !torch.vtensor<[2],f16>
  return %0 : !torch.vtensor<[2],f16>
}
