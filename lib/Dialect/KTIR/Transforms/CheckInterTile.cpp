//===- CheckInterTile.cpp - Rules R1 to R14 and KTIR-11 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who produces and who receives, group by group, with the members of all sets. Rules on
// types alone (R11, parts of R9 and R12) are the verifiers'. R5, that consumers share no
// source, needs no check: a partial's place in what a consumer puts together is its place
// among that consumer's own sources, so sharing leaves nothing undefined.
//
//===----------------------------------------------------------------------===//

#include "Legality.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ktdp;

namespace {
using Tiles = SmallVector<int64_t>;

/// One group of a delivery.
struct Group {
  int64_t number;
  Tiles producers, consumers;
  /// What each consumer receives from, with a dependency.
  std::optional<SmallVector<Tiles>> sources;

  /// The lists of sources with their first consumer. Without a dependency all consumers
  /// have the same.
  SmallVector<std::pair<int64_t, ArrayRef<int64_t>>> getSources() const {
    SmallVector<std::pair<int64_t, ArrayRef<int64_t>>> result;
    for (auto [i, consumer] : llvm::enumerate(consumers)) {
      result.emplace_back(consumer, sources ? ArrayRef((*sources)[i]) : ArrayRef(producers));
      if (!sources)
        break;
    }
    return result;
  }
  bool hasProducer(int64_t tile) const {
    return std::binary_search(producers.begin(), producers.end(), tile);
  }
};

class InterTileCheck {
public:
  InterTileCheck(const Kernel &kernel, const RunCounts &counts, LegalityReport &report)
      : kernel(kernel), counts(counts), report(report) {}

  void run() {
    kernel.function->walk([&](Operation *op) {
      if (auto produce = dyn_cast<InterTileProduceOp>(op))
        check(produce);
      else if (auto delivery = dyn_cast<DeliveryOpInterface>(op))
        check(delivery);
    });
  }

private:
  /// The groups of a future, or a report.
  std::optional<SmallVector<int64_t>> getGroupsOf(Operation *op, TileFutureType type) {
    std::optional<SmallVector<int64_t>> groups = ktdp::getGroups(type.getGroups().getValue());
    if (!groups)
      if (auto diag = report.at(op, "R1"))
        *diag << "the groups are not bounded, or more than " << kMaxTiles;
    return groups;
  }

  /// Whether so many questions a group can be asked, or a report. To find the bounds of a
  /// set counts as some more.
  bool mayAsk(Operation *op, size_t numGroups, int64_t each) {
    int64_t cost = static_cast<int64_t>(numGroups) * (each + 256);
    if (cost <= kMaxQuestions - questions) {
      questions += cost;
      return true;
    }
    if (auto diag = report.at(op, "KTIR-2"))
      *diag << "the groups and their tiles are too many to be checked";
    return false;
  }

  /// The members of a set, with a report where it names tiles that the grid has not. A set
  /// without an end is meant up to the grid's.
  Tiles getMembers(Operation *op, StringRef name, IntegerSet set, int64_t group) {
    DimBounds bounds = getBounds(bindSymbols(set, group)).front();
    int64_t outside = bounds.upper && *bounds.upper >= kernel.numTiles ? *bounds.upper
                      : bounds.lower && *bounds.lower < 0              ? *bounds.lower
                                                                       : 0;
    if (bounds.getExtent() != 0 && outside)
      if (auto diag = report.at(op, "KTIR-6"))
        *diag << name << " names compute tile " << outside << " in group " << group
              << "; the grid has " << kernel.numTiles;
    return getTiles(set, group, kernel.numTiles);
  }

  void check(InterTileProduceOp op) {
    std::optional<SmallVector<int64_t>> groups = getGroupsOf(op, op.getFuture().getType());
    if (groups && mayAsk(op, groups->size(), kernel.numTiles)) {
      DenseMap<int64_t, int64_t> groupOf;
      for (int64_t group : *groups)
        for (int64_t tile :
             getMembers(op, "producer_tiles_per_group", op.getProducerTilesPerGroup(), group)) {
          auto [it, isNew] = groupOf.try_emplace(tile, group);
          if (!isNew)
            if (auto diag = report.at(op, "R1"))
              *diag << "compute tile " << tile << " produces in groups " << it->second << " and "
                    << group;
        }
    }
    size_t uses = std::distance(op.getFuture().use_begin(), op.getFuture().use_end());
    if (uses != 1 || !isa<DeliveryOpInterface>(*op.getFuture().user_begin()))
      if (auto diag = report.at(op, "R2")) {
        *diag << "the future has " << uses << " uses; exactly one operation delivers it";
        for (Operation *user : op.getFuture().getUsers())
          diag->attachNote(user->getLoc()) << "it is used here";
      }
  }

