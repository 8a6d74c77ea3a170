// RUN: spyre-opt %s -split-input-file -spyre-verify-plan -convert-spyre-to-ktir -ktir-check-legality | FileCheck %s
// What is printed is KTIR of its own; a second run changes nothing.
// RUN: spyre-opt %s -split-input-file -convert-spyre-to-ktir | spyre-opt -split-input-file -convert-spyre-to-ktir -ktir-check-legality -verify-roundtrip | FileCheck %s

// One core: no tile id, all of the buffers.
// CHECK: #[[SAME:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK: #[[ALL:.*]] = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 127 >= 0, d2 >= 0, -d2 + 63 >= 0)>
// CHECK: module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"}
// CHECK-LABEL: func.func @one_core(
// CHECK-SAME: %[[X:.*]]: index {spyre.array = "in0", spyre.role = "input"}, %[[Y:.*]]: index, %[[O:.*]]: index) attributes {grid = [1]}
// CHECK-NOT: get_compute_tile_id
// CHECK: %[[VX:.*]] = ktdp.construct_memory_view %[[X]], sizes: [4, 128, 64], strides: [8192, 64, 1] {coordinate_set = #[[ALL]], memory_space = #ktdp.memory_space<global>} : memref<4x128x64xf16>
// CHECK: %[[VY:.*]] = ktdp.construct_memory_view %[[Y]]
// CHECK: %[[VO:.*]] = ktdp.construct_memory_view %[[O]]
// CHECK: %[[TX:.*]] = ktdp.construct_access_tile %[[VX]][0, 0, 0] {access_tile_order = #[[SAME]], access_tile_set = #[[ALL]]} : memref<4x128x64xf16> -> !ktdp.access_tile<4x128x64xindex>
// CHECK: %[[A:.*]] = ktdp.load %[[TX]] : <4x128x64xindex> -> tensor<4x128x64xf16>
// CHECK: %[[TY:.*]] = ktdp.construct_access_tile %[[VY]][0, 0, 0]
// CHECK: %[[B:.*]] = ktdp.load %[[TY]]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x128x64xf16>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[PARTS]], #[[PARTS]], #[[PARTS]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[A]], %[[B]] :{{.*}}) outs(%[[E]]
// CHECK: arith.addf
// CHECK: %[[TO:.*]] = ktdp.construct_access_tile %[[VO]][0, 0, 0]
// CHECK: ktdp.store %[[R]], %[[TO]] : tensor<4x128x64xf16>, <4x128x64xindex>
// CHECK-NEXT: return
!h = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @one_core(%x: !h {spyre.array = "in0", spyre.role = "input", spyre.address = 0}, %y: !h, %o: !h) {
  spyre.add (d0 = 128, d1 = 256) ins(%x[d0, d1], %y[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}

// -----

// 32 cores: rows 8 times, sticks 4 times; the first dim varies fastest.
// CHECK-LABEL: func.func @all_cores
// CHECK-SAME: grid = [32]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[ID:.*]] = ktdp.get_compute_tile_id : index
// CHECK-DAG: %[[ROWS:.*]] = arith.remui %[[ID]], %[[C8]]
// CHECK-DAG: %[[STICKS:.*]] = arith.divui %[[ID]], %[[C8]]
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[STICKS]], %[[ROWS]] * 16, 0] {{.*}} -> !ktdp.access_tile<1x16x64xindex>
// CHECK: math.absf
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[STICKS]], %[[ROWS]] * 16, 0]
!h = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @all_cores(%x: !h, %o: !h) {
  spyre.abs (d0 = 128 / 8, d1 = 256 / 4) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

// An intermediate value in LX is the core's own part, at the same address on all;
// a row is read for all rows, one lane of a constant's stick for everything.
// CHECK-DAG: #[[VECTOR:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<(d0, d1, d2) -> (0)>
// CHECK-LABEL: func.func @resident
// CHECK: %[[ADDRESS:.*]] = arith.constant 2048 : index
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[VECTOR]], #{{.*}}]
// CHECK: arith.addf
// CHECK: %[[L:.*]] = ktdp.construct_memory_view %[[ADDRESS]], sizes: [2, 2, 64], strides: [128, 64, 1] {{{.*}}, memory_space = #ktdp.memory_space<ct_local>} : memref<2x2x64xf16>
// CHECK: %[[W:.*]] = ktdp.construct_access_tile %[[L]][0, 0, 0]
// CHECK: ktdp.store %{{.*}}, %[[W]]
// CHECK: %[[AGAIN:.*]] = ktdp.construct_memory_view %[[ADDRESS]], sizes: [2, 2, 64]
// CHECK: %[[R:.*]] = ktdp.construct_access_tile %[[AGAIN]][0, 0, 0]
// CHECK: ktdp.load %[[R]]
// CHECK: ktdp.load %{{.*}} : <1xindex> -> tensor<1xf16>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[SCALAR]], #{{.*}}]
// CHECK: arith.mulf
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, lx>
!v = !spyre.buffer<128xf16, #spyre.layout<[2, 64], order [0], SEN169_FP16>, hbm>
!s = !spyre.buffer<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>, hbm>
func.func @resident(%x: !h, %bias: !v, %c: !s {spyre.role = "constant", spyre.value = 0.5}, %o: !h) {
  %t = spyre.alloc lx(2048) holding<cores 32, slices[32, 1], (c) -> (c, 0)> : !l
  spyre.add (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1], %bias[d1]) outs(%t[d0, d1]) : !h, !v -> !l
  spyre.mul (d0 = 64 / 32, d1 = 128) ins(%t[d0, d1], %c[]) outs(%o[d0, d1]) : !l, !s -> !h
  return
}

// -----

