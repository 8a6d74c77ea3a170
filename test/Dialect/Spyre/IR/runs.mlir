// Constants whose rows are a few runs of one number each.
// RUN: spyre-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: spyre.constant #spyre.runs<[2, 1], [1, 4, 4], [0, 64512, 0]> : tensor<2x4xf16> : tensor<2x4xf16>
// CHECK: spyre.constant #spyre.runs<[1, 2], [2, 1, 2], [1, 0, 1]> : tensor<1x2x2xi1> : tensor<1x2x2xi1>
func.func @f() -> (tensor<2x4xf16>, tensor<1x2x2xi1>) {
  %0 = spyre.constant #spyre.runs<[2, 1], [1, 4, 4], [0, 64512, 0]> : tensor<2x4xf16> : tensor<2x4xf16>
  %1 = spyre.constant #spyre.runs<[1, 2], [2, 1, 2], [1, 0, 1]> : tensor<1x2x2xi1> : tensor<1x2x2xi1>
  return %0, %1 : tensor<2x4xf16>, tensor<1x2x2xi1>
}

// -----

// expected-error @+1 {{there are runs for 1 rows, and the tensor has 2}}
func.func private @rows() attributes {a = #spyre.runs<[1], [4], [0]> : tensor<2x4xf16>}

// -----

// expected-error @+1 {{the runs of row 1 end before column 3 of 4}}
func.func private @short() attributes {a = #spyre.runs<[1, 1], [4, 3], [0, 0]> : tensor<2x4xf16>}

// -----

// expected-error @+1 {{row 0: run 1 ends before column 2, after one that ends before 2 of 4}}
func.func private @order() attributes {a = #spyre.runs<[3], [2, 2, 4], [0, 1, 0]> : tensor<1x4xf16>}

// -----

// expected-error @+1 {{there are 2 runs, and the rows have 1}}
func.func private @more() attributes {a = #spyre.runs<[1], [4, 4], [0, 1]> : tensor<1x4xf16>}

// -----

// expected-error @+1 {{there are 1 ends and 2 codes}}
func.func private @codes() attributes {a = #spyre.runs<[1], [4], [0, 1]> : tensor<1x4xf16>}

// -----

// expected-error @+1 {{a code has more than 16 bits}}
func.func private @bits() attributes {a = #spyre.runs<[1], [4], [65536]> : tensor<1x4xf16>}

// -----

// expected-error @+1 {{runs are of floats or truth values, not of 'i32'}}
func.func private @integers() attributes {a = #spyre.runs<[1], [4], [0]> : tensor<1x4xi32>}

// -----

// expected-error @+1 {{runs are for tensors of one dim at least, with elements}}
func.func private @scalar() attributes {a = #spyre.runs<[1], [1], [0]> : tensor<f16>}
