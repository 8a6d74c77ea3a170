//===- Descriptor.h - One SuperDSC descriptor as data -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The content of one `sdsc_<i>.json`, field by field, without the redundancy of
// the JSON (per-core copies of constant entries). It is what the emission fills
// in, what the `sdsc` dialect carries, and what the emulator executes; reading
// and writing the file are in DescriptorJson.h. MLIR-free.
// The fields: docs/formats/superdsc.md, "The root" and the headings after it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_DESCRIPTOR_H
#define SPYRE_SUPERDSC_DESCRIPTOR_H

#include "spyre/Device/MemorySpace.h"
#include "spyre/Numerics/Formats.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spyre::sdsc {

/// One iteration dim of the operation: `mb`, `out`, `in`, ... (the name without
/// the trailing underscore). Order in Descriptor::dims is iteration order.
struct Dim {
  std::string name;
  int64_t size = 1;      ///< N_: total extent, padded, in elements.
  int64_t numSlices = 1; ///< numWkSlicesPerDim_.
  int64_t coreSize = 1;  ///< dataStageParam_ "ss_" (equal to size / numSlices).
  /// dataStageParam_ "el_" where it differs from "ss_" (a smaller last slice).
  std::optional<int64_t> epilogueSize = std::nullopt;
  /// N_ and the stages hold -1 for this (symbolic) dim: size and coreSize are then
  /// those of the largest extent that symbolicDimInfo_ allows.
  bool isUnsized = false;
};

/// One symbolic dim of a stage, an entry of symbolicDimInfo_: the extent is a
/// multiple of granularity and at most maxSize, both of one core's slice.
struct SymbolicExtent {
  std::string dim;
  int64_t maxSize = 0;
  int64_t granularity = 1;

  bool operator==(const SymbolicExtent &) const = default;
};

/// The symbols of one dim, an entry of dimToSymbolMapping_ (negative ids, one a dim).
struct DimSymbols {
  std::string dim;
  std::vector<int64_t> symbols;

  bool operator==(const DimSymbols &) const = default;
};

/// A dim that a window slides along, an entry of paddingSizes_. The dim's own size
/// is the output's; totalSize is the input's with its padding.
struct PaddedWindow {
  std::string dim;
  int64_t padFront = 0, padBack = 0; ///< -1 in the core stage if the dim is split
  std::optional<int64_t> totalSize;  ///< nothing: "N/A"
  int64_t stride = 1, dilation = 1;
  std::string windowDim; ///< the dim that is the window's extent
  /// unneededPad_, unneededPadFront_, unneededPadBack_ of convolutions, or nothing.
  std::optional<std::array<int64_t, 3>> unneeded;

  bool operator==(const PaddedWindow &) const = default;
};

/// What a stage of dataStageParam_ holds besides the sizes.
struct Stage {
  std::vector<SymbolicExtent> symbolicDims;
  std::vector<PaddedWindow> windows;

  bool operator==(const Stage &) const = default;
};

/// Factor and label of a fold without a function, as in coreletFoldProp_.
struct FoldProperty {
  int64_t factor = 1;
  std::string label;

  bool operator==(const FoldProperty &) const = default;
};

/// A layout class, an entry of primaryDsInfo_ ("OUTPUT", "KERNEL", "INPUT",
/// "KERNEL_IDX"). A class of memory layouts, not a role of operands.
struct LayoutClass {
  std::string label;
  std::vector<std::string> dimOrder;  ///< layoutDimOrder_, innermost first.
  std::vector<std::string> stickDims; ///< stickDimOrder_.
  std::vector<int64_t> stickSizes;    ///< stickSize_, elements.
};

/// One fold of a coordinate: index += alpha * f + beta, 0 <= f < factor.
struct Fold {
  int64_t alpha = 0;
  int64_t beta = 0;
  int64_t factor = 1;
  std::string label; ///< core_fold, corelet_fold, row_fold, elem_arr_1, elem_arr_0
};

/// What of a padded dim an allocation holds ("padding" of coordInfo).
enum class PaddingKind : uint8_t {
  NoPad,
  LoweredPadded,
  PaddedNoZeroPad, ///< the data without zeros; the unit supplies them
  PaddedWithZeroPad,
  PaddedFullSpan,
  PaddedFullSpanWithUnneeded,
};
/// As in the files: "nopad", "padded_nozeropad", ...
std::string_view getPaddingName(PaddingKind kind);
std::optional<PaddingKind> parsePaddingKind(std::string_view name);

