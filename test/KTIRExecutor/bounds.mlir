// What lies outside of a view is an error that names the place; with --oob=zero it reads as zero and takes
// nothing. The tail of the memory behind the view is not touched in either case.

// RUN: not spyre-run %s -i 8x64@fp32 -o 8x64@fp32 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: spyre-run %s -i 8x64@fp32 -o 8x64@fp32 --oob=zero --outputs %t.npz
// RUN: %python -c "import numpy as np; x = np.load('%t.npz')['out0']; assert (x[5:] == 0).all() and (x[:5] != 0).any(), x"

// ERROR: bounds.mlir:[[#@LINE+12]]:8: ktdp.load: compute tile 0: coordinates [5, 0] are outside of the view of sizes [5, 64]

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @kernel(%x: index, %o: index) attributes {grid = [1]} {
  %n = arith.constant 5 : index
  %vx = ktdp.construct_memory_view %x, sizes: [%n, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<?x64xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf32>
  %tx = ktdp.construct_access_tile %vx[0, 0] {access_tile_set = #all, access_tile_order = #same}
      : memref<?x64xf32> -> !ktdp.access_tile<8x64xindex>
  %a = ktdp.load %tx : <8x64xindex> -> tensor<8x64xf32>
  %to = ktdp.construct_access_tile %vo[0, 0] {access_tile_set = #all, access_tile_order = #same}
      : memref<8x64xf32> -> !ktdp.access_tile<8x64xindex>
  ktdp.store %a, %to : tensor<8x64xf32>, <8x64xindex>
  return
}
