# failure_kinds.py - What goes wrong in views, layouts and stick tails
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kinds of mistakes that users of such stacks have reported, groups 2 to 4 of
# the list in test/conformance/test_known_failures.py; groups 5 to 9 are in
# failure_kinds_compute.py. A function a row of the list yields small programs of
# that kind at sizes, positions and dtypes other than those that were reported.
"""Programs of reported kinds of mistakes, for generate_failures.py: views, layouts, tails."""

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
from export import to_nine_fraction_bits, wide

functional = torch.nn.functional
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32


@dataclasses.dataclass
class Case:
    """A program: a function of its inputs.

    whole: also as text without decompositions; expect: as the data's README says.
    """

    name: str
    function: Callable
    inputs: list
    whole: bool = False
    expect: str = "value"


COARSE = 600  # from so many elements on: numbers of fewer bits, so that the file stays small


class Data:
    """Seeded inputs that the device's 16-bit format holds."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def normal(self, *shape, dtype=F16, scale=1.0, offset=0.0):
        values = self.rng.standard_normal(shape)
        if values.size > COARSE:
            values = np.rint(values * 8) / 8
        return to_nine_fraction_bits(values * scale + offset, dtype)

    def between(self, low, high, *shape, dtype=F16):
        return to_nine_fraction_bits(self.rng.uniform(low, high, shape), dtype)

    def weight(self, *shape, dtype=F16):
        """Rows of a linear layer's weight."""
        return self.normal(*shape, dtype=dtype, scale=shape[-1] ** -0.5)

    def numbered(self, *shape, dtype=F16):
        """Row i holds i, so that a wrong row is seen at once."""
        rows = torch.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
        return rows.expand(shape).to(dtype).contiguous()

    def bools(self, *shape, share=0.5):
        return torch.from_numpy(self.rng.random(shape) < share)

    def integers(self, low, high, *shape, dtype=torch.int64):
        return torch.from_numpy(self.rng.integers(low, high, shape)).to(dtype)


def cast(x, dtype):
    """x in a dtype, except in the reference run, which stays in float64."""
    return x if x.dtype == torch.float64 else x.to(dtype)


ROWS = {}  # row -> (section, function of Data that yields cases)


def row(section, name):
    def register(function):
        ROWS[name] = (section, function)
        return function

    return register


# --- 2. views and coordinates ------------------------------------------------


@row(2, "#2803")
def steps_outside_the_stick(d):
    for rows, columns, start, step in ((11, 70, 1, 2), (20, 33, 0, 3), (9, 200, 2, 4), (70, 64, 5, 7)):
        double = lambda x, s=slice(start, None, step): x[s] + x[s]
        yield Case(f"{rows}x{columns}_{start}_{step}", double, [d.numbered(rows, columns)])
    yield Case("last_dim", lambda x: x[:, 1::2] * 2, [d.normal(5, 131)])
    yield Case("middle_and_last", lambda x: x[:, 1::3, ::2] + 1, [d.normal(3, 10, 66)])
    yield Case("of_intermediate", lambda x: (x * 2)[1::2] - x[::2], [d.numbered(12, 100)])
    yield Case("bf16", lambda x: x[2::5] + x[2::5], [d.numbered(23, 65, dtype=BF16)])


@row(2, "#3237")
def equal_work_at_other_offsets(d):
    yield Case("rows", lambda x: (x[0:2].clone(), x[3:5].clone(), x[5:7].clone()), [d.numbered(7, 33)])
    yield Case("columns", lambda x: (x[:, :40] + 1, x[:, 40:80] + 1, x[:, 80:] + 1), [d.normal(3, 120)])
    yield Case("planes", lambda x: (x[1] * 2, x[4] * 2), [d.numbered(5, 6, 65)])
    yield Case("products", lambda x, w: (x[:9] @ w[:, :33], x[9:] @ w[:, 33:]), [d.normal(18, 31), d.normal(31, 66)])
    yield Case("of_one_sum", lambda x, y: (x + y)[0:3] * (x + y)[3:6], [d.normal(6, 100), d.normal(6, 100)])


