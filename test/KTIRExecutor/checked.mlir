// Checked mode: reads of what nobody has written, races between tiles, and too much in LX.

// RUN: split-file %s %t
// RUN: not spyre-run %t/unwritten.mlir -o 64@fp16 --check 2>&1 | FileCheck %t/unwritten.mlir
// RUN: spyre-run %t/unwritten.mlir -o 64@fp16
// RUN: not spyre-run %t/race.mlir -o 64@fp16 --check 2>&1 | FileCheck %t/race.mlir
// RUN: not spyre-run %t/race.mlir -o 64@fp16 --check --reversed 2>&1 | FileCheck %t/race.mlir --check-prefix=REVERSED
// RUN: spyre-run %t/race.mlir -o 64@fp16
// RUN: not spyre-run %t/capacity.mlir -o 2x1024x512@fp16 --check 2>&1 | FileCheck %t/capacity.mlir
// RUN: spyre-run %t/capacity.mlir -o 2x1024x512@fp16
// RUN: not spyre-run %t/result.mlir -o 2x64@fp16 --check 2>&1 | FileCheck %t/result.mlir

//--- unwritten.mlir
// CHECK: unwritten.mlir:9:8: ktdp.load: compute tile 0: reads byte 65536 of device memory, which nobody has written
#all = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @kernel(%o: index) {
  %v = ktdp.construct_memory_view %o, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = #same}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %a = ktdp.load %t : <64xindex> -> tensor<64xf16>
  ktdp.store %a, %t : tensor<64xf16>, <64xindex>
  return
}

//--- race.mlir
// CHECK: ktdp.store: compute tile 1: touches bytes 65536..65663 of device memory, as compute tile 0 does, without an order between them
// REVERSED: ktdp.store: compute tile 0: touches bytes {{.*}} as compute tile 1 does
#all = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @kernel(%o: index) attributes {grid = [2]} {
  %v = ktdp.construct_memory_view %o, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = #same}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %a = arith.constant dense<1.0> : tensor<64xf16>
  ktdp.store %a, %t : tensor<64xf16>, <64xindex>
  return
}

//--- capacity.mlir
// CHECK: kernel: compute tile 0 needs 2097{{[0-9]+}} bytes of LX for its views and values, and has 2097152
#all = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 1023 >= 0, d2 >= 0, -d2 + 511 >= 0)>
#few = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#one = affine_map<(d0) -> (d0)>
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @kernel(%o: index) {
  %c0 = arith.constant 0 : index
  %l = ktdp.construct_memory_view %c0, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<ct_local>} : memref<64xf16>
  %tl = ktdp.construct_access_tile %l[0] {access_tile_set = #few, access_tile_order = #one}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %b = arith.constant dense<1.0> : tensor<64xf16>
  ktdp.store %b, %tl : tensor<64xf16>, <64xindex>
  %v = ktdp.construct_memory_view %o, sizes: [2, 1024, 512], strides: [524288, 512, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x1024x512xf16>
  %t = ktdp.construct_access_tile %v[0, 0, 0] {access_tile_set = #all, access_tile_order = #same}
      : memref<2x1024x512xf16> -> !ktdp.access_tile<2x1024x512xindex>
  %n = arith.constant 1.0 : f16
  %a = tensor.splat %n : tensor<2x1024x512xf16>
  ktdp.store %a, %t : tensor<2x1024x512xf16>, <2x1024x512xindex>
  return
}

//--- result.mlir
// CHECK: out0: nobody has written element 64
#all = affine_set<(d0, d1) : (d0 == 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @kernel(%o: index) {
  %v = ktdp.construct_memory_view %o, sizes: [2, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x64xf16>
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #all, access_tile_order = #same}
      : memref<2x64xf16> -> !ktdp.access_tile<1x64xindex>
  %a = arith.constant dense<1.0> : tensor<1x64xf16>
  ktdp.store %a, %t : tensor<1x64xf16>, <1x64xindex>
  return
}
