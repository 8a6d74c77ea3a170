// What is wrong with a hint or a scope by itself.
// RUN: spyre-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' must be a dictionary}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = 3} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' has an unknown field 'split'; known are splits, space and address}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = {split = [2]}} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' has splits for 2 dims; the operation has 1}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = {splits = [2, 1]}} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' must have whole numbers from 1 on as splits}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = {splits = {rows = 0}}} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' must have slices by dim, {rows = 4, "1" = 8}, or for all dims, [4, 8], as splits}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = {splits = 4}} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.plan' must have a number of the compiler's as hint}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.plan = {hint = 3 : i128}} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

// expected-error@+1 {{attribute 'spyre.plan' is for device operations}}
func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> attributes {spyre.plan = {splits = [1]}} {
  return %x : tensor<64xf16>
}

// -----

func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error@+1 {{attribute 'spyre.scope' must be a name, a string}}
  %0 = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] {spyre.scope = ""} : tensor<64xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

// expected-error@+1 {{attribute 'spyre.hints' is a list of functions}}
func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> attributes {spyre.hints = 2} {
  return %x : tensor<64xf16>
}
