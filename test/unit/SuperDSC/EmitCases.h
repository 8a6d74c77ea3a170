//===- EmitCases.h - Neutral reference cases as emission input --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the operations of the reference cases (case.json and random_ops.json.gz)
// and builds from their `host` part, splits and allocations what the emission
// takes. The fields after alignment are not used for that.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_SUPERDSC_EMITCASES_H
#define SPYRE_TEST_UNIT_SUPERDSC_EMITCASES_H

#include "ReferenceData.h"

#include "spyre/SuperDSC/Emit.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

namespace test {

using Json = nlohmann::ordered_json;

/// One case: its operations (in the order of their files) and descriptors.
struct ReferenceCase {
  std::string name;
  std::string group; ///< empty for random operations
  Json content;
  std::vector<Json> descriptors;
  std::vector<int64_t> faults;
};

inline std::vector<ReferenceCase> loadReferenceCases() {
  std::vector<ReferenceCase> cases;
  auto append = [&](std::string name, Json content, std::vector<Json> descriptors) {
    ReferenceCase entry;
    entry.name = std::move(name);
    entry.group = content.value("group", "");
    entry.faults = content.value("faults", std::vector<int64_t>());
    entry.content = std::move(content);
    entry.descriptors = std::move(descriptors);
    cases.push_back(std::move(entry));
  };
  std::vector<std::filesystem::path> dirs;
  for (const auto &entry : std::filesystem::directory_iterator(getDataDir() / "superdsc/cases"))
    dirs.push_back(entry.path());
  std::sort(dirs.begin(), dirs.end());
  for (const std::filesystem::path &dir : dirs) {
    std::vector<Json> descriptors;
    for (int i = 0;; ++i) {
      std::filesystem::path file = dir / ("sdsc_" + std::to_string(i) + ".json");
      if (!std::filesystem::exists(file))
        break;
      descriptors.push_back(Json::parse(readFile(file)));
    }
    append(dir.filename().string(), Json::parse(readFile(dir / "case.json")), descriptors);
  }
  Json random = loadRandomOps();
  for (Json &entry : random)
    append(entry["case"]["name"], entry["case"], {entry["sdsc"]});
  return cases;
}

/// The operations of \p specs, those of loops included, in text order.
inline void collectOps(const Json &specs, std::vector<Json> &ops) {
  for (const Json &spec : specs) {
    if (spec["kind"] == "op")
      ops.push_back(spec);
    else
      collectOps(spec["body"], ops);
  }
}

/// A loop around an operation: each iteration moves the operands by a tile along
/// these symbols.
struct CaseLoop {
  int64_t count = 1;
  std::vector<std::string> symbols;
};

/// An operation as one file describes it.
struct CaseOp {
  Json op;
  std::vector<CaseLoop> loops;    ///< outermost first
  std::vector<int64_t> iteration; ///< of an unrolled nest, else empty
};

/// The operations in file order: once an iteration if loops are unrolled.
inline void collectCaseOps(const Json &specs, bool unroll, CaseOp &around,
                           std::vector<CaseOp> &ops) {
  for (const Json &spec : specs) {
    if (spec["kind"] == "op") {
      ops.push_back(around);
      ops.back().op = spec;
      continue;
    }
    around.loops.push_back({spec["count"], spec["tiled_symbols"].get<std::vector<std::string>>()});
    for (int64_t i = 0; i < (unroll ? spec["count"].get<int64_t>() : 1); ++i) {
      if (unroll)
        around.iteration.push_back(i);
      collectCaseOps(spec["body"], unroll, around, ops);
      if (unroll)
        around.iteration.pop_back();
    }
    around.loops.pop_back();
  }
}

inline std::vector<CaseOp> getCaseOps(const Json &content) {
  std::vector<CaseOp> ops;
  CaseOp around;
  collectCaseOps(content["specs"], content["config"]["unroll_loops"], around, ops);
  return ops;
}

/// Evaluates an expression such as "floor(Mod(c0, 128)/64) + 2*c1 + 3".
class ExpressionEvaluator {
public:
  explicit ExpressionEvaluator(const std::map<std::string, int64_t> &values) : values(values) {}

