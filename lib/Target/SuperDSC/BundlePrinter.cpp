//===- BundlePrinter.cpp - A plan as bundle.mlir --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and order of values (docs/formats/superdsc-rules.md, section 2): extracts, loop
// constants, one constant and one addition for each address in the order of
// symbol ids, then loops and executions. Where core 0 of an operand does not
// start at its argument, the operand is a slice of it (the newer front end's
// spelling, which fixes docs/formats/superdsc-rules.md, section 6, fault 4).
//
//===----------------------------------------------------------------------===//

#include "spyre/Target/SuperDSC/BundleDirectory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;

namespace artifact = ::spyre::artifact;
namespace sd = ::spyre::sdsc;

namespace {

class BundlePrinter {
public:
  BundlePrinter(const artifact::Plan &plan,
                const std::map<std::string, const sd::Descriptor *> &descriptors,
                bool writeSymbolIds, ArrayRef<int64_t> numbers, bool poolInBody)
      : plan(plan), descriptors(descriptors), writeSymbolIds(writeSymbolIds), numbers(numbers),
        poolInBody(poolInBody), os(body) {}

  std::string print();

private:
  /// An address without its loop strides, and how it is derived.
  struct Place {
    int64_t base, slice, core;
    bool operator<(const Place &other) const {
      return std::tie(base, slice, core) < std::tie(other.base, other.slice, other.core);
    }
  };

  void collect(const std::vector<artifact::Step> &steps);
  void collect(const artifact::Launch &launch);
  Place getPlace(const artifact::Launch &launch, int64_t id,
                 const artifact::AddressExpr &address) const;
  std::string getName(const Place &place) const;
  void printAddress(const Place &place);
  void printSteps(const std::vector<artifact::Step> &steps, std::vector<unsigned> &loops);
  void printLaunch(const artifact::Launch &launch, ArrayRef<unsigned> loops);
  unsigned getMap(ArrayRef<int64_t> strides);
  llvm::raw_ostream &line() { return os << std::string(indent, '\t'); }

  std::string getArgumentName(int64_t position) const {
    return "%arg_" + std::to_string(numbers.empty() ? position : numbers[position]);
  }

  /// A number as part of a name.
  static std::string spell(int64_t number) {
    return number < 0 ? "m" + std::to_string(number).substr(1) : std::to_string(number);
  }

  const artifact::Plan &plan;
  const std::map<std::string, const sd::Descriptor *> &descriptors;
  bool writeSymbolIds;
  ArrayRef<int64_t> numbers; ///< of the arguments; empty: 0, 1, ...
  bool poolInBody;
  std::string body;
  llvm::raw_string_ostream os;
  unsigned indent = 2;
  std::vector<int64_t> loopBounds;
  std::vector<Place> places; ///< in order of first appearance
  std::set<Place> seen;
  std::vector<std::vector<int64_t>> maps;
  unsigned numLoops = 0, numApplied = 0;
};

} // namespace

/// The offset at which core 0's part of the operand with symbol \p id starts.
static int64_t getCoreZeroOffset(const sd::Descriptor &descriptor, const artifact::Launch &launch,
                                 int64_t id, int64_t fallback) {
  for (const sd::Tensor &tensor : descriptor.tensors) {
    if (!llvm::is_contained(tensor.startAddress, id))
      continue;
    for (const auto &[other, address] : launch.symbols)
      if (other == tensor.startAddress.front())
        return address.offsetInBytes;
  }
  return fallback;
}

BundlePrinter::Place BundlePrinter::getPlace(const artifact::Launch &launch, int64_t id,
                                             const artifact::AddressExpr &address) const {
  if (address.base < 0)
    return {address.base, 0, address.offsetInBytes};
  auto it = descriptors.find(launch.descriptor);
  int64_t slice =
      it == descriptors.end() ? 0 : getCoreZeroOffset(*it->second, launch, id, /*fallback=*/0);
  return {address.base, slice, address.offsetInBytes - slice};
}

std::string BundlePrinter::getName(const Place &place) const {
  if (place.base == artifact::AddressExpr::kPool)
    return "%pool_addr_" + spell(place.core);
  if (place.base == artifact::AddressExpr::kAbsolute)
    return "%sym_" + spell(place.core);
  if (place.base == artifact::AddressExpr::kSize)
    return "%" + plan.sizes[place.core].name;
  std::string name = getArgumentName(place.base);
  if (place.slice != 0)
    name += "_slice_" + spell(place.slice);
  if (place.core != 0)
    name += "_core_" + spell(place.core);
  return name;
}

void BundlePrinter::collect(const artifact::Launch &launch) {
  for (const auto &[id, address] : launch.symbols) {
    Place place = getPlace(launch, id, address);
    // The slice itself comes first; it is a value of its own.
    for (const Place &needed : {Place{place.base, place.slice, 0}, place})
      if (place.base >= 0 || needed.core == place.core)
        if (seen.insert(needed).second)
          places.push_back(needed);
  }
}

void BundlePrinter::collect(const std::vector<artifact::Step> &steps) {
  for (const artifact::Step &step : steps) {
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      assert(loop->count.isConstant() && "no reader or emission makes other loops");
      loopBounds.push_back(loop->count.constant);
      collect(loop->body);
    } else {
      collect(std::get<artifact::Launch>(step.content));
    }
  }
}

