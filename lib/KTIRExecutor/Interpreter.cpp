//===- Interpreter.cpp - Runs KTIR kernels ----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is read from a copy of its module in which named linalg operations have become
// generic ones.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Interpreter.h"

#include "Reader.h"

#include "spyre/Device/Device.h"
#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace spyre::ktir;

std::string spyre::ktir::toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string spyre::ktir::describe(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto place = dyn_cast<FileLineColLoc>(inner);
    if (!place)
      return WalkResult::advance();
    text = place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
           std::to_string(place.getColumn());
    return WalkResult::interrupt();
  });
  return text.empty() ? "unknown location" : text;
}

void ReaderContext::reject(Operation *op, const Twine &message) {
  if (!errors.empty())
    errors += '\n';
  errors += describe(op->getLoc()) + ": " + (op->getName().getStringRef() + ": " + message).str();
}

std::optional<Element> ReaderContext::getElement(Type type) const {
  if (isa<VectorType>(type))
    return std::nullopt;
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  if (auto argument = dyn_cast<ktdp::RuntimeArgType>(type))
    type = argument.getUnderlyingType();
  if (type.isF32())
    return kF32;
  if (isa<spyreop::DF16Type>(type))
    return Element{ElementKind::DL16, 16};
  if (type.isF16())
    return Element{f16, 16};
  if (type.isBF16())
    return Element{ElementKind::BF16, 16};
  if (isa<Float8E4M3FNType>(type))
    return Element{ElementKind::E4M3, 8};
  if (isa<Float8E5M2Type>(type))
    return Element{ElementKind::E5M2, 8};
  if (type.isIndex())
    return kIndex;
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.getWidth() >= 1 && integer.getWidth() <= 64)
      return Element{ElementKind::Int, static_cast<uint8_t>(integer.getWidth())};
  return std::nullopt;
}

static bool isFloatArgument(Type type) {
  auto argument = dyn_cast<ktdp::RuntimeArgType>(type);
  return isa<FloatType>(argument ? argument.getUnderlyingType() : type);
}

/// Makes every linalg operation a generic one, where upstream can.
static void generalize(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<linalg::SoftmaxOp> composite;
  module.walk([&](linalg::SoftmaxOp op) { composite.push_back(op); });
  for (linalg::SoftmaxOp op : composite) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (succeeded(values))
      rewriter.replaceOp(op, *values);
  }
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    if (!op.hasPureTensorSemantics())
      continue;
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

KernelUnits spyre::ktir::getUnits(ModuleOp module, const RunOptions &options, std::string &error) {
  auto readAttribute = [&](StringRef name, StringRef first, StringRef second) {
    Attribute attribute = module->getAttr(name);
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    if (attribute && (!text || (text.getValue() != first && text.getValue() != second)))
      error = describe(module.getLoc()) + ": '" + name.str() + "' must be \"" + first.str() +
              "\" or \"" + second.str() + "\"";
    return text ? text.getValue() : StringRef();
  };
  KernelUnits units;
  StringRef f16 = readAttribute(ktdp::kF16Attr, "dl16", "ieee");
  units.addressesInBytes = readAttribute(ktdp::kAddressUnitAttr, "bytes", "elements") == "bytes";
  bool isDL16 = options.f16 ? *options.f16 == RunOptions::F16::DL16 : f16 == "dl16";
  units.f16 = isDL16 ? ElementKind::DL16 : ElementKind::IEEE16;
  return units;
}

std::vector<func::FuncOp> spyre::ktir::getKernels(ModuleOp module) {
  std::vector<func::FuncOp> kernels;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    WalkResult found = function.walk([](Operation *op) {
      return isa_and_nonnull<ktdp::KtdpDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
    });
    // What others call is a part of them.
    if (found.wasInterrupted() &&
        (function.isPublic() || SymbolTable::symbolKnownUseEmpty(function, module.getOperation())))
      kernels.push_back(function);
  }
  return kernels;
}

