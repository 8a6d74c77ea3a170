// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has no sdsc.compute}}
sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
}

// -----

// expected-error @+1 {{has a layout class with a dim that the operation lacks: #sdsc.layout<OUTPUT, [mb], stick [mb : 64]>}}
sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [mb], stick [mb : 64]>] {
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs()
}

// -----

// expected-error @+1 {{has the dim "out" twice, or without a name}}
sdsc.descriptor @d index 0 dims [<out = 64 in 1>, <out = 64 in 1>] layouts [] {
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs()
}

// -----

// expected-error @+1 {{extent and slices must be positive}}
sdsc.descriptor @d index 0 dims [<out = 64 in 0>] layouts [] {
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{names the layout class "KERNEL", which the descriptor lacks}}
  %0 = sdsc.allocate "Tensor0" hbm "KERNEL" [out] scale [1] SEN169_FP16 at [0]
  sdsc.compute "sfp" "exp" SEN169_FP16 ins(%0) outs(%0)
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{has 2 start addresses for 1 cores (one stands for all)}}
  %0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [out] scale [1] SEN169_FP16 at [0, 128]
  sdsc.compute "sfp" "exp" SEN169_FP16 ins(%0) outs(%0)
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{'ssd' is none of 'hbm', 'lx'}}
  %0 = sdsc.allocate "Tensor0" ssd "OUTPUT" [out] scale [1] SEN169_FP16 at [0]
  sdsc.compute "sfp" "exp" SEN169_FP16 ins(%0) outs(%0)
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{'fp17' is no data format of the device}}
  %0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [out] scale [1] "fp17" at [0]
  sdsc.compute "sfp" "exp" SEN169_FP16 ins(%0) outs(%0)
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{masks with constant 0 of 0}}
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs() mask 0
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs()
  // expected-error @+1 {{is the second one of its descriptor}}
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs()
}

// -----

sdsc.descriptor @d index 0 dims [<out = 64 in 1>] layouts [<OUTPUT, [out], stick [out : 64]>] {
  // expected-error @+1 {{masks the dim "mb", which the operation lacks}}
  sdsc.mask "mb" from 1 count 1
  sdsc.compute "sfp" "exp" SEN169_FP16 ins() outs()
}