void BundlePrinter::printAddress(const Place &place) {
  auto printSum = [&](const std::string &base, const std::string &constant, const std::string &name,
                      int64_t offset) {
    line() << constant << " = arith.constant " << offset << " : index\n";
    line() << name << " = arith.addi " << base << ", " << constant << " : index\n";
  };
  std::string name = getName(place);
  if (place.base == artifact::AddressExpr::kAbsolute) {
    line() << name << " = arith.constant " << place.core << " : index\n";
  } else if (place.base == artifact::AddressExpr::kSize) {
    return; // extracted with the addresses
  } else if (place.base == artifact::AddressExpr::kPool) {
    printSum("%pool", "%pool_offset_" + spell(place.core), name, place.core);
  } else if (place.core != 0) {
    std::string base = getName({place.base, place.slice, 0});
    printSum(base, base + "_core_offset_" + spell(place.core), name, place.core);
  } else if (place.slice != 0) {
    std::string base = getName({place.base, 0, 0});
    printSum(base, base + "_slice_offset_" + spell(place.slice), name, place.slice);
  }
}

unsigned BundlePrinter::getMap(ArrayRef<int64_t> strides) {
  auto it = llvm::find_if(maps, [&](const auto &map) { return ArrayRef<int64_t>(map) == strides; });
  if (it == maps.end())
    it = maps.insert(maps.end(), strides.vec());
  return static_cast<unsigned>(it - maps.begin());
}

void BundlePrinter::printLaunch(const artifact::Launch &launch, ArrayRef<unsigned> loops) {
  std::vector<std::string> operands;
  for (const auto &[id, address] : launch.symbols) {
    std::string name = getName(getPlace(launch, id, address));
    if (!address.strideInBytes.empty()) {
      std::string applied = "%addr_" + std::to_string(numApplied++);
      line() << applied << " = affine.apply #map_" << getMap(address.strideInBytes) << "(";
      llvm::interleaveComma(loops.take_front(address.strideInBytes.size()), os,
                            [&](unsigned loop) { os << "%i_" << loop; });
      os << ")[" << name << "]\n";
      name = applied;
    }
    operands.push_back(std::move(name));
  }
  line() << "sdscbundle.sdsc_execute (";
  llvm::interleaveComma(operands, os);
  os << ") {sdsc_filename=\"" << launch.descriptor << '"';
  if (writeSymbolIds) {
    os << ", \"symbol_ids\"=[";
    llvm::interleaveComma(launch.symbols, os, [&](const auto &symbol) { os << symbol.first; });
    os << ']';
  }
  os << "}\n";
}

void BundlePrinter::printSteps(const std::vector<artifact::Step> &steps,
                               std::vector<unsigned> &loops) {
  for (const artifact::Step &step : steps) {
    const auto *loop = std::get_if<artifact::Loop>(&step.content);
    if (!loop) {
      printLaunch(std::get<artifact::Launch>(step.content), loops);
      continue;
    }
    unsigned number = numLoops++;
    line() << "scf.for %i_" << number << " = %c0 to %loop_bound_" << number << " step %c1 {\n";
    ++indent;
    loops.push_back(number);
    printSteps(loop->body, loops);
    loops.pop_back();
    --indent;
    line() << "}\n";
  }
}

std::string BundlePrinter::print() {
  struct Parameter {
    std::string name, passedAs, type;
  };
  std::vector<Parameter> parameters;
  auto addAddress = [&](const std::string &name) {
    parameters.push_back({name, name + "_base_addr", "!sdscbundle.input_arg<index>"});
  };
  if (plan.hasPool && !poolInBody)
    addAddress("%pool");
  for (int64_t i = 0; i <= plan.numArguments; ++i) {
    for (const artifact::SizeParameter &size : plan.sizes)
      if (size.position == i)
        parameters.push_back(
            {"%" + size.name, "%" + size.name + "_value",
             "!sdscbundle.input_arg<index, granularity = " + std::to_string(size.granularity) +
                 ", max_value = " + std::to_string(size.maxValue) + ">"});
    if (i < plan.numArguments)
      addAddress(getArgumentName(i));
  }
  collect(plan.steps);

  os << "module {\n\tfunc.func @" << plan.name << "(";
  llvm::interleaveComma(parameters, os, [&](const Parameter &parameter) {
    os << parameter.passedAs << ": " << parameter.type;
  });
  os << ") {\n";
  for (const Parameter &parameter : parameters)
    line() << parameter.name << " = sdscbundle.input_arg_extract value from " << parameter.passedAs
           << " : " << parameter.type << " -> index\n";
  if (plan.hasPool && poolInBody)
    line() << "%pool = sdscbundle.device_mem_allocate " << plan.poolInBytes << " bytes : index\n";
  if (!loopBounds.empty()) {
    line() << "%c0 = arith.constant 0 : index\n";
    line() << "%c1 = arith.constant 1 : index\n";
    for (auto [i, bound] : llvm::enumerate(loopBounds))
      line() << "%loop_bound_" << i << " = arith.constant " << bound << " : index\n";
  }
  for (const Place &place : places)
    printAddress(place);
  std::vector<unsigned> loops;
  printSteps(plan.steps, loops);
  os << "\t\treturn\n\t}\n}\n";

  std::string head;
  llvm::raw_string_ostream headOs(head);
  for (auto [number, strides] : llvm::enumerate(maps)) {
    headOs << "#map_" << number << " = affine_map<(";
    llvm::interleaveComma(llvm::seq<size_t>(0, strides.size()), headOs,
                          [&](size_t dim) { headOs << 'd' << dim; });
    headOs << ")[s0] -> (s0";
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (stride != 0)
        headOs << " + " << stride << "*d" << dim;
    headOs << ")>\n";
  }
  return head + body;
}

std::string
mlir::sdsc::printBundle(const artifact::Plan &plan,
                        const std::map<std::string, const sd::Descriptor *> &descriptors,
                        bool writeSymbolIds, ArrayRef<int64_t> numbers, bool poolInBody) {
  return BundlePrinter(plan, descriptors, writeSymbolIds, numbers, poolInBody).print();
}
