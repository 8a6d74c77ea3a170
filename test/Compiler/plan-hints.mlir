// What an operation says of its own plan, and scopes: obeyed at every level, or refused with the operation's place.
// RUN: split-file %s %t
// RUN: spyre-compile %t/hints.mlir -O2 -o %t/out --save-plan=%t/saved.json --dump-stages=%t/hints && cat %t/hints/*-planned.mlir | FileCheck %s --check-prefix=HINTS
// RUN: FileCheck %s --check-prefix=SAVED --input-file=%t/saved.json
// RUN: spyre-run %t/hints.mlir -O2 --check
// RUN: spyre-compile %t/scope.mlir -O2 --device mock32 -o %t/out --dump-stages=%t/scope && cat %t/scope/*-planned.mlir | FileCheck %s --check-prefix=SCOPE
// What spyre-opt does by itself is the same.
// RUN: spyre-opt %t/hints.mlir --spyre-plan | FileCheck %s --check-prefix=HINTS

// The dim of size 1 goes, and the others get other numbers; the second operation has the hint of one dim, the other one is searched.
// HINTS-NOT: spyre.plan
// HINTS-NOT: spyre.hints
// HINTS: spyre.alloc pool
// HINTS: spyre.exp (d0 = 8192 / 16, d1 = 128)
// HINTS: spyre.add (d0 = 8192 / 8, d1 = 128{{( / [0-9]+)?}})
// HINTS-NOT: spyre.plan
// SAVED: {"operation":0,"opfunc":"exp","splits":[16,1]}
// SAVED: {"operation":1,"opfunc":"add","splits":[8,{{[0-9]+}}]}
// SAVED: {"result_of":0,"space":"memory"}

// Two of four operations, by the name of the part that they are; the dim by the name of an argument's.
// SCOPE: spyre.neg
// SCOPE: %[[N:.*]] = arith.constant 64
// SCOPE: scf.for {{.*}} to %[[N]]
// SCOPE-NOT: spyre.sub
// SCOPE: spyre.exp (d0 = 128{{.*}}, d1 = 128)
// SCOPE: spyre.add (d0 = 128{{.*}}, d1 = 128)
// SCOPE: spyre.sub

// RUN: not spyre-compile %t/wrong.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: wrong.mlir:3:{{[0-9]+}}: error: the schedule cannot be obeyed: spyre.plan.splits.columns: the operation has no dim that is 'columns'
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan.splits.lines: no argument has a dim 'lines' in names
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan.splits: dim 0
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan.splits.7: the operation has 2 dims
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan.space: known spaces are lx and memory
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan.address: is for results in LX
// WRONG-DAG: error: the schedule cannot be obeyed: spyre.plan: the schedule says the same, in divisions[0]

// RUN: not spyre-compile %t/lost.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not spyre-opt %t/lost.mlir --spyre-plan 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: lost.mlir:2:{{[0-9]+}}: error: the schedule cannot be obeyed: spyre.plan: no operation has it any more: the one that it stood at was folded, or others took its place
// RUN: not spyre-compile %t/several.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: the schedule cannot be obeyed: spyre.plan.splits.0: the dim has become several, or is none any more: call it by the name of an argument's dim

// RUN: sed 's|"tail.inner"|"tails.inner"|' %t/scope.mlir > %t/noscope.mlir && not spyre-compile %t/noscope.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=NOSCOPE
// NOSCOPE: error: the schedule cannot be obeyed: nests[0].scope: no operation has the scope 'tail'; scopes are tails.inner
// RUN: sed 's|loops = |first = 0, loops = |' %t/scope.mlir > %t/both.mlir && not spyre-compile %t/both.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: the schedule cannot be obeyed: nests[0].first: the scope says which operations
// RUN: sed 's|nests = \[|nests = [{first = 1, last = 1}, |' %t/scope.mlir > %t/over.mlir && not spyre-compile %t/over.mlir -O2 -o %t/out 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: the schedule cannot be obeyed: nests[1].scope: operation 1 comes before the end of the nest before it, operation 1

// An address.
// RUN: spyre-compile %t/address.mlir -O1 -o %t/out --dump-stages=%t/address && cat %t/address/*-planned.mlir | FileCheck %s --check-prefix=ADDRESS
// ADDRESS: spyre.alloc lx(4096)
// RUN: sed 's|4096|4000|' %t/address.mlir > %t/odd.mlir && not spyre-compile %t/odd.mlir -O1 -o %t/out 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: odd.mlir:2:{{[0-9]+}}: error: the schedule cannot be obeyed: spyre.plan.address: 4000 is not a multiple of 128