/// How one dim of a tensor is distributed, an entry of coordInfo.
struct DimCoordinate {
  std::string dim;
  int64_t spatial = 3;
  int64_t temporal = 0;
  int64_t elemArr = 1; ///< number of elem_arr folds: folds.size() == elemArr + 3
  PaddingKind padding = PaddingKind::NoPad;
  std::vector<Fold> folds;
};

/// The part of an operand in an indirect access.
enum class Indirection : uint8_t { None, IndexTensor, ValueTensor };
} // namespace spyre::sdsc

template <> struct spyre::EnumNames<spyre::sdsc::Indirection> {
  static constexpr std::string_view kNames[] = {"none", "index", "value"};
};

namespace spyre::sdsc {

/// One operand: its allocate node of scheduleTree_ and its labeledDs_ entry.
struct Tensor {
  std::string name = "Tensor0"; ///< dsName_
  std::string label;            ///< dsType_: the LayoutClass
  DataFormat format = DataFormat::SEN169_FP16;
  int64_t wordLength = 2;     ///< bytes of one element
  std::vector<int64_t> scale; ///< scale_, in the label's dim order: 1, -1 or -2
  MemorySpace component = MemorySpace::HBM;
  /// memOrg_: which memories are marked present ({"hbm","lx"} in that order).
  bool presentInHbm = true, presentInLx = true;
  std::vector<std::string> dimOrder; ///< the operand's own layoutDimOrder_, innermost first
  /// In dimOrder's order: -1 unlimited, 1 an indirectly accessed dim, more: the page
  /// size of a paged value tensor. (The reference front end orders by the label.)
  std::vector<int64_t> maxDimSizes;
  Indirection indirection = Indirection::None;
  std::string relatedAllocation; ///< relatedIndirectAccessAlloc_, empty if none
  bool symbolicAddress = false;  ///< isStartAddrSymbolic_ (key absent if false)
  /// name_ of the allocation where it is not "allocate-<name>_<component>".
  std::string unusualAllocationName = {};
  /// Factor of the corelet fold of the start addresses (they do not depend on it).
  int64_t addressCorelets = 1;
  /// Start address per core (index = core): bytes, or a negative symbol id.
  std::vector<int64_t> startAddress;
  /// backGapCore_: dim -> gap in elements, one entry (HBM, key "-1") or one a
  /// core (LX, keys "0".."P-1"). Empty if absent.
  std::vector<std::pair<std::string, std::vector<int64_t>>> backGap;
  std::vector<DimCoordinate> coordinates; ///< in the label's dim order
  /// coordinates_.coreIdToWkSlice_ (only `shuffle` fills it): per core, dim -> slice.
  std::vector<std::vector<std::pair<std::string, int64_t>>> coreToSlice;

  /// The allocation's name_, which indirect partners refer to.
  std::string getAllocationName() const {
    if (!unusualAllocationName.empty())
      return unusualAllocationName;
    return "allocate-" + name + (component == MemorySpace::LX ? "_lx" : "_hbm");
  }
};

/// One entry of constantInfo_.
struct Constant {
  std::string name;                            ///< clipMin, samv-maskvalue, ...
  DataFormat format = DataFormat::SEN169_FP16; ///< the operation's format
  uint32_t bits = 0;                           ///< f32 bits for IEEE_FP32, DL16 bits otherwise
  int64_t corelets = 1;                        ///< factor of the corelet fold of data_
};

/// sdscFolds_ and sdscFoldProps_: folds around the whole descriptor. All known files
/// have the one "time" fold of factor 1.
struct BundleFolds {
  std::vector<FoldProperty> properties = {{1, "time"}}; ///< sdscFoldProps_
  std::vector<Fold> folds = {{1, 0, 1, "time"}};
  /// data_: coordinate -> value.
  std::vector<std::pair<std::string, std::string>> data = {{"[0]", "0"}};

