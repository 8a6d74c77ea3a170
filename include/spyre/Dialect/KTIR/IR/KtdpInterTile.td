//===- KtdpInterTile.td - Data between compute tiles -----------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One operation names what tiles produce, six deliver it: unchanged, folded, as shares,
// side by side. The rules R1 to R14 are in docs/developer/ktir.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_KTDPINTERTILE_TD
#define SPYRE_DIALECT_KTIR_KTDPINTERTILE_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "spyre/Dialect/KTIR/IR/KtdpBase.td"
include "spyre/Dialect/KTIR/IR/KtdpInterfaces.td"

/// What passes between tiles is no memory, but has a time: two productions are not one,
/// and a delivery that nobody reads still waits.
def Ktdp_InterTileResource : Resource<"::mlir::ktdp::InterTileResource">;

def Ktdp_InterTileProduceOp
    : Ktdp_Op<"inter_tile_produce", [SingleBlockImplicitTerminator<"YieldPartialOp">,
                                     RecursiveMemoryEffects,
                                     MemoryEffects<[MemWrite<Ktdp_InterTileResource>]>]> {
  let summary = "Name what compute tiles contribute to others";
  let description = [{
    `producer_tiles_per_group` is a set `(i)[g]` of tiles; the groups are those of the
    result's type. The region runs once on each tile that produces, with the number of
    its group, and yields one tensor a role. No tile produces in two groups (R1), and
    the future has exactly one use, an operation that delivers (R2).

    ```mlir
    #quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %all = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #quad, gather_dimensions = [0]
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<16x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins IntegerSetAttr:$producer_tiles_per_group);
  let results = (outs Ktdp_TileFutureType:$future);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Ktdp_YieldPartialOp
    : Ktdp_Op<"yield_partial", [Pure, ReturnLike, Terminator, HasParent<"InterTileProduceOp">]> {
  let summary = "What the tile contributes, one tensor a role";
  let description = [{
    The end of the region of `inter_tile_produce`.

    ```mlir
    #all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
    #one = affine_set<(g) : (g == 0)>
    func.func @f(%x: tensor<4xf16>, %i: tensor<4xi32>) attributes {grid = [4]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #all
          -> !ktdp.tile_future<(tensor<4xf16>, tensor<4xi32>), groups = #one> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x, %i : tensor<4xf16>, tensor<4xi32>
      }
      %r:2 = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0]
          : <(tensor<4xf16>, tensor<4xi32>), groups = #one> -> tensor<16xf16>, tensor<16xi32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Ktdp_YieldReducedOp
    : Ktdp_Op<"yield_reduced", [Pure, ReturnLike, Terminator,
                                ParentOneOf<["InterTileReduceOp", "InterTileReduceScatterOp"]>]> {
  let summary = "Two partials folded into one, for each role";
  let description = [{
    The end of the region of an operation that folds.

    ```mlir
    #all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
    #one = affine_set<(g) : (g == 0)>
    func.func @f(%x: tensor<4xf16>, %least: tensor<4xf16>) attributes {grid = [4]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #all
          -> !ktdp.tile_future<(tensor<4xf16>), groups = #one> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4xf16>
      }
      %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #all, identity(%least : tensor<4xf16>)
          : <(tensor<4xf16>), groups = #one> -> tensor<4xf16> {
      ^bb0(%a: tensor<4xf16>, %b: tensor<4xf16>):
        %m = arith.maximumf %a, %b : tensor<4xf16>
        ktdp.yield_reduced %m : tensor<4xf16>
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

/// An operation that takes a future. Its attributes are written in any order.
class Ktdp_DeliveryOp<string mnemonic, list<Trait> traits = []>
    : Ktdp_Op<mnemonic,
              !listconcat(traits, [RecursiveMemoryEffects, Ktdp_DeliveryOpInterface,
                                   MemoryEffects<[MemRead<Ktdp_InterTileResource>,
                                                  MemWrite<Ktdp_InterTileResource>]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Ktdp_InterTileConsumeOp : Ktdp_DeliveryOp<"inter_tile_consume"> {
  let summary = "Deliver a partial unchanged";
  let description = [{
    Every consumer receives from exactly one producer (R8): the only one of its group,
    or the one that `producer_dependency_per_consumer` pairs it with. All producers have
    a consumer (R4). A tile that does not consume has no defined result.

    ```mlir
    #producers = affine_set<(i)[g] : (i - g * 4 == 0)>
    #consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #consumers
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<4x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    IntegerSetAttr:$consumer_tiles_per_group,
    OptionalAttr<IntegerSetAttr>:$producer_dependency_per_consumer);
}

def Ktdp_InterTileReduceOp : Ktdp_DeliveryOp<"inter_tile_reduce", [SingleBlockImplicitTerminator<"YieldReducedOp">]> {
  let summary = "Deliver the fold of a group's partials";
  let description = [{
    The region takes two partials a role and yields one; it is pure (R10) and taken to be
    associative and commutative. `identity` gives tensors of the partials' types (R11)
    that change nothing. All producers of the group are folded, or those that
    `producer_dependency_per_consumer` names. Consumers are the producers of the group
    or a single one of them (R13, R14).

    ```mlir
    #producers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %zero = arith.constant dense<0.0> : tensor<4x64xf16>
      %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #consumers, identity(%zero : tensor<4x64xf16>)
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<4x64xf16> {
      ^bb0(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>):
        %s = arith.addf %a, %b : tensor<4x64xf16>
        ktdp.yield_reduced %s : tensor<4x64xf16>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    Variadic<AnyRankedTensor>:$identity,
    IntegerSetAttr:$consumer_tiles_per_group,
    OptionalAttr<IntegerSetAttr>:$producer_dependency_per_consumer);
  let regions = (region SizedRegion<1>:$combiner);
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getFoldRegion() { return &getCombiner(); }
    ::mlir::ValueRange getIdentities() { return getIdentity(); }
  }];
}

def Ktdp_InterTileReduceScatterOp : Ktdp_DeliveryOp<"inter_tile_reduce_scatter", [SingleBlockImplicitTerminator<"YieldReducedOp">]> {
  let summary = "Deliver shares of the fold of a group's partials";
  let description = [{
    As `inter_tile_reduce`; then each of the C consumers of a group gets its share along
    `scatter_dimensions`, whose sizes divide by C in all (R9).

    ```mlir
    #producers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %zero = arith.constant dense<0.0> : tensor<4x64xf16>
      %r = ktdp.inter_tile_reduce_scatter(%f) consumer_tiles_per_group = #consumers, scatter_dimensions = [0],
          identity(%zero : tensor<4x64xf16>)
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<1x64xf16> {
      ^bb0(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>):
        %s = arith.addf %a, %b : tensor<4x64xf16>
        ktdp.yield_reduced %s : tensor<4x64xf16>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    Variadic<AnyRankedTensor>:$identity,
    IntegerSetAttr:$consumer_tiles_per_group,
    DenseI64ArrayAttr:$scatter_dimensions,
    OptionalAttr<IntegerSetAttr>:$producer_dependency_per_consumer);
  let regions = (region SizedRegion<1>:$combiner);
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getFoldRegion() { return &getCombiner(); }
    ::mlir::ValueRange getIdentities() { return getIdentity(); }
    ::llvm::ArrayRef<int64_t> getSplitDims() { return getScatterDimensions(); }
  }];
}

def Ktdp_InterTileGatherOp : Ktdp_DeliveryOp<"inter_tile_gather"> {
  let summary = "Deliver a group's partials side by side";
  let description = [{
    Each consumer gets the P partials of its group, or those that
    `producer_dependency_per_consumer` names, in ascending order of their tiles along
    `gather_dimensions`, the first of which varies slowest. The sizes of these dims grow
    by factors whose product is P (R12).

    ```mlir
    #producers = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
    #consumers = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
    #groups = affine_set<(g) : (g == 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #consumers, gather_dimensions = [0, 1]
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<8x128xf16>
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    IntegerSetAttr:$consumer_tiles_per_group,
    DenseI64ArrayAttr:$gather_dimensions,
    OptionalAttr<IntegerSetAttr>:$producer_dependency_per_consumer);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getConcatDims() { return getGatherDimensions(); }
  }];
}

def Ktdp_InterTileAllToAllOp : Ktdp_DeliveryOp<"inter_tile_all_to_all"> {
  let summary = "Deliver a share of every partial, side by side";
  let description = [{
    Each producer cuts its partial along `split_dimensions` into one share for each
    consumer (R9); each consumer puts the shares that it gets side by side along
    `concat_dimensions`, in ascending order of the producers (R12).

    ```mlir
    #producers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %r = ktdp.inter_tile_all_to_all(%f) consumer_tiles_per_group = #consumers, split_dimensions = [1],
          concat_dimensions = [0]
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<16x16xf16>
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    IntegerSetAttr:$consumer_tiles_per_group,
    DenseI64ArrayAttr:$split_dimensions,
    DenseI64ArrayAttr:$concat_dimensions,
    OptionalAttr<IntegerSetAttr>:$producer_dependency_per_consumer);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getSplitDims() { return getSplitDimensions(); }
    ::llvm::ArrayRef<int64_t> getConcatDims() { return getConcatDimensions(); }
  }];
}

def Ktdp_InterTileScatterOp : Ktdp_DeliveryOp<"inter_tile_scatter"> {
  let summary = "Deliver shares of one partial";
  let description = [{
    The group has one producer (R8). Each of the C consumers gets its share along
    `scatter_dimensions`, in ascending order of the consumers (R9).

    ```mlir
    #producers = affine_set<(i)[g] : (i - g * 4 == 0)>
    #consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
    #groups = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
    func.func @f(%x: tensor<4x64xf16>) attributes {grid = [8]} {
      %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers
          -> !ktdp.tile_future<(tensor<4x64xf16>), groups = #groups> {
      ^bb0(%gid: index):
        ktdp.yield_partial %x : tensor<4x64xf16>
      }
      %r = ktdp.inter_tile_scatter(%f) consumer_tiles_per_group = #consumers, scatter_dimensions = [0]
          : <(tensor<4x64xf16>), groups = #groups> -> tensor<1x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins
    Ktdp_TileFutureType:$future,
    IntegerSetAttr:$consumer_tiles_per_group,
    DenseI64ArrayAttr:$scatter_dimensions);
  let extraClassDeclaration = [{
    ::std::optional<::mlir::IntegerSet> getDependency() { return ::std::nullopt; }
    ::llvm::ArrayRef<int64_t> getSplitDims() { return getScatterDimensions(); }
  }];
}

#endif // SPYRE_DIALECT_KTIR_KTDPINTERTILE_TD
