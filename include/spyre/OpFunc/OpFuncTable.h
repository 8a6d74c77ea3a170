//===- OpFuncTable.h - The table of device operations in C++ ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What OpFuncs.td says about each device operation, for code without MLIR and
// LLVM: look-up by SuperDSC name, forms per format, and the two functions that
// tail and arrangement analysis need. The rows are generated
// (utils/gen-opfunc-table.py); the meaning of a field stands with the field.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_OPFUNC_OPFUNCTABLE_H
#define SPYRE_OPFUNC_OPFUNCTABLE_H

#include "spyre/Numerics/Formats.h"
#include "spyre/Support/EnumNames.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace spyre {

/// One enumerator a record: OpFunc::Add, OpFunc::Restickify, ...
enum class OpFunc : uint8_t {
#define SPYRE_OPFUNC_ENUM
#include "spyre/OpFunc/OpFuncTable.inc"
};

enum class OpCategory : uint8_t {
  Unary,
  Broadcast,
  Reduction,
  Batchmatmul,
  Normalisation,
  Scan,
  Pooling,
  Convolution,
  Quantisation,
  DataMovement,
};

enum class ExecutionUnit : uint8_t { SFP, PT, Unspecified };

/// Which dims the sticks of the operands hold (docs/formats/superdsc-rules.md, section 7).
enum class StickRule : uint8_t {
  Pointwise,         ///< the same stick everywhere; an operand may be one stick broadcast
  StickReduction,    ///< the reduced dim alone in the input's stick
  NonStickReduction, ///< the stick dim is kept
  Matmul,            ///< [reduction], [generated], [generated]
  Matmul8,           ///< [reduction 128], [reduction 2, generated 64], [generated]
  TopK,              ///< neither k nor the reduced dim in the stick
  Normalisation,     ///< only the normalised dim in the stick
  Cast,              ///< the same dim; another number of elements
  Restickify,        ///< one dim in, another out
  Unspecified,
};

/// What the padding of a value contains.
enum class TailState : uint8_t { Zero, NegInf, PosInf, Finite, Unknown };

template <> struct EnumNames<TailState> {
  static constexpr std::string_view kNames[] = {"zero", "neg_inf", "pos_inf", "finite", "unknown"};
};

/// Order of the elements within a stick (docs/developer/numerics.md, "Arrangements").
/// The emulator's casts keep the order; a program must not depend on any.
enum class Arrangement : uint8_t { Standard, DL16ToFP32, FP32ToDL16, Exx2, QFP8Ch, QFP8Wt };

template <> struct EnumNames<Arrangement> {
  static constexpr std::string_view kNames[] = {"standard", "dl16_to_fp32", "fp32_to_dl16",
                                                "exx2",     "qfp8ch",       "qfp8wt"};
};

/// Which arrangements an operation takes and what it makes of them.
enum class ArrangementRule : uint8_t {
  StandardOnly,
  Same,           ///< one arrangement (not exx2) beside stick broadcasts, which are standard
  StickReduction, ///< any but exx2; the result (one lane) is standard
  ProducesExx2,   ///< any but exx2; the result is exx2
  FromExx2,       ///< exx2 into a standard single lane
  LayerNorm,      ///< x, weight and bias alike; the second input is exx2, the third standard
  Widen,          ///< standard -> dl16_to_fp32; fp32_to_dl16 -> standard
  Narrow,         ///< standard -> fp32_to_dl16; dl16_to_fp32 -> standard
  WidenFP8,       ///< standard or qfp8ch -> standard
  QuantiseFP8Ch,  ///< standard -> qfp8ch
  Unspecified,
};

/// How the tail of the result follows from the inputs' tails.
enum class TailRule : uint8_t {
  Map, ///< by OpFuncInfo::tailMap of the first input
  AlwaysUnknown,
  AlwaysFinite,
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  CompareTrue,  ///< a comparison that holds between equal zeros
  CompareFalse, ///< one that does not
  Select,
  Matmul,
  LayerNorm,
};

/// Which rate of the cost model applies.
enum class CostClass : uint8_t {
  Pointwise,
  Copy,
  StickReduction,
  RowReduction,
  TopK,
  Matmul,
  Cast,
  Restickify,
  Shuffle,
  Unspecified,
};

enum class KTIRKind : uint8_t {
  Elementwise, ///< scalar operations in the body of a linalg.generic
  Reduce,      ///< the combiner of a linalg.reduce, then the body
  Named,       ///< a linalg operation of its own
  Copy,        ///< load and store
  Unsupported,
};

/// One allowed combination of formats. An operation has forms per format.
struct OpFuncForm {
  std::span<const DataFormat> inputs;
  DataFormat output;
  /// The format that the descriptor names for the operation.
  DataFormat emittedAs;
};

/// What adding c to an operand does to the result, in exact arithmetic.
enum class ShiftLaw : uint8_t {
  None,
  Shift,      ///< it gets c more
  ShiftBack,  ///< it gets c less
  ScaleByExp, ///< it is multiplied by e^c
  AddOther,   ///< it gets c times the other operand more
};

/// Which operands times c > 0 make the result times c, in exact arithmetic.
enum class ScaleLaw : uint8_t {
  None,
  First,
  Each, ///< any one of them
  All,  ///< all together
};

/// How results over parts of the reduced dims become the result over all.
enum class Combiner : uint8_t { None, Add, Maximum, Minimum };

