// RUN: spyre-opt %s --split-input-file --spyre-specialize-shapes | FileCheck %s

// Slices with constant bounds: from the end, to the end, in steps.
// CHECK-LABEL: func.func @slices
func.func @slices(%arg0: !torch.vtensor<[10,3],f16>, %arg1: !torch.int) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-4 = torch.constant.int -4
  // CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[4,3],f16>
  %0 = torch.aten.slice.Tensor %arg0, %int0, %int-4, %none, %int1 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  // CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[5,3],f16>
  %1 = torch.aten.slice.Tensor %arg0, %int0, %int0, %none, %int2 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  // The program computes the bound.
  // CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[?,3],f16>
  %2 = torch.aten.slice.Tensor %arg0, %int0, %arg1, %none, %int1 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  return
}

// -----

// CHECK-LABEL: func.func @views
func.func @views(%x: !torch.vtensor<[2,3,4],f16>, %s: !torch.vtensor<[2,1,4],f16>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int2, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[2,12],f16>
  %0 = torch.aten.view %x, %l0 : !torch.vtensor<[2,3,4],f16>, !torch.list<int> -> !torch.vtensor<[?,?],f16>
  %l1 = torch.prim.ListConstruct %int-1, %int3, %int-1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // Two are open: no shape.
  // CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[?,3,?],f16>
  %1 = torch.aten.view %x, %l1 : !torch.vtensor<[2,3,4],f16>, !torch.list<int> -> !torch.vtensor<[?,3,?],f16>
  // CHECK: torch.aten.expand {{.*}} -> !torch.vtensor<[2,3,4],f16>
  %2 = torch.aten.expand %s, %l1, %false : !torch.vtensor<[2,1,4],f16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,?,?],f16>
  %l2 = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.permute {{.*}} -> !torch.vtensor<[4,2,3],f16>
  %3 = torch.aten.permute %x, %l2 : !torch.vtensor<[2,3,4],f16>, !torch.list<int> -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.transpose.int {{.*}} -> !torch.vtensor<[4,3,2],f16>
  %4 = torch.aten.transpose.int %x, %int0, %int-1 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[2,3,4,1],f16>
  %5 = torch.aten.unsqueeze %x, %int-1 : !torch.vtensor<[2,3,4],f16>, !torch.int -> !torch.vtensor<[?,?,?,1],f16>
  // CHECK: torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[2,4],f16>
  %6 = torch.aten.squeeze.dim %s, %int1 : !torch.vtensor<[2,1,4],f16>, !torch.int -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.squeeze {{.*}} -> !torch.vtensor<[2,4],f16>
  %7 = torch.aten.squeeze %s : !torch.vtensor<[2,1,4],f16> -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.select.int {{.*}} -> !torch.vtensor<[2,4],f16>
  %8 = torch.aten.select.int %x, %int1, %int0 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[6,4],f16>
  %9 = torch.aten.flatten.using_ints %x, %int0, %int1 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.unflatten.int {{.*}} -> !torch.vtensor<[2,3,2,2],f16>
  %10 = torch.aten.unflatten.int %x, %int2, %l0 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.list<int> -> !torch.vtensor<[?,?,?,?],f16>
  // Another rank than the text says: left alone.
  // CHECK: torch.aten.select.int {{.*}} -> !torch.vtensor<[?,?,?],f16>
  %11 = torch.aten.select.int %x, %int1, %int0 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f16>
  // Another size than the text says: left alone.
  // CHECK: torch.aten.select.int {{.*}} -> !torch.vtensor<[3,?],f16>
  %12 = torch.aten.select.int %x, %int1, %int0 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[3,?],f16>
  return
}

// -----