// A matmul on 4 x 8 cores: K of the second input is seen in sticks and lanes as
// it is in the first; the sum is f32 and rounded once.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d2)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: grid = [32]
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[ID:.*]] = ktdp.get_compute_tile_id
// CHECK-DAG: %[[M:.*]] = arith.remui %[[ID]], %[[C4]]
// CHECK-DAG: %[[N:.*]] = arith.divui %[[ID]], %[[C4]]
// CHECK: %[[START:.*]] = linalg.fill
// CHECK: ktdp.construct_access_tile %{{.*}}[0, %[[M]] * 32, 0] {{.*}} -> !ktdp.access_tile<4x32x64xindex>
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[N]], 0, 0, 0] {{.*}} -> !ktdp.access_tile<1x4x64x64xindex>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[Y]], #[[O]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} {{.*}} outs(%[[START]] : tensor<1x32x64xf32>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[N]], %[[M]] * 32, 0] {{.*}} -> !ktdp.access_tile<1x32x64xindex>
!x = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<256x512xf16, #spyre.layout<[8, 256, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<128x512xf16, #spyre.layout<[8, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @matmul(%x: !x, %y: !y, %o: !o) {
  spyre.batchmatmul (d0 = 128 / 4, d1 = 512 / 8, d2 = 256) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}

// -----

// k_fast: the last dim is counted first.
// CHECK-LABEL: func.func @last_dim_first
// CHECK: %[[ID:.*]] = ktdp.get_compute_tile_id
// CHECK-DAG: %[[N:.*]] = arith.remui %[[ID]], %c8
// CHECK-DAG: %[[M:.*]] = arith.divui %[[ID]], %c8
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[N]], %[[M]] * 32, 0] {{.*}} -> !ktdp.access_tile<1x32x64xindex>
// CHECK: ktdp.store
!x = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<256x512xf16, #spyre.layout<[8, 256, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<128x512xf16, #spyre.layout<[8, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @last_dim_first(%x: !x, %y: !y, %o: !o) {
  spyre.batchmatmul (d0 = 256, d1 = 128 / 4, d2 = 512 / 8) k_fast ins(%x[d1, d0], %y[d0, d2]) outs(%o[d1, d2]) : !x, !y -> !o
  return
}

// -----

// A slice that does not fit in LX is computed in tiles: columns outside, the sum inside.
// CHECK-LABEL: func.func @tiled
// CHECK: scf.for %[[N:.*]] = %c0 to %c64 step %[[STEP:.*]] {
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c64 step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[K]], %[[ROWS:.*]] * 16, 0]
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[N]], %[[K]], 0, 0]
// CHECK: linalg.generic {{.*}} outs(%[[ACC]]
// CHECK: scf.yield
// CHECK: linalg.generic {{.*}} ins(%[[SUM]]
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[N]], %[[ROWS]] * 16, 0]
!x = !spyre.buffer<512x4096xf16, #spyre.layout<[64, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<4096x4096xf16, #spyre.layout<[64, 4096, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @tiled(%x: !x, %y: !y, %o: !x) {
  spyre.batchmatmul (d0 = 512 / 32, d1 = 4096, d2 = 4096) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !x
  return
}

// -----

// The pool comes first; compute tiles without work in an operation skip it; a copy
// is a load and a store; parts of a buffer.
// CHECK-LABEL: func.func @pool(
// CHECK-SAME: %[[POOL:.*]]: index, %{{.*}}: index, %{{.*}}: index) attributes {grid = [16], ktdp.pool_bytes = 32768 : i64}
// CHECK: %[[AT:.*]] = arith.addi %[[POOL]], %c16384
// CHECK: ktdp.construct_memory_view %[[AT]]
// CHECK: %[[ACTIVE:.*]] = arith.cmpi ult, %{{.*}}, %c8
// CHECK: scf.if %[[ACTIVE]] {
// CHECK: arith.negf
// CHECK: scf.if
// CHECK: %[[V:.*]] = ktdp.load
// CHECK-NEXT: ktdp.construct_access_tile
// CHECK-NEXT: ktdp.store %[[V]]
// CHECK-NOT: scf.if
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[ID:.*]] * 2, 0]
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[ID]] * 2, 0]
// CHECK: arith.maximumf
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[ID]] * 2, 0]
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @pool(%x: !h, %o: !h) {
  %t = spyre.alloc pool(0) : !h
  %u = spyre.alloc pool(16384) : !h
  spyre.neg (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
  spyre.identity (d0 = 64 / 8, d1 = 128) ins(%t[d0, d1]) outs(%u[d0, d1]) : !h -> !h
  spyre.maximum (d0 = 32 / 16, d1 = 64) ins(%x[d0, d1], %x[d0 + 32, d1 + 64]) outs(%o[d0 + 32, d1]) : !h, !h -> !h
  return
}

// -----

// f32 has 32 lanes a stick.
// CHECK-LABEL: func.func @wide
// CHECK: ktdp.construct_memory_view %{{.*}}, sizes: [4, 64, 32], strides: [2048, 32, 1] {{.*}} : memref<4x64x32xf32>
// CHECK: ktdp.construct_access_tile %{{.*}}[%[[STICK:.*]], 0, 0] {{.*}} -> !ktdp.access_tile<1x64x32xindex>
// CHECK: arith.subf %{{.*}} : f32
!f = !spyre.buffer<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>, hbm>
func.func @wide(%x: !f, %y: !f, %o: !f) {
  spyre.sub (d0 = 64, d1 = 128 / 4) ins(%x[d0, d1], %y[d0, d1]) outs(%o[d0, d1]) : !f, !f -> !f
  return
}

// -----

// negative: a module without device operations is left as it is.
// CHECK: module {
// CHECK-NEXT: func.func @host
func.func @host(%x: index) -> index {
  return %x : index
}
