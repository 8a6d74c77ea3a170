// A relayout's source and result are in LX together, or neither is and it is a copy.
// RUN: spyre-opt %s --spyre-place-buffers --spyre-verify-plan | FileCheck %s
// RUN: spyre-opt %s --spyre-place-buffers=capacity=8192 --spyre-verify-plan | FileCheck %s --check-prefix=SMALL
// RUN: spyre-opt %s --spyre-place-buffers=lx=false --spyre-verify-plan | FileCheck %s --check-prefix=OFF

// CHECK: spyre.alloc lx({{[0-9]+}}) holding<cores 32, slices[8, 4], (d0) -> (d0 mod 8, (d0 floordiv 8) mod 4)>
// CHECK: spyre.alloc lx({{[0-9]+}}) holding<cores 32, slices[4, 8, 1], (d0) -> ((d0 floordiv 8) mod 4, d0 mod 8, 0)>
// CHECK: spyre.shuffle

// A core's part of the copies takes 4 KiB, and so does another buffer all the time: the source, which fits, has to
// be in device memory, too.
// SMALL-DAG: spyre.alloc pool
// SMALL-NOT: spyre.shuffle
// SMALL: spyre.identity (d0 = 32 / 8, d1 = 4 / 4, d2 = 512)

// OFF-NOT: spyre.shuffle
// OFF: spyre.identity (d0 = 32 / 8, d1 = 4 / 4, d2 = 512)
!h = !spyre.buffer<32x512xf16, #spyre.layout<[8, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!g = !spyre.buffer<4x32x512xf16, #spyre.layout<[32, 8, 4, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!k = !spyre.buffer<32x2048xf16, #spyre.layout<[32, 32, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @gather(%x: !h, %y: !k, %o: !g, %p: !k) {
  %a = spyre.alloc : !h
  %b = spyre.alloc : !g
  %k = spyre.alloc : !k
  spyre.abs (d0 = 32 / 32, d1 = 2048) ins(%y[d0, d1]) outs(%k[d0, d1]) : !k -> !k
  spyre.abs (d0 = 32 / 8, d1 = 512 / 4) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.shuffle (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%a[d0, d2]) outs(%b[d1, d0, d2]) : !h -> !g
  spyre.neg (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%b[d1, d0, d2]) outs(%o[d1, d0, d2]) : !g -> !g
  spyre.exp (d0 = 32 / 32, d1 = 2048) ins(%k[d0, d1]) outs(%p[d0, d1]) : !k -> !k
  spyre.neg (d0 = 32 / 32, d1 = 2048) ins(%k[d0, d1]) outs(%p[d0, d1]) : !k -> !k
  return
}