// CHECK-LABEL: func.func @copies
func.func @copies(%x: !torch.vtensor<[2,3],f16>, %y: !torch.vtensor<[2,4],f16>, %i: !torch.vtensor<[5,1],si64>, %j: !torch.vtensor<[6],si64>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %none = torch.constant.none
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[2,3],f16>, !torch.vtensor<[2,4],f16>) -> !torch.list<vtensor>
  // CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[2,7],f16>
  %0 = torch.aten.cat %l0, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,?],f16>
  %l1 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[2,3],f16>, !torch.vtensor<[2,3],f16>) -> !torch.list<vtensor>
  // CHECK: torch.aten.stack {{.*}} -> !torch.vtensor<[2,2,3],f16>
  %1 = torch.aten.stack %l1, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,?,?],f16>
  %l2 = torch.prim.ListConstruct %int2, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.repeat {{.*}} -> !torch.vtensor<[2,2,6],f16>
  %2 = torch.aten.repeat %x, %l2 : !torch.vtensor<[2,3],f16>, !torch.list<int> -> !torch.vtensor<[?,?,?],f16>
  %l3 = torch.prim.ListConstruct %int1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.constant_pad_nd {{.*}} -> !torch.vtensor<[2,6],f16>
  %3 = torch.aten.constant_pad_nd %x, %l3, %int0 : !torch.vtensor<[2,3],f16>, !torch.list<int>, !torch.int -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.index_select {{.*}} -> !torch.vtensor<[2,6],f16>
  %4 = torch.aten.index_select %x, %int1, %j : !torch.vtensor<[2,3],f16>, !torch.int, !torch.vtensor<[6],si64> -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.gather {{.*}} -> !torch.vtensor<[5,1],f16>
  %5 = torch.aten.gather %x, %int1, %i, %false : !torch.vtensor<[2,3],f16>, !torch.int, !torch.vtensor<[5,1],si64>, !torch.bool -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.embedding {{.*}} -> !torch.vtensor<[5,1,3],f16>
  %6 = torch.aten.embedding %x, %i, %int-1, %false, %false : !torch.vtensor<[2,3],f16>, !torch.vtensor<[5,1],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[?,?,?],f16>
  %l4 = torch.prim.ListConstruct %i, %j : (!torch.vtensor<[5,1],si64>, !torch.vtensor<[6],si64>) -> !torch.list<optional<vtensor>>
  // CHECK: torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[5,6],f16>
  %7 = torch.aten.index.Tensor %x, %l4 : !torch.vtensor<[2,3],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?],f16>
  %l5 = torch.prim.ListConstruct %none, %j : (!torch.none, !torch.vtensor<[6],si64>) -> !torch.list<optional<vtensor>>
  // CHECK: torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[2,6],f16>
  %8 = torch.aten.index.Tensor %x, %l5 : !torch.vtensor<[2,3],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?],f16>
  return
}

// -----

// How many elements a mask picks is in its values.
// CHECK-LABEL: func.func @negative_mask
// CHECK: torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[?],f16>
func.func @negative_mask(%x: !torch.vtensor<[3],f16>, %m: !torch.vtensor<[3],i1>) {
  %l = torch.prim.ListConstruct %m : (!torch.vtensor<[3],i1>) -> !torch.list<optional<vtensor>>
  %0 = torch.aten.index.Tensor %x, %l : !torch.vtensor<[3],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?],f16>
  return
}

// -----

// Indices with a kept dim between them: their shape comes first.
// CHECK-LABEL: func.func @indices_apart
// CHECK: torch.aten.index.Tensor {{.*}} -> !torch.vtensor<[6,3],f16>
func.func @indices_apart(%x: !torch.vtensor<[2,3,4],f16>, %i: !torch.vtensor<[6],si64>) {
  %none = torch.constant.none
  %l = torch.prim.ListConstruct %i, %none, %i : (!torch.vtensor<[6],si64>, !torch.none, !torch.vtensor<[6],si64>) -> !torch.list<optional<vtensor>>
  %0 = torch.aten.index.Tensor %x, %l : !torch.vtensor<[2,3,4],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?],f16>
  return
}

