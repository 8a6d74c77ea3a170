//===- OpFuncs.td - The table of device operations --------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One record a device operation (OpFunc). Dialect operations, verifiers, both
// emitters, the importer, the cost model, the emulator's dispatch and the page
// docs/developer/opfuncs.md come from these records: ODS files include this
// file, everything else uses OpFuncTable.h, which utils/gen-opfunc-table.py
// writes from `llvm-tblgen -dump-json`. Needs no include of its own.
//
// Enumerators are written as strings and are those of OpFuncTable.h and
// Formats.h; a misspelt one fails in the generator or in the C++ compiler.
// Source of the facts: docs/formats/superdsc-rules.md, sections 3 and 7;
// arrangements and formats: docs/device.md, section 5. An operation without a published meaning is
// `specified = 0`: it is known by name and refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_OPFUNC_OPFUNCS
#define SPYRE_OPFUNC_OPFUNCS

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// One allowed combination of data formats. `emittedAs` is the format that the
/// descriptor names for the operation: the first input's, except where the
/// device moves the bits of another type.
class OpFuncForm<list<string> ins, string out, string label = ""> {
  list<string> inputFormats = ins;
  string outputFormat = out;
  string emittedAs = !if(!empty(label), !head(ins), label);
}

/// What an operation leaves in the tail of its result, given the tails of its
/// inputs. `Map` looks the (single) input's state up in `map`, in the order
/// zero, neg_inf, pos_inf, finite; unknown gives `onUnknown`. The other rules are
/// the cases of getProducedTail().
class OpFuncTailRule<string ruleName> {
  string rule = ruleName;
  list<string> map = [];
}
class OpFuncTailMap<string zero, string negInf, string posInf, string finite,
                    string unknown = "Unknown"> : OpFuncTailRule<"Map"> {
  let map = [zero, negInf, posInf, finite, unknown];
}
/// The state of the first input: nothing is computed in the lane but its value.
def OpFuncTailSame : OpFuncTailMap<"Zero", "NegInf", "PosInf", "Finite">;
def OpFuncTailUnknown : OpFuncTailRule<"AlwaysUnknown">;

/// A node of a scalar body: an operation of an MLIR dialect on other nodes. `predicate` is
/// cmpf's. A body is a dag of nodes over the inputs `$x`, `$y`, `$z`, `$v`, `$w`,
/// in the order of the operation's inputs.
class ScalarOp<string op, string cmp = ""> {
  string name = op;
  string predicate = cmp;
}
def scalar_absf : ScalarOp<"math.absf">;
def scalar_floor : ScalarOp<"math.floor">;
def scalar_log : ScalarOp<"math.log">;
def scalar_tanh : ScalarOp<"math.tanh">;
def scalar_negf : ScalarOp<"arith.negf">;
def scalar_addf : ScalarOp<"arith.addf">;
def scalar_subf : ScalarOp<"arith.subf">;
def scalar_mulf : ScalarOp<"arith.mulf">;
def scalar_maximumf : ScalarOp<"arith.maximumf">;
def scalar_minimumf : ScalarOp<"arith.minimumf">;
def scalar_select : ScalarOp<"arith.select">;
def scalar_extf : ScalarOp<"arith.extf">;
def scalar_truncf : ScalarOp<"arith.truncf">;
/// A truth value as the number 1 or 0.
def scalar_uitofp : ScalarOp<"arith.uitofp">;
foreach p = ["oeq", "une", "oge", "ogt", "ole", "olt"] in
  def scalar_cmpf_#p : ScalarOp<"arith.cmpf", p>;
foreach n = ["exp", "reciprocal", "rsqrt", "sigmoid", "sqrt", "gelu", "silu", "softplus", "realdiv",
             "layernormscale", "layernormnorm"] in
  def spyreop_#n : ScalarOp<"spyreop." # n>;
/// The value of a constant of the operation: (parameter "clipMin").
def parameter : ScalarOp<"parameter">;
/// A number: (number "0.0").
def number : ScalarOp<"number">;
/// The input itself: (same $x).
def same : ScalarOp<"same">;

