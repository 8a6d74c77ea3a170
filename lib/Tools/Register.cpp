//===- Register.cpp - One registration for every tool -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of dialects and passes.
//
//===----------------------------------------------------------------------===//

#include "spyre/Tools/Register.h"

#include "spyre/Compiler/Pipelines.h"
#include "spyre/Conversion/SpyreToKTIR/SpyreToKTIR.h"
#include "spyre/Conversion/SpyreToSuperDSC/SpyreToSuperDSC.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"
#include "spyre/Dialect/KTIR/Transforms/Passes.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"
#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h"
#include "spyre/Dialect/Torch/IR/TorchDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void spyre::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::ktdp::KtdpDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::sdsc::SdscDialect,
                  mlir::sdscbundle::SdscBundleDialect, mlir::spyre::SpyreDialect,
                  mlir::spyreop::SpyreopDialect,
                  mlir::tensor::TensorDialect, mlir::torch_reader::TorchDialect>();
  mlir::func::registerInlinerExtension(registry);
}

void spyre::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::spyre::registerSpyreToKTIRPasses();
  mlir::spyre::registerSpyreToSuperDSCPasses();
  mlir::ktdp::registerKtirPasses();
  mlir::sdsc::registerSdscPasses();
  mlir::spyre::registerTorchToSpyrePasses();
  mlir::spyre::registerSpyreL1Passes();
  mlir::spyre::registerSpyreL2Passes();
  mlir::spyre::registerSpyreL3Passes();
  compiler::registerPipelines();
}
