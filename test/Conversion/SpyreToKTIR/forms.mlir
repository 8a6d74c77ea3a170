// Reductions, casts, copies that turn sticks, loops: what differs from pointwise operations.
// RUN: spyre-opt %s -split-input-file -convert-spyre-to-ktir -ktir-check-legality | FileCheck %s

// A sum along the stick: f32 from the neutral number on, what the last stick has beyond
// the row does not count, the body after it, one rounding; the result fills its sticks.
// CHECK: #[[SUM:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @mean
// CHECK: construct_memory_view %{{.*}}, sizes: [2, 32, 64], strides: [2048, 64, 1]
// CHECK: construct_memory_view %{{.*}}, sizes: [32, 64], strides: [64, 1]
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[SUM]]], iterator_types = ["parallel", "reduction", "reduction"]} {{.*}} outs(%[[START]]
// CHECK: %[[W:.*]] = arith.extf
// CHECK: %[[STICK:.*]] = linalg.index 1
// CHECK: %[[LANES:.*]] = arith.muli %[[STICK]], %{{.*}}
// CHECK: %[[INDEX:.*]] = linalg.index 2
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[INDEX]]
// CHECK: %[[END:.*]] = arith.constant 100 : index
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]], %[[END]]
// CHECK: %[[NEUTRAL:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: arith.select %[[INSIDE]], %[[W]], %[[NEUTRAL]] : f32
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<8xf32>) outs(%{{.*}} : tensor<8x64xf16>)
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf
!x = !spyre.buffer<32x100xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<32xf16, #spyre.layout<[1, 32, 64], order [0, -1], SEN169_FP16>, hbm>
func.func @mean(%x: !x, %o: !r) {
  spyre.mean (d0 = 32 / 4, d1 = 100) ins(%x[d0, d1]) outs(%o[d0]) constants {scaling_factor = 0.01} : !x -> !r
  return
}

// -----

// Across sticks lanes stay apart; nothing is masked; the largest number is neutral to itself.
// CHECK-LABEL: func.func @rows
// CHECK: arith.constant 0xFF800000 : f32
// CHECK-NOT: linalg.index
// CHECK: arith.maximumf
// CHECK: arith.truncf
!x = !spyre.buffer<32x100xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<100xf16, #spyre.layout<[2, 64], order [0], SEN169_FP16>, hbm>
func.func @rows(%x: !x, %o: !r) {
  spyre.max (d0 = 32, d1 = 100 / 2) ins(%x[d0, d1]) outs(%o[d1]) : !x -> !r
  return
}

// -----

// A masked operation reads the table's mask behind the row.
// CHECK-LABEL: func.func @masked
// CHECK: arith.constant 100 : index
// CHECK: arith.cmpi ult
// CHECK: arith.select {{.*}} : f16
// CHECK: spyreop.exp
!x = !spyre.buffer<32x100xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @masked(%x: !x, %o: !x) {
  spyre.exp (d0 = 32, d1 = 100) ins(%x[d0, d1]) outs(%o[d0, d1]) {spyre.masked} : !x -> !x
  return
}

// -----

// A stick of 64 is two of 32: three dims where one format has two.
// CHECK-LABEL: func.func @cast
// CHECK: sizes: [2, 32, 2, 32], strides: [2048, 64, 32, 1] {{.*}}f16>
// CHECK: sizes: [2, 2, 32, 32], strides: [2048, 1024, 32, 1] {{.*}}f32>
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : f16 to f32
!h = !spyre.buffer<32x128xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!f = !spyre.buffer<32x128xf32, #spyre.layout<[4, 32, 32], order [0, 1], IEEE_FP32>, hbm>
func.func @cast(%x: !h, %o: !f) {
  spyre.dl16tofp32 (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !f
  return
}

// -----

// Another dim in the stick: both are cut into sticks and lanes.
// CHECK-LABEL: func.func @turned
// CHECK: construct_memory_view %{{.*}}, sizes: [2, 2, 64, 64], strides: [8192, 4096, 64, 1]
// CHECK: construct_memory_view %{{.*}}, sizes: [2, 2, 64, 64], strides: [8192, 4096, 64, 1]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f16):
// CHECK-NEXT: linalg.yield %[[IN]]
!h = !spyre.buffer<128x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<128x128xf16, #spyre.layout<[2, 128, 64], order [1, 0], SEN169_FP16>, hbm>
func.func @turned(%x: !h, %o: !t) {
  spyre.restickify (d0 = 128, d1 = 128 / 2) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !t
  return
}

// -----

// A loop of the plan moves the views that it moves; what lies in LX stays.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK: %[[MOVED:.*]] = arith.muli %[[I]], %c2048
// CHECK: %[[AT:.*]] = arith.addi %arg0, %[[MOVED]]
// CHECK: ktdp.construct_memory_view %[[AT]], sizes: [2, 16, 64], strides: [4096, 64, 1]
// CHECK: ktdp.construct_memory_view %[[L:.*]], sizes: [2, 4, 64], strides: [256, 64, 1] {{{.*}}, memory_space = #ktdp.memory_space<ct_local>}
// CHECK-NOT: inter_tile
// CHECK: ktdp.construct_memory_view %[[L]], sizes: [2, 4, 64]
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, lx>
func.func @loop(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %t = spyre.alloc lx(0) holding<cores 4, slices [4, 1], (c) -> (c, 0)> : !l
    spyre.neg (d0 = 16 / 4, d1 = 128) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%t[d0, d1]) : !h -> !l
    spyre.abs (d0 = 16 / 4, d1 = 128) loops(%i) ins(%t[d0, d1]) outs(%o[d0 + s0 * 16, d1]) : !l -> !h
  }
  return
}