class OpFunc<string superDSCName, string categoryName> {
  /// Name in SuperDSC (opFuncName).
  string opFuncName = superDSCName;
  /// Operation name in the dialect, after "spyre.".
  string mnemonic = !tolower(superDSCName);
  /// Stem of C++ names: the enumerator, and the ODS class plus "Op".
  string cppName = !toupper(!substr(superDSCName, 0, 1)) # !substr(superDSCName, 1);
  /// The operation that people and the dialect name; "sumnonstick" is how "sum"
  /// is written in a descriptor when the stick dim is not reduced.
  string baseName = superDSCName;
  string meaning = "";
  string notes = "";
  /// 0: known by name only.
  bit specified = 1;
  /// 1: the reference front end emits it.
  bit emittedByReference = specified;

  string category = categoryName;
  /// SFP, PT or Unspecified.
  string unit = "SFP";
  /// Inputs, without the result.
  int numInputs = 1;
  /// 1: the descriptor lists the result among the inputs too (reductions).
  bit outputIsInput = 0;
  /// Constants the operation needs, in the order of constantInfo_.
  list<string> constants = [];
  list<OpFuncForm> forms = [];
  string stickRule = "Pointwise";

  /// Tail that each input must have for the logical result to be right.
  list<string> requiredTail = [];
  /// What the coordinate mask puts in place of the first input's tail: a
  /// descriptor with `coordinateMasking_` meets the requirement itself. "" where
  /// the operation takes no mask.
  string maskTail = "";
  OpFuncTailRule producedTail = OpFuncTailUnknown;
  string arrangementRule = "StandardOnly";

  /// 1: each element of the result is an element of an operand (up to its sign, or
  /// rounded to an integer) or zero: a number that the operands' format holds.
  bit keepsNumbers = 0;
  /// 1: the result jumps where an operand changes by its last bit.
  bit jumps = 0;
  /// 1: operands of one sign cancel, so that little is left but their last bits.
  bit cancels = 0;

  /// 1: where an operand is infinite, the result may be just that, up to its sign: what the
  /// operation does is to move, choose or add up numbers.
  bit passesInfinity = keepsNumbers;
  /// How a relative error of the operand grows, |x f'(x) / f(x)| at most, for operations of one
  /// operand that programs chain at 16 bits: a number, "Unbounded", or "" where nothing is
  /// claimed. An operation that does not keep numbers adds a rounding of its own.
  string errorFactor = "";

  // Laws, in exact arithmetic, by which a loop over tiles may replace a number that all
  // of a row depends on (the running maximum of a softmax) and mend what it has.
  /// What adding c to the first operand does: "Shift": the result gets c more;
  /// "ScaleByExp": it is multiplied by e^c; "AddOther": it gets c times the second one more.
  string shiftLaw = "None";
  /// What adding c to the second operand does: "Shift", or "ShiftBack": the result gets c less;
  /// "AddOther": it gets c times the first one more.
  string secondShiftLaw = "None";
  /// Which operands times c > 0 make the result times c: "First", "Each" of them by itself,
  /// "All" of them together.
  string scaleLaw = "None";
  /// Reductions and contractions: how results over parts of the reduced dims are put
  /// together ("Add", "Maximum", "Minimum"), and the result over nothing, which changes
  /// nothing. What follows the combination (the scale of a mean) is the body.
  string combiner = "None";
  string neutral = "";

  /// 1: the planner may divide the work among cores.
  bit divisible = 1;
  string costClass = "Pointwise";
  /// How KTIR says it: "elementwise" (scalar body of a linalg.generic), "reduce" (combiner
  /// and neutral, then the body), "named" (a linalg operation), "copy" (load and store).
  string ktirKind = "elementwise";
  /// What is computed of one element of each input: the result, the factor that a contraction
  /// adds up, or what follows the combination of a reduction.
  dag body = (same $x);
  /// Name under which the emulator registers the kernel.
  string emulatorKernel = superDSCName;
}

// Format sets.
class OpFuncSame<string format, int n> {
  list<string> operands = !listsplat(format, n);
  OpFuncForm form = OpFuncForm<operands, format>;
}

//===----------------------------------------------------------------------===//
// Unary pointwise
//===----------------------------------------------------------------------===//

