# l3.py - Programs of L3 that several tests read
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of L3 that several tests read."""

# Four trips of sixteen rows, on four cores.
LOOP = """
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.role = "input", spyre.array = "in0"},
                %o: !h {spyre.role = "output", spyre.array = "out0"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.exp (d0 = 16 / 4, d1 = 64) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !h -> !h
  }
  return
}
"""