  void check(DeliveryOpInterface op) {
    checkPurity(op);
    InterTileProduceOp produce = getProducer(op);
    std::optional<SmallVector<int64_t>> numbers = getGroupsOf(op, op.getFuture().getType());
    // A future from outside has producers that nobody knows.
    if (!produce || !numbers)
      return;
    if (!mayAsk(op, numbers->size(), 2 * kernel.numTiles))
      return;
    SmallVector<Group> groups;
    for (int64_t number : *numbers) {
      Group group{number, getTiles(produce.getProducerTilesPerGroup(), number, kernel.numTiles),
                  getMembers(op, "consumer_tiles_per_group", op.getConsumerTilesPerGroup(), number),
                  std::nullopt};
      if (std::optional<IntegerSet> dependency = op.getDependency()) {
        if (!mayAsk(op, 1, group.consumers.size() * kernel.numTiles))
          return;
        group.sources.emplace();
        for (int64_t consumer : group.consumers)
          group.sources->push_back(getTiles(*dependency, {consumer, number}, kernel.numTiles));
      }
      groups.push_back(std::move(group));
    }
    for (const Group &group : groups) {
      checkSources(op, group);
      checkShares(op, group);
      checkFold(op, group);
      checkWaits(op, produce, group);
    }
    checkUniform(op, groups);
  }

  /// R10.
  void checkPurity(DeliveryOpInterface op) {
    if (!op.getFoldRegion())
      return;
    op.getFoldRegion()->walk([&](Operation *inner) {
      if (isMemoryEffectFree(inner))
        return;
      if (auto diag = report.at(op, "R10")) {
        *diag << "the region that folds must be pure";
        diag->attachNote(inner->getLoc()) << "'" << inner->getName() << "' is not";
      }
    });
  }

  /// R3, R4, R8.
  void checkSources(DeliveryOpInterface op, const Group &group) {
    llvm::DenseSet<int64_t> claimed;
    for (auto [consumer, sources] : group.getSources()) {
      for (int64_t source : sources) {
        claimed.insert(source);
        if (!group.hasProducer(source))
          if (auto diag = report.at(op, "R3"))
            *diag << "compute tile " << consumer << " depends on tile " << source
                  << ", which produces nothing in group " << group.number;
      }
      if (op.hasSingleSource() && sources.size() != 1)
        if (auto diag = report.at(op, "R8"))
          *diag << "compute tile " << consumer << " of group " << group.number << " has "
                << sources.size() << " sources; it receives from exactly one";
    }
    for (int64_t producer : group.producers)
      if (!claimed.contains(producer)) {
        if (auto diag = report.at(op, "R4"))
          *diag << "nobody receives what compute tile " << producer << " produces in group "
                << group.number;
        return;
      }
  }

  /// The product of the factors by which dims shrink (or grow); nothing where a size is
  /// unknown, or a dim does both.
  static std::optional<int64_t> getFactor(DeliveryOpInterface op, unsigned role,
                                          ArrayRef<int64_t> dims, ArrayRef<int64_t> others,
                                          bool grows) {
    RankedTensorType partial = op.getPartialTypes()[role];
    auto result = cast<RankedTensorType>(op->getResult(role).getType());
    int64_t factor = 1;
    for (int64_t dim : dims) {
      int64_t small = grows ? partial.getDimSize(dim) : result.getDimSize(dim);
      int64_t large = grows ? result.getDimSize(dim) : partial.getDimSize(dim);
      if (ShapedType::isDynamic(small) || ShapedType::isDynamic(large) || small <= 0 ||
          llvm::is_contained(others, dim) || llvm::MulOverflow(factor, large / small, factor))
        return std::nullopt;
    }
    return factor;
  }