  int64_t evaluate(const std::string &source) {
    text = source;
    position = 0;
    int64_t value = parseSum();
    skip();
    if (position != text.size())
      throw std::runtime_error("cannot read '" + text + "'");
    return value;
  }

private:
  void skip() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }
  bool eat(char c) {
    skip();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }
  int64_t parseSum() {
    int64_t value = parseProduct();
    while (true) {
      if (eat('+'))
        value += parseProduct();
      else if (eat('-'))
        value -= parseProduct();
      else
        return value;
    }
  }
  /// A division appears only as the argument of floor: floor division.
  int64_t parseProduct() {
    int64_t value = parseAtom();
    while (true) {
      if (eat('*'))
        value *= parseAtom();
      else if (eat('/'))
        value /= parseAtom();
      else
        return value;
    }
  }
  int64_t parseAtom() {
    skip();
    std::string word;
    while (position < text.size() && (std::isalnum(text[position]) || text[position] == '_'))
      word += text[position++];
    if (word.empty()) {
      if (!eat('('))
        throw std::runtime_error("cannot read '" + text + "'");
      int64_t value = parseSum();
      eat(')');
      return value;
    }
    if (word == "floor") {
      eat('(');
      int64_t value = parseSum();
      eat(')');
      return value;
    }
    if (word == "Mod") {
      eat('(');
      int64_t value = parseSum();
      eat(',');
      int64_t modulus = parseSum();
      eat(')');
      return value % modulus;
    }
    if (word == "IndirectAccess") {
      while (position < text.size() && text[position++] != ')')
        ;
      return 0;
    }
    if (std::isdigit(word[0]))
      return std::stoll(word);
    return values.at(word);
  }

  const std::map<std::string, int64_t> &values;
  std::string text;
  size_t position = 0;
};

/// "4096*c0 + c1 + 8192" over the inputs \p symbols.
inline spyre::layout::IndexExpr parseFlatIndex(const std::string &text,
                                               const std::vector<std::string> &symbols) {
  spyre::layout::IndexExpr expr;
  std::map<std::string, int64_t> zero;
  for (const std::string &symbol : symbols)
    zero[symbol] = 0;
  expr.constant = ExpressionEvaluator(zero).evaluate(text);
  for (unsigned i = 0; i < symbols.size(); ++i) {
    std::map<std::string, int64_t> unit = zero;
    unit[symbols[i]] = 1;
    int64_t coefficient = ExpressionEvaluator(unit).evaluate(text) - expr.constant;
    if (coefficient != 0)
      expr.digits.push_back({i, 1, 0, coefficient});
  }
  return expr;
}

struct HostOp {
  std::vector<std::string> symbols;
  std::vector<int64_t> extents;
  std::vector<int64_t> splits;
};

/// Iteration dims of \p op. The splits are those that were committed after
/// alignment where the dim was not cut: the reference's work division is not
/// what is compared (fault 6 would show otherwise).
inline HostOp getHostOp(const Json &op) {
  HostOp host;
  for (const Json &range : op["host"]["ranges"]) {
    host.symbols.push_back(range["sym"]);
    host.extents.push_back(range["size"]);
    host.splits.push_back(range["split"]);
    for (const Json &dim : op["iteration_space"])
      if (dim["sym"] == range["sym"] && dim["size"] == range["size"])
        host.splits.back() = dim["split"];
  }
  return host;
}

inline spyre::layout::TensorLayout getLayout(const Json &hostTensor, const Json &arg) {
  spyre::layout::TensorLayout layout;
  layout.shape = hostTensor["host_size"].get<std::vector<int64_t>>();
  layout.dimOrder = hostTensor["dim_order"].get<std::vector<int>>();
  layout.format = *spyre::parseFormat(arg["device_dtype"].get<std::string>());
  return layout;
}

/// The logical coordinates that a host tensor's flat index names; the second
/// member is the dim that is addressed through an index tensor, or -1.
inline std::pair<std::optional<spyre::layout::IndexMap>, int> getAccess(const Json &hostTensor,
                                                                        const HostOp &host) {
  std::vector<std::string> symbols = host.symbols;
  std::vector<int64_t> extents = host.extents;
  std::string text = hostTensor["index"];
  auto shape = hostTensor["host_size"].get<std::vector<int64_t>>();
  auto strides = hostTensor["host_stride"].get<std::vector<int64_t>>();
  int indirect = -1;
  if (text.find("tmp0") != std::string::npos) {
    symbols.push_back("tmp0");
    extents.push_back(1);
    int64_t stride = parseFlatIndex(text, symbols).digits.back().coefficient;
    for (size_t d = 0; d < shape.size(); ++d)
      if (strides[d] == stride)
        extents.back() = shape[d], indirect = int(d);
  }
  auto map = spyre::layout::delinearize(parseFlatIndex(text, symbols), extents, shape, strides);
  if (map && indirect != -1) {
    map->extents.pop_back();
    map->results[indirect] = {};
  }
  return {map, indirect};
}

