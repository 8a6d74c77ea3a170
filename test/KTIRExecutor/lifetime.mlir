// How long values live: the sum of a loop, one term and the next sum are all that is there at once, 1,024 bytes each,
// whatever the number of trips; the view in LX counts up to its end.

// RUN: spyre-run %s -i 5x256@fp32 -o 256@fp32 --stats=%t.json --check
// RUN: FileCheck %s < %t.json
// CHECK: "lx_bytes_peak": 3136,

#row = affine_set<(d0, d1) : (d0 == 0, d1 >= 0, -d1 + 255 >= 0)>
#all = affine_set<(d0) : (d0 >= 0, -d0 + 255 >= 0)>
#few = affine_set<(d0) : (d0 >= 0, -d0 + 15 >= 0)>
#one = affine_map<(d0) -> (d0)>
func.func @kernel(%x: index, %o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %small = arith.constant dense<0.0> : tensor<16xf32>
  %vl = ktdp.construct_memory_view %c0, sizes: [16], strides: [1] {memory_space = #ktdp.memory_space<ct_local>} : memref<16xf32>
  %tl = ktdp.construct_access_tile %vl[0] {access_tile_set = #few, access_tile_order = #one} : memref<16xf32> -> !ktdp.access_tile<16xindex>
  ktdp.store %small, %tl : tensor<16xf32>, <16xindex>
  %vx = ktdp.construct_memory_view %x, sizes: [5, 256], strides: [256, 1] {memory_space = #ktdp.memory_space<global>} : memref<5x256xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [256], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<256xf32>
  %init = tensor.splat %zero : tensor<256xf32>
  %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %init) -> (tensor<256xf32>) {
    %t = ktdp.construct_access_tile %vx[%i, 0] {access_tile_set = #row, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
        : memref<5x256xf32> -> !ktdp.access_tile<1x256xindex>
    %a = ktdp.load %t : <1x256xindex> -> tensor<1x256xf32>
    %b = tensor.collapse_shape %a [[0, 1]] : tensor<1x256xf32> into tensor<256xf32>
    %next = arith.addf %acc, %b : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  %to = ktdp.construct_access_tile %vo[0] {access_tile_set = #all, access_tile_order = #one} : memref<256xf32> -> !ktdp.access_tile<256xindex>
  ktdp.store %sum, %to : tensor<256xf32>, <256xindex>
  return
}
