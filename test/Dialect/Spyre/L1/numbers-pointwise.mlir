// Numbers of pointwise device operations written at L1, one and several operands, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock4 -O3,--device=mock4,--target=ktir

// Every operation of one operand.
// IN: x = normal(33, 100)
// IN: p = (np.abs(normal(33, 100)) + 0.5)
// OUT exact: np.abs(x)
// OUT exact: -x
// OUT exact: np.floor(x)
// OUT exact: np.maximum(x, 0)
// OUT: np.exp(x)
// OUT: 1 / (1 + np.exp(-x))
// OUT: np.tanh(x)
// OUT: x / 2 * (1 + erf(x / 2 ** 0.5))
// OUT: x / (1 + np.exp(-x))
// OUT: np.log(p)
// OUT: np.sqrt(p)
// OUT: 1 / np.sqrt(p)
// OUT: 1 / p
// OUT exact: np.clip(x, -0.5, 1)
// OUT: np.log1p(np.exp(x))
// OUT exact: x
!t = tensor<33x100xf16>
func.func @main(%x: !t, %p: !t) -> (!t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t) {
  %0 = spyre.abs (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %1 = spyre.neg (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %2 = spyre.floor (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %3 = spyre.relufwd (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %4 = spyre.exp (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %5 = spyre.sigmoid (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %6 = spyre.tanh (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %7 = spyre.gelufwd (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %8 = spyre.silu (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %9 = spyre.log (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %10 = spyre.sqrt (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %11 = spyre.rsqrt (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %12 = spyre.reciprocal (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %13 = spyre.clip (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] constants {clipMin = -0.5 : f64, clipMax = 1.0 : f64} : !t -> !t
  %14 = spyre.softplus (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] constants {softplusBeta = 1.0 : f64, softplusThresh = 20.0 : f64} : !t -> !t
  %15 = spyre.identity (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t
}

// -----

// The forms in f32.
// IN: x = normal(33, 100).astype(np.float32)
// IN: p = (np.abs(normal(33, 100)) + 0.5).astype(np.float32)
// OUT exact: np.abs(x)
// OUT exact: -x
// OUT exact: np.floor(x)
// OUT exact: np.maximum(x, 0)
// OUT: np.exp(x)
// OUT: 1 / (1 + np.exp(-x))
// OUT: np.sqrt(p)
// OUT: 1 / np.sqrt(p)
// OUT: 1 / p
// OUT exact: x
!t = tensor<33x100xf32>
func.func @main(%x: !t, %p: !t) -> (!t, !t, !t, !t, !t, !t, !t, !t, !t, !t) {
  %0 = spyre.abs (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %1 = spyre.neg (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %2 = spyre.floor (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %3 = spyre.relufwd (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %4 = spyre.exp (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %5 = spyre.sigmoid (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  %6 = spyre.sqrt (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %7 = spyre.rsqrt (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %8 = spyre.reciprocal (d0 = 33, d1 = 100) ins(%p[d0, d1]) -> [d0, d1] : !t -> !t
  %9 = spyre.identity (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !t -> !t
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : !t, !t, !t, !t, !t, !t, !t, !t, !t, !t
}

// -----

// Operands are broadcast along rows, along sticks and from one number; small integers, so that all is exact.
// IN: x = whole(-8, 8, 5, 7, 130)
// IN: y = whole(-8, 8, 7, 130)
// IN: z = whole(-8, 8, 5, 1, 1)
// IN: q = 2.0 ** whole(-3, 3, 130)
// IN: s = whole(3, 3)
// OUT exact: x + y
// OUT exact: x - y
// OUT exact: x * y
// OUT exact: x / q
// OUT exact: np.maximum(x, y)
// OUT exact: np.minimum(x, y)
// OUT exact: x == y
// OUT exact: x != y
// OUT exact: x >= y
// OUT exact: x > y
// OUT exact: x <= y
// OUT exact: x < y
// OUT exact: x + z
// OUT exact: z - y[None]
// OUT exact: x * s
// OUT exact: np.where(z > 0, x, y)
!x = tensor<5x7x130xf16>
!y = tensor<7x130xf16>
!z = tensor<5x1x1xf16>
!q = tensor<130xf16>
!s = tensor<f16>
!b = tensor<5x7x130xi1>
func.func @main(%x: !x, %y: !y, %z: !z, %q: !q, %s: !s) -> (!x, !x, !x, !x, !x, !x, !b, !b, !b, !b, !b, !b, !x, !x, !x, !x) {
  %0 = spyre.add (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !x
  %1 = spyre.sub (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !x
  %2 = spyre.mul (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !x
  %3 = spyre.realdiv (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %q[d2]) -> [d0, d1, d2] : !x, !q -> !x
  %4 = spyre.maximum (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !x
  %5 = spyre.minimum (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !x
  %6 = spyre.equal (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %7 = spyre.notequal (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %8 = spyre.greaterequal (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %9 = spyre.greaterthan (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %10 = spyre.lesserequal (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %11 = spyre.lesserthan (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : !x, !y -> !b
  %12 = spyre.add (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %z[d0, 0, 0]) -> [d0, d1, d2] : !x, !z -> !x
  %13 = spyre.sub (d0 = 5, d1 = 7, d2 = 130) ins(%z[d0, 0, 0], %y[d1, d2]) -> [d0, d1, d2] : !z, !y -> !x
  %14 = spyre.mul (d0 = 5, d1 = 7, d2 = 130) ins(%x[d0, d1, d2], %s[]) -> [d0, d1, d2] : !x, !s -> !x
  %zero = spyre.constant dense<0.0> : tensor<f16> : !s
  %c = spyre.greaterthan (d0 = 5, d1 = 1, d2 = 1) ins(%z[d0, 0, 0], %zero[]) -> [d0, d1, d2] : !z, !s -> tensor<5x1x1xi1>
  %15 = spyre.where3 (d0 = 5, d1 = 7, d2 = 130) ins(%c[d0, 0, 0], %x[d0, d1, d2], %y[d1, d2]) -> [d0, d1, d2] : tensor<5x1x1xi1>, !x, !y -> !x
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : !x, !x, !x, !x, !x, !x, !b, !b, !b, !b, !b, !b, !x, !x, !x, !x
}