  bool isStandard() const;
};

/// One step of a core's schedule: data op, compute op, synchronisations. -1: none.
using ScheduleStep = std::array<int64_t, 4>;

/// How a file spells what may be spelled in two ways, kept for writing it back.
struct Spelling {
  bool dimUnderscore = false;       ///< "mb_" for "mb" in symbol maps and windows
  bool windowDimUnderscore = false; ///< "ki_" for "ki" in windowDim_
  bool symbolsAsText = false;       ///< "-1" for -1 in dimToSymbolMapping_
  bool emptyConstantsAsObject = false;
  bool constantsAsText = false;      ///< "10752" for 10752 in constantInfo_
  bool constantsWithoutList = false; ///< "10752" for ["10752"] there

  bool operator==(const Spelling &) const = default;
};

/// coordinateMasking_: elements [firstInvalid, firstInvalid + count) of dim.
struct Mask {
  std::string dim;
  int64_t firstInvalid = 0;
  int64_t count = 0;
};

/// debug_handle_ of the newer form (docs/formats/superdsc-rules.md, section 8): where the
/// operation came from.
struct Provenance {
  std::string id;   ///< a decimal number; its width is not fixed, so it stays text
  std::string file; ///< empty: no source
  int64_t startLine = 0, startCol = 0;
  std::optional<int64_t> endLine, endCol;
  std::string atenOp; ///< empty: none (null in the file)
  std::vector<std::string> irChain;
  std::vector<Provenance> fusedFrom; ///< the handles that were merged into this one
  /// (kind, pass_name, reason)
  std::vector<std::array<std::string, 3>> transformHistory;
};

struct Descriptor {
  int64_t index = 0;         ///< position in the bundle; root key "<index>_<opFunc>"
  std::string opFunc;        ///< opFuncName, as in the OpFunc table
  std::string executionUnit; ///< exUnit: "pt" or "sfp"
  DataFormat format = DataFormat::SEN169_FP16; ///< computeOp attributes_.dataFormat_
  std::string fidelity = "regular";
  int64_t numCores = 1; ///< product of all numSlices
  std::vector<Dim> dims;
  /// Order in which coreIdToWkSlice_ walks dims (and its key order): positions
  /// into dims, fastest first. Iteration order, or the last first under k-fast.
  std::vector<unsigned> coreOrder;
  /// coreIdToWkSlice_ itself, per core a slice per dim (indexed like dims).
  std::vector<std::vector<int64_t>> coreToSlice;
  std::vector<LayoutClass> layouts;
  std::vector<Tensor> tensors;        ///< inputs, then the output
  std::vector<unsigned> inputs;       ///< inputLabeledDs: positions into tensors
  std::vector<unsigned> outputs;      ///< outputLabeledDs
  std::vector<unsigned> indexTensors; ///< indirectAccessIndexLabeledDs
  std::vector<Constant> constants;
  std::vector<Mask> masks;
  int64_t maskConstant = -1; ///< maskingConstId_: position in constants, or -1
  std::optional<Provenance> provenance;

  // What the reference front end never fills in, or always with one value; the
  // defaults are that value.
  std::vector<DimSymbols> dimSymbols;     ///< dimToSymbolMapping_
  std::vector<PaddedWindow> windows;      ///< paddingSizes_ of N_: the whole operation's
  Stage steadyStage, epilogueStage;       ///< "ss_", "el_"
  std::string target;                     ///< target_ of the root; empty: absent
  std::string operationTarget;            ///< target_ of the operation; empty: absent
  FoldProperty corelets = {1, "corelet"}; ///< coreletFoldProp_
  int64_t numCorelets = 1;                ///< numCoreletsUsed_
  std::vector<int64_t> coreIds;           ///< coreIdsUsed_; empty: 0 .. numCores - 1
  BundleFolds folds;
  /// coreIdToDscSchedule, per core its steps; empty: one step (-1, 0, 0, 0) each.
  std::vector<std::vector<ScheduleStep>> schedule;
  /// dataOpdscs_, the JSON text of each. Data operations exclude a compute
  /// operation, so a valid descriptor has none.
  std::optional<std::vector<std::string>> dataOps;
  Spelling spelling;
  /// Fields this structure does not know, kept for writing back: JSON pointer
  /// below the root key (so that it survives renumbering) -> JSON text.
  std::map<std::string, std::string> unknownFields;

  /// Position of the dim called \p name, or nothing.
  std::optional<unsigned> findDim(const std::string &name) const {
    for (unsigned i = 0; i < dims.size(); ++i)
      if (dims[i].name == name)
        return i;
    return std::nullopt;
  }
};

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_DESCRIPTOR_H
