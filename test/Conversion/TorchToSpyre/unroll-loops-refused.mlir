// RUN: spyre-opt %s --spyre-specialize-shapes --split-input-file --verify-diagnostics

func.func @argument(%a: !torch.vtensor<[64],f16>, %n: !torch.vtensor<[],si64>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %most = torch.aten.Int.Tensor %n : !torch.vtensor<[],si64> -> !torch.int
  // expected-error @below {{a loop cannot be compiled: how many trips it makes depends on argument #1; trips are counted while the program is compiled, so end it by a counter that starts, steps and stops at constants or sizes, or leave it to PyTorch (torch.compile does)}}
  // expected-note @below {{torch.prim.Loop: how many trips it makes depends on argument #1}}
  %0 = torch.prim.Loop %most, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @values(%a: !torch.vtensor<[],f16>) -> !torch.vtensor<[],f16> {
  %true = torch.constant.bool true
  %int1 = torch.constant.int 1
  %int9 = torch.constant.int 9
  // expected-error @below {{how many trips it makes depends on argument #0 after 1 trip;}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %int9, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[],f16> -> !torch.vtensor<[],f16>
    %2 = torch.aten.lt.Scalar %1, %int1 : !torch.vtensor<[],f16>, !torch.int -> !torch.vtensor<[],i1>
    %3 = torch.aten.Bool.Tensor %2 : !torch.vtensor<[],i1> -> !torch.bool
    torch.prim.Loop.condition %3, iter(%1 : !torch.vtensor<[],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[],f16>) -> (!torch.vtensor<[],f16>)
  return %0 : !torch.vtensor<[],f16>
}

// -----

func.func @endless(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %most = torch.constant.int 9223372036854775807
  // expected-error @below {{a loop cannot be compiled: it makes more than 65536 trips; let each trip do more, or check that its condition gets false}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %most, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    torch.prim.Loop.condition %true, iter(%p : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @large(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %most = torch.constant.int 60000
  // expected-error @below {{a loop cannot be compiled: its trips have more than 262144 operations together}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %most, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    %2 = torch.aten.tanh %1 : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    %3 = torch.aten.tanh %2 : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    %4 = torch.aten.tanh %3 : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%4 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @type(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  %int6 = torch.constant.int 6
  // expected-error @below {{a loop cannot be compiled: carried value #0 is of type !torch.vtensor<[64],f16> in one place and !torch.vtensor<[64],f32> in another; what a loop carries keeps its type from trip to trip}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %int2, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.prims.convert_element_type %p, %int6 : !torch.vtensor<[64],f16>, !torch.int -> !torch.vtensor<[64],f32>
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[64],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @count(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  // expected-error @below {{it begins with 1 carried values, its block has 1 and ends with 0, and it gives 1; what a loop carries}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %int2, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    torch.prim.Loop.condition %true, iter()
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @end(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  // expected-error @below {{a loop cannot be compiled: its block should end with 'torch.prim.Loop.condition'}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = "torch.prim.Loop"(%int2, %true, %a) ({
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  }) : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @counter(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  // expected-error @below {{a loop cannot be compiled: its block's first argument should be an int, which counts the trips}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = torch.prim.Loop %int2, %true, init(%a) {
  ^bb0(%i: !torch.float, %p: !torch.vtensor<[64],f16>):
    torch.prim.Loop.condition %true, iter(%p : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

func.func @blocks(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %int2 = torch.constant.int 2
  // expected-error @below {{a loop cannot be compiled: it should have a number of trips, a condition and one block}}
  // expected-note @below {{torch.prim.Loop}}
  %0 = "torch.prim.Loop"(%int2) ({
  }) : (!torch.int) -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}

// -----

// A function that calls itself stays.
func.func private @again(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = call @again(%a) : (!torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}
func.func @recursive(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  %0 = torch.prim.Loop %int2, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = func.call @again(%p) : (!torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}