// -----

// CHECK-LABEL: func.func @pointwise
func.func @pointwise(%x: !torch.vtensor<[2,1,4],f16>, %y: !torch.vtensor<[3,1],f16>, %z: !torch.vtensor<[5],f16>, %s: !torch.vtensor<[],f16>) {
  %int1 = torch.constant.int 1
  // CHECK: torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[2,3,4],f16>
  %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[2,1,4],f16>, !torch.vtensor<[3,1],f16>, !torch.int -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.mul.Tensor {{.*}} -> !torch.vtensor<[3,1],f16>
  %1 = torch.aten.mul.Tensor %y, %s : !torch.vtensor<[3,1],f16>, !torch.vtensor<[],f16> -> !torch.vtensor<[?,1],f16>
  // These do not broadcast.
  // CHECK: torch.aten.maximum {{.*}} -> !torch.vtensor<[?,?,?],f16>
  %2 = torch.aten.maximum %x, %z : !torch.vtensor<[2,1,4],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[?,?,?],f16>
  // One of unknown size.
  // CHECK: torch.aten.exp {{.*}} -> !torch.vtensor<[?,?,?],f16>
  %3 = torch.aten.exp %2 : !torch.vtensor<[?,?,?],f16> -> !torch.vtensor<[?,?,?],f16>
  // An operation of no kind.
  // CHECK: torch.aten.unheard_of {{.*}} -> !torch.vtensor<[?],f16>
  %4 = torch.aten.unheard_of %z : !torch.vtensor<[5],f16> -> !torch.vtensor<[?],f16>
  return
}

// -----

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: !torch.vtensor<[2,3,4],f16>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %l = torch.prim.ListConstruct %int0, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[3],f16>
  %0 = torch.aten.sum.dim_IntList %x, %l, %false, %none : !torch.vtensor<[2,3,4],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?],f16>
  // CHECK: torch.aten.amax {{.*}} -> !torch.vtensor<[1,3,1],f16>
  %1 = torch.aten.amax %x, %l, %true : !torch.vtensor<[2,3,4],f16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,?,1],f16>
  // CHECK: torch.aten.max.dim {{.*}} -> !torch.vtensor<[2,4],f16>, !torch.vtensor<[2,4],si64>
  %2:2 = torch.aten.max.dim %x, %int1, %false : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.bool -> !torch.vtensor<[?,?],f16>, !torch.vtensor<[?,?],si64>
  // CHECK: torch.aten.var.correction {{.*}} -> !torch.vtensor<[1,3,1],f16>
  %3 = torch.aten.var.correction %x, %l, %int1, %true : !torch.vtensor<[2,3,4],f16>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.linalg_vector_norm {{.*}} -> !torch.vtensor<[3],f16>
  %4 = torch.aten.linalg_vector_norm %x, %int2, %l, %false, %none : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?],f16>
  // CHECK: torch.aten.topk {{.*}} -> !torch.vtensor<[2,3,2],f16>, !torch.vtensor<[2,3,2],si64>
  %5:2 = torch.aten.topk %x, %int2, %int-1, %true, %true : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[?,?,?],f16>, !torch.vtensor<[?,?,?],si64>
  return
}

// -----