// A program that begins with buffers.
// RUN: spyre-opt %t/buffers.mlir --spyre-divide-work | FileCheck %s --check-prefix=BUFFERS
// BUFFERS: spyre.exp (d0 = 64 / 16, d1 = 128){{.*}} {spyre.pinned, spyre.place = {field = "spyre.plan", space = "memory"}}
// RUN: spyre-opt %t/buffers.mlir --spyre-divide-work --spyre-tile-time --spyre-place-buffers --spyre-verify-plan | FileCheck %s --check-prefix=PLACED
// PLACED: spyre.alloc pool
// PLACED-NOT: {spyre

//--- buffers.mlir
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @f(%x: !h, %o: !h) {
  %t = spyre.alloc : !h
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%t[d0, d1]) {spyre.plan = {splits = [16, 1], space = "memory"}} : !h -> !h
  spyre.neg (d0 = 64, d1 = 128) ins(%t[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

//--- address.mlir
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.plan = {space = "lx", address = 4096}} : tensor<64x128xf16> -> tensor<64x128xf16>
  %1 = spyre.neg (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

//--- hints.mlir
!x = tensor<1x8192x128xf16>
func.func @main(%x: !x) -> !x attributes {spyre.schedule = {kind = "untiled", names = {in0 = ["batch", "rows", "columns"]}}} {
  %0 = spyre.exp (d0 = 1, d1 = 8192, d2 = 128) ins(%x[d0, d1, d2]) -> [d0, d1, d2] {spyre.plan = {splits = [1, 16, 1], space = "memory"}} : !x -> !x
  %1 = spyre.add (d0 = 1, d1 = 8192, d2 = 128) ins(%0[d0, d1, d2], %x[d0, d1, d2]) -> [d0, d1, d2] {spyre.plan = {splits = {rows = 8}}} : !x, !x -> !x
  return %1 : !x
}

//--- scope.mlir
!x = tensor<8192x128xf16>
func.func @main(%x: !x, %y: !x) -> (!x, !x) attributes {spyre.schedule = {names = {in0 = ["rows", "columns"]}, nests = [{scope = "tail", loops = [{dim = "rows", tiles = 64}]}]}} {
  %n = spyre.neg (d0 = 8192, d1 = 128) ins(%y[d0, d1]) -> [d0, d1] : !x -> !x
  %0 = spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.scope = "tail.inner"} : !x -> !x
  %1 = spyre.add (d0 = 8192, d1 = 128) ins(%0[d0, d1], %x[d0, d1]) -> [d0, d1] {spyre.scope = "tail.inner"} : !x, !x -> !x
  %2 = spyre.sub (d0 = 8192, d1 = 128) ins(%1[d0, d1], %y[d0, d1]) -> [d0, d1] : !x, !x -> !x
  return %n, %2 : !x, !x
}

//--- wrong.mlir
!x = tensor<8192x128xf16>
func.func @main(%x: !x, %y: tensor<128xf16>) -> (!x, !x) attributes {spyre.schedule = {names = {in0 = ["rows", "width"], in1 = ["columns"]}, divisions = [{operation = 6, splits = [1, 1]}]}} {
  %0 = spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.plan = {splits = {columns = 2}}} : !x -> !x
  %1 = spyre.neg (d0 = 8192, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] {spyre.plan = {splits = {lines = 2}}} : !x -> !x
  %2 = spyre.exp (d0 = 8192, d1 = 128) ins(%1[d0, d1]) -> [d0, d1] {spyre.plan = {splits = [3, 1]}} : !x -> !x
  %3 = spyre.neg (d0 = 8192, d1 = 128) ins(%2[d0, d1]) -> [d0, d1] {spyre.plan = {splits = {"7" = 2}}} : !x -> !x
  %4 = spyre.exp (d0 = 8192, d1 = 128) ins(%3[d0, d1]) -> [d0, d1] {spyre.plan = {space = "sram"}} : !x -> !x
  %5 = spyre.neg (d0 = 8192, d1 = 128) ins(%4[d0, d1]) -> [d0, d1] {spyre.plan = {space = "memory", address = 128}} : !x -> !x
  %6 = spyre.exp (d0 = 8192, d1 = 128) ins(%5[d0, d1]) -> [d0, d1] {spyre.plan = {splits = [2, 1]}} : !x -> !x
  return %6, %5 : !x, !x
}

//--- lost.mlir
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.plan = {splits = [2, 1]}} : tensor<64x128xf16> -> tensor<64x128xf16>
  %1 = spyre.neg (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

//--- several.mlir
func.func @main(%x: tensor<64x128xf16>, %y: tensor<4x16x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %y[d0 floordiv 16, d0 mod 16, d1]) -> [d0, d1] {spyre.plan = {splits = [2, 1]}} : tensor<64x128xf16>, tensor<4x16x128xf16> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}