  /// R9, R12: the types have as many shares as there are consumers, and as many partials
  /// as sources.
  void checkShares(DeliveryOpInterface op, const Group &group) {
    ArrayRef<int64_t> split = op.getSplitDims(), concat = op.getConcatDims();
    for (unsigned role = 0; role < op->getNumResults(); ++role) {
      std::optional<int64_t> shares = getFactor(op, role, split, concat, /*grows=*/false);
      if (!split.empty() && shares && *shares != static_cast<int64_t>(group.consumers.size()))
        if (auto diag = report.at(op, "R9"))
          *diag << "role " << role << " is cut into " << *shares << " shares, group "
                << group.number << " has " << group.consumers.size() << " consumers";
      std::optional<int64_t> parts = getFactor(op, role, concat, split, /*grows=*/true);
      if (concat.empty() || !parts)
        continue;
      for (auto [consumer, sources] : group.getSources())
        if (*parts != static_cast<int64_t>(sources.size()))
          if (auto diag = report.at(op, "R12"))
            *diag << "role " << role << " is put together from " << *parts
                  << " partials, compute tile " << consumer << " of group " << group.number
                  << " has " << sources.size() << " sources";
    }
  }

  /// R13, R14: what a reduction without shares can be today.
  void checkFold(DeliveryOpInterface op, const Group &group) {
    if (!op.getFoldRegion() || !op.getSplitDims().empty())
      return;
    for (int64_t consumer : group.consumers)
      if (!group.hasProducer(consumer)) {
        if (auto diag = report.at(op, "R13"))
          *diag << "compute tile " << consumer << " receives the fold of group " << group.number
                << ", but produces nothing there";
        break;
      }
    if (group.consumers.size() > 1 && group.consumers.size() != group.producers.size())
      if (auto diag = report.at(op, "R14"))
        *diag << "group " << group.number << " has " << group.consumers.size() << " consumers and "
              << group.producers.size()
              << " producers; a fold goes to all producers or to one tile";
  }

  /// KTIR-11: a tile that waits for one that does not produce as often.
  void checkWaits(DeliveryOpInterface op, InterTileProduceOp produce, const Group &group) {
    auto deliveries = counts.find(op), productions = counts.find(produce);
    if (deliveries == counts.end())
      return;
    auto getWaits = [&](int64_t tile) { return deliveries->second[tile].value_or(0); };
    for (auto [consumer, sources] : group.getSources()) {
      // Those that share the sources: the one that waits most often decides.
      if (!group.sources)
        consumer = *llvm::max_element(
            group.consumers, [&](int64_t a, int64_t b) { return getWaits(a) < getWaits(b); });
      int64_t waits = getWaits(consumer);
      for (int64_t source : sources) {
        std::optional<int64_t> times =
            productions == counts.end() ? 0 : productions->second[source];
        if (!times || *times >= waits)
          continue;
        if (auto diag = report.at(op, "KTIR-11")) {
          *diag << "compute tile " << consumer << " waits " << waits << " times for tile " << source
                << ", which produces " << *times << " times";
          diag->attachNote(produce.getLoc()) << "it is produced here";
        }
        return;
      }
    }
  }

  /// R6, R7, and the same for consumers: one type holds for all.
  void checkUniform(DeliveryOpInterface op, ArrayRef<Group> groups) {
    auto compare = [&](StringRef rule, StringRef what, auto count) {
      std::optional<size_t> first;
      for (const Group &group : groups) {
        size_t here = count(group);
        if (first && *first != here) {
          if (auto diag = report.at(op, rule))
            *diag << "groups " << groups.front().number << " and " << group.number << " have "
                  << *first << " and " << here << " " << what;
          return;
        }
        first = here;
      }
    };
    if (!op.getConcatDims().empty()) {
      compare("R7", "producers", [](const Group &group) { return group.producers.size(); });
      for (const Group &group : groups)
        for (auto [consumer, sources] : group.getSources())
          if (group.sources && sources.size() != group.sources->front().size())
            if (auto diag = report.at(op, "R6"))
              *diag << "compute tiles " << group.consumers.front() << " and " << consumer
                    << " have " << group.sources->front().size() << " and " << sources.size()
                    << " sources";
    }
    if (!op.getSplitDims().empty())
      compare("R9", "consumers", [](const Group &group) { return group.consumers.size(); });
  }

  const Kernel &kernel;
  const RunCounts &counts;
  LegalityReport &report;
  int64_t questions = 0;
};
} // namespace

void mlir::ktdp::checkInterTile(const Kernel &kernel, const RunCounts &counts,
                                LegalityReport &report) {
  InterTileCheck(kernel, counts, report).run();
}