// CHECK-LABEL: func.func @products
func.func @products(%x: !torch.vtensor<[5,2,3],f16>, %y: !torch.vtensor<[3,4],f16>, %w: !torch.vtensor<[7,3],f16>, %v: !torch.vtensor<[3],f16>) {
  %none = torch.constant.none
  // CHECK: torch.aten.matmul {{.*}} -> !torch.vtensor<[5,2,4],f16>
  %0 = torch.aten.matmul %x, %y : !torch.vtensor<[5,2,3],f16>, !torch.vtensor<[3,4],f16> -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.matmul {{.*}} -> !torch.vtensor<[5,2],f16>
  %1 = torch.aten.matmul %x, %v : !torch.vtensor<[5,2,3],f16>, !torch.vtensor<[3],f16> -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.linear {{.*}} -> !torch.vtensor<[5,2,7],f16>
  %2 = torch.aten.linear %x, %w, %none : !torch.vtensor<[5,2,3],f16>, !torch.vtensor<[7,3],f16>, !torch.none -> !torch.vtensor<[?,?,?],f16>
  // CHECK: torch.aten.mm {{.*}} -> !torch.vtensor<[7,4],f16>
  %3 = torch.aten.mm %w, %y : !torch.vtensor<[7,3],f16>, !torch.vtensor<[3,4],f16> -> !torch.vtensor<[?,?],f16>
  // The inner sizes differ.
  // CHECK: torch.aten.mm {{.*}} -> !torch.vtensor<[?,?],f16>
  %4 = torch.aten.mm %y, %w : !torch.vtensor<[3,4],f16>, !torch.vtensor<[7,3],f16> -> !torch.vtensor<[?,?],f16>
  return
}

// -----

// CHECK-LABEL: func.func @windows
func.func @windows(%x: !torch.vtensor<[1,2,9,8],f16>, %w: !torch.vtensor<[6,2,3,3],f16>, %u: !torch.vtensor<[2,6,3,3],f16>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %l0 = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %l2 = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %l3 = torch.prim.ListConstruct %int3, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  %empty = torch.prim.ListConstruct  : () -> !torch.list<int>
  // CHECK: torch.aten.convolution {{.*}} -> !torch.vtensor<[1,6,5,4],f16>
  %0 = torch.aten.convolution %x, %w, %none, %l2, %l1, %l1, %false, %l0, %int1 : !torch.vtensor<[1,2,9,8],f16>, !torch.vtensor<[6,2,3,3],f16>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[1,6,?,?],f16>
  // CHECK: torch.aten.convolution {{.*}} -> !torch.vtensor<[1,6,18,16],f16>
  %1 = torch.aten.convolution %x, %u, %none, %l2, %l1, %l1, %true, %l1, %int1 : !torch.vtensor<[1,2,9,8],f16>, !torch.vtensor<[2,6,3,3],f16>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[1,6,?,?],f16>
  // Without a stride it is the window's size; ceil_mode.
  // CHECK: torch.aten.max_pool2d {{.*}} -> !torch.vtensor<[1,2,3,3],f16>
  %2 = torch.aten.max_pool2d %x, %l3, %empty, %l0, %l1, %true : !torch.vtensor<[1,2,9,8],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,2,?,?],f16>
  // CHECK: torch.aten.avg_pool2d {{.*}} -> !torch.vtensor<[1,2,4,3],f16>
  %3 = torch.aten.avg_pool2d %x, %l3, %l2, %l0, %false, %true, %none : !torch.vtensor<[1,2,9,8],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[1,2,?,?],f16>
  return
}

// -----

// CHECK-LABEL: func.func @made
func.func @made(%x: !torch.vtensor<[2,3],f16>) {
  %none = torch.constant.none
  %int-3 = torch.constant.int -3
  %int2 = torch.constant.int 2
  %int8 = torch.constant.int 8
  // CHECK: torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[6],si64>
  %0 = torch.aten.arange.start_step %int-3, %int8, %int2, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?],si64>
  // Downwards.
  // CHECK: torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[4],si64>
  %1 = torch.aten.arange.start_step %int8, %int-3, %int-3, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?],si64>
  %l = torch.prim.ListConstruct %int2, %int8 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.aten.full {{.*}} -> !torch.vtensor<[2,8],f16>
  %2 = torch.aten.full %l, %int2, %none, %none, %none, %none : !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.zeros_like {{.*}} -> !torch.vtensor<[2,3],f16>
  %3 = torch.aten.zeros_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[2,3],f16>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,?],f16>
  return
}