/// \p index with the steps of \p loops: a loop variable times the tile of each of
/// its symbols.
inline std::string addLoops(const std::string &index, HostOp &host,
                            const std::vector<CaseLoop> &loops, bool isFixed) {
  spyre::layout::IndexExpr flat = parseFlatIndex(index, host.symbols);
  std::string text = index;
  for (size_t l = 0; l < loops.size(); ++l) {
    int64_t step = 0;
    for (const spyre::layout::Digit &digit : flat.digits)
      for (const std::string &symbol : loops[l].symbols)
        if (host.symbols[digit.input] == symbol && !isFixed)
          step += digit.coefficient * host.extents[digit.input];
    text += " + " + std::to_string(step) + "*loop" + std::to_string(l);
  }
  for (size_t l = 0; l < loops.size(); ++l) {
    host.symbols.push_back("loop" + std::to_string(l));
    host.extents.push_back(loops[l].count);
  }
  return text;
}

/// The emission's input for \p caseOp; throws what a case cannot be.
inline spyre::sdsc::EmitOp getEmitOp(const CaseOp &caseOp, const Json &config) {
  using namespace spyre::sdsc;
  const Json &op = caseOp.op;
  HostOp host = getHostOp(op);
  EmitOp result;
  result.opFunc = op["op"];
  result.isReduction = op["is_reduction"];
  result.kFastCoreOrder = config["core_id_k_fast_emission"];
  result.numLoops = unsigned(caseOp.loops.size());
  result.iteration = caseOp.iteration;
  if (op["op_info"].contains("constants"))
    for (const auto &[name, value] : op["op_info"]["constants"].items())
      result.constants.push_back(
          {name, value.is_boolean() ? double(value.get<bool>()) : value.get<double>()});
  for (size_t i = 0; i < host.symbols.size(); ++i)
    result.dims.push_back({host.extents[i], host.splits[i], false});
  bool keepsUnit = op["op_info"].contains("shared_weight_unit_bmm");
  if (keepsUnit)
    result.dims.insert(result.dims.begin(), {1, 1, true});
  for (size_t i = 0; i < op["args"].size(); ++i) {
    const Json &arg = op["args"][i], &tensor = op["host"]["tensors"][i];
    EmitOperand operand;
    operand.layout = getLayout(tensor, arg);
    // Fault 8: the reference lays out the second operand like any other.
    if (result.opFunc == "batchmatmulfp8" && i == 1)
      operand.layout.stick = {{0, 2}, {1, 64}};
    HostOp withLoops = host;
    Json indexed = tensor;
    if (!caseOp.loops.empty())
      indexed["index"] = addLoops(tensor["index"], withLoops, caseOp.loops, arg["per_tile_fixed"]);
    auto [access, indirect] = getAccess(indexed, withLoops);
    if (!access)
      throw std::runtime_error("no logical coordinates for " + tensor["index"].get<std::string>());
    operand.access = *access;
    if (keepsUnit) {
      // The batch dim is a dim of the iteration, outermost in memory.
      for (spyre::layout::IndexExpr &expr : operand.access.results)
        for (spyre::layout::Digit &digit : expr.digits)
          ++digit.input;
      operand.access.extents.insert(operand.access.extents.begin(), 1);
      int batch = op["op_info"]["shared_weight_unit_bmm"]["batch_dim"];
      if (operand.layout.shape.size() == 3) {
        operand.access.results[batch] = spyre::layout::makeInput(0);
        std::swap(operand.layout.dimOrder[0], operand.layout.dimOrder[1]);
      }
    }
    operand.indirectDim = indirect;
    if (indirect != -1)
      for (size_t k = 0; k < op["args"].size(); ++k)
        if (op["args"][k]["name"].is_string())
          operand.indexOperand = int(k);
    operand.isIndexTensor = arg["name"].is_string();
    const Json &allocation = arg["allocation"];
    operand.space = allocation.contains("pool") ? spyre::PlacementKind::Pool
                    : allocation.contains("lx") ? spyre::PlacementKind::LX
                                                : spyre::PlacementKind::HBM;
    operand.addressInBytes = allocation.begin().value();
    result.operands.push_back(std::move(operand));
  }
  return result;
}

} // namespace test

#endif // SPYRE_TEST_UNIT_SUPERDSC_EMITCASES_H
