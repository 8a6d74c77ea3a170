# op_kinds.py - Movement, masks, repeated values, no elements, overflow: for generate_ops.py
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each entry of OPERATIONS is a function of generate_ops.Draw that returns a function
# of tensors and its arrays. What no argument has a part in (positions and masks of
# them) is written in the function, so that the exporter leaves it to the compiler.
"""Kinds of small programs whose parts change places, repeat, vanish, overflow or are constants."""

import torch
import torch.nn.functional as F

INF = float("inf")
HALF = torch.float16


def along(dim, piece):
    """An index of `piece` along one dim and everything along those before it."""
    return (slice(None),) * dim + (piece,)


def numbered(draw, low, high):
    return int(draw.random.integers(low, high))


def some_dim(draw, shape):
    return numbered(draw, 0, len(shape))


def some_slice(draw, size, steps=(1,)):
    start = numbered(draw, 0, size)
    stop = numbered(draw, start + 1, size + 1)
    return slice(start, stop, int(draw.random.choice(steps)))


# --- order and place ---------------------------------------------------------


def flip(draw, shape=None):
    shape = shape or draw.shape()
    dim = some_dim(draw, shape)
    return (lambda x: x.flip(dim)), [draw.normal(*shape)]


def flip_all(draw):
    shape = draw.shape()
    return (lambda x: x.flip(list(range(len(shape))))), [draw.normal(*shape)]


def flip_softmax(draw):
    shape = draw.shape()
    dim = some_dim(draw, shape)
    return (lambda x: torch.softmax(x.flip(dim), -1)), [draw.normal(*shape)]


def triangle(function):
    def build(draw):
        shape = draw.shape()
        diagonal = numbered(draw, -max(shape), max(shape) + 1)
        return (lambda x: function(x, diagonal)), [draw.normal(*shape)]

    return build


def copy_into_slice(draw):
    shape = draw.shape()
    dim = some_dim(draw, shape)
    piece = some_slice(draw, shape[dim])
    target = list(shape)
    target[dim] = piece.stop - piece.start

    def function(x, y):
        result = x.clone()
        result[along(dim, piece)] = y
        return result

    return function, [draw.normal(*shape), draw.normal(*target)]


def copy_row_into_zeros(draw):
    shape = draw.shape(2)
    piece = some_slice(draw, shape[0])

    def function(x, y):
        result = torch.zeros_like(x)
        result[piece] = y
        result[:, 0] = x[:, -1]
        return result

    return function, [draw.normal(*shape), draw.normal(shape[1])]


def matrix_transpose(draw):
    shape = draw.shape()
    return (lambda x: x.mT + 1), [draw.normal(*shape)]


def repeat_interleave(draw):
    shape = draw.shape()
    dim, times = some_dim(draw, shape), numbered(draw, 1, 4)
    return (lambda x: x.repeat_interleave(times, dim)), [draw.normal(*shape)]


def repeat_heads(draw):
    shape, times = draw.shape(2), numbered(draw, 2, 4)
    arrays = [draw.normal(2, *shape), draw.normal(2 * times, *shape)]
    return (lambda x, y: (x.repeat_interleave(times, 0) * y).mean(0)), arrays


def roll(draw):
    shape = draw.shape()
    dim = some_dim(draw, shape)
    shift = numbered(draw, 0, shape[dim] + 1)
    return (lambda x: x.roll(shift, dim)), [draw.normal(*shape)]


# --- f32, integers, bool -----------------------------------------------------


def of_type(make, kind):
    """A kind of movement of float32, int64, int32 or bool values."""

    def build(draw):
        shape = draw.shape()
        dim = some_dim(draw, shape)
        order = [int(d) for d in draw.random.permutation(len(shape))]
        function, count = make(draw, shape, dim, order)
        return function, [getattr(draw, kind)(*shape) for _ in range(count)]

    return build


def permuted(draw, shape, dim, order):
    return (lambda x: x.permute(order).contiguous()), 1


def joined(draw, shape, dim, order):
    return (lambda x, y: torch.cat([x, y], dim)), 2


