// What f16 means and when it is rounded: 2048 + 1 is 2048 in IEEE's half, 1024 + 1 is 1024 in DL16; without rounding
// in between, adding one eight times makes a difference.

// RUN: spyre-run %s -o 2@fp32 --outputs %t.npz
// RUN: %python -c "import numpy as np; x = np.load('%t.npz')['out0']; assert list(x) == [2048, 1032], x"
// RUN: spyre-run %s -o 2@fp32 --outputs %t.npz --f16=dl16
// RUN: %python -c "import numpy as np; x = np.load('%t.npz')['out0']; assert list(x) == [2048, 1024], x"
// RUN: spyre-run %s -o 2@fp32 --outputs %t.npz --f16=dl16 --round=store
// RUN: %python -c "import numpy as np; x = np.load('%t.npz')['out0']; assert list(x) == [2056, 1032], x"
// RUN: not spyre-run %s -o 2@fp32 --f16=bf16 2>&1 | FileCheck %s
// CHECK: --f16: 'bf16' is neither dl16 nor ieee

#all = affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>
func.func @kernel(%o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f16
  %large = arith.constant 2048.0 : f16
  %small = arith.constant 1024.0 : f16
  %a, %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %large, %y = %small) -> (f16, f16) {
    %nextX = arith.addf %x, %one : f16
    %nextY = arith.addf %y, %one : f16
    scf.yield %nextX, %nextY : f16, f16
  }
  %a32 = arith.extf %a : f16 to f32
  %b32 = arith.extf %b : f16 to f32
  %r = tensor.from_elements %a32, %b32 : tensor<2xf32>
  %v = ktdp.construct_memory_view %o, sizes: [2], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<2xf32>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<2xf32> -> !ktdp.access_tile<2xindex>
  ktdp.store %r, %t : tensor<2xf32>, <2xindex>
  return
}
