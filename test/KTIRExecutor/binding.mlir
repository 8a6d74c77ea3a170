// Descriptions of arguments that are wrong, and options that kernels do not have.

// RUN: split-file %s %t
// RUN: not spyre-run %t/kernel.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: nothing says what the kernel's arguments are; describe them with -i and -o, with --bind, by attributes, or in kernel.json beside it
// RUN: not spyre-run %t/kernel.mlir -o 4@fp16 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: the kernel takes 2 arguments, 1 are given
// RUN: not spyre-run %t/kernel.mlir --bind %t/field.json 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: field.json: /arrays/0/size: there is no such field
// RUN: not spyre-run %t/kernel.mlir --bind %t/name.json 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: name.json: /arguments/0: there is no array 'y'
// RUN: not spyre-run %t/kernel.mlir --bind %t/type.json 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: type.json: /arrays/0/dtype: kernels have no such numbers
// RUN: not spyre-run %t/kernel.mlir --bind %t/local.json 2>&1 | FileCheck %s --check-prefix=LOCAL
// LOCAL: local.json: /arrays/0: an array in LX needs its address
// RUN: not spyre-run %t/kernel.mlir --bind %t/large.json 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: x: the array does not fit in memory
// RUN: not spyre-run %t/kernel.mlir -i 4@fp16 -o 4@fp16 --round=never 2>&1 | FileCheck %s --check-prefix=ROUND
// ROUND: --round: 'never' is neither each nor store
// RUN: not spyre-run %t/kernel.mlir -i 4@fp16 -o 4@fp16 --cost-only 2>&1 | FileCheck %s --check-prefix=COST
// COST: --cost-only is not for kernels
// RUN: not spyre-run %t/two.mlir -o 4@fp16 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: the file has 2 kernels; 'kernel' of the binding says which one is meant
// RUN: spyre-run %t/two.mlir --bind %t/second.json

//--- kernel.mlir
func.func @kernel(%x: index, %o: index) {
  %id = ktdp.get_compute_tile_id : index
  return
}
//--- two.mlir
func.func @first(%o: index) {
  %id = ktdp.get_compute_tile_id : index
  return
}
func.func @second() {
  %id = ktdp.get_compute_tile_id : index
  return
}
//--- second.json
{"kernel": "second", "arrays": [], "arguments": []}
//--- field.json
{"arrays": [{"name": "x", "dtype": "float16", "shape": [4], "size": 3}], "arguments": ["x"]}
//--- name.json
{"arrays": [{"name": "x", "dtype": "float16", "shape": [4]}], "arguments": ["y"]}
//--- type.json
{"arrays": [{"name": "x", "dtype": "complex64", "shape": [4]}], "arguments": ["x"]}
//--- local.json
{"arrays": [{"name": "x", "dtype": "float16", "shape": [4], "tile": 1}], "arguments": ["x"]}
//--- large.json
{"arrays": [{"name": "x", "dtype": "float16", "shape": [4], "strides": [1099511627776], "role": "output"}], "arguments": ["x", "x"]}
