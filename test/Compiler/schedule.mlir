// Plans that somebody asks for: a file or an attribute of a function is obeyed, what is saved gives the same program, and what cannot be is said with its field.
// RUN: spyre-compile %s -O2 --device mock32 -o %t.first --save-plan=%t.json && FileCheck %s --check-prefix=SAVED --input-file=%t.json
// RUN: spyre-compile %s -O2 --device mock32 -o %t.second --plan=%t.json && diff -r %t.first %t.second

// SAVED: "main": {
// SAVED-NEXT: "kind": "tiled",
// SAVED-NEXT: "divisions": [
// SAVED-NEXT: {"operation":0,"opfunc":"exp","splits":[32,1]},
// SAVED: "nests": [
// SAVED-NEXT: {"first":0,"last":1,"loops":[{"operation":0,"dim":0,"tiles":{{[0-9]+}}}],"cores":[{"operation":0,"dim":0,"slices":32}],

// A loop by the name of a dim, with other tiles than the best.
// RUN: echo '{"version": 1, "functions": {"main": {"names": {"in0": ["rows", "columns"]}, "nests": [{"first": 0, "last": 1, "loops": [{"dim": "rows", "tiles": 64}]}]}}}' > %t.named.json
// RUN: spyre-compile %s -O2 --device mock32 -o %t.out --plan=%t.named.json --dump-stages=%t.named && cat %t.named/*-planned.mlir | FileCheck %s --check-prefix=NAMED
// NAMED: %[[N:.*]] = arith.constant 64
// NAMED: scf.for {{.*}} to %[[N]]
// NAMED: spyre.exp (d0 = 128 / 32, d1 = 128)

// The same in the program.
// RUN: sed 's|) -> !x {|) -> !x attributes {spyre.schedule = {nests = [{first = 0, last = 1, loops = [{operation = 0, dim = 0, tiles = 64}]}]}} {|' %s > %t.attr.mlir
// RUN: spyre-compile %t.attr.mlir -O2 --device mock32 -o %t.out --dump-stages=%t.attr && cat %t.attr/*-planned.mlir | FileCheck %s --check-prefix=NAMED

// No nests; a division; a result in device memory.
// RUN: echo '{"version": 1, "functions": {"main": {"nests": [], "divisions": [{"operation": 0, "splits": [16, 1]}, {"operation": 1, "splits": [16, 1]}], "values": [{"result_of": 0, "space": "memory"}]}}}' > %t.flat.json
// RUN: spyre-compile %s -O2 -o %t.out --plan=%t.flat.json --dump-stages=%t.flat && cat %t.flat/*-planned.mlir | FileCheck %s --check-prefix=FLAT
// FLAT-NOT: scf.for
// FLAT: spyre.alloc pool
// FLAT: spyre.exp (d0 = 8192 / 16, d1 = 128)
// FLAT-NOT: spyre.space

// Mistakes of the file: all at once.
// RUN: echo '{"version": 2, "functions": {"main": {"nest": [], "divisions": [{"operation": -1, "splits": [0]}], "nests": [{"first": 3, "last": 1, "loops": [{"dim": "row", "tiles": 2}]}]}}}' > %t.wrong.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: schedule.version: this compiler reads version 1
// WRONG-DAG: main.nest: unknown field; known are bound_us deviations divisions kind layouts lost names nests us values
// WRONG-DAG: main.divisions[0].operation: a whole number from 0 on is wanted
// WRONG-DAG: main.divisions[0].splits[0]: a whole number from 1 on is wanted
// WRONG-DAG: main.nests[0].last: comes before first
// WRONG-DAG: main.nests[0].loops[0].dim: no argument has a dim 'row' in names
// RUN: echo '{' > %t.none.json && not spyre-compile %s -o %t.out --plan=%t.none.json 2>&1 | FileCheck %s --check-prefix=NOJSON
// NOJSON: the plan is not JSON
// RUN: not spyre-compile %s -o %t.out --plan=%t.nowhere.json 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: cannot read the plan

