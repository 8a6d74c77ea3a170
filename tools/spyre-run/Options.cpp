//===- Options.cpp - The command line of spyre-run --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Flags are accepted as --flag=value and --flag value.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

using namespace spyre::tools;

const char *const spyre::tools::kHelpText =
    R"(spyre-run - compiles if need be and runs a program on the device emulator

usage: spyre-run IN.mlir|DIR [options]

  IN.mlir is compiled first, unless it is a kernel (KTIR), which runs as it stands;
  DIR is a program directory that spyre-compile wrote, or a bundle directory from
  anywhere.

  -O0 ... -O3, --cores N, --target, --superdsc-form, --weights LIST, --host=none|table,
  --precision=default|strict|fast,
  --plan FILE, --save-plan FILE, --save-addresses, --plan-seconds S, --plan-kind KIND, --plan-seed N, --rates FILE,
  --dump-stages DIR, --report FILE.html   as spyre-compile has them, for IN.mlir

  --bind FILE.json     what each argument is, for a bundle without launch_spec.json or
                       a kernel K.mlir without K.json beside it
  -i SHAPE@TYPE        the next argument is an input with the default layout
  -o SHAPE@TYPE        the next argument is an output with the default layout
                       (types: fp16 bf16 fp32 int32 int64 bool, or PyTorch's names)
  --sizes N,...        sizes of a bundle's symbolic dims, in the order of its parameters
                       (default: the largest)
  --inputs F.npz       arrays in0, in1, ...; without it seeded random data
  --outputs F.npz      where the results out0, out1, ... go
  --expect F.npz       compare with its arrays ref0... if present, else out0...
  --rtol X, --atol X   |got - expected| <= atol + rtol |expected|; without them
                       the error is measured against max(rms(expected), |expected|)
                       and bounded as the documentation of the runners says
  --check              checked mode: report accesses that a program must not make
  --cost-only          count bytes and modelled time without computing: no arrays are
                       read or made, device memory has addresses but no content
  --threads N          threads that execute work slices (default: one a processor)
  --seed N             of random inputs and of what undefined lanes hold
  --device NAME|FILE   device description (default: spyre; a file is for directories)
  --rates FILE         measured rates in the place of the device's, and of those that a
                       program was compiled with; spyre-solve rates prints such a file
  --stats=FILE.json    counters of the run
  --trace=FILE.json    what each core does when, on the modelled clock, for Perfetto
                       (ui.perfetto.dev) or Chrome's trace viewer
  --progress           one line a step on standard error
  --f16 dl16|ieee      kernels: the format of f16 (default: the module's spyre.f16, or ieee)
  --round each|store   kernels: round every result, or what is stored (default: each)
  --oob error|zero     kernels: what places outside of a view are (default: error)
  --reversed           kernels: compute tiles take their turns in descending order
  --help               this text

examples:
  spyre-run softmax.mlir -O2 --inputs x.npz --expect y.npz --check
  spyre-run layer.mlir --cost-only --stats=cost.json --trace=trace.json
  spyre-run softmax_512x1024 -i 512x1024@fp16 -o 512x1024@fp16 --inputs x.npz --expect y.npz --check

exit status: 0 success, 1 the input or the comparison failed, 2 wrong usage
)";

std::variant<RunOptions, UsageError, HelpRequest> spyre::tools::parseOptions(int argc,
                                                                             char **argv) {
  RunOptions options;
  std::string problem;
  auto number = [&](const std::string &flag, const std::string &text) {
    char *end = nullptr;
    errno = 0;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= 0) || errno == ERANGE)
      problem = flag + ": '" + text + "' is not a non-negative number";
    return value;
  };
  auto whole = [&](const std::string &flag, const std::string &text, uint64_t max) -> uint64_t {
    char *end = nullptr;
    errno = 0;
    uint64_t value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0 || errno == ERANGE ||
        value > max)
      problem = flag + ": '" + text + "' is not a number from 0 to " + std::to_string(max);
    return value;
  };
  for (int i = 1; i < argc && problem.empty(); ++i) {
    std::string argument = argv[i];
    if (argument == "--help" || argument == "-h")
      return HelpRequest{};
    if (argument.empty() || argument[0] != '-') {
      if (!options.input.empty())
        return UsageError{"more than one input: '" + options.input + "' and '" + argument + "'"};
      options.input = argument;
      continue;
    }
    bool *truth = argument == "--check"            ? &options.check
                  : argument == "--cost-only"      ? &options.costOnly
                  : argument == "--progress"       ? &options.progress
                  : argument == "--reversed"       ? &options.reversed
                  : argument == "--pretty"         ? &options.compile.pretty
                  : argument == "--report-seconds" ? &options.compile.reportSeconds
                  : argument == "--save-addresses" ? &options.compile.saveAddresses
                                                   : nullptr;
    if (truth) {
      *truth = true;
      continue;
    }
    if (argument.size() == 3 && argument[1] == 'O' && argument[2] >= '0' && argument[2] <= '9') {
      options.compile.optLevel = argument[2] - '0';
      continue;
    }
    // Flags of the commands' contract that come later are refused by name.
    for (const char *later : {"--mlir-timing"})
      if (argument == later ||
          argument.compare(0, std::strlen(later) + 1, std::string(later) + "=") == 0)
        return UsageError{std::string(later) + " is not supported yet"};
    std::string flag = argument, value;
    bool hasValue = false;
    if (size_t equal = argument.find('='); equal != std::string::npos && argument[1] == '-') {
      flag = argument.substr(0, equal);
      value = argument.substr(equal + 1);
      hasValue = true;
    }
    std::string *text = flag == "--bind"            ? &options.bind
                        : flag == "--inputs"        ? &options.inputs
                        : flag == "--outputs"       ? &options.outputs
                        : flag == "--expect"        ? &options.expect
                        : flag == "--stats"         ? &options.stats
                        : flag == "--trace"         ? &options.trace
                        : flag == "--report"        ? &options.compile.report
                        : flag == "--device"        ? &options.device
                        : flag == "--target"        ? &options.compile.target
                        : flag == "--superdsc-form" ? &options.compile.form
                        : flag == "--dump-stages"   ? &options.compile.dumpStages
                        : flag == "--weights"       ? &options.compile.weights
                        : flag == "--host"          ? &options.compile.host
                        : flag == "--plan-kind"     ? &options.compile.planKind
                        : flag == "--precision"     ? &options.compile.precision
                        : flag == "--plan"          ? &options.compile.plan
                        : flag == "--save-plan"     ? &options.compile.savePlan
                        : flag == "--rates"         ? &options.compile.ratesFile
                        : flag == "--f16"           ? &options.f16
                        : flag == "--round"         ? &options.round
                        : flag == "--oob"           ? &options.outOfBounds
                                                    : nullptr;
    bool known = text || flag == "-i" || flag == "-o" || flag == "--rtol" || flag == "--atol" ||
                 flag == "--threads" || flag == "--seed" || flag == "--cores" ||
                 flag == "--sizes" || flag == "--plan-seed" || flag == "--plan-seconds";
    if (!known)
      return UsageError{"unknown option '" + flag + "'"};
    if (!hasValue) {
      if (i + 1 >= argc)
        return UsageError{flag + " needs a value"};
      value = argv[++i];
    }
    if (text)
      *text = value;
    else if (flag == "-i" || flag == "-o")
      options.shortArguments.emplace_back(flag == "-o", value);
    else if (flag == "--sizes") {
      constexpr uint64_t kMost = uint64_t(1) << 48;
      for (size_t begin = 0; begin <= value.size() && problem.empty();) {
        size_t end = std::min(value.find(',', begin), value.size());
        options.sizes.push_back(
            static_cast<int64_t>(whole(flag, value.substr(begin, end - begin), kMost)));
        begin = end + 1;
      }
    } else if (flag == "--rtol")
      options.rtol = number(flag, value);
    else if (flag == "--atol")
      options.atol = number(flag, value);
    else if (flag == "--cores") {
      options.compile.cores = static_cast<int64_t>(whole(flag, value, 1 << 20));
      if (problem.empty() && options.compile.cores < 1)
        problem = "--cores: at least one core is needed";
    } else if (flag == "--plan-seed")
      options.compile.planSeed = static_cast<int64_t>(whole(flag, value, INT64_MAX));
    else if (flag == "--plan-seconds")
      options.compile.planSeconds = number(flag, value);
    else if (flag == "--threads")
      options.threads = static_cast<unsigned>(whole(flag, value, 256));
    else
      options.seed = whole(flag, value, UINT64_MAX);
  }
  auto choose = [&](const char *flag, const std::string &text, const char *a, const char *b) {
    if (problem.empty() && text != a && text != b)
      problem = std::string(flag) + ": '" + text + "' is neither " + a + " nor " + b;
  };
  if (!options.f16.empty())
    choose("--f16", options.f16, "dl16", "ieee");
  choose("--round", options.round, "each", "store");
  choose("--oob", options.outOfBounds, "error", "zero");
  if (!problem.empty())
    return UsageError{problem};
  if (options.input.empty())
    return UsageError{"no input"};
  options.compile.device = options.device;
  if (!options.bind.empty() && !options.shortArguments.empty())
    return UsageError{"--bind and -i/-o exclude each other"};
  if (options.costOnly) {
    // Each needs numbers, and there are none.
    for (auto [flag, given] :
         {std::pair("--check", options.check), std::pair("--inputs", !options.inputs.empty()),
          std::pair("--outputs", !options.outputs.empty()),
          std::pair("--expect", !options.expect.empty())})
      if (given)
        return UsageError{std::string("--cost-only and ") + flag + " exclude each other"};
  }
  return options;
}
