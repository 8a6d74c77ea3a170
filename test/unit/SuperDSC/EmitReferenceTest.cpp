//===- EmitReferenceTest.cpp - Emission against the reference -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of the reference cases, emitted from its neutral host form,
// must give the descriptor that the reference front end writes.
//
//===----------------------------------------------------------------------===//

#include "EmitCases.h"

#include "spyre/SuperDSC/DescriptorJson.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

using namespace spyre;
using namespace spyre::sdsc;
using test::Json;

namespace {

const Json &getDsc(const Json &descriptor) {
  return descriptor.begin().value()["dscs_"][0].begin().value();
}

/// With symbolic arguments the reference writes ids in place of addresses: takes
/// them over, if one id stands for one address.
bool useSymbols(Descriptor &descriptor, const Json &reference, std::string &problem) {
  const Json &nodes = getDsc(reference)["scheduleTree_"];
  std::map<int64_t, int64_t> toId, toAddress;
  for (size_t i = 0; i < descriptor.tensors.size() && i < nodes.size(); ++i) {
    Tensor &tensor = descriptor.tensors[i];
    if (tensor.component == Component::LX)
      continue;
    tensor.symbolicAddress = true;
    size_t core = 0;
    for (const auto &[key, value] : nodes[i]["startAddressCoreCorelet_"]["data_"].items()) {
      if (core >= tensor.startAddress.size())
        return false;
      int64_t id = std::stoll(value.get<std::string>());
      int64_t &address = tensor.startAddress[core++];
      if (toId.emplace(address, id).first->second != id ||
          toAddress.emplace(id, address).first->second != address) {
        problem = "symbol " + std::to_string(id) + " and address " + std::to_string(address) +
                  " of tensor " + std::to_string(i) + " do not stand for each other";
        return false;
      }
      address = id;
    }
  }
  return true;
}

std::string getDifference(const Json &ours, const Json &reference) {
  nlohmann::json a = nlohmann::json::parse(ours.dump()),
                 b = nlohmann::json::parse(reference.dump());
  if (a == b)
    return "";
  std::string text;
  for (const nlohmann::json &entry : nlohmann::json::diff(b, a)) {
    std::string path = entry["path"];
    nlohmann::json::json_pointer pointer(path);
    text += entry["op"].get<std::string>() + " " + path + ": " +
            (b.contains(pointer) ? b[pointer].dump().substr(0, 100) : "") + " -> " +
            (entry.contains("value") ? entry["value"].dump().substr(0, 100) : "") + "\n";
    if (text.size() > 2000)
      break;
  }
  return text;
}

TEST(EmitReference, EveryCase) {
  std::map<std::string, std::pair<int, int>> counts;
  const char *filter = std::getenv("EMIT_FILTER");
  for (const test::ReferenceCase &entry : test::loadReferenceCases()) {
    if (filter && entry.name.find(filter) == std::string::npos)
      continue;
    std::vector<Json> ops;
    test::collectOps(entry.content["specs"], ops);
    std::string group = entry.group.empty() ? "random" : entry.group;
    for (int64_t fault : entry.faults)
      group += " fault " + std::to_string(fault);
    bool isEqual = true;
    for (size_t i = 0; i < ops.size() && i < entry.descriptors.size(); ++i) {
      auto answer = emitDescriptor(test::getEmitOp(ops[i], entry.content["config"]), int64_t(i));
      std::string problem;
      if (auto *error = std::get_if<EmitError>(&answer)) {
        problem = "error: " + error->message;
      } else {
        Descriptor &descriptor = std::get<EmittedOp>(answer).descriptor;
        if (entry.content["config"]["symbolic_args"])
          useSymbols(descriptor, entry.descriptors[i], problem);
        std::ostringstream text;
        writeDescriptor(descriptor, text, {Form::June2026, false, false});
        problem += getDifference(Json::parse(text.str()), entry.descriptors[i]);
      }
      if (!problem.empty()) {
        std::cout << entry.name << " op " << i << " (" << group << ", "
                  << ops[i]["op"].get<std::string>() << "): " << problem << "\n";
        isEqual = false;
      }
    }
    ++(isEqual ? counts[group].first : counts[group].second);
  }
  for (auto &[group, count] : counts)
    std::cout << group << ": " << count.first << " equal, " << count.second << " not\n";
}

} // namespace
