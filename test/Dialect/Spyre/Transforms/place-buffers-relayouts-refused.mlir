// A schedule wants a relayout's source in LX, where its result finds no room.
// RUN: not spyre-opt %s --spyre-place-buffers=capacity=2048 2>&1 | FileCheck %s
// CHECK: error: the schedule cannot be obeyed: values[0]: the result has to be in LX: what is gathered of it found no room there
!h = !spyre.buffer<32x512xf16, #spyre.layout<[8, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!g = !spyre.buffer<4x32x512xf16, #spyre.layout<[32, 8, 4, 64], order [0, 1, 2], SEN169_FP16>, hbm>
func.func @gather(%x: !h, %o: !g) {
  %a = spyre.alloc : !h
  %b = spyre.alloc : !g
  spyre.abs (d0 = 32 / 8, d1 = 512 / 4) ins(%x[d0, d1]) outs(%a[d0, d1]) {spyre.place = {space = "lx", field = "values[0]"}} : !h -> !h
  spyre.shuffle (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%a[d0, d2]) outs(%b[d1, d0, d2]) : !h -> !g
  spyre.neg (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%b[d1, d0, d2]) outs(%o[d1, d0, d2]) : !g -> !g
  return
}