def stacked(draw, shape, dim, order):
    return (lambda x, y: torch.stack([x, y, x], dim)), 2


def sliced(draw, shape, dim, order):
    index = along(dim, some_slice(draw, shape[dim]))
    return (lambda x: x[index].contiguous()), 1


def padded(draw, shape, dim, order):
    return (lambda x: F.pad(x, (1, 2))), 1


def reversed_(draw, shape, dim, order):
    return (lambda x: x.flip(dim)), 1


def reduced(function):
    def make(draw, shape, dim, order):
        keep = bool(draw.random.integers(2))
        return (lambda x: function(x.permute(order), -1, keep)), 1

    return of_type(make, "float32")


def transposed_sum(draw):
    rows, columns = draw.shape(2)
    return (lambda x, y: x.t() + y), [draw.float32(rows, columns), draw.float32(columns, rows)]


def transposed_softmax(draw):
    return (lambda x: torch.softmax(x.t(), -1)), [draw.float32(*draw.shape(2))]


def transposed_layer_norm(draw):
    rows, columns = draw.shape(2)
    arrays = [draw.float32(rows, columns), draw.float32(rows), draw.float32(rows)]
    return (lambda x, w, b: F.layer_norm(x.t(), (rows,), w, b)), arrays


def transposed_batch_norm(draw):
    channels, length = int(draw.random.choice((3, 31, 64, 65))), draw.size(9)
    arrays = [draw.float32(2, length, channels), draw.float32(channels), abs(draw.float32(channels)) + 0.25]
    return (lambda x, m, v: F.batch_norm(x.transpose(1, 2), m, v)), arrays


def mixed_transpose(draw):
    rows, columns = draw.shape(2)
    arrays = [draw.normal(rows, columns), draw.float32(columns, rows)]
    return (lambda x, y: (x.float().t() + y).to(x.dtype)), arrays


# --- positions and masks of them ---------------------------------------------


def of_positions(make):
    """x beside a value of positions: make(n, m) -> rows of n by m, or m of them."""

    def build(draw):
        rows, columns = draw.shape(2)

        def function(x):
            value = make(rows, columns)
            if value.dtype == torch.bool:
                return torch.where(value, x, -1.5)
            return x + value.to(x.dtype)

        return function, [draw.normal(rows, columns)]

    return build


def causal(n, m):
    return torch.arange(n)[:, None] >= torch.arange(m)


def window(n, m):
    return (torch.arange(n)[:, None] - torch.arange(m)).abs() < 7


def lower_ones(n, m):
    return torch.ones(n, m, dtype=torch.bool).tril(-1)


