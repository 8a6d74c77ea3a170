// Each rule of spyre-verify-plan at its border: what is just right, and its neighbour that is not.
// RUN: spyre-opt %s --spyre-verify-plan -split-input-file -verify-diagnostics

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-1: up to the last usable byte of LX; a buffer that nobody touches needs no place.
func.func @last_byte(%x: !h, %o: !h) {
  %unused = spyre.alloc : !h
  %t = spyre.alloc lx(1608960) holding<cores 1, slices [1, 1], (c) -> (0, 0)> : !l
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  spyre.neg (d0 = 128, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @stick_more(%x: !h, %o: !h) {
  // expected-error @+1 {{L3-1: the buffer ends at byte 1625472 of LX, which has 1625344 usable bytes a core}}
  %t = spyre.alloc lx(1609088) holding<cores 1, slices [1, 1], (c) -> (0, 0)> : !l
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  spyre.neg (d0 = 128, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-2: beside each other, one after the other, in different memories, in place.
func.func @no_overlap(%x: !h, %o: !h) {
  %a = spyre.alloc pool(0) : !h
  %b = spyre.alloc pool(16384) : !h
  %c = spyre.alloc pool(0) : !h
  %d = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %e = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 128, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.neg (d0 = 128, d1 = 64) ins(%b[d0, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.add (d0 = 128 / 32, d1 = 64) ins(%b[d0, d1], %c[d0, d1]) outs(%d[d0, d1]) : !h, !h -> !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%d[d0, d1]) outs(%e[d0, d1]) : !l -> !l
  spyre.neg (d0 = 128 / 32, d1 = 64) ins(%e[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
!r = !spyre.buffer<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
// L3-2: a reduction is not in place; nor is what reads rows as columns.
func.func @not_in_place(%x: !h, %o: !h) {
  // expected-note @+1 {{bytes 0..8192 are taken here}}
  %a = spyre.alloc lx(0) holding<cores 1, slices [1, 1], (c) -> (0, 0)> : !l
  // expected-error @+1 {{L3-2: bytes 0..8192 overlap a buffer that lives at the same time}}
  %r = spyre.alloc lx(0) holding<cores 1, slices [1, 1], (c) -> (0, 0)> : !r
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.sum (d0 = 64, d1 = 64) ins(%a[d0, d1]) outs(%r[d0, 0]) : !l -> !r
  spyre.sub (d0 = 64, d1 = 64) ins(%x[d0, d1], %r[d0, 0]) outs(%o[d0, d1]) : !h, !r -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// L3-3, L3-4: all 32 cores; both dims; a dim in the stick counts in sticks.
func.func @cores(%x: !h, %o: !h) {
  spyre.exp (d0 = 64 / 16, d1 = 128 / 2) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.exp (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-3: takes 64 cores; the device has 32}}
  spyre.exp (d0 = 64 / 32, d1 = 128 / 2) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-4: d1 has 2 sticks, which 4 work slices do not divide}}
  spyre.exp (d0 = 64, d1 = 128 / 4) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-4: d0 has 64 elements, which 24 work slices do not divide}}
  spyre.exp (d0 = 64 / 24, d1 = 128) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!x = !spyre.buffer<4x8x128xf16, #spyre.layout<[8, 2, 4, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!s = !spyre.buffer<8xf16, #spyre.layout<[1, 8, 64], order [0, -1], SEN169_FP16>, hbm>
// L3-5: two reduced dims, one of them cut, beside a dim that stays.
func.func @reduced(%x: !x, %s: !s) {
  spyre.sum (d0 = 4, d1 = 8 / 8, d2 = 128 / 2) ins(%x[d0, d1, d2]) outs(%s[d1]) : !x -> !s
  spyre.sum (d0 = 4 / 4, d1 = 8 / 8, d2 = 128) ins(%x[d0, d1, d2]) outs(%s[d1]) : !x -> !s
  // expected-error @+1 {{L3-5: cuts 2 reduced dims; cores can combine one}}
  spyre.sum (d0 = 4 / 4, d1 = 8, d2 = 128 / 2) ins(%x[d0, d1, d2]) outs(%s[d1]) : !x -> !s
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
!v = !spyre.buffer<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, hbm>
!w = !spyre.buffer<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, lx>
// L3-6: all cores may hold the same; fewer cores than hold a buffer may touch it.
func.func @copies(%x: !h, %v: !v, %o: !h) {
  %a = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %w = spyre.alloc lx(1024) holding<cores 32, slices [1], (c) -> (0)> : !w
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.abs (d0 = 64) ins(%v[d0]) outs(%w[d0]) : !v -> !w
  spyre.exp (d0 = 64) ins(%w[d0]) outs(%v[d0]) : !w -> !v
  spyre.neg (d0 = 128 / 32, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-6: who holds what must be said, also of what is written, for every core that touches it.
func.func @holders(%x: !h, %o: !h) {
  // expected-error @+1 {{L3-6: an LX buffer must say which core holds what ('holding<...>')}}
  %a = spyre.alloc lx(0) : !l
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @more_cores(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc lx(0) holding<cores 16, slices [32, 1], (c) -> (c, 0)> : !l
  // expected-error @+1 {{L3-6: core 16 touches an LX buffer that only 16 cores hold}}
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-6: cores may share the outer one of two dims that run through a coordinate, not the inner one.
func.func @outer_and_inner(%x: !h, %o: !h) {
  %a = spyre.alloc lx(0) holding<cores 4, slices [4, 1], (c) -> (c, 0)> : !l
  // expected-note @+1 {{allocated here}}
  %b = spyre.alloc lx(16384) holding<cores 4, slices [1, 1], (c) -> (0, 0)> : !l
  spyre.exp (d0 = 8 / 4, d1 = 16, d2 = 64) ins(%x[d0 * 16 + d1, d2]) outs(%a[d0 * 16 + d1, d2]) : !h -> !l
  // expected-error @+1 {{L3-6: cores touch every so many elements of an LX buffer, of which each holds a box}}
  spyre.exp (d0 = 8, d1 = 16 / 4, d2 = 64) ins(%x[d0 * 16 + d1, d2]) outs(%b[d0 * 16 + d1, d2]) : !h -> !l
  spyre.neg (d0 = 128 / 4, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, lx>
!t = !spyre.buffer<64x128xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>, hbm>
// L3-6: what a restickify reads, on devices that read device memory for it.
module attributes {spyre.device = "spyre-2026-08"} {
func.func @restickified(%x: !h, %o: !t) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc lx(0) holding<cores 1, slices [1, 1], (c) -> (0, 0)> : !l
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  // expected-error @+1 {{L3-6: a restickify reads device memory on this device}}
  spyre.restickify (d0 = 64, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !l -> !t
  return
}
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @other_order(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (31 - c, 0)> : !l
  // expected-error @+1 {{L3-6: core 0 writes another part of the LX buffer than it holds}}
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  return
}

// -----

!h = !spyre.buffer<2097120x64xf16, #spyre.layout<[1, 2097120, 64], order [0, 1], SEN169_FP16>, hbm>
!m = !spyre.buffer<2097120x128xf16, #spyre.layout<[2, 2097120, 64], order [0, 1], SEN169_FP16>, hbm>
// L3-7: all that a core reaches; two planes of it, of which a core has one where sticks are cut, and both where rows are.
func.func @span(%x: !h, %o: !h, %y: !m, %p: !m) {
  spyre.exp (d0 = 2097120, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.exp (d0 = 2097120, d1 = 128 / 2) ins(%y[d0, d1]) outs(%p[d0, d1]) : !m -> !m
  // expected-error @+2 {{L3-7: operand #0 spans 536862720 bytes on one core; a core reaches 268431360}}
  // expected-error @+1 {{L3-7: operand #1 spans 536862720 bytes on one core; a core reaches 268431360}}
  spyre.exp (d0 = 2097120 / 32, d1 = 128) ins(%y[d0, d1]) outs(%p[d0, d1]) : !m -> !m
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// L3-8: written in parts before it is read; by a loop before the next one; what a core keeps counts too.
func.func @written(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = spyre.alloc pool(0) : !h
  %b = spyre.alloc pool(8192) : !h
  spyre.exp (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.exp (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0 + 32, d1]) : !h -> !h
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.neg (d0 = 16, d1 = 64) loops(%i) ins(%a[d0 + s0 * 16, d1]) outs(%b[d0 + s0 * 16, d1]) : !h -> !h
  }
  spyre.neg (d0 = 64, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// L3-8: a loop that leaves out the last rows.
func.func @three_quarters(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc pool(0) : !h
  scf.for %i = %c0 to %c3 step %c1 {
    spyre.neg (d0 = 16, d1 = 64) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%a[d0 + s0 * 16, d1]) : !h -> !h
  }
  // expected-error @+1 {{L3-8: input #0 is read before it is written}}
  spyre.neg (d0 = 64, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-6: a relayout takes what other cores hold, and leaves to each what it holds then.
func.func @relayout(%x: !h, %o: !h) {
  %a = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %b = spyre.alloc lx(4096) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.shuffle (d0 = 128 / 16, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-6: not what no core holds.
func.func @nobodys(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc lx(0) holding<cores 16, slices [32, 1], (c) -> (c, 0)> : !l
  %b = spyre.alloc lx(4096) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
  // expected-error @+1 {{L3-6: core 16 touches an LX buffer that only 16 cores hold}}
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  // expected-error @+1 {{L3-6: core 8 takes a part of the LX buffer that no core holds}}
  spyre.shuffle (d0 = 128 / 16, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
// L3-10: from scratchpad to scratchpad.
func.func @from_memory(%x: !h, %o: !h) {
  %b = spyre.alloc lx(0) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
  // expected-error @+1 {{L3-10: operand #0 is not in LX; a relayout goes from scratchpad to scratchpad}}
  spyre.shuffle (d0 = 128 / 16, d1 = 64) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !l
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}