std::shared_ptr<const Program>
spyre::ktir::readKernel(func::FuncOp kernel, const RunOptions &options, std::string &error) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module) {
    error = describe(kernel.getLoc()) + ": the kernel stands in no module";
    return nullptr;
  }
  KernelUnits units = getUnits(module, options, error);
  if (!error.empty())
    return nullptr;
  ReaderContext context;
  context.addressesInBytes = units.addressesInBytes;
  context.f16 = units.f16;

  OwningOpRef<ModuleOp> copy = module.clone();
  generalize(*copy);
  auto function = copy->lookupSymbol<func::FuncOp>(kernel.getSymName());
  if (!function || function.isExternal()) {
    error = describe(kernel.getLoc()) + ": there is no kernel '" + kernel.getSymName().str() + "'";
    return nullptr;
  }
  auto program = std::make_shared<Program>();
  Reader(context, *program).readFunction(function);
  error = std::move(context.errors);
  return error.empty() ? program : nullptr;
}

std::string spyre::ktir::run(func::FuncOp kernel, Memory &memory,
                             const std::vector<RunArgument> &arguments, const RunOptions &options,
                             MachineStats *stats, std::map<int64_t, Memory> *lx) {
  std::string error;
  std::shared_ptr<const Program> program = readKernel(kernel, options, error);
  if (!program)
    return error;
  std::string where = describe(kernel.getLoc()) + ": ";
  if (arguments.size() != kernel.getNumArguments())
    return where + "the kernel takes " + std::to_string(kernel.getNumArguments()) + " arguments, " +
           std::to_string(arguments.size()) + " are given";
  std::vector<Datum> values;
  for (auto [argument, type] : llvm::zip_equal(arguments, kernel.getArgumentTypes())) {
    bool isFloat = isFloatArgument(type);
    if (isFloat != std::holds_alternative<double>(argument))
      return where + "argument " + std::to_string(values.size()) + " of type " + toText(type) +
             (isFloat ? " is no float" : " is a float");
    values.push_back(isFloat ? Datum::of(static_cast<float>(std::get<double>(argument)))
                             : Datum::of(std::get<int64_t>(argument)));
  }
  MachineOptions machine = options;
  if (machine.lxInBytes == 0)
    machine.lxInBytes = Device::lookup("spyre")->getLXInBytes();
  return runProgram(*program, memory, values, machine, stats, lx);
}

/// The host's type of \p type's numbers.
static std::optional<::spyre::HostType> getHostType(Type type) {
  using ::spyre::HostType;
  if (type.isF16())
    return HostType::Float16;
  if (type.isBF16())
    return HostType::BFloat16;
  if (type.isF32())
    return HostType::Float32;
  if (type.isIndex())
    return HostType::Int64;
  auto integer = dyn_cast<IntegerType>(type);
  switch (integer ? integer.getWidth() : 0) {
  case 1:
    return HostType::Bool;
  case 8:
    return HostType::Int8;
  case 16:
    return HostType::Int16;
  case 32:
    return HostType::Int32;
  case 64:
    return HostType::Int64;
  default:
    return std::nullopt;
  }
}