@row(2, "#4260")
def parts_of_a_split_dim(d):
    for heads, size, half in ((4, 128, 64), (3, 96, 32), (5, 64, 32), (2, 200, 100)):
        split = lambda x, h=heads, s=size: x.view(*x.shape[:-1], h, s)
        yield Case(
            f"first_{heads}x{size}", lambda x, v=split, n=half: v(x)[..., :n] * 1, [d.normal(1, 7, heads * size)]
        )
        yield Case(
            f"second_{heads}x{size}", lambda x, v=split, n=half: v(x)[..., n:] + 0, [d.normal(2, 3, heads * size)]
        )
    yield Case("odd_heads", lambda x: x.view(3, 7, 6, 64)[:, :, 1::2] * 2, [d.normal(3, 7, 384)])

    def rotated(x, w):
        q = functional.linear(x, w).view(1, 9, 3, 64).transpose(1, 2)
        return torch.cat((-q[..., 32:], q[..., :32]), -1)

    yield Case("rotated_projection", rotated, [d.normal(1, 9, 65), d.weight(192, 65)])


@row(2, "#2595")
def windows_inside_a_stick(d):
    for start, width in ((1, 64), (31, 33), (33, 64), (63, 2), (65, 62), (16, 16), (100, 28)):
        read = lambda x, s=slice(start, start + width): x[:, s] + 1
        yield Case(f"read_{start}_{width}", read, [d.normal(5, 129)])

        def write(x, y, s=slice(start, start + width)):
            t = x * 2
            t[:, s] = y
            return t

        yield Case(f"write_{start}_{width}", write, [d.normal(5, 129), d.normal(5, width)])
    for start, width in ((1, 64), (33, 31), (100, 29)):
        scatter = lambda x, y, a=start, b=start + width: torch.slice_scatter(x * 2, y, 1, a, b)
        yield Case(f"scatter_{start}_{width}", scatter, [d.normal(5, 129), d.normal(5, width)])
    rows = lambda x, y: torch.slice_scatter(x + 1, y, 0, 1, 6, 2)
    yield Case("scatter_every_other_row", rows, [d.normal(7, 65), d.normal(3, 65)])
    yield Case("two_windows", lambda x: x[:, 3:60] * x[:, 40:97], [d.normal(3, 100)])
    yield Case("moved_by_one", lambda x: x[:, 1:] - x[:, :-1], [d.normal(4, 66)])
    yield Case("sum_of_window", lambda x: x[:, 20:90].sum(-1), [d.normal(6, 128)])


@row(2, "T C flatten")
def partly_filled_sticks_flattened(d):
    for shape in ((2, 7, 33), (5, 1, 3, 10), (9, 65), (4, 2, 31), (3, 1, 1)):
        name = "x".join(map(str, shape))
        yield Case(name, lambda x: x.flatten() + x.flatten(), [d.normal(*shape)])
        yield Case(f"{name}_first_two", lambda x: x.flatten(0, 1) * 2, [d.normal(*shape)])
    yield Case("of_exp", lambda x: torch.exp(x).flatten(1) + 1, [d.normal(3, 5, 12)])
    yield Case("and_back", lambda x: (x.flatten() * 2).view(6, 5, 11), [d.normal(5, 66)])


@row(2, "#1796")
def transposes_made_contiguous(d):
    for shape, one, other in (
        ((1, 5, 33, 32), 1, 2),
        ((2, 3, 10, 96), 1, 2),
        ((7, 130), 0, 1),
        ((2, 65, 31), 1, 2),
        ((3, 4, 70), 0, 2),
    ):
        name = f"{'x'.join(map(str, shape))}_{one}_{other}"
        yield Case(name, lambda x, a=one, b=other: x.transpose(a, b).contiguous(), [d.normal(*shape)])
    for order in ((2, 0, 1), (1, 2, 0), (2, 1, 0)):
        name = "permute_" + "".join(map(str, order))
        yield Case(name, lambda x, o=order: x.permute(o).contiguous() + 0, [d.normal(3, 66, 33, dtype=BF16)])


