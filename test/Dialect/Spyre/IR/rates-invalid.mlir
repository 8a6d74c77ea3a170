// Rates of a module that no device has.
// RUN: spyre-opt %s -split-input-file -verify-diagnostics --spyre-plan

// expected-error @below {{attribute 'spyre.rates' must be a dictionary of numbers of type f64}}
module attributes {spyre.rates = 3.0 : f64} {}

// -----

// expected-error @below {{attribute 'spyre.rates', memory_bytes_per_ns: a number of type f64 is wanted}}
module attributes {spyre.rates = {memory_bytes_per_ns = 75 : i64}} {}

// -----

// expected-error @below {{attribute 'spyre.rates', memory_rate: there is no such rate}}
module attributes {spyre.rates = {memory_rate = 75.0 : f64}} {}

// -----

// expected-error @below {{attribute 'spyre.rates', memory_bytes_per_ns: a rate is a finite number}}
module attributes {spyre.rates = {memory_bytes_per_ns = 0x7FF0000000000000 : f64}} {}

// -----

// What fits to no device of this name is found by the passes that ask for it.
module attributes {spyre.rates = {memory_bytes_per_ns = 1000.0 : f64}} {
  // expected-error @below {{attribute 'spyre.rates': memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns}}
  func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %0 = spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x64xf16> -> tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}
