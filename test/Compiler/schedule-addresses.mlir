// Two results that are in use at the same time, at addresses that somebody asks for: beside each other, over each other, and with a third one that goes around.
// DEFINE: %{plan} = echo '{"version": 1, "functions": {"main": {"kind": "untiled", "values": [{"result_of": 0, "space": "lx", "address": 8192}, {"result_of": 1, "space": "lx", "address": ADDRESS}]}}}'
// RUN: %{plan} | sed 's|ADDRESS|1024|' > %t.json && spyre-compile %s -O2 -o %t.out --plan=%t.json --dump-stages=%t && cat %t/*-planned.mlir | FileCheck %s
// CHECK-DAG: spyre.alloc lx(8192)
// CHECK-DAG: spyre.alloc lx(1024)
// CHECK: spyre.alloc lx(0)
// RUN: %{plan} | sed 's|ADDRESS|8320|' > %t.over.json && not spyre-compile %s -O2 -o %t.out --plan=%t.over.json 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: the schedule cannot be obeyed: values[1].address: 8320 lies, with the {{[0-9]+}} bytes behind it, over {{[0-9]+}} bytes at 8192 that are in use at the same time, by values[0]
// The emulator finds there what it needs.
// RUN: spyre-run %s -O2 --check --plan %t.json

!x = tensor<64x128xf16>
func.func @main(%x: !x) -> !x {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %1 = spyre.neg (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %2 = spyre.mul (d0 = 64, d1 = 128) ins(%0[d0, d1], %1[d0, d1]) -> [d0, d1] : !x, !x -> !x
  %3 = spyre.add (d0 = 64, d1 = 128) ins(%2[d0, d1], %0[d0, d1]) -> [d0, d1] : !x, !x -> !x
  %4 = spyre.add (d0 = 64, d1 = 128) ins(%3[d0, d1], %1[d0, d1]) -> [d0, d1] : !x, !x -> !x
  return %4 : !x
}