// Time for more than the usual search, or none.
// RUN: spyre-compile %s -O2 --device mock32 --plan-seconds=0 -o %t.none && diff -r %t.first %t.none
// RUN: spyre-compile %s -O3 --device mock32 --plan-seconds 2 -o %t.more
// RUN: not spyre-compile %s --plan-seconds=-1 -o %t.out 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: not spyre-compile %s --plan-seconds=nan -o %t.out 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: --plan-seconds={{.*}}: a number of seconds from 0 on is wanted

// What the program cannot obey.
// RUN: echo '{"version": 1, "functions": {"main": {"nests": [{"first": 0, "last": 1, "loops": [{"operation": 0, "dim": 0, "tiles": 3}]}]}}}' > %t.tiles.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.tiles.json 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: schedule.mlir:{{[0-9]+}}:{{[0-9]+}}: error: the schedule cannot be obeyed: nests[0].loops[0].tiles: the dim can be cut into 2, 4, 8,
// RUN: echo '{"version": 1, "functions": {"main": {"nests": [{"first": 0, "last": 9, "loops": []}]}}}' > %t.last.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.last.json 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: nests[0].last: there are 2 operations
// RUN: echo '{"version": 1, "functions": {"main": {"divisions": [{"operation": 0, "splits": [3, 1]}, {"operation": 1, "opfunc": "mul", "splits": [1, 1]}, {"operation": 5, "splits": [1, 1]}]}}}' > %t.division.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.division.json 2>&1 | FileCheck %s --check-prefix=DIVISION
// DIVISION-DAG: divisions[0].splits: dim 0
// DIVISION-DAG: divisions[1].opfunc: operation 1 is add
// DIVISION-DAG: divisions[2].operation: there are 2 operations
// RUN: echo '{"version": 1, "functions": {"main": {"kind": "untiled", "divisions": [{"operation": 0, "splits": [32, 1]}, {"operation": 1, "splits": [1, 2]}], "values": [{"result_of": 0, "space": "lx"}]}}}' > %t.lx.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.lx.json 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: the schedule cannot be obeyed: values[0]: the result has to be in LX: core 0 reads another part than it writes, in spyre.add
// RUN: echo '{"version": 1, "functions": {"main": {"values": [{"result_of": 0, "space": "lx"}]}}}' > %t.lx0.json
// RUN: not spyre-compile %s -O0 -o %t.out --plan=%t.lx0.json 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: the result has to be in LX: nothing is kept there at this level
// RUN: echo '{"version": 1, "functions": {"other": {}}}' > %t.other.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the plan has a function 'other'; the program has main
// RUN: echo '{"version": 1, "functions": {"main": {"kind": "tiled"}}}' > %t.kind.json
// RUN: not spyre-compile %s -O1 -o %t.out --plan=%t.kind.json 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: a plan of kind tiled needs -O2 or -O3
// RUN: echo '{"version": 1, "functions": {"main": {"nests": [{"first": 0, "last": 1, "cores": [{"operation": 0, "dim": 0, "slices": 33}]}]}}}' > %t.cores.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.cores.json 2>&1 | FileCheck %s --check-prefix=CORES
// CORES: nests[0].cores[0].slices: a tile has 8192 along the dim, in units of 1: slices have to be equal
// Of fewer cores than usual: as it is wanted.
// RUN: echo '{"version": 1, "functions": {"main": {"nests": [{"first": 0, "last": 1, "loops": [{"operation": 0, "dim": 0, "tiles": 1024}], "cores": [{"operation": 0, "dim": 0, "slices": 2}]}]}}}' > %t.two.json
// RUN: spyre-compile %s -O2 -o %t.out --plan=%t.two.json --dump-stages=%t.two && cat %t.two/*-planned.mlir | FileCheck %s --check-prefix=TWO
// TWO: spyre.exp (d0 = 8 / 2, d1 = 128)
// A division is what it says, whatever nests would make of it.
// RUN: echo '{"version": 1, "functions": {"main": {"divisions": [{"operation": 0, "splits": [16, 1]}]}}}' > %t.sixteen.json
// RUN: spyre-compile %s -O2 --device mock32 -o %t.out --plan=%t.sixteen.json --dump-stages=%t.sixteen && cat %t.sixteen/*-planned.mlir | FileCheck %s --check-prefix=SIXTEEN
// SIXTEEN-NOT: spyre.pinned
// SIXTEEN: spyre.exp (d0 = 8192 / 16, d1 = 128)
// No such form of the program, or no nests at that level.
// RUN: echo '{"version": 1, "functions": {"main": {"kind": "carried", "nests": []}}}' > %t.carried.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.carried.json 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: the schedule is for a plan of kind carried, which the program has not
// RUN: echo '{"version": 1, "functions": {"main": {"layouts": "searched"}}}' > %t.searched.json
// RUN: not spyre-compile %s -O2 -o %t.out --plan=%t.searched.json 2>&1 | FileCheck %s --check-prefix=SEARCHED
// SEARCHED: the schedule is for a plan of kind tiled in searched layouts, which the program has not
// RUN: not spyre-compile %s -O1 -o %t.out --plan=%t.two.json 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: the schedule has nests, and plans of kind untiled have none
// An address in LX; without it the result would be at 0. What is saved with addresses is obeyed, and gives the same bytes.
// RUN: echo '{"version": 1, "functions": {"main": {"kind": "untiled", "values": [{"result_of": 0, "space": "lx", "address": 4096}]}}}' > %t.address.json
// RUN: spyre-compile %s -O2 -o %t.out --plan=%t.address.json --dump-stages=%t.address && cat %t.address/*-planned.mlir | FileCheck %s --check-prefix=ADDRESS
// ADDRESS: spyre.alloc lx(4096)
// RUN: spyre-compile %s -O2 -o %t.first --save-plan=%t.saved.json --save-addresses --plan=%t.address.json && FileCheck %s --check-prefix=SAVEDADDRESS --input-file=%t.saved.json
// SAVEDADDRESS: {"result_of":0,"space":"lx","address":4096}
// RUN: spyre-compile %s -O2 -o %t.second --plan=%t.saved.json && diff -r %t.first %t.second
// RUN: not spyre-compile %s -O2 -o %t.out --save-addresses 2>&1 | FileCheck %s --check-prefix=SAVENOTHING
// SAVENOTHING: --save-addresses: is of --save-plan, which is missing
// RUN: sed 's|4096|4100|' %t.address.json > %t.odd.json && not spyre-compile %s -O2 -o %t.out --plan=%t.odd.json 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: schedule.mlir:{{[0-9]+}}:{{[0-9]+}}: error: the schedule cannot be obeyed: values[0].address: 4100 is not a multiple of 128
// RUN: sed 's|4096|2147483520|' %t.address.json > %t.high.json && not spyre-compile %s -O2 -o %t.out --plan=%t.high.json 2>&1 | FileCheck %s --check-prefix=HIGH
// HIGH: values[0].address: 2147483520 is too high: {{[0-9]+}} bytes from there on end beyond the {{[0-9]+}} that there are
// RUN: sed 's|"result_of": 0|"result_of": 1|' %t.address.json > %t.result.json && not spyre-compile %s -O2 -o %t.out --plan=%t.result.json 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: values[0]: the result has to be in LX, and is one of the program, which lie in device memory
// What the compiler writes itself is no business of the program's; no text brings it down.
// RUN: sed 's|) -> !x {|) -> !x attributes {spyre.chosen_schedule = {nosuch = 3}} {|' %s > %t.chosen.mlir && spyre-compile %t.chosen.mlir -O2 --save-plan=%t.own.json -o %t.out
// RUN: sed 's|) -> !x {|) -> !x attributes {spyre.schedule = {kind = "\FF"}} {|' %s > %t.bytes.mlir
// RUN: not spyre-compile %t.bytes.mlir -O2 -o %t.out 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: the schedule cannot be obeyed: kind: known kinds are untiled, tiled, banded, carried, banded-carried and carried-products
// RUN: sed 's|) -> !x {|) -> !x attributes {spyre.schedule = 1} {|' %s > %t.badattr.mlir
// RUN: not spyre-compile %t.badattr.mlir -O2 -o %t.out 2>&1 | FileCheck %s --check-prefix=ATTR
// ATTR: attribute 'spyre.schedule' must be a dictionary

!x = tensor<8192x128xf16>
func.func @main(%x: !x) -> !x {
  %0 = spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %1 = spyre.add (d0 = 8192, d1 = 128) ins(%0[d0, d1], %x[d0, d1]) -> [d0, d1] : !x, !x -> !x
  return %1 : !x
}
