//===- ReadInterTile.cpp - Inter-tile operations of kernels -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets of tiles become lists. All deliveries are read through their one interface.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

using namespace mlir;
using namespace spyre::ktir;

/// The tiles of each group of \p groups.
static std::vector<std::vector<int64_t>> listTiles(IntegerSet set, ArrayRef<int64_t> groups,
                                                   int64_t numTiles) {
  std::vector<std::vector<int64_t>> result;
  for (int64_t group : groups) {
    SmallVector<int64_t> tiles = ktdp::getTiles(set, {group}, numTiles);
    result.emplace_back(tiles.begin(), tiles.end());
  }
  return result;
}

bool Reader::readInterTile(Operation &op) {
  if (isa<ktdp::InterTileProduceOp>(op)) {
    readProduce(op);
    return true;
  }
  if (isa<ktdp::DeliveryOpInterface>(op)) {
    readDelivery(op);
    return true;
  }
  return false;
}

void Reader::readProduce(Operation &op) {
  auto produce = cast<ktdp::InterTileProduceOp>(op);
  program.communicates = true;
  std::optional<SmallVector<int64_t>> groups =
      ktdp::getGroups(produce.getFuture().getType().getGroups().getValue());
  if (!groups)
    return context.reject(&op, "the groups are not bounded, or too many");
  Exchange exchange;
  exchange.groups.assign(groups->begin(), groups->end());
  exchange.producers =
      listTiles(produce.getProducerTilesPerGroup(), *groups, program.getNumTiles());
  llvm::DenseSet<int64_t> seen;
  for (const auto &tiles : exchange.producers)
    for (int64_t tile : tiles)
      if (!seen.insert(tile).second)
        return context.reject(&op, "compute tile " + Twine(tile) + " produces in two groups");
  Block &body = produce.getBody().front();
  int32_t future = slotOf(produce.getFuture());
  size_t test = program.instructions.size();
  Instruction &begin = emit(Opcode::ProduceTest, &op);
  begin.numbers = {program.numExchanges++};
  begin.results = {slotOf(body.getArgument(0)), future};
  begin.exchange = std::move(exchange);
  read(body);
  Instruction &end = emit(Opcode::Produce, &op);
  end.operands.push_back(future);
  for (Value value : body.getTerminator()->getOperands())
    end.operands.push_back(slotOf(value));
  land(test);
}

void Reader::readDelivery(Operation &op) {
  auto delivery = cast<ktdp::DeliveryOpInterface>(op);
  ktdp::InterTileProduceOp produce = ktdp::getProducer(delivery);
  if (!produce)
    return context.reject(&op, "takes a future that no operation of this kernel produces");
  if (produce->getBlock() != op.getBlock())
    return context.reject(&op, "stands in another block than what produces for it");
  int64_t numTiles = program.getNumTiles();
  std::optional<SmallVector<int64_t>> groups =
      ktdp::getGroups(produce.getFuture().getType().getGroups().getValue());
  if (!groups)
    return;
  Exchange exchange;
  exchange.groups.assign(groups->begin(), groups->end());
  exchange.producers = listTiles(produce.getProducerTilesPerGroup(), *groups, numTiles);
  exchange.consumers = listTiles(delivery.getConsumerTilesPerGroup(), *groups, numTiles);
  llvm::DenseSet<int64_t> seen;
  for (const auto &tiles : exchange.consumers)
    for (int64_t tile : tiles)
      if (!seen.insert(tile).second)
        return context.reject(&op, "compute tile " + Twine(tile) + " consumes in two groups");
  if (std::optional<IntegerSet> dependency = delivery.getDependency())
    for (auto [g, group] : llvm::enumerate(*groups)) {
      auto &ofGroup = exchange.dependencies.emplace_back();
      for (int64_t consumer : exchange.consumers[g]) {
        SmallVector<int64_t> sources = ktdp::getTiles(*dependency, {consumer, group}, numTiles);
        for (int64_t source : sources)
          if (!llvm::is_contained(exchange.producers[g], source))
            return context.reject(&op, "compute tile " + Twine(consumer) + " depends on tile " +
                                           Twine(source) + ", which does not produce in group " +
                                           Twine(group));
        ofGroup.emplace_back(sources.begin(), sources.end());
      }
    }
  ArrayRef<int64_t> split = delivery.getSplitDims(), concat = delivery.getConcatDims();
  bool isFold = delivery.getFoldRegion() != nullptr;
  exchange.scatterDims.assign(split.begin(), split.end());
  exchange.gatherDims.assign(concat.begin(), concat.end());
  exchange.isFold = isFold;
  if (!isFold && concat.empty())
    for (size_t g = 0; g < groups->size(); ++g)
      for (size_t k = 0; k < exchange.consumers[g].size(); ++k) {
        size_t count = exchange.dependencies.empty() ? exchange.producers[g].size()
                                                     : exchange.dependencies[g][k].size();
        if (count != 1)
          return context.reject(&op, "compute tile " + Twine(exchange.consumers[g][k]) + " has " +
                                         Twine(count) + " producers; it takes from one");
      }
  std::shared_ptr<const Program> combiner;
  if (isFold) {
    auto folded = std::make_shared<Program>();
    folded->name = program.name;
    folded->where = describe(op.getLoc());
    folded->grid = program.grid;
    combiner = folded;
    Block &block = delivery.getFoldRegion()->front();
    // The combiner has slots of its own; what it takes from outside comes after its arguments.
    Reader inner(context, *folded);
    for (BlockArgument argument : block.getArguments())
      folded->arguments.push_back(inner.slotOf(argument));
    llvm::SetVector<Value> outside;
    for (Operation &nested : block)
      nested.walk([&](Operation *user) {
        for (Value value : user->getOperands())
          if (!block.getParent()->isAncestor(value.getParentRegion()))
            outside.insert(value);
      });
    for (Value value : outside)
      folded->arguments.push_back(inner.slotOf(value));
    inner.read(block);
    for (Value value : block.getTerminator()->getOperands())
      folded->results.push_back(inner.slotOf(value));
    inner.emit(Opcode::Return, &op);
    if (folded->communicates)
      context.reject(&op, "the combiner sends or receives");
    Instruction &instruction = emit(Opcode::Receive, &op);
    instruction.operands = {slotOf(delivery.getFuture())};
    for (Value identity : delivery.getIdentities())
      instruction.operands.push_back(slotOf(identity));
    for (Value value : outside)
      instruction.operands.push_back(slotOf(value));
  } else {
    emit(Opcode::Receive, &op).operands = {slotOf(delivery.getFuture())};
  }
  Instruction &instruction = program.instructions.back();
  addResults(instruction, &op);
  for (Type type : op.getResultTypes()) {
    std::optional<Element> element = getElement(&op, type);
    instruction.elements.push_back(element.value_or(kF32));
    instruction.shapes.emplace_back(cast<ShapedType>(type).getShape());
  }
  instruction.exchange = std::move(exchange);
  instruction.combiner = std::move(combiner);
}
