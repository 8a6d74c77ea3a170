// Layer normalisation of 67 rows; each compute tile takes every eighth row, and computes in
// f32.
module {
func.func @layer_norm(%x: index, %w: index, %b: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %step = arith.constant 8 : index
  %rows = arith.constant 67 : index
  %zero = arith.constant 0.0 : f32
  %inverse = arith.constant 0.001953125 : f32
  %eps = arith.constant 1.0e-5 : f32
  %vx = ktdp.construct_memory_view %x, sizes: [67, 512], strides: [512, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<67x512xf16>
  %vw = ktdp.construct_memory_view %w, sizes: [512], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<512xf16>
  %vb = ktdp.construct_memory_view %b, sizes: [512], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<512xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [67, 512], strides: [512, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<67x512xf16>
  %w0_t = ktdp.construct_access_tile %vw[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 511 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<512xf16> -> !ktdp.access_tile<512xindex>
  %w0 = ktdp.load %w0_t : <512xindex> -> tensor<512xf16>
  %b0_t = ktdp.construct_access_tile %vb[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 511 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<512xf16> -> !ktdp.access_tile<512xindex>
  %b0 = ktdp.load %b0_t : <512xindex> -> tensor<512xf16>
  scf.for %r = %id to %rows step %step {
  %a_t = ktdp.construct_access_tile %vx[%r, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 511 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<67x512xf16> -> !ktdp.access_tile<1x512xindex>
  %a = ktdp.load %a_t : <1x512xindex> -> tensor<1x512xf16>
    %row = tensor.collapse_shape %a [[0, 1]] : tensor<1x512xf16> into tensor<512xf16>
    %x32 = arith.extf %row : tensor<512xf16> to tensor<512xf32>
    %none = tensor.empty() : tensor<f32>
    %init = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%x32 : tensor<512xf32>) outs(%init : tensor<f32>) dimensions = [0]
    %total = tensor.extract %sum[] : tensor<f32>
    %mean = arith.mulf %total, %inverse : f32
    %means = tensor.splat %mean : tensor<512xf32>
    %centred = arith.subf %x32, %means : tensor<512xf32>
    %squares = arith.mulf %centred, %centred : tensor<512xf32>
    %sum2 = linalg.reduce { arith.addf } ins(%squares : tensor<512xf32>) outs(%init : tensor<f32>) dimensions = [0]
    %total2 = tensor.extract %sum2[] : tensor<f32>
    %variance = arith.mulf %total2, %inverse : f32
    %safe = arith.addf %variance, %eps : f32
    %scale = math.rsqrt %safe : f32
    %scales = tensor.splat %scale : tensor<512xf32>
    %normed = arith.mulf %centred, %scales : tensor<512xf32>
    %w32 = arith.extf %w0 : tensor<512xf16> to tensor<512xf32>
    %b32 = arith.extf %b0 : tensor<512xf16> to tensor<512xf32>
    %weighted = arith.mulf %normed, %w32 : tensor<512xf32>
    %moved = arith.addf %weighted, %b32 : tensor<512xf32>
    %narrow = arith.truncf %moved : tensor<512xf32> to tensor<512xf16>
    %y = tensor.expand_shape %narrow [[0, 1]] output_shape [1, 512] : tensor<512xf16> into tensor<1x512xf16>
  %y_o = ktdp.construct_access_tile %vo[%r, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 511 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<67x512xf16> -> !ktdp.access_tile<1x512xindex>
  ktdp.store %y, %y_o : tensor<1x512xf16>, <1x512xindex>
  }
  return
}
}