std::optional<KernelBinding> spyre::ktir::getBindingOfAttributes(func::FuncOp kernel,
                                                                 std::string &error) {
  KernelBinding binding;
  binding.kernel = kernel.getSymName().str();
  unsigned numInputs = 0, numOutputs = 0;
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
    auto fail = [&](const Twine &message) {
      error = (describe(kernel.getArgument(i).getLoc()) + ": argument " + Twine(i) + ": " + message)
                  .str();
      return std::nullopt;
    };
    if (Attribute value = kernel.getArgAttr(i, kValueAttr)) {
      if (auto number = dyn_cast<IntegerAttr>(value))
        binding.arguments.emplace_back(number.getValue().sextOrTrunc(64).getSExtValue());
      else if (auto number = dyn_cast<FloatAttr>(value))
        binding.arguments.emplace_back(number.getValueAsDouble());
      else
        return fail("'" + kValueAttr + "' must be a number");
      continue;
    }
    KernelArray array;
    Attribute described;
    for (auto [name, role] :
         {std::pair(kInputAttr, ArrayRole::Input), std::pair(kOutputAttr, ArrayRole::Output),
          std::pair(kInputOutputAttr, ArrayRole::InputOutput)})
      if (Attribute attribute = kernel.getArgAttr(i, name)) {
        described = attribute;
        array.role = role;
      }
    if (!described)
      return std::nullopt;
    auto type = dyn_cast<TypeAttr>(described);
    auto tensor = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    std::optional<::spyre::HostType> element;
    if (tensor && tensor.hasStaticShape())
      element = getHostType(tensor.getElementType());
    if (!element)
      return fail("its array must be described by a tensor type with sizes, such as "
                  "tensor<96x64xf16>");
    array.name = array.role == ArrayRole::Output ? "out" + std::to_string(numOutputs++)
                                                 : "in" + std::to_string(numInputs++);
    array.type = *element;
    array.shape = Shape(tensor.getShape());
    if (countElements(array.shape) < 0)
      return fail("no array has the sizes of " + toText(tensor));
    binding.arguments.emplace_back(array.name);
    binding.arrays.push_back(std::move(array));
  }
  return binding;
}

std::string spyre::ktir::runBound(ModuleOp module, const KernelBinding &binding,
                                  const ArrayBytes &inputs, const RunOptions &options,
                                  ArrayBytes &outputs, MachineStats *stats) {
  std::vector<func::FuncOp> kernels = getKernels(module);
  func::FuncOp kernel;
  for (func::FuncOp candidate : kernels)
    if (binding.kernel.empty() ? kernels.size() == 1 : candidate.getSymName() == binding.kernel)
      kernel = candidate;
  std::string where = describe(module.getLoc()) + ": ";
  if (!kernel)
    return where + (binding.kernel.empty()
                        ? "the file has " + std::to_string(kernels.size()) +
                              " kernels; 'kernel' of the binding says which one is meant"
                        : "there is no kernel '" + binding.kernel + "'");
  std::string error;
  KernelUnits units = getUnits(module, options, error);
  if (!error.empty())
    return error;
  Device device = *Device::lookup("spyre");
  PlacedArrays placed;
  placed.f16 = units.f16;
  error = placeArrays(binding, inputs, units.addressesInBytes, device.getMemoryInBytes(),
                      options.lxInBytes ? options.lxInBytes : device.getLXInBytes(), placed);
  if (!error.empty())
    return where + error;
  std::vector<RunArgument> arguments;
  for (const auto &argument : binding.arguments) {
    auto *name = std::get_if<std::string>(&argument);
    if (!name) {
      // A whole number may stand for a float.
      bool isFloat = arguments.size() < kernel.getNumArguments() &&
                     isFloatArgument(kernel.getArgumentTypes()[arguments.size()]);
      if (auto *number = std::get_if<int64_t>(&argument); number && !isFloat)
        arguments.emplace_back(*number);
      else
        arguments.emplace_back(number ? static_cast<double>(*number) : std::get<double>(argument));
      continue;
    }
    int64_t address = placed.byteOf.at(*name), unit = 1;
    for (const KernelArray &array : binding.arrays)
      if (array.name == *name && !units.addressesInBytes)
        unit = getMemoryElement(array.type, units.f16)->getBytes();
    arguments.emplace_back(address / unit);
  }
  error = run(kernel, placed.memory, arguments, options, stats, &placed.lx);
  if (!error.empty())
    return error;
  error = fetchArrays(binding, placed, options.isChecked, outputs);
  return error.empty() ? "" : where + error;
}