def of_integers(function):
    """Positions from -m/2 on."""
    return of_positions(lambda n, m: function(torch.arange(m) - m // 2))


def masked_scores(make):
    def build(draw):
        rows, columns = draw.shape(2)
        return (lambda x: torch.softmax(x + make(rows, columns), -1)), [draw.normal(rows, columns)]

    return build


def infinite_triangle(n, m):
    return torch.full((n, m), -INF, dtype=HALF).triu(1)


def lowest_triangle(n, m):
    return (1.0 - causal(n, m).to(HALF)) * torch.finfo(HALF).min


def distances(n, m):
    return (-(torch.arange(n)[:, None] - torch.arange(m)).abs() * 0.0625).to(HALF)


def rotary_table(n, m):
    frequencies = 1.0 / (10000.0 ** (torch.arange(0, 2 * m, 2).float() / (2 * m)))
    return (torch.arange(n).float()[:, None] * frequencies).cos()


def constants_only(draw):
    """Results that no argument has a part in, beside one that depends on it."""
    n = draw.size()

    def function(x):
        positions = torch.arange(n)
        return positions.flip(0), positions.cumsum(0), (positions % 3 == 0).cumsum(0), positions > 2.5, x * 2

    return function, [draw.normal(3)]


# --- repeated values ---------------------------------------------------------


def of_repeated(function, values="normal"):
    """A reduction of a value that one dim only repeats."""

    def build(draw):
        shape = draw.shape()
        short = list(shape)
        short[some_dim(draw, shape)] = 1
        dim = some_dim(draw, shape)
        return (lambda x: function(x.expand(shape), dim)), [getattr(draw, values)(*short)]

    return build


def sum_of_two(draw):
    rows, columns = draw.shape(2)
    dim = numbered(draw, 0, 2)
    return (lambda x, y: (x * y).sum(dim)), [draw.normal(rows, 1), draw.normal(1, columns)]


def sum_of_joined(draw):
    rows, columns = draw.shape(2)
    function = lambda x, y: torch.cat([x.expand(rows, columns), y], 0).sum(0)  # noqa: E731
    return function, [draw.normal(1, columns), draw.normal(rows, columns)]


def mean_of_constant(draw):
    shape = draw.shape()
    dim = some_dim(draw, shape)
    return (lambda x: torch.full(shape, 0.75, dtype=x.dtype).mean(dim) + x), [draw.normal(1)]


def matmul_of_repeated(draw):
    (rows, inner), columns = draw.shape(2), draw.size(65)
    short = [(rows, 1), (1, inner), (1, 1)][numbered(draw, 0, 3)]
    return (lambda x, y: x.expand(rows, inner) @ y), [draw.normal(*short), draw.normal(inner, columns)]


def matmul_of_constants(draw):
    (rows, inner), columns = draw.shape(2), draw.size(65)
    function = lambda x: torch.full((rows, inner), 0.25, dtype=x.dtype) @ x  # noqa: E731
    return function, [draw.normal(inner, columns)]


def layer_norm_of_repeated(draw):
    rows, columns = draw.shape(2)
    short = [(rows, 1), (1, columns)][numbered(draw, 0, 2)]
    arrays = [draw.normal(*short), draw.normal(columns)]
    return (lambda x, w: F.layer_norm(x.expand(rows, columns), (columns,), w)), arrays


# --- no elements -------------------------------------------------------------


def joined_with_nothing(draw):
    rows, columns = draw.shape(2)
    arrays = [draw.normal(rows, 0), draw.normal(rows, columns), draw.normal(0)]
    return (lambda x, y, z: torch.cat([y, x, z, y], -1)), arrays


def slices_of_nothing(draw):
    rows, columns = draw.shape(2)
    return (lambda x: (x[rows:], x[:, 1:1], x * 2)), [draw.normal(rows, columns)]


def moved_nothing(draw):
    n = draw.size()
    function = lambda x: (x.permute(2, 0, 1), x.reshape(n, 0, 3), x.float(), x.tril())  # noqa: E731
    return function, [draw.normal(3, 0, n)]


def computed_nothing(draw):
    n = draw.size()
    return (lambda x, y: (torch.where(x > 0, x, y), x + y, x == y)), [draw.normal(0, n), draw.normal(n)]


def matmul_without_rows(draw):
    inner, columns = draw.shape(2)
    return (lambda x, y: (x @ y, y * 2)), [draw.normal(0, inner), draw.normal(inner, columns)]


# --- beyond the largest f16 number -------------------------------------------


def products(draw):
    shape = draw.shape()
    return (lambda x, y: (x * 256) * y), [draw.normal(*shape, scale=16), draw.normal(*shape, scale=64)]


def exponentials(draw):
    return torch.exp, [draw.normal(*draw.shape(), scale=8)]


def contraction(draw):
    (rows, inner), columns = draw.shape(2), draw.size(33)
    return torch.matmul, [draw.normal(rows, inner, scale=256), draw.normal(inner, columns, scale=256)]


def mask_and_product(draw):
    """-65504 that was given stays what it is beside products that overflow."""
    shape = draw.shape()
    mask = draw.exact(-65504.0 * draw.bools(*shape))
    return (lambda x, m: (m, x * x * 16)), [draw.normal(*shape, scale=32), mask]


def clamped(draw):
    return (lambda x: torch.clamp(x * 256, -65504, 65504)), [draw.normal(*draw.shape(), scale=256)]


# --- attention ---------------------------------------------------------------


def causal_attention(draw):
    rows, width = draw.size(33), int(draw.random.choice((32, 33, 64)))
    arrays = [draw.normal(1, 2, rows, width) for _ in range(3)]
    return (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)), arrays


def attention_of_distant_keys(draw):
    """Scores of some hundreds that are nearly equal: the keys have a common offset."""
    rows, columns, width = draw.size(33), draw.size(33), int(draw.random.choice((31, 32, 64)))
    offset = float(draw.random.choice((-8, 8)))
    keys = draw.exact(draw.random.standard_normal((1, 1, columns, width)) * 0.25 + offset)
    queries = draw.exact(abs(draw.random.standard_normal((1, 1, rows, width))))
    return (lambda q, k, v: F.scaled_dot_product_attention(q, k, v)), [queries, keys, draw.normal(1, 1, columns, width)]


# --- norms of any order, hyperbolic functions, sums of products ---------------


def norm_of_order(order):
    def build(draw):
        shape = draw.shape()
        dim, keep = some_dim(draw, shape), bool(draw.random.integers(2))
        values = draw.normal(*shape)
        values[along(dim, slice(None))[:-1] + (0,)] = 0.0 if order > 0 else 2.0
        return (lambda x: torch.linalg.vector_norm(x, order, dim, keep)), [values]

    return build


def norm_of_large(draw):
    """The third powers are beyond f32's sums of 16-bit numbers, the norm is not."""
    shape = draw.shape()
    return (lambda x: torch.linalg.vector_norm(x, 3, -1)), [draw.wide(*shape) * 2.0**-2]


def norm_of_zeros(draw):
    shape = draw.shape()
    return (lambda x: torch.linalg.vector_norm(x * 0, 3, 0)), [draw.normal(*shape)]


def norm_of_all(draw):
    return (lambda x: torch.linalg.vector_norm(x, 3)), [draw.normal(*draw.shape())]


def of_one(function, scale=1.0):
    return lambda draw: (function, [draw.normal(*draw.shape(), scale=scale)])


def of_two(function, scale=1.0):
    def build(draw):
        shape = draw.shape()
        other = shape[-1:] if draw.random.integers(2) else (*shape[:-1], 1)
        return function, [draw.normal(*shape, scale=scale), draw.normal(*other, scale=scale)]

    return build


def at_the_ends(draw):
    """Infinities, and where a function has one."""
    shape = draw.shape()
    ends = draw.random.choice((INF, -INF, 0.0, 1.0, -1.0, 0.5, -3.0), shape)
    functions = (torch.asinh, torch.atan, torch.erf, torch.sinh, torch.cosh)
    return (lambda x: tuple(function(x) for function in functions)), [ends]


def of_f32(function, scale=1.0, bound=None):
    def build(draw):
        values = draw.float32(*draw.shape()) * scale
        return function, [values if bound is None else values.clip(-bound, bound)]

    return build


def of_bf16(function, low, high):
    """Of bf16 whatever the program's dtype: cast from f32 numbers that bf16 holds; the reference is not cast."""

    def build(draw):
        values = torch.from_numpy(draw.random.uniform(low, high, draw.shape())).bfloat16()
        return (lambda x: function(x.bfloat16() if x.dtype == torch.float32 else x)), [values.float().numpy()]

    return build


def matrix_vector(draw):
    rows, inner = draw.shape(2)
    function = lambda a, v, w: (torch.mv(a, v), torch.dot(v, w))  # noqa: E731
    return function, [draw.normal(rows, inner), draw.normal(inner), draw.normal(inner, scale=inner**-0.5)]


def fmin_of_specials(draw):
    shape = draw.shape()
    x, y = draw.normal(*shape), draw.normal(*shape)
    x[draw.bools(*shape, share=0.2)] = float("nan")
    x[draw.bools(*shape, share=0.1)] = -INF
    y[draw.bools(*shape, share=0.2)] = INF
    return torch.fmin, [x, y]


def finite_of_specials(draw):
    shape = draw.shape()
    x = draw.wide(*shape)
    for special in (INF, -INF, float("nan"), 65504.0):
        x[draw.bools(*shape, share=0.1)] = special
    return torch.isfinite, [x]


def sum_of_products(draw):
    rows, inner = draw.shape(2, 65)
    batch, columns = int(draw.random.choice((1, 2, 5))), draw.size(33)
    beta, alpha = [(1.0, 1.0), (0.0, 2.0), (0.5, -1.0)][int(draw.random.integers(3))]
    arrays = [
        draw.normal(rows, columns),
        draw.normal(batch, rows, inner, scale=inner**-0.5),
        draw.normal(batch, inner, columns),
    ]
    return (lambda c, a, b: torch.addbmm(c, a, b, beta=beta, alpha=alpha)), arrays


def bilinear(draw):
    rows, left = draw.shape(2, 33)
    right, outs = int(draw.random.choice((1, 5, 31))), int(draw.random.choice((1, 3)))
    arrays = [draw.normal(rows, left), draw.normal(rows, right), draw.normal(outs, left, right), draw.normal(outs)]
    return F.bilinear, arrays


OPERATIONS = {
    "norm3": norm_of_order(3),
    "norm5": norm_of_order(5),
    "norm_half": norm_of_order(0.5),
    "norm_one_and_half": norm_of_order(1.5),
    "norm_between": norm_of_order(2.3),
    "norm_minus3": norm_of_order(-3),
    "norm0": norm_of_order(0),
    "norm3_wide": norm_of_large,
    "norm3_zeros": norm_of_zeros,
    "norm3_all": norm_of_all,
    "sinh": of_one(torch.sinh),
    "sinh_small": of_one(torch.sinh, 2.0**-6),
    "cosh": of_one(torch.cosh, 2.0),
    "logaddexp": of_two(torch.logaddexp),
    "logaddexp_apart": of_two(torch.logaddexp, 16.0),
    "softplus_of_exp": of_one(lambda x: torch.log1p(torch.exp(x.float())).to(x.dtype), 4.0),
    "asinh": of_one(torch.asinh, 4.0),
    "atan": of_one(torch.atan, 4.0),
    "hypot": of_two(torch.hypot, 300.0),
    "bf16_asin": of_bf16(torch.asin, -1.0, 1.0),
    "bf16_acos": of_bf16(torch.acos, -1.0, 1.0),
    "bf16_acosh": of_bf16(torch.acosh, 1.0, 8.0),
    "bf16_atanh": of_bf16(torch.atanh, -1.0, 1.0),
    "bf16_logit": of_bf16(torch.logit, 0.0, 1.0),
    "bf16_logit_clamped": of_bf16(lambda x: torch.logit(x, eps=0.0625), -0.5, 1.5),
    "bf16_erfc": of_bf16(torch.erfc, -4.0, 4.0),
    "f32_asin": of_f32(torch.asin, 0.5, 1.0),
    "f32_acos": of_f32(torch.acos, 0.5, 1.0),
    "f32_atan": of_f32(torch.atan, 4.0),
    "f32_erf_small": of_f32(torch.erf, 2.0**-6),
    "f32_cosh": of_f32(torch.cosh, 4.0),
    "functions_of_infinity": at_the_ends,
    "matrix_vector": matrix_vector,
    "fmin": fmin_of_specials,
    "isfinite": finite_of_specials,
    "addbmm": sum_of_products,
    "bilinear": bilinear,
    "flip": flip,
    "flip_all": flip_all,
    "flip_softmax": flip_softmax,
    "tril": triangle(torch.tril),
    "triu": triangle(torch.triu),
    "copy_into_slice": copy_into_slice,
    "copy_row_into_zeros": copy_row_into_zeros,
    "matrix_transpose": matrix_transpose,
    "repeat_interleave": repeat_interleave,
    "repeat_heads": repeat_heads,
    "roll": roll,
    "f32_permute": of_type(permuted, "float32"),
    "f32_cat": of_type(joined, "float32"),
    "f32_stack": of_type(stacked, "float32"),
    "f32_slice": of_type(sliced, "float32"),
    "f32_pad": of_type(padded, "float32"),
    "f32_flip": of_type(reversed_, "float32"),
    "i64_permute": of_type(permuted, "int64"),
    "i64_cat": of_type(joined, "int64"),
    "i64_slice": of_type(sliced, "int64"),
    "i32_stack": of_type(stacked, "int32"),
    "i32_flip": of_type(reversed_, "int32"),
    "bool_permute": of_type(permuted, "bools"),
    "bool_cat": of_type(joined, "bools"),
    "f32_sum_permuted": reduced(lambda x, d, k: torch.sum(x, d, k)),
    "f32_mean_permuted": reduced(lambda x, d, k: torch.mean(x, d, k)),
    "f32_amax_permuted": reduced(lambda x, d, k: torch.amax(x, d, k)),
    "f32_var_permuted": reduced(lambda x, d, k: torch.var(x, d, correction=0, keepdim=k)),
    "f32_add_transposed": transposed_sum,
    "f32_softmax_transposed": transposed_softmax,
    "f32_layer_norm_transposed": transposed_layer_norm,
    "f32_batch_norm_transposed": transposed_batch_norm,
    "f32_and_f16_transposed": mixed_transpose,
    "mask_causal": of_positions(causal),
    "mask_window": of_positions(window),
    "mask_tril": of_positions(lower_ones),
    "mask_infinite": masked_scores(infinite_triangle),
    "mask_lowest": masked_scores(lowest_triangle),
    "mask_distances": masked_scores(distances),
    "positions_rotary": of_positions(rotary_table),
    "positions_floor": of_integers(lambda p: torch.div(p, -4, rounding_mode="floor")),
    "positions_trunc": of_integers(lambda p: torch.div(p, 3, rounding_mode="trunc")),
    "positions_remainder": of_integers(lambda p: p % -5),
    "positions_clamped": of_integers(lambda p: p.clamp(-3, 7)),
    "positions_where": of_integers(lambda p: torch.where(p > 3, 1.0, 0.5)),
    "positions_bool": of_integers(lambda p: (p > 1) + (p < -3) * 2),
    "positions_cumsum": of_integers(lambda p: (p % 3 == 0).cumsum(0)),
    "positions_wrap": of_integers(lambda p: (p.to(torch.int32) * 100000 * 100000) % 97),
    "positions_downwards": of_positions(lambda n, m: torch.arange(3 * m, 0, -3)),
    "positions_half": of_positions(lambda n, m: torch.arange(m, dtype=HALF) / 3),
    "positions_only": constants_only,
    "repeated_sum": of_repeated(lambda x, d: x.sum(d)),
    "repeated_mean": of_repeated(lambda x, d: x.mean(d)),
    "repeated_amax": of_repeated(lambda x, d: x.amax(d)),
    "repeated_softmax": of_repeated(lambda x, d: torch.softmax(x, d)),
    "repeated_var": of_repeated(lambda x, d: torch.var(x, d, correction=0)),
    "repeated_f32_mean": of_repeated(lambda x, d: x.mean(d), "float32"),
    "repeated_mean_all": of_repeated(lambda x, d: x.mean()),
    "repeated_product_sum": sum_of_two,
    "repeated_joined_sum": sum_of_joined,
    "repeated_constant_mean": mean_of_constant,
    "repeated_matmul": matmul_of_repeated,
    "repeated_constant_matmul": matmul_of_constants,
    "repeated_layer_norm": layer_norm_of_repeated,
    "nothing_joined": joined_with_nothing,
    "nothing_sliced": slices_of_nothing,
    "nothing_moved": moved_nothing,
    "nothing_computed": computed_nothing,
    "nothing_matmul": matmul_without_rows,
    "overflow_mul": products,
    "overflow_exp": exponentials,
    "overflow_matmul": contraction,
    "overflow_beside_mask": mask_and_product,
    "overflow_clamped": clamped,
    "attention_causal": causal_attention,
    "attention_distant_keys": attention_of_distant_keys,
}
