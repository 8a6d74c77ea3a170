// RUN: spyre-opt %s --split-input-file --verify-diagnostics --spyre-specialize-shapes='shapes=3x8,5'

// expected-error@below {{argument #0 makes s0 = 3 by dim 0, the program wants at least 4}}
func.func @least(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[5],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 4, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f16>
  return
}

// -----

// expected-error@below {{argument #0 makes s0 = 3 by dim 0, the program wants at most 2}}
func.func @most(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[5],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 0, max_val = 2} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f16>
  return
}

// -----

// expected-error@below {{argument #1 has size 5 in dim 0, the program wants s0 = 3 (s0 = 3 in dim 0 of argument #0)}}
func.func @equal(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[?],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f16>
  torch.bind_symbolic_shape %arg1, [%0], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f16>
  return
}

// -----

// expected-error@below {{argument #1 has size 5 in dim 0, the program wants (s0 + s1) * 2 = 22 (s0 = 3 in dim 0 of argument #0, s1 = 8 in dim 1 of argument #0)}}
func.func @expression(%arg0: !torch.vtensor<[?,?],f16>, %arg1: !torch.vtensor<[?],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  %1 = torch.symbolic_int "s1" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1)> : !torch.vtensor<[?,?],f16>
  torch.bind_symbolic_shape %arg1, [%0, %1], affine_map<()[s0, s1] -> ((s0 + s1) * 2)> : !torch.vtensor<[?],f16>
  return
}

// -----

// No whole number fits.
// expected-error@below {{argument #1 has size 5 in dim 0, the program wants s0 * 2}}
func.func @even(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[?],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %arg1, [%0], affine_map<()[s0] -> (s0 * 2)> : !torch.vtensor<[?],f16>
  return
}

// -----

// expected-error@below {{argument #0 has shape [3, 8], the program wants [?, 4]}}
func.func @static(%arg0: !torch.vtensor<[?,4],f16>, %arg1: !torch.vtensor<[5],f16>) {
  return
}

// -----

// expected-error@below {{argument #1 has shape [5], the program wants [?, ?]}}
func.func @rank(%arg0: !torch.vtensor<[3,8],f16>, %arg1: !torch.vtensor<[?,?],f16>) {
  return
}

// -----

// expected-error@below {{the shapes of 2 arrays are given, 'count' has 1 argument}}
func.func @count(%arg0: !torch.vtensor<[?,8],f16>) {
  return
}

// -----

func.func @assertion(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[5],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f16>
  %int4 = torch.constant.int 4
  %1 = torch.aten.gt.int %0, %int4 : !torch.int, !torch.int -> !torch.bool
  // expected-error@below {{with these sizes the program's assertion does not hold: more rows}}
  torch.runtime.assert %1, "more rows"
  return
}

// -----

func.func @negative_size(%arg0: !torch.vtensor<[?,8],f16>, %arg1: !torch.vtensor<[5],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f16>
  // expected-error@below {{with these sizes a tensor of the program would have -3 elements in a dim}}
  %1 = torch.aten.unheard_of %arg0 : !torch.vtensor<[?,8],f16> -> !torch.vtensor<[?],f16>
  torch.bind_symbolic_shape %1, [%0], affine_map<()[s0] -> (s0 - 6)> : !torch.vtensor<[?],f16>
  return
}

// -----

// A program with all sizes is checked by its caller.
func.func @no_open_size(%arg0: !torch.vtensor<[4],f16>) {
  return
}