@row(2, "#1234")
def halves_turned(d):
    for size, heads, dtype in ((32, 3, F16), (80, 2, F16), (96, 2, BF16), (66, 1, F16), (128, 2, BF16), (2, 4, F16)):
        half = lambda x, n=size // 2: torch.cat((-x[..., n:], x[..., :n]), -1)
        yield Case(f"{heads}x{size}", half, [d.normal(1, heads, 9, size, dtype=dtype)])

    def pairs(x):
        return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)

    yield Case("pairs", pairs, [d.normal(2, 5, 64)])
    turn = lambda x, c, s: x * c + torch.cat((-x[..., 24:], x[..., :24]), -1) * s
    yield Case("with_tables", turn, [d.normal(1, 2, 7, 48), d.normal(7, 48), d.normal(7, 48)])


@row(2, "#990")
def unit_dims_with_an_offset(d):
    yield Case("last_offset", lambda x: x[:, 0:1, 33:] + 1, [d.normal(5, 1, 100)])
    yield Case("first", lambda x: x[2:3, :, 5:] * 2, [d.normal(4, 3, 70)])
    yield Case("two", lambda x: x[:, 1:2, :, 3:4] + x[:, 0:1, :, 0:1], [d.normal(3, 2, 65, 4)])
    yield Case("squeezed", lambda x: x[:, 2:3, 64:].squeeze(1) - 1, [d.normal(3, 4, 129)])
    yield Case("column", lambda x: x[:, 64:65] + x[:, 3:4], [d.normal(9, 100)])


@row(2, "#1470")
def expansions_read_back(d):
    yield Case("first", lambda x: x.expand(5, 33), [d.normal(33)])
    yield Case("middle", lambda x: x.expand(3, 4, 70).contiguous(), [d.normal(3, 1, 70)])
    yield Case("last", lambda x: x.expand(7, 65).clone(), [d.normal(7, 1)])
    yield Case("bool", lambda x: x.expand(4, 66).contiguous(), [d.bools(4, 1)])
    yield Case("i64", lambda x: x.expand(5, 3, 7).clone(), [d.integers(-9, 9, 3, 1)])
    yield Case("used_twice", lambda x: x.expand(6, 100) * 2 + x.expand(6, 100), [d.normal(6, 1, dtype=BF16)])
    yield Case("scalar", lambda x: x.expand(3, 65) + 1, [d.normal()])


@row(2, "#1973")
def repetitions_and_windows(d):
    yield Case("repeat_rows", lambda x: x.repeat(3, 1), [d.normal(5, 33)])
    yield Case("repeat_columns", lambda x: x.repeat(2, 3), [d.normal(3, 40)])
    yield Case("repeat_new_dim", lambda x: x.repeat(2, 1, 2), [d.normal(3, 31)])
    yield Case("unbind_last", lambda x: x.unbind(-1), [d.normal(6, 3)])
    yield Case("unbind_middle", lambda x: [y + 1 for y in x.unbind(1)], [d.normal(4, 3, 65)])
    yield Case("interleaved", lambda x: torch.repeat_interleave(x, 3, 1), [d.normal(2, 2, 5, 32)])
    yield Case("unfold_rows", lambda x: x.unfold(0, 3, 2), [d.normal(9, 33)], expect="value-or-named-refusal")


# --- 3. layouts --------------------------------------------------------------


@row(3, "#501")
def columns_beside_padded_rows(d):
    for shape in ((3, 11, 100), (1, 65, 33), (2, 7, 257), (129, 2)):
        name = "x".join(map(str, shape))
        yield Case(f"mul_{name}", lambda x, c: x * c, [d.normal(*shape), d.normal(*shape[:-1], 1)])
        yield Case(
            f"sub_from_{name}", lambda x, c: c - x, [d.normal(*shape, dtype=BF16), d.normal(*shape[:-1], 1, dtype=BF16)]
        )
    yield Case("own_max", lambda x: x - x.amax(-1, keepdim=True), [d.normal(5, 2, 70)])


