// Cores that share rows and columns of two products, one after the other, gather what lies between; not on devices
// that cannot, nor where a product reads what no other one makes.
// RUN: spyre-opt %s --spyre-divide-work=search=true --spyre-tile-time -split-input-file | FileCheck %s
// RUN: sed 's/"spyre"/"spyre-2026-06"/' %s | spyre-opt --spyre-divide-work=search=true --spyre-tile-time -split-input-file | FileCheck %s --check-prefix=OLD

// OLD-NOT: spyre.shuffle
!x = !spyre.buffer<512x512xf16, #spyre.layout<[8, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!h = !spyre.buffer<512x2048xf16, #spyre.layout<[32, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!u = !spyre.buffer<512x2048xf16, #spyre.layout<[32, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!d = !spyre.buffer<2048x512xf16, #spyre.layout<[8, 2048, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "spyre"} {
// CHECK-LABEL: func.func @chain
// Cores are counted in the order of the dims: those that gather, along the columns, are neighbours.
// CHECK: spyre.relufwd (d0 = 2048 / [[COLUMNS:[0-9]+]], d1 = 512 / [[ROWS:[0-9]+]]) {{.*}} outs(%[[A:[0-9]+]][d1, d0])
// CHECK: %[[G:.*]] = spyre.alloc : !spyre.buffer<[[COLUMNS]]x512x2048xf16
// CHECK-NEXT: spyre.shuffle (d0 = [[COLUMNS]] / [[COLUMNS]], d1 = 2048, d2 = 512 / [[ROWS]]) ins(%[[A]][d2, d1]) outs(%[[G]][d0, d2, d1])
// CHECK-NEXT: spyre.batchmatmul ({{.*}}d2 = [[COLUMNS]] / [[COLUMNS]], d3 = 512 / [[ROWS]]) ins(%[[G]][d2, d3, d0]
func.func @chain(%x: !x, %u: !u, %d: !d, %o: !x) {
  %p = spyre.alloc : !h
  %a = spyre.alloc : !h
  spyre.batchmatmul (d0 = 512, d1 = 2048, d2 = 512) ins(%x[d0, d2], %u[d2, d1]) outs(%p[d0, d1]) : !x, !u -> !h
  spyre.relufwd (d0 = 512, d1 = 2048) ins(%p[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.batchmatmul (d0 = 512, d1 = 512, d2 = 2048) ins(%a[d0, d2], %d[d2, d1]) outs(%o[d0, d1]) : !h, !d -> !x
  return
}
}

// -----

!x = !spyre.buffer<512x2048xf16, #spyre.layout<[32, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<512x512xf16, #spyre.layout<[8, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!d = !spyre.buffer<2048x512xf16, #spyre.layout<[8, 2048, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "spyre"} {
// CHECK-LABEL: func.func @one
// CHECK-NOT: spyre.shuffle
// CHECK: return
func.func @one(%x: !x, %d: !d, %o: !o) {
  %a = spyre.alloc : !x
  spyre.relufwd (d0 = 512, d1 = 2048) ins(%x[d0, d1]) outs(%a[d0, d1]) : !x -> !x
  spyre.batchmatmul (d0 = 512, d1 = 512, d2 = 2048) ins(%a[d0, d2], %d[d2, d1]) outs(%o[d0, d1]) : !x, !d -> !o
  return
}
}
