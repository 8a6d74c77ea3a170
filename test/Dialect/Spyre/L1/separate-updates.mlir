// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-separate-updates))' | FileCheck %s

!h = tensor<32x64xf16>
!w = tensor<32x192xf16>

// Two joins that begin alike: the first gets a beginning of its own, both parts of it.
// CHECK-LABEL: func @joins
// CHECK: %[[A:.*]] = spyre.identity {{.*}}ins(%arg0{{.*}} -> [d0, d1]
// CHECK: %[[B:.*]] = spyre.identity {{.*}}ins(%arg1{{.*}}outs(%[[A]][d0, d1 + 64])
// CHECK: %[[C:.*]] = spyre.identity {{.*}}ins(%arg0{{.*}} -> [d0, d1]
// CHECK: %[[D:.*]] = spyre.identity {{.*}}ins(%arg1{{.*}}outs(%[[C]][d0, d1 + 64])
// CHECK: spyre.identity {{.*}}ins(%arg2{{.*}}outs(%[[D]][d0, d1 + 128])
// CHECK: spyre.identity {{.*}}ins(%arg3{{.*}}outs(%[[B]][d0, d1 + 128])
func.func @joins(%x: !h, %y: !h, %z: !h, %u: !h) -> (!w, !w) {
  %0 = spyre.identity (d0 = 32, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : !h -> !w
  %1 = spyre.identity (d0 = 32, d1 = 64) ins(%y[d0, d1]) outs(%0[d0, d1 + 64]) : !h -> !w
  %2 = spyre.identity (d0 = 32, d1 = 64) ins(%z[d0, d1]) outs(%1[d0, d1 + 128]) : !h -> !w
  %3 = spyre.identity (d0 = 32, d1 = 64) ins(%u[d0, d1]) outs(%1[d0, d1 + 128]) : !h -> !w
  return %2, %3 : !w, !w
}

// CHECK-LABEL: func @one
// CHECK-COUNT-3: spyre.identity
// CHECK-NOT: spyre.identity
func.func @one(%x: !h, %y: !h, %z: !h) -> !w {
  %0 = spyre.identity (d0 = 32, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : !h -> !w
  %1 = spyre.identity (d0 = 32, d1 = 64) ins(%y[d0, d1]) outs(%0[d0, d1 + 64]) : !h -> !w
  %2 = spyre.identity (d0 = 32, d1 = 64) ins(%z[d0, d1]) outs(%1[d0, d1 + 128]) : !h -> !w
  return %2 : !w
}
