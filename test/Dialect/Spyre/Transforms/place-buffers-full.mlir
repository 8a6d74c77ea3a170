// A full LX: one of four buffers of 512 KB a core goes back to device memory, and a remark says so.
// RUN: spyre-opt %s --spyre-place-buffers --spyre-verify-plan --remarks-filter=spyre-place-buffers --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: spyre-opt %s --spyre-place-buffers=lx=false --remarks-filter=spyre-place-buffers --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK-COUNT-1: remark: {{.*}}NotInLX{{.*}}LX is full
// CHECK-NOT: remark:
// CHECK: func.func @full
// CHECK-DAG: spyre.alloc pool(0)
// CHECK-DAG: spyre.alloc lx(0)
// CHECK-DAG: spyre.alloc lx(524288)
// CHECK-DAG: spyre.alloc lx(1048576)

// Nobody asked for LX: no remark.
// OFF-NOT: remark:
// OFF: func.func @full
!h = !spyre.buffer<1024x8192xf16, #spyre.layout<[128, 1024, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @full(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  %b = spyre.alloc : !h
  %c = spyre.alloc : !h
  %d = spyre.alloc : !h
  spyre.exp (d0 = 1024 / 32, d1 = 8192) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 1024 / 32, d1 = 8192) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.neg (d0 = 1024 / 32, d1 = 8192) ins(%x[d0, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.relufwd (d0 = 1024 / 32, d1 = 8192) ins(%x[d0, d1]) outs(%d[d0, d1]) : !h -> !h
  spyre.add (d0 = 1024 / 32, d1 = 8192) ins(%a[d0, d1], %b[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  spyre.add (d0 = 1024 / 32, d1 = 8192) ins(%c[d0, d1], %d[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}