// -----

// Bits that nothing computes with are integers; rows of every second place have a stride.
// CHECK-LABEL: func.func @bits
// CHECK: sizes: [4, 32, 32], strides: [2048, 64, 1] {{.*}} : memref<4x32x32xi32>
// CHECK: %[[X:.*]] = ktdp.load
// CHECK-NOT: linalg.generic
// CHECK: ktdp.store %[[X]]
!i = !spyre.buffer<64x128xi32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_INT32>, hbm>
!o = !spyre.buffer<32x128xi32, #spyre.layout<[4, 32, 32], order [0, 1], IEEE_INT32>, hbm>
func.func @bits(%x: !i, %o: !o) {
  spyre.identity (d0 = 32, d1 = 128) ins(%x[d0 * 2, d1]) outs(%o[d0, d1]) : !i -> !o
  return
}

// -----

// Rows of a table by an index: an indirect tile with a variable for each dim.
// CHECK-LABEL: func.func @gather
// CHECK: %[[T:.*]] = ktdp.construct_memory_view %arg1, sizes: [4, 50, 64]
// CHECK: %[[I:.*]] = ktdp.construct_memory_view %arg0, sizes: [2, 32], strides: [32, 1] {{.*}} : memref<2x32xi32>
// CHECK: ktdp.construct_indirect_access_tile intermediate_variables(%[[A:.*]], %[[B:.*]], %[[C:.*]], %[[D:.*]]) %[[T]][(%[[COLUMN:.*]] + %[[C]]), ind(%[[I]][%[[ROW:.*]] + %[[A]], %[[B]]]), (%[[D]])]
// CHECK: ktdp.load
!i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
!t = !spyre.buffer<50x256xf16, #spyre.layout<[4, 50, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @gather(%i: !i, %t: !t, %o: !o) {
  spyre.identity (d0 = 64 / 2, d1 = 256 / 4) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1]) gather(1[0] by 0) : !i, !t -> !o
  return
}

// -----

// Two moments of a row are a dim of the sum; lanes 0 and 1 of the stick are written.
// CHECK-LABEL: func.func @moments
// CHECK: construct_memory_view %{{.*}}, sizes: [32, 2], strides: [64, 1]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<32x2xf32>)
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK: %[[LANE:.*]] = linalg.index 3
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK: arith.select %[[FIRST]], %[[X]], %[[SQUARE]]
// CHECK: spyreop.rsqrt %{{.*}} : f32
!x = !spyre.buffer<32x128xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<32xf16, #spyre.layout<[1, 32, 64], order [0, -1], SEN169_FP16>, hbm>
func.func @moments(%x: !x, %e: !s, %o: !s) {
  spyre.exx2 (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%e[d0]) constants {exx2scale = 0.0078125 : f64, useZeroMean = false} : !x -> !s
  spyre.layernormscale (d0 = 32) ins(%e[d0]) outs(%o[d0]) constants {eps = 1.0e-05 : f64} : !s -> !s
  return
}

// -----

// The largest numbers, one round each: what is smaller than the last one, or equal and behind it.
// CHECK-LABEL: func.func @largest
// CHECK-COUNT-2: arith.cmpf ogt
// CHECK: ktdp.store
// CHECK-COUNT-2: arith.cmpf ogt
// CHECK: ktdp.store
// CHECK-NOT: ktdp.store
!x = !spyre.buffer<40x128xf16, #spyre.layout<[2, 40, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<2x128xf16, #spyre.layout<[2, 2, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @largest(%x: !x, %o: !o) {
  spyre.topkvalue (d0 = 2, d1 = 128, d2 = 40) ins(%x[d2, d1]) outs(%o[d0, d1]) : !x -> !o
  return
}
