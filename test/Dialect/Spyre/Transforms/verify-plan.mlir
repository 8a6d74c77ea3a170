// RUN: spyre-opt %s --spyre-verify-plan -split-input-file -verify-diagnostics

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>

// Right: LX holds what each core writes and reads.
func.func @good(%x: !h, %o: !h {spyre.role = "output"}) {
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  spyre.neg (d0 = 128 / 32, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @other_core(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  // expected-error @+1 {{L3-6: core 0 reads another part of the LX buffer than it holds}}
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Each of sixteen cores reads what it holds, but as one of sixteen slices of half of the dim, not of 32 of all.
func.func @some_slices(%x: !h, %o: !o) {
  // expected-note @+1 {{allocated here}}
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  // expected-error @+1 {{L3-6: the cores share dim 0 of an LX buffer, of which a part is touched}}
  spyre.neg (d0 = 64 / 16, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !o
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
// All violations in one run.
func.func @several(%x: !h, %o: !h) {
  // expected-note @+1 {{bytes 0..16384 are taken here}}
  %a = spyre.alloc pool(0) : !h
  // expected-error @+1 {{L3-2: bytes 8192..24576 overlap a buffer that lives at the same time}}
  %b = spyre.alloc pool(8192) : !h
  // expected-error @+1 {{L3-1: the buffer has no place}}
  %c = spyre.alloc : !h
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-4: d0 has 128 elements, which 3 work slices do not divide}}
  spyre.exp (d0 = 128 / 3, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-3: takes 64 cores; the device has 32}}
  spyre.add (d0 = 128 / 64, d1 = 64) ins(%a[d0, d1], %b[d0, d1]) outs(%c[d0, d1]) : !h, !h -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @unwritten(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-8: input #0 is read before it is written}}
  spyre.neg (d0 = 128, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
// Addresses in LX are the same in every iteration.
func.func @moves_over_lx(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{allocated here}}
  %b = spyre.alloc lx(0) holding<cores 4, slices [4, 1], (c) -> (c mod 4, 0)> : !l
  spyre.abs (d0 = 64 / 4, d1 = 64) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !l
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error @+1 {{L3-6: a loop moves over an LX buffer, whose addresses are the same in every iteration; allocate a tile inside the loop}}
    spyre.abs (d0 = 16, d1 = 64) loops(%i) ins(%b[d0 + s0 * 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !l -> !h
  }
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// The second iteration would read what the first has written.
func.func @in_place_in_a_loop(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-note @+1 {{bytes 0..8192 are taken here}}
  %a = spyre.alloc pool(0) : !h
  // expected-error @+1 {{L3-2: bytes 0..8192 overlap a buffer that lives at the same time}}
  %b = spyre.alloc pool(0) : !h
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  scf.for %i = %c0 to %c3 step %c1 {
    spyre.add (d0 = 64, d1 = 64) ins(%a[d0, d1], %x[d0, d1]) outs(%b[d0, d1]) : !h, !h -> !h
  }
  spyre.abs (d0 = 64, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<2x64x64xf16, #spyre.layout<[64, 1, 2, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!l = !spyre.buffer<2x64x64xf16, #spyre.layout<[70, 1, 4, 64], order [0, 1, 2], SEN169_FP16>, lx>
// Padding takes memory of LX, too.
func.func @padded_in_lx(%x: !h, %o: !h) {
  // expected-note @+1 {{bytes 0..35840 are taken here}}
  %b = spyre.alloc lx(0) holding<cores 1, slices [1, 1, 1], (c) -> (0, 0, 0)> : !l
  // expected-error @+1 {{L3-2: bytes 16384..52224 overlap a buffer that lives at the same time}}
  %c = spyre.alloc lx(16384) holding<cores 1, slices [1, 1, 1], (c) -> (0, 0, 0)> : !l
  spyre.neg (d0 = 2, d1 = 64, d2 = 64) ins(%x[d0, d1, d2]) outs(%b[d0, d1, d2]) : !h -> !l
  spyre.abs (d0 = 2, d1 = 64, d2 = 64) ins(%x[d0, d1, d2]) outs(%c[d0, d1, d2]) : !h -> !l
  spyre.sub (d0 = 2, d1 = 64, d2 = 64) ins(%c[d0, d1, d2], %b[d0, d1, d2]) outs(%o[d0, d1, d2]) : !l, !l -> !h
  return
}

// -----

!h = !spyre.buffer<4x96xf16, #spyre.layout<[2, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!x = !spyre.buffer<4x32xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
// Two writers of one buffer: a loop does not move one of them along the sticks, the other ends inside one of its own.
func.func @writers_in_loops(%x: !y, %z: !x, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %b = spyre.alloc pool(0) : !h
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.exp (d0 = 1, d1 = 64) loops(%i) ins(%x[d0 + s0, d1]) outs(%b[d0 + s0, d1]) : !y -> !h
  }
  spyre.exp (d0 = 4, d1 = 16) ins(%z[d0, d1]) outs(%b[d0, d1 + 64]) : !x -> !h
  return
}

// -----

!h = !spyre.buffer<4x160xf16, #spyre.layout<[3, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!x = !spyre.buffer<4x32xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<4x128xf16, #spyre.layout<[2, 4, 64], order [0, 1], SEN169_FP16>, hbm>
// Where the loop does, all that its writer touches counts: here it ends before the other's stick, and rows are apart.
func.func @writers_moved_by_loops(%x: !y, %z: !x, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = spyre.alloc pool(0) : !h
  scf.for %i = %c0 to %c2 step %c1 {
    spyre.exp (d0 = 4, d1 = 64) loops(%i) ins(%x[d0, d1 + s0 * 64]) outs(%b[d0, d1 + s0 * 64]) : !y -> !h
  }
  spyre.exp (d0 = 2, d1 = 16) ins(%z[d0, d1]) outs(%b[d0, d1 + 128]) : !x -> !h
  spyre.exp (d0 = 2, d1 = 16) ins(%z[d0 + 2, d1]) outs(%b[d0 + 2, d1 + 128]) : !x -> !h
  return
}

// -----

!h = !spyre.buffer<4x224xf16, #spyre.layout<[4, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!x = !spyre.buffer<4x32xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<4x192xf16, #spyre.layout<[3, 4, 64], order [0, 1], SEN169_FP16>, hbm>
// Here its last iteration writes that stick.
func.func @writers_met_by_loops(%x: !y, %z: !x, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %b = spyre.alloc pool(0) : !h
  scf.for %i = %c0 to %c3 step %c1 {
    spyre.exp (d0 = 4, d1 = 64) loops(%i) ins(%x[d0, d1 + s0 * 64]) outs(%b[d0, d1 + s0 * 64]) : !y -> !h
  }
  // expected-error @+1 {{L2-1}}
  spyre.exp (d0 = 4, d1 = 16) ins(%z[d0, d1]) outs(%b[d0, d1 + 128]) : !x -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Each iteration reads what the next one writes.
func.func @before_its_time(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-note @+1 {{allocated here}}
  %b = spyre.alloc pool(0) : !h
  scf.for %i = %c0 to %c3 step %c1 {
    spyre.exp (d0 = 16, d1 = 64) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%b[d0 + s0 * 16, d1]) : !h -> !h
    // expected-error @+1 {{L3-8: input #0 is read before it is written}}
    spyre.neg (d0 = 16, d1 = 64) loops(%i) ins(%b[d0 + s0 * 16 + 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !h -> !h
  }
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Each iteration reads what the one before has written; the first row is written before.
func.func @scan(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %b = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 1, d1 = 64) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  scf.for %i = %c0 to %c63 step %c1 {
    spyre.add (d0 = 1, d1 = 64) loops(%i) ins(%b[d0 + s0, d1], %x[d0 + s0 + 1, d1]) outs(%b[d0 + s0 + 1, d1]) : !h, !h -> !h
  }
  spyre.neg (d0 = 64, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Every second row is written; the box around them is no proof.
func.func @gaps(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc pool(0) : !h
  %b = spyre.alloc pool(8192) : !h
  spyre.exp (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0 * 2, d1]) : !h -> !h
  spyre.exp (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%b[d0 * 2, d1]) : !h -> !h
  spyre.exp (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%b[d0 * 2 + 1, d1]) : !h -> !h
  spyre.neg (d0 = 64, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.neg (d0 = 32, d1 = 64) ins(%a[d0 * 2, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-8: input #0 is read before it is written}}
  spyre.neg (d0 = 63, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!f = !spyre.buffer<16x64xf32, #spyre.layout<[2, 16, 32], order [0, 1], IEEE_FP32>, hbm>
!h = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!g = !spyre.buffer<8x128xf16, #spyre.layout<[2, 8, 64], order [0, 1], SEN169_FP16>, hbm>
// The same memory under another type, read at other places than it is written.
func.func @in_place_through_an_alias(%x: !f, %o: !g) {
  // expected-note @+1 {{bytes 0..4096 are taken here}}
  %a = spyre.alloc pool(0) : !f
  %b = spyre.reinterpret %a : !f to !h
  // expected-error @+1 {{L3-2: bytes 0..2048 overlap a buffer that lives at the same time}}
  %c = spyre.alloc pool(0) : !g
  spyre.neg (d0 = 16, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !f -> !f
  spyre.identity (d0 = 8 / 8, d1 = 128) ins(%b[d0 + 8, d1]) outs(%c[d0, d1]) : !h -> !g
  spyre.identity (d0 = 8, d1 = 128) ins(%c[d0, d1]) outs(%o[d0, d1]) : !g -> !g
  return
}

// -----

!h = !spyre.buffer<16x64xf16, #spyre.layout<[1, 16, 64], order [0, 1], SEN169_FP16>, hbm>
// Each core reads what the next one overwrites; parts that do not meet are no harm.
func.func @races(%x: !h, %o: !h) {
  %a = spyre.alloc pool(0) : !h
  spyre.neg (d0 = 16, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 8 / 8, d1 = 64) ins(%a[d0, d1]) outs(%a[d0 + 8, d1]) : !h -> !h
  spyre.abs (d0 = 16 / 4, d1 = 64) ins(%a[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-9: core 0 reads in input #0 what core 1 overwrites, in no order}}
  spyre.identity (d0 = 15 / 15, d1 = 64) ins(%a[d0 + 1, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 16, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}