/// A node of a scalar body.
struct ScalarNode {
  enum class Kind : uint8_t {
    Input,     ///< one element of an input; of a reduction, what has been combined
    Number,    ///< written in the body
    Parameter, ///< a constant of the operation
    Operation, ///< of an MLIR dialect
  };
  Kind kind = Kind::Input;
  std::string_view name = {};             ///< of the operation or the constant
  std::string_view predicate = {};        ///< of arith.cmpf
  int64_t input = 0;                      ///< of an Input
  double number = 0;                      ///< of a Number
  std::span<const uint8_t> operands = {}; ///< of an Operation: nodes before it
};

struct OpFuncInfo {
  OpFunc opFunc;
  std::string_view name;     ///< in SuperDSC
  std::string_view mnemonic; ///< in the dialect, after "spyre."
  std::string_view baseName; ///< "sum" for "sumnonstick", else the name
  std::string_view meaning;
  std::string_view notes;
  bool specified; ///< false: known by name only, to be refused by name
  bool emittedByReference;
  OpCategory category;
  ExecutionUnit unit;
  int64_t numInputs;  ///< without the result
  bool outputIsInput; ///< the descriptor lists the result among the inputs
  /// Constants that the operation needs, in the order of constantInfo_. The
  /// mask constant follows them where there is a mask.
  std::span<const std::string_view> constants;
  std::span<const OpFuncForm> forms;
  StickRule stickRule;
  /// Tail that each input needs; Unknown: none. Only of inputs whose stick (for
  /// matmul: reduction dim) is padded.
  std::span<const TailState> requiredTails;
  /// The value that a coordinate mask puts over the first input's tail.
  std::optional<TailState> maskTail;
  TailRule tailRule;
  /// With TailRule::Map: the result's state for each state of the input.
  std::span<const TailState> tailMap;
  ArrangementRule arrangementRule;
  /// Each element of the result is one of an operand's, up to its sign or rounded to an
  /// integer, or zero: the operands' format holds it.
  bool keepsNumbers;
  bool jumps;   ///< the result jumps where an operand changes by its last bit
  bool cancels; ///< operands of one sign leave little but their last bits
  /// The result may be an infinity that an operand is, up to its sign.
  bool passesInfinity;
  /// By what the relative error of the only operand is multiplied at most; infinity: there is
  /// no bound; nothing: nothing is claimed. Without keepsNumbers one rounding is added.
  std::optional<double> errorFactor;
  ShiftLaw shiftLaw;       ///< of the first operand
  ShiftLaw secondShiftLaw; ///< of the second
  ScaleLaw scaleLaw;
  Combiner combiner; ///< of a reduction or contraction
  /// The result over nothing: with the combiner it changes nothing.
  std::optional<double> neutral;
  bool divisible; ///< work may be divided among cores
  CostClass costClass;
  KTIRKind ktirKind;
  /// What is computed of one element of each input, of the factors of a contraction before
  /// they are combined, and of the combined value of a reduction: nodes, the last of which
  /// is the value.
  std::span<const ScalarNode> body;
  std::string_view emulatorKernel;
};

/// All operations, ordered by name.
std::span<const OpFuncInfo> getOpFuncTable();
/// The operation named \p name in SuperDSC, or null. Unspecified ones are found.
const OpFuncInfo *lookupOpFunc(std::string_view name);
const OpFuncInfo &getOpFuncInfo(OpFunc opFunc);

/// The form of \p info that takes \p inputs, or null.
const OpFuncForm *lookupForm(const OpFuncInfo &info, std::span<const DataFormat> inputs);
/// Why the operation cannot run on \p inputs ("log has no form for IEEE_FP32;
/// it has SEN169_FP16"), or nothing if it can.
std::optional<std::string> checkForm(const OpFuncInfo &info, std::span<const DataFormat> inputs);

/// An input as tail analysis sees it.
struct TailOperand {
  TailState tail = TailState::Unknown;
  /// The operand has one value for the whole stick, so that the lanes of the
  /// tail see a value of the data. `tail` is then ignored. Where that value is
  /// not finite or a zero divisor, the row's data are not finite either, and
  /// nothing is promised about its tail.
  bool isStickBroadcast = false;
};
/// Tail of the result. For matmul it is the tail along the generated dim, from
/// the second input's tail along it.
TailState getProducedTail(const OpFuncInfo &info, std::span<const TailOperand> inputs);
/// True if a value whose tail is \p have serves where \p need is required.
bool isTailSufficient(TailState have, TailState need);
/// True if a contraction \p info whose operands have tails \p x and \p y along the reduced dim
/// is right: what its required tails say, of either operand, as zero times finite is zero.
bool areContractionTailsSufficient(const OpFuncInfo &info, TailState x, TailState y);
/// The state of a value written by several: the strongest that all imply.
TailState joinTails(TailState a, TailState b);

/// An input as arrangement analysis sees it.
struct ArrangementOperand {
  Arrangement arrangement = Arrangement::Standard;
  bool isStickBroadcast = false;
};
/// Arrangement of the result, or why the inputs cannot be combined.
std::variant<Arrangement, std::string>
getProducedArrangement(const OpFuncInfo &info, std::span<const ArrangementOperand> inputs);

} // namespace spyre

#endif // SPYRE_OPFUNC_OPFUNCTABLE_H