@row(3, "#4212")
def attention_into_a_projection(d):
    for heads, size, length in ((2, 32, 17), (3, 64, 33), (5, 16, 9), (2, 96, 31), (1, 128, 65)):
        width = heads * size

        def block(q, k, v, w, n=width):
            o = functional.scaled_dot_product_attention(q, k, v)
            return functional.linear(o.transpose(1, 2).reshape(q.shape[0], -1, n), w)

        qkv = [d.normal(1, heads, length, size) for _ in range(3)]
        yield Case(f"{heads}x{length}x{size}", block, [*qkv, d.weight(40, width)], whole=True)


@row(3, "#2329")
def attention_of_a_sliced_cache(d):
    for heads, q, k, start, size in ((2, 5, 33, 0, 64), (3, 1, 17, 8, 32), (1, 9, 65, 31, 128)):

        def attend(x, keys, values, a=start, b=start + k):
            return functional.scaled_dot_product_attention(x, keys[:, :, a:b], values[:, :, a:b])

        caches = [d.normal(1, heads, 100, size) for _ in range(2)]
        yield Case(f"{heads}x{q}x{k}_{start}_{size}", attend, [d.normal(1, heads, q, size), *caches], whole=True)


@row(3, "#2768")
def attention_blocks(d):
    for length, heads, groups, size in ((1, 4, 2, 32), (33, 2, 1, 64), (9, 2, 2, 80)):
        width = heads * size

        def block(x, wq, wk, wv, wo, h=heads, g=groups, s=size):
            split = lambda y, n: y.view(1, -1, n, s).transpose(1, 2)
            q, k, v = (
                split(functional.linear(x, wq), h),
                split(functional.linear(x, wk), g),
                split(functional.linear(x, wv), g),
            )
            k, v = (t[:, :, None].expand(-1, -1, h // g, -1, -1).reshape(1, h, -1, s) for t in (k, v))
            p = torch.softmax(q @ k.transpose(2, 3) * s**-0.5, -1)
            return functional.linear((p @ v).transpose(1, 2).reshape(1, -1, h * s), wo)

        inner = groups * size
        weights = [d.weight(width, 65), d.weight(inner, 65), d.weight(inner, 65), d.weight(65, width)]
        yield Case(f"{length}x{heads}x{groups}x{size}", block, [d.normal(1, length, 65), *weights], whole=True)


@row(3, "#3845")
def targets_written_and_read(d):
    def written(x, y):
        t = torch.zeros_like(x)
        t.copy_(x + 1)
        return t * y, t.transpose(0, 1) + 1

    yield Case("both_ways", written, [d.normal(5, 70), d.normal(5, 70)])

    def added(x, y):
        t = x.t().clone()
        t += y
        return t, t.sum(0)

    yield Case("added_to_transpose", added, [d.normal(66, 7), d.normal(7, 66)])

    def rows_replaced(x, y):
        t = x * 1
        t[1:3] = y.t()
        return t @ y

    yield Case("rows_from_transpose", rows_replaced, [d.normal(4, 33), d.normal(33, 2)])


@row(3, "#2197")
def layouts_equal_up_to_unit_dims(d):
    yield Case("moved", lambda x, y: x.permute(1, 0, 2) + y, [d.normal(1, 9, 65), d.normal(9, 1, 65)])
    yield Case("squeezed", lambda x, y: x.squeeze(1) * y, [d.normal(9, 1, 100), d.normal(9, 100)])
    yield Case("stick_of_one", lambda x, y: x.transpose(1, 2) + y, [d.normal(3, 33, 1), d.normal(3, 1, 33)])
    yield Case("all_ones", lambda x, y: x.permute(2, 0, 1) - y, [d.normal(1, 1, 1), d.normal(1, 1, 1)])
    yield Case("five_dims", lambda x, y: x[:, None, :, None] + y, [d.normal(3, 5, 31), d.normal(3, 1, 5, 1, 31)])


@row(3, "#1659")
def transposes_of_one_value(d):
    for size in (7, 33, 65):
        yield Case(f"sum_{size}", lambda x: (x + 1).t() + (x + 1), [d.normal(size, size)])
    yield Case("product", lambda x: (x * 2).t() @ (x * 2), [d.normal(33, 70)])
    yield Case("rank3", lambda x: (x + 1).transpose(1, 2) * torch.exp(x), [d.normal(3, 31, 31)])
    yield Case("difference_chain", lambda x: ((x.t() - x).t() - x) * 2, [d.normal(66, 66, dtype=BF16)])


@row(3, "#4238")
def widened_in_an_odd_layout(d):
    def norm(x):
        y = wide(x.transpose(-1, -2))
        return cast(y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5), x.dtype)

    for shape in ((33, 70), (2, 65, 9), (128, 5), (1, 31)):
        yield Case("x".join(map(str, shape)), norm, [d.normal(*shape)])
    yield Case("sum_of_slice", lambda x: cast(wide(x[:, 33:]).sum(-1), x.dtype), [d.normal(7, 129)])
    yield Case(
        "max_of_permuted", lambda x: cast(wide(x.permute(2, 0, 1)).amax(-1), x.dtype), [d.normal(3, 5, 65, dtype=BF16)]
    )


@row(3, "#1813")
def norms_of_transposes(d):
    for rows, columns in ((33, 10), (100, 65), (5, 2)):
        name = f"{columns}x{rows}"
        layer = lambda x, n=rows: functional.layer_norm(x.t(), (n,))
        yield Case(f"layer_norm_{name}", layer, [d.normal(rows, columns)], whole=True)
        rms = lambda x, w, n=rows: functional.rms_norm(x.t(), (n,), w, 1e-5)
        yield Case(f"rms_norm_{name}", rms, [d.normal(rows, columns), d.normal(rows)], whole=True)
        yield Case(f"softmax_{name}", lambda x: torch.softmax(x.t(), -1), [d.normal(rows, columns)])
    yield Case("rank3", lambda x: functional.layer_norm(x.permute(1, 2, 0), (3,)), [d.normal(3, 7, 65)], whole=True)


@row(3, "#2308")
def two_widths_in_one_operation(d):
    for shape in ((5, 33), (3, 2, 65), (7, 1), (100,)):
        name = "x".join(map(str, shape))
        yield Case(f"add_{name}", lambda x, y: wide(x) + y, [d.normal(*shape), d.normal(*shape, dtype=F32)])
    yield Case("row", lambda x, y: y * x, [d.normal(5, 70), d.normal(70, dtype=F32)])
    yield Case("column", lambda x, y: y - x, [d.normal(5, 1), d.normal(5, 70, dtype=F32)])
    yield Case(
        "bf16", lambda x, y: cast(wide(x) * y, x.dtype), [d.normal(4, 96, dtype=BF16), d.normal(4, 96, dtype=F32)]
    )
    yield Case(
        "chosen",
        lambda c, x, y: torch.where(c, wide(x), y),
        [d.bools(3, 40), d.normal(3, 40), d.normal(3, 40, dtype=F32)],
    )


@row(3, "#1675")
def broadcasts_in_other_orders(d):
    for order in ((2, 0, 1), (1, 0, 2), (2, 1, 0), (0, 2, 1)):
        permuted = lambda x, y, o=order: (x + y).permute(o).contiguous()
        yield Case("".join(map(str, order)), permuted, [d.normal(5, 1, 65), d.normal(5, 6, 65)])
    yield Case("before", lambda x, y: x.permute(2, 1, 0) * y, [d.normal(33, 1, 4), d.normal(6, 33)])
    yield Case("outer", lambda x, y: (x[:, None] - y[None]).transpose(0, 2), [d.normal(7, 31), d.normal(3, 31)])


@row(3, "T (cost)")
def transposes_in_sums(d):
    yield Case("left", lambda a, x: a.t() + x, [d.normal(65, 33), d.normal(33, 65)])
    yield Case("all", lambda a, b: a.t() + b.t(), [d.normal(65, 33), d.normal(65, 33)])
    yield Case("row", lambda a, x: a.t() * x, [d.normal(65, 33), d.normal(65)])
    yield Case("column", lambda a, x: a.t() * x, [d.normal(65, 33), d.normal(33, 1)])
    yield Case(
        "many",
        lambda x, a, y, b: x + a.t() + y + b.t(),
        [d.normal(7, 66), d.normal(66, 7), d.normal(7, 66), d.normal(66, 7)],
    )
    yield Case("batched", lambda a, x: (a.transpose(1, 2) + x).sum(0), [d.normal(3, 31, 70), d.normal(3, 70, 31)])


# --- 4. padding and the stick tail -------------------------------------------


@row(4, "#4342")
def tails_into_products(d):
    makers = {
        "log": torch.log,
        "rsqrt": torch.rsqrt,
        "reciprocal": torch.reciprocal,
        "exp": lambda x: torch.exp(x * 4),
        "softmax": lambda x: torch.softmax(x, -1),
        "divided": lambda x: x / (x - 0.25),
        "power": lambda x: x**-2,
    }
    for number, (name, make) in enumerate(makers.items()):
        inner = (100, 33, 65, 127, 31, 70, 129)[number]
        left = lambda x, w, f=make: f(x) @ w
        yield Case(f"{name}_left_{inner}", left, [d.between(0.5, 2, 5, inner), d.weight(inner, 33)])
        right = lambda x, w, f=make: x @ f(w).t()
        yield Case(f"{name}_right_{inner}", right, [d.normal(3, inner), d.between(0.5, 2, 9, inner)])
    yield Case("rows_of_right", lambda x, w: x @ torch.log(w), [d.normal(4, 65), d.between(0.5, 2, 65, 3)])


@row(4, "#1706")
def means_over_tails(d):
    for shape, dims in (((3, 7, 9), 2), ((5, 65), 1), ((2, 33, 3), (1, 2)), ((4, 129), -1), ((70, 2), 1)):
        name = "x".join(map(str, shape))
        zeros = torch.zeros(shape, dtype=F16)
        yield Case(f"zero_{name}", lambda x, n=dims: torch.mean(x, n), [zeros])
        yield Case(f"of_cos_like_{name}", lambda x, n=dims: (1 - torch.exp(x)).mean(n), [d.normal(*shape)])
        yield Case(f"variance_{name}", lambda x, n=dims: torch.var(x, n, correction=0), [d.normal(*shape, offset=3)])
    yield Case("bf16", lambda x: (x + 1).mean(-1, keepdim=True), [d.normal(6, 100, dtype=BF16)])


@row(4, "#3248")
def attention_of_odd_lengths(d):
    for keys, queries, size in ((65, 33, 32), (127, 1, 32), (31, 9, 128), (100, 5, 80), (2, 9, 64)):
        arrays = [d.normal(1, 2, queries, size), d.normal(1, 2, keys, size), d.normal(1, 2, keys, size)]
        yield Case(f"{queries}x{keys}x{size}", functional.scaled_dot_product_attention, arrays, whole=True)
        causal = lambda q, k, v, m: functional.scaled_dot_product_attention(q, k, v, attn_mask=m)
        mask = d.bools(queries, keys, share=0.6)
        mask[:, -1] = True  # the last key sits beside the tail
        yield Case(f"masked_{queries}x{keys}x{size}", causal, [*arrays, mask], whole=True)


@row(4, "#1006")
def reductions_with_their_own_neutral(d):
    for shape in ((4, 100), (3, 1), (5, 65), (2, 3, 33)):
        name = "x".join(map(str, shape))
        yield Case(f"max_negative_{name}", lambda x: x.amax(-1), [d.between(-9, -1, *shape)])
        yield Case(f"min_positive_{name}", lambda x: x.amin(-1), [d.between(1, 9, *shape)])
        yield Case(f"sum_rows_{name}", lambda x: x.sum(0), [d.normal(*shape)])
        yield Case(f"sum_of_exp_{name}", lambda x: torch.exp(x).sum(-1), [d.normal(*shape)])
    yield Case("all_and_any", lambda x: (x.all(-1), x.any(-1)), [d.bools(9, 70, share=0.97)])
    yield Case("all_true", lambda x: x.all(-1), [torch.ones(5, 33, dtype=torch.bool)])
    yield Case("max_of_product", lambda x, w: (x @ w).amax(-1), [d.between(1, 2, 4, 33), d.between(-1, -0.5, 33, 7)])
    yield Case("logsumexp", lambda x: torch.logsumexp(x, -1), [d.normal(5, 66, offset=-8)])


@row(4, "#4013")
def f32_tails(d):
    for shape in ((3, 70), (5, 1), (2, 33), (4, 100), (3, 129)):
        name = "x".join(map(str, shape))
        yield Case(f"exp_{name}", torch.exp, [d.normal(*shape, dtype=F32)])
        yield Case(
            f"add_mul_{name}", lambda x, y: (x + y) * y, [d.normal(*shape, dtype=F32), d.normal(*shape, dtype=F32)]
        )
    yield Case("max_rows", lambda x: x.amax(0), [d.between(-9, -1, 7, 65, dtype=F32)])


@row(4, "#1502")
def products_of_odd_inner_size(d):
    for m, k, n in ((55, 2, 99), (7, 33, 65), (1, 65, 1), (33, 129, 2), (66, 63, 31), (3, 1, 70)):
        yield Case(f"{m}x{k}x{n}", torch.mm, [d.normal(m, k), d.weight(k, n)])
        yield Case(f"ones_{m}x{k}x{n}", torch.mm, [torch.ones(m, k, dtype=F16), torch.ones(k, n, dtype=F16)])
    yield Case("batched", torch.bmm, [d.normal(3, 9, 67, dtype=BF16), d.normal(3, 67, 33, dtype=BF16)])
    yield Case("linear", functional.linear, [d.normal(2, 5, 70), d.weight(33, 70), d.normal(33)], whole=True)


@row(4, "#2721")
def transposed_products_of_odd_inner_size(d):
    for k, m, n in ((67, 55, 128), (33, 7, 9), (65, 1, 33), (2, 31, 65)):
        yield Case(f"left_{k}x{m}x{n}", lambda x, y: x.t() @ y, [d.normal(k, m), d.weight(k, n)])
        yield Case(f"right_{k}x{m}x{n}", lambda x, y: x @ y.t(), [d.normal(m, k), d.weight(n, k)])
        yield Case(f"both_{k}x{m}x{n}", lambda x, y: x.t() @ y.t(), [d.normal(k, m), d.weight(n, k)])


@row(4, "#2194")
def products_of_windows(d):
    for a, k in ((0, 67), (1, 33), (33, 64), (31, 65), (64, 36)):
        yield Case(f"left_{a}_{k}", lambda x, y, s=slice(a, a + k): x[:, s] @ y, [d.normal(5, 100), d.weight(k, 31)])
        yield Case(f"right_{a}_{k}", lambda x, y, s=slice(a, a + k): x @ y[s], [d.normal(5, k), d.weight(100, 31)])
        yield Case(f"columns_{a}_{k}", lambda x, y, s=slice(a, a + k): x @ y[:, s], [d.normal(5, 9), d.weight(9, 100)])
    yield Case("rows", lambda x, y: x[8:, :67] @ y, [d.normal(21, 100), d.weight(67, 64)])


@row(4, "#2259")
def joins_with_nothing(d):
    none = torch.zeros(3, 0, dtype=F16)
    yield Case("first", lambda x, y: torch.cat((x, y), 1), [none, d.normal(3, 33)])
    yield Case("last", lambda x, y: torch.cat((y, x), 1) + 1, [none, d.normal(3, 65)])
    yield Case(
        "rows",
        lambda x, y, z: torch.cat((y, x, z), 0),
        [torch.zeros(0, 70, dtype=F16), d.normal(2, 70), d.normal(3, 70)],
    )
    yield Case("empty_slice", lambda x: torch.cat((x[:, :0], x[:, 5:]), 1), [d.normal(4, 66)])
    for one, other in ((1, 63), (33, 31), (65, 64), (31, 100)):
        join = lambda x, y: torch.cat((x, y), 1)
        yield Case(f"columns_{one}_{other}", join, [d.normal(3, one), d.normal(3, other)])
