//===- KernelFile.cpp - Kernels of program directories --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/KernelFile.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"
#include "spyre/KTIRExecutor/Interpreter.h"
#include "spyre/KTIRExecutor/Machine/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <cstring>

using namespace mlir;
using namespace spyre;
using runtime::Error;
using runtime::KernelBuffer;

namespace {
/// Between two buffers of the image lies memory that belongs to nobody.
constexpr int64_t kGapInBytes = 1024;

class MachineKernel : public runtime::Kernel {
public:
  MachineKernel(std::string file, std::shared_ptr<const ktir::Program> program, bool hasPool)
      : file(std::move(file)), program(std::move(program)), hasPool(hasPool) {}

  std::optional<Error> run(const std::vector<KernelBuffer> &arguments, int64_t poolInBytes,
                           const Device &device, bool checked) const override;

private:
  std::string file;
  std::shared_ptr<const ktir::Program> program;
  bool hasPool;
};
} // namespace

std::optional<Error> MachineKernel::run(const std::vector<KernelBuffer> &arguments,
                                        int64_t poolInBytes, const Device &device,
                                        bool checked) const {
  int64_t end = kGapInBytes;
  auto place = [&](int64_t size) {
    int64_t address = end;
    end += (size + kGapInBytes - 1) / kGapInBytes * kGapInBytes + kGapInBytes;
    return address;
  };
  std::vector<ktir::Datum> values;
  if (hasPool)
    values.push_back(ktir::Datum::of(place(poolInBytes)));
  std::map<const uint8_t *, int64_t> addresses;
  for (const KernelBuffer &buffer : arguments) {
    auto [known, isNew] = addresses.try_emplace(buffer.data, 0);
    if (isNew)
      known->second = place(buffer.sizeInBytes);
    values.push_back(ktir::Datum::of(known->second));
  }
  ktir::Memory image(end);
  if (checked)
    image.markNothingWritten();
  for (const KernelBuffer &buffer : arguments) {
    if (!buffer.isRead)
      continue;
    int64_t address = addresses[buffer.data];
    std::memcpy(image.bytes.data() + address, buffer.data, buffer.sizeInBytes);
    if (checked)
      image.markWritten(address, buffer.sizeInBytes);
  }
  ktir::MachineOptions options;
  options.isChecked = checked;
  options.lxInBytes = device.getLXInBytes();
  options.threads = 0;
  std::string error = ktir::runProgram(*program, image, values, options);
  if (!error.empty())
    return Error{file + ": " + error};
  for (const KernelBuffer &buffer : arguments)
    if (buffer.isWritten)
      std::memcpy(buffer.data, image.bytes.data() + addresses[buffer.data], buffer.sizeInBytes);
  return std::nullopt;
}

runtime::Result<std::shared_ptr<const runtime::Kernel>>
ktir::readKernelFile(const std::string &file) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, ktdp::KtdpDialect, linalg::LinalgDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  spyreop::SpyreopDialect, tensor::TensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += (said.empty() ? "" : "\n") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return Error{file + ": " + (said.empty() ? "cannot be read" : said)};
  auto kernels = llvm::to_vector(module->getOps<func::FuncOp>());
  if (kernels.size() != 1)
    return Error{file + ": holds " + std::to_string(kernels.size()) +
                 " functions; a kernel is one"};
  std::string error;
  std::shared_ptr<const Program> program = readKernel(kernels.front(), {}, error);
  if (!program)
    return Error{file + ": " + error};
  return std::shared_ptr<const runtime::Kernel>(std::make_shared<MachineKernel>(
      file, std::move(program), kernels.front()->hasAttr(ktdp::kPoolBytesAttr)));
}