class OpFuncUnary<string name, dag scalar, OpFuncTailRule tail, bit hasF32 = 1>
    : OpFunc<name, "Unary"> {
  let forms = !if(hasF32,
                  [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">, OpFuncForm<["IEEE_FP32"], "IEEE_FP32">],
                  [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">]);
  let requiredTail = ["Unknown"];
  let producedTail = tail;
  let arrangementRule = "Same";
  let body = scalar;
}

def OpFunc_abs : OpFuncUnary<"abs", (scalar_absf $x), OpFuncTailMap<"Zero", "PosInf", "PosInf", "Finite">> {
  let errorFactor = "1";
  let scaleLaw = "First";
  let keepsNumbers = 1;
  let meaning = "|x|";
}
def OpFunc_exp : OpFuncUnary<"exp", (spyreop_exp $x), OpFuncTailMap<"Finite", "Zero", "PosInf", "Unknown">> {
  let errorFactor = "Unbounded";
  let shiftLaw = "ScaleByExp";
  let meaning = "e^x; 0 for -inf";
  let maskTail = "NegInf";
  let notes = "with a mask of -inf on its input it leaves a zero tail (seen in softmax of unaligned rows); exp of a finite tail may overflow";
}
def OpFunc_floor : OpFuncUnary<"floor", (scalar_floor $x), OpFuncTailSame> {
  let keepsNumbers = 1;
  let jumps = 1;
  let meaning = "largest integer not above x";
}
def OpFunc_log : OpFuncUnary<"log", (scalar_log $x), OpFuncTailMap<"NegInf", "Unknown", "PosInf", "Unknown">, 0> {
  let errorFactor = "Unbounded";
  let meaning = "natural logarithm";
}
def OpFunc_neg : OpFuncUnary<"neg", (scalar_negf $x), OpFuncTailMap<"Zero", "PosInf", "NegInf", "Finite">> {
  let errorFactor = "1";
  let scaleLaw = "First";
  let keepsNumbers = 1;
  let meaning = "-x";
}
def OpFunc_reciprocal : OpFuncUnary<"reciprocal", (spyreop_reciprocal $x),
                                    OpFuncTailMap<"Unknown", "Zero", "Zero", "Unknown">> {
  let errorFactor = "1";
  let meaning = "1/x";
  let notes = "the sign of 1/0 is the zero's, so a zero tail gives no single infinity";
}
def OpFunc_relufwd : OpFuncUnary<"relufwd", (scalar_maximumf $x, (number "0.0")), OpFuncTailMap<"Zero", "Zero", "PosInf", "Finite">> {
  let errorFactor = "1";
  let scaleLaw = "First";
  let keepsNumbers = 1;
  let meaning = "max(x, 0)";
}
def OpFunc_rsqrt : OpFuncUnary<"rsqrt", (spyreop_rsqrt $x), OpFuncTailMap<"Unknown", "Unknown", "Zero", "Unknown">> {
  let errorFactor = "0.5";
  let meaning = "1/sqrt(x)";
}
def OpFunc_sigmoid : OpFuncUnary<"sigmoid", (spyreop_sigmoid $x), OpFuncTailMap<"Finite", "Zero", "Finite", "Finite">> {
  let errorFactor = "Unbounded";
  let meaning = "1/(1 + e^-x)";
}
def OpFunc_sqrt : OpFuncUnary<"sqrt", (spyreop_sqrt $x), OpFuncTailMap<"Zero", "Unknown", "PosInf", "Unknown">> {
  let errorFactor = "0.5";
  let meaning = "square root";
}
def OpFunc_tanh : OpFuncUnary<"tanh", (scalar_tanh $x), OpFuncTailMap<"Zero", "Finite", "Finite", "Finite">, 0> {
  let errorFactor = "1";
  let meaning = "hyperbolic tangent";
}
def OpFunc_gelufwd : OpFuncUnary<"gelufwd", (spyreop_gelu $x), OpFuncTailMap<"Zero", "Unknown", "PosInf", "Finite">, 0> {
  let meaning = "x/2 * (1 + erf(x/sqrt(2)))";
  let notes = "no public text says which form; the erf form is ours";
}
def OpFunc_silu : OpFuncUnary<"silu", (spyreop_silu $x), OpFuncTailMap<"Zero", "Unknown", "PosInf", "Finite">> {
  let meaning = "x * sigmoid(x)";
}
def OpFunc_clip : OpFuncUnary<"clip", (scalar_minimumf (scalar_maximumf $x, (parameter "clipMin")), (parameter "clipMax")),
                              OpFuncTailMap<"Finite", "Unknown", "Unknown", "Finite">> {
  let keepsNumbers = 1;
  let meaning = "min(max(x, clipMin), clipMax)";
  let constants = ["clipMin", "clipMax"];
  let notes = "a zero tail becomes whichever bound is nearer to zero";
}
def OpFunc_softplus : OpFuncUnary<"softplus", (spyreop_softplus $x),
                                  OpFuncTailMap<"Finite", "Zero", "PosInf", "Finite">, 0> {
  let meaning = "log(1 + e^(beta x)); beta x where beta x > threshold";
  let constants = ["softplusBeta", "softplusThresh"];
  let notes = "the device leaves out PyTorch's division by beta; that it does so above the threshold, too, is ours: programs use beta 1 only";
}
def OpFunc_identity : OpFuncUnary<"identity", (same $x), OpFuncTailSame> {
  let shiftLaw = "Shift";
  let scaleLaw = "First";
  let keepsNumbers = 1;
  let meaning = "x: copies, broadcasts, transfers into LX, gathers (with an index tensor)";
  let category = "DataMovement";
  let forms = [
    OpFuncForm<["SEN169_FP16"], "SEN169_FP16">, OpFuncForm<["IEEE_FP32"], "IEEE_FP32">,
    OpFuncForm<["IEEE_FP16"], "IEEE_FP16">, OpFuncForm<["BFLOAT16"], "BFLOAT16">,
    OpFuncForm<["IEEE_INT32"], "IEEE_INT32", "IEEE_FP32">, OpFuncForm<["SENUINT32"], "SENUINT32">,
    OpFuncForm<["SEN143_FP8"], "SEN143_FP8">, OpFuncForm<["SEN152_FP8"], "SEN152_FP8">,
    OpFuncForm<["SENINT8"], "SENINT8">, OpFuncForm<["SENINT16"], "SENINT16">,
    OpFuncForm<["IEEE_INT64"], "IEEE_INT64">];
  let ktirKind = "copy";
  let costClass = "Copy";
  let notes = "bits pass unchanged; int32 is relabelled IEEE_FP32 in the descriptor";
}

//===----------------------------------------------------------------------===//
// Broadcast pointwise
//===----------------------------------------------------------------------===//

class OpFuncBroadcast<string name, int n, dag scalar, OpFuncTailRule tail, bit hasF32 = 1>
    : OpFunc<name, "Broadcast"> {
  let numInputs = n;
  let forms = !if(hasF32, [OpFuncSame<"SEN169_FP16", n>.form, OpFuncSame<"IEEE_FP32", n>.form],
                  [OpFuncSame<"SEN169_FP16", n>.form]);
  let requiredTail = !listsplat("Unknown", n);
  let producedTail = tail;
  let arrangementRule = "Same";
  let body = scalar;
}

def OpFunc_add : OpFuncBroadcast<"add", 2, (scalar_addf $x, $y), OpFuncTailRule<"Add">> {
  let passesInfinity = 1;
  let shiftLaw = "Shift";
  let secondShiftLaw = "Shift";
  let scaleLaw = "All";
  let meaning = "x + y";
}
def OpFunc_sub : OpFuncBroadcast<"sub", 2, (scalar_subf $x, $y), OpFuncTailRule<"Sub">> {
  let passesInfinity = 1;
  let shiftLaw = "Shift";
  let secondShiftLaw = "ShiftBack";
  let scaleLaw = "All";
  let cancels = 1; let meaning = "x - y";
}
def OpFunc_mul : OpFuncBroadcast<"mul", 2, (scalar_mulf $x, $y), OpFuncTailRule<"Mul">> {
  let shiftLaw = "AddOther";
  let secondShiftLaw = "AddOther";
  let scaleLaw = "Each";
  let meaning = "x * y; also square and logical and";
}
def OpFunc_realdiv : OpFuncBroadcast<"realdiv", 2, (spyreop_realdiv $x, $y), OpFuncTailRule<"Div">> {
  let scaleLaw = "First";
  let meaning = "x / y";
}
def OpFunc_maximum : OpFuncBroadcast<"maximum", 2, (scalar_maximumf $x, $y), OpFuncTailRule<"Maximum">> {
  let scaleLaw = "All";
  let keepsNumbers = 1;
  let meaning = "the larger of x and y";
}
def OpFunc_minimum : OpFuncBroadcast<"minimum", 2, (scalar_minimumf $x, $y), OpFuncTailRule<"Minimum">> {
  let scaleLaw = "All";
  let keepsNumbers = 1;
  let meaning = "the smaller of x and y";
}

class OpFuncCompare<string name, string predicate, string onZeros, string text>
    : OpFuncBroadcast<name, 2, (scalar_uitofp (!cast<ScalarOp>("scalar_cmpf_" # predicate) $x, $y)), OpFuncTailRule<"Compare" # onZeros>> {
  let meaning = "1 where " # text # ", else 0";
  let notes = "the result is a truth value, 1 or 0, in the operands' format";
  let jumps = 1;
}
def OpFunc_equal : OpFuncCompare<"equal", "oeq", "True", "x = y">;
def OpFunc_notequal : OpFuncCompare<"notequal", "une", "False", "x differs from y">;
def OpFunc_greaterequal : OpFuncCompare<"greaterequal", "oge", "True", "x >= y">;
def OpFunc_greaterthan : OpFuncCompare<"greaterthan", "ogt", "False", "x > y">;
def OpFunc_lesserequal : OpFuncCompare<"lesserequal", "ole", "True", "x <= y">;
def OpFunc_lesserthan : OpFuncCompare<"lesserthan", "olt", "False", "x < y">;

def OpFunc_where3 : OpFuncBroadcast<"where3", 3, (scalar_select (scalar_cmpf_une $x, (number "0.0")), $y, $z), OpFuncTailRule<"Select">> {
  let scaleLaw = "All";
  let keepsNumbers = 1;
  let meaning = "y where x is not 0, else z";
  let notes = "the reference's table refuses f32 by mistake (docs/formats/superdsc-rules.md, section 6, fault 8); its programs use it";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A combination of partial results, the number that changes nothing, and the tail that holds
/// it.
class OpFuncCombiner<string combination, string number, string state> {
  string name = combination;
  string neutral = number;
  string tail = state;
}
def CombineAdd : OpFuncCombiner<"Add", "0.0", "Zero">;
def CombineMaximum : OpFuncCombiner<"Maximum", "-inf", "NegInf">;
def CombineMinimum : OpFuncCombiner<"Minimum", "inf", "PosInf">;

class OpFuncReduction<string name, OpFuncCombiner combination, string text>
    : OpFunc<name, "Reduction"> {
  let meaning = text;
  let outputIsInput = 1;
  let forms = [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">, OpFuncForm<["IEEE_FP32"], "IEEE_FP32">];
  let stickRule = "StickReduction";
  let combiner = combination.name;
  let neutral = combination.neutral;
  let scaleLaw = "First";
  let requiredTail = [combination.tail];
  let maskTail = combination.tail;
  let arrangementRule = "StickReduction";
  let costClass = "StickReduction";
  let ktirKind = "reduce";
}
/// The form with the stick dim kept: lanes stay apart, so the tail of the input
/// does not matter and passes through the combination.
class OpFuncNonStick<string base, OpFuncCombiner combination, OpFuncTailRule tail, string text>
    : OpFuncReduction<base # "nonstick", combination, text> {
  let baseName = base;
  let stickRule = "NonStickReduction";
  let requiredTail = ["Unknown"];
  let maskTail = "";
  let producedTail = tail;
  let arrangementRule = "Same";
  let costClass = "RowReduction";
}

def OpFunc_sum : OpFuncReduction<"sum", CombineAdd, "sum over dims that include the stick dim">;
def OpFunc_sumnonstick : OpFuncNonStick<"sum", CombineAdd, OpFuncTailMap<"Zero", "NegInf", "PosInf", "Unknown">,
                                        "sum over dims that exclude the stick dim">;
def OpFunc_max : OpFuncReduction<"max", CombineMaximum, "maximum over dims that include the stick dim"> {
  let shiftLaw = "Shift";
  let keepsNumbers = 1;
}
def OpFunc_maxnonstick : OpFuncNonStick<"max", CombineMaximum, OpFuncTailSame,
                                        "maximum over dims that exclude the stick dim"> {
  let shiftLaw = "Shift";
  let keepsNumbers = 1;
}
def OpFunc_min : OpFuncReduction<"min", CombineMinimum, "minimum over dims that include the stick dim"> {
  let shiftLaw = "Shift";
  let keepsNumbers = 1;
}
def OpFunc_minnonstick : OpFuncNonStick<"min", CombineMinimum, OpFuncTailSame,
                                        "minimum over dims that exclude the stick dim"> {
  let shiftLaw = "Shift";
  let keepsNumbers = 1;
}
def OpFunc_mean : OpFuncReduction<"mean", CombineAdd,
                                  "scaling_factor * sum over dims that include the stick dim"> {
  let body = (scalar_mulf $x, (parameter "scaling_factor"));
  let constants = ["scaling_factor"];
}
def OpFunc_meannonstick : OpFuncNonStick<"mean", CombineAdd,
                                         OpFuncTailMap<"Zero", "Unknown", "Unknown", "Unknown">,
                                         "scaling_factor * sum over dims that exclude the stick dim"> {
  let body = (scalar_mulf $x, (parameter "scaling_factor"));
  let constants = ["scaling_factor"];
}
def OpFunc_exx2 : OpFuncReduction<"exx2", CombineAdd,
    "lane 0 = exx2scale * sum x (0 if useZeroMean), lane 1 = exx2scale * sum x^2"> {
  let ktirKind = "reduce";
  let scaleLaw = "None";
  let constants = ["exx2scale", "useZeroMean"];
  let arrangementRule = "ProducesExx2";
  let notes = "no public text gives the meaning; accumulated in f32, two values a stick in the op's format: in 16 bits it fails where |mean| > deviation";
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

def OpFunc_layernormscale : OpFunc<"layernormscale", "Normalisation"> {
  let meaning = "rsqrt(max(lane 1 - lane 0^2, 0) + eps) of an exx2 result";
  let constants = ["eps"];
  let forms = [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">, OpFuncForm<["IEEE_FP32"], "IEEE_FP32">];
  let stickRule = "Normalisation";
  let requiredTail = ["Unknown"];
  let arrangementRule = "FromExx2";
  let body = (spyreop_layernormscale $x);
  let notes = "the scale of its input's stick dim is -2; no public text gives the meaning";
}
def OpFunc_layernormnorm : OpFunc<"layernormnorm", "Normalisation"> {
  let meaning = "(x - lane 0) * scale * weight + bias; inputs x, exx2 result, layernormscale result, weight, bias";
  let numInputs = 5;
  let forms = [OpFuncSame<"SEN169_FP16", 5>.form, OpFuncSame<"IEEE_FP32", 5>.form];
  let stickRule = "Normalisation";
  let requiredTail = !listsplat("Unknown", 5);
  let producedTail = OpFuncTailRule<"LayerNorm">;
  let arrangementRule = "LayerNorm";
  let body = (spyreop_layernormnorm $x, $y, $z, $v, $w);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

class OpFuncTopK<string name, OpFuncTailRule tail, string text> : OpFunc<name, "Scan"> {
  let meaning = text;
  let forms = [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">, OpFuncForm<["IEEE_FP32"], "IEEE_FP32">];
  let stickRule = "TopK";
  let requiredTail = ["Unknown"];
  let producedTail = tail;
  let arrangementRule = "Same";
  let divisible = 0;
  let costClass = "TopK";
  let ktirKind = "named";
  let notes = "one core only; k <= 4";
}
def OpFunc_topkvalue : OpFuncTopK<"topkvalue", OpFuncTailSame, "the k largest values along a non-stick dim, falling"> {
  let keepsNumbers = 1;
}
def OpFunc_topkindex : OpFuncTopK<"topkindex", OpFuncTailRule<"AlwaysFinite">, "where the k largest values stand">;

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

class OpFuncMatmul<string name, string input> : OpFunc<name, "Batchmatmul"> {
  let unit = "PT";
  let numInputs = 2;
  let forms = [OpFuncForm<[input, input], "SEN169_FP16">];
  let requiredTail = ["Finite", "Zero"];
  let producedTail = OpFuncTailRule<"Matmul">;
  let costClass = "Matmul";
  let ktirKind = "named";
  let combiner = CombineAdd.name;
  let neutral = CombineAdd.neutral;
  let scaleLaw = "Each";
  let body = (scalar_mulf $x, $y);
}
def OpFunc_batchmatmul : OpFuncMatmul<"batchmatmul", "SEN169_FP16"> {
  let meaning = "sum over k of x * y, accumulated wider than 16 bits and rounded once";
  let stickRule = "Matmul";
  let notes = "the descriptor pads K of the second operand only, so that one's K padding must be zero and the first one's finite";
}
def OpFunc_batchmatmulfp8 : OpFuncMatmul<"batchmatmulfp8", "SEN143_FP8"> {
  let meaning = "batchmatmul of 8-bit operands into DL16";
  let stickRule = "Matmul8";
  let notes = "the second operand's stick is [reduction 2, generated 64] (docs/formats/superdsc-rules.md, section 6, fault 8)";
}

//===----------------------------------------------------------------------===//
// Casts and data movement
//===----------------------------------------------------------------------===//

class OpFuncCast<string name, string input, string result, string arrangement, OpFuncTailRule tail>
    : OpFunc<name, "Quantisation"> {
  let forms = [OpFuncForm<[input], result>];
  let stickRule = "Cast";
  let requiredTail = ["Unknown"];
  let producedTail = tail;
  let arrangementRule = arrangement;
  let costClass = "Cast";
  let passesInfinity = 1;
}
def OpFunc_dl16tofp32 : OpFuncCast<"dl16tofp32", "SEN169_FP16", "IEEE_FP32", "Widen", OpFuncTailSame> {
  let meaning = "the same value in f32";
  let body = (scalar_extf $x);
  let notes = "staggers the elements of a stick, or undoes the stagger of fp32todl16";
}
def OpFunc_fp32todl16 : OpFuncCast<"fp32todl16", "IEEE_FP32", "SEN169_FP16", "Narrow", OpFuncTailSame> {
  let meaning = "rounded once to DL16; a finite value saturates";
  let body = (scalar_truncf $x);
  let notes = "undoes the stagger of dl16tofp32";
}
def OpFunc_fp8todl16 : OpFuncCast<"fp8todl16", "SEN143_FP8", "SEN169_FP16", "WidenFP8", OpFuncTailSame> {
  let meaning = "the same value in DL16";
  let body = (scalar_extf $x);
}
def OpFunc_qfp8ch : OpFuncCast<"qfp8ch", "SEN169_FP16", "SEN143_FP8", "QuantiseFP8Ch",
                               OpFuncTailMap<"Zero", "Unknown", "Unknown", "Unknown">> {
  let meaning = "rounded to fp8 1-4-3, per channel";
  let body = (scalar_truncf $x);
  let notes = "leaves the elements interleaved (arrangement qfp8ch)";
}
def OpFunc_ReStickifyOpHBM : OpFunc<"ReStickifyOpHBM", "DataMovement"> {
  let passesInfinity = 1;
  let shiftLaw = "Shift";
  let scaleLaw = "First";
  let mnemonic = "restickify";
  let cppName = "Restickify";
  let meaning = "x with another dim in the stick";
  let forms = [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">];
  let stickRule = "Restickify";
  let requiredTail = ["Unknown"];
  let costClass = "Restickify";
  let ktirKind = "copy";
  let emulatorKernel = "identity";
  let notes = "the new tail comes from padded rows of the source";
}

//===----------------------------------------------------------------------===//
// Known by name only
//===----------------------------------------------------------------------===//

class OpFuncNamed<string name, string categoryName, string text> : OpFunc<name, categoryName> {
  let meaning = text;
  let specified = 0;
  let unit = "Unspecified";
  let numInputs = 0;
  let stickRule = "Unspecified";
  let arrangementRule = "Unspecified";
  let costClass = "Unspecified";
  let ktirKind = "unsupported";
  let emulatorKernel = "";
}
foreach t = ["int4", "int8"] in
  def OpFunc_batchmatmul#t : OpFuncNamed<"batchmatmul" # t, "Batchmatmul", "matmul of " # t # " operands">;
def OpFunc_conv2d : OpFuncNamed<"conv2d", "Convolution", "two-dimensional convolution">;
foreach t = ["fp8", "int4", "int8"] in
  def OpFunc_conv2d#t : OpFuncNamed<"conv2d" # t, "Convolution", "two-dimensional convolution of " # t # " operands">;
def OpFunc_depthwiseconv2dnative : OpFuncNamed<"depthwiseconv2dnative", "Convolution", "convolution of each channel apart">;
def OpFunc_batchnormfwd : OpFuncNamed<"batchnormfwd", "Normalisation", "batch normalisation">;
def OpFunc_biasadd : OpFuncNamed<"biasadd", "Broadcast", "addition of a bias">;
def OpFunc_fnms : OpFuncNamed<"fnms", "Broadcast", "fused negative multiply and subtract">;
def OpFunc_revsub : OpFuncNamed<"revsub", "Broadcast", "subtraction with operands reversed">;
def OpFunc_fastexp : OpFuncNamed<"fastexp", "Unary", "a faster exp">;
def OpFunc_fastsigmoid : OpFuncNamed<"fastsigmoid", "Unary", "a faster sigmoid">;
def OpFunc_leakyrelufwd : OpFuncNamed<"leakyrelufwd", "Unary", "leaky relu">;
def OpFunc_mish : OpFuncNamed<"mish", "Unary", "x * tanh(softplus(x))">;
def OpFunc_relu6fwd : OpFuncNamed<"relu6fwd", "Unary", "relu up to 6">;
def OpFunc_absmax : OpFuncNamed<"absmax", "Reduction", "maximum of magnitudes, stick dim included">;
def OpFunc_absmaxnonstick : OpFuncNamed<"absmaxnonstick", "Reduction", "maximum of magnitudes, stick dim excluded"> {
  let baseName = "absmax";
}
def OpFunc_exx2_zeromean : OpFuncNamed<"exx2_zeromean", "Reduction", "exx2 of data with mean zero">;
def OpFunc_quantscalepertoken : OpFuncNamed<"quantscalepertoken", "Reduction", "scale of a token's quantisation">;
def OpFunc_quantscalepertokenfp8 : OpFuncNamed<"quantscalepertokenfp8", "Reduction", "scale of a token's fp8 quantisation">;
def OpFunc_avgpoolfwd : OpFuncNamed<"avgpoolfwd", "Pooling", "average over a window">;
def OpFunc_avgpoolnmapfwd : OpFuncNamed<"avgpoolnmapfwd", "Pooling", "average over a window, other mapping">;
def OpFunc_maxpoolfwd : OpFuncNamed<"maxpoolfwd", "Pooling", "maximum over a window">;
def OpFunc_maskbyindex : OpFuncNamed<"maskbyindex", "DataMovement", "masking by an index">;
foreach f = ["csqint4", "csqint4wt", "csqint8ch", "csqint8mb", "csqint8wt", "qfp8mb", "qfp8wt"] in
  def OpFunc_#f : OpFuncNamed<f, "Quantisation", "down-cast to a narrow format">;

//===----------------------------------------------------------------------===//
// Beyond the published list
//===----------------------------------------------------------------------===//

def OpFunc_shuffle : OpFunc<"shuffle", "DataMovement"> {
  let passesInfinity = 1;
  let shiftLaw = "Shift";
  let scaleLaw = "First";
  let meaning = "x from one division among the cores' LX to another";
  let forms = [OpFuncForm<["SEN169_FP16"], "SEN169_FP16">];
  let requiredTail = ["Unknown"];
  let producedTail = OpFuncTailSame;
  let arrangementRule = "Same";
  let costClass = "Shuffle";
  let ktirKind = "copy";
  let emulatorKernel = "identity";
  let notes = "not among the published names; source and destination in LX, each allocation with its own division (docs/formats/superdsc-rules.md, section 7)";
}

#endif // SPYRE_OPFUNC_OPFUNCS
