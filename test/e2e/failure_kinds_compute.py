# failure_kinds_compute.py - What goes wrong in casts, products, reductions, division and LX
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Groups 5 to 9 of the list in test/conformance/test_known_failures.py, as failure_kinds.py
# has groups 2 to 4. Division and scratchpad planning show in the numbers only:
# the programs are such that a stale offset, a lost slice of a core or a wrong
# division changes a result.
"""Programs of reported kinds of mistakes: casts, products, reductions, division, scratchpad."""

import torch
from export import wide
from failure_kinds import BF16, F16, F32, Case, cast, row

functional = torch.nn.functional


def shapeless(*shape, dtype=F16):
    """A tensor that is never read: programs that are compiled only."""
    return torch.empty(shape, dtype=dtype, device="meta")


# --- 5. dtype conversion -----------------------------------------------------


@row(5, "#1996")
def widening(d):
    for shape in ((5, 32), (3, 33), (2, 1), (7, 96), (2, 3, 100), (31,)):
        name = "x".join(map(str, shape))
        yield Case(f"f16_{name}", wide, [d.normal(*shape)])
        yield Case(f"bf16_{name}", lambda x: wide(x) + 0, [d.normal(*shape, dtype=BF16)])
    yield Case("constant", wide, [torch.full((4, 31), 25.0, dtype=F16)])
    yield Case("of_slice", lambda x: wide(x[:, 32:64]), [d.normal(3, 65)])


@row(5, "#3604")
def narrowing_to_few_sticks(d):
    for shape in ((4, 32), (1, 4, 31), (5, 1), (3, 33), (2, 64), (1,)):
        name = "x".join(map(str, shape))
        yield Case(f"f16_{name}", lambda x: cast(x, F16), [d.normal(*shape, dtype=F32)])
        yield Case(f"bf16_{name}", lambda x: cast(x * 2, BF16), [d.normal(*shape, dtype=F32)])
    yield Case("of_sum", lambda x: cast(x.sum(-1, keepdim=True), F16), [d.normal(6, 33, dtype=F32)])


@row(5, "#3999")
def odd_numbers_of_wide_sticks(d):
    for columns in (1, 33, 65, 96, 130, 160, 225):
        there_and_back = lambda x: cast(wide(x) * 1.5, x.dtype)
        yield Case(f"f16_{columns}", there_and_back, [d.normal(3, columns)])
        yield Case(f"bf16_{columns}", there_and_back, [d.normal(2, 2, columns, dtype=BF16)])
    two = lambda x, y: cast(wide(x) + wide(y), x.dtype) * x
    yield Case("two_operands", two, [d.normal(5, 97), d.normal(5, 97)])
    yield Case("exp_between", lambda x: cast(torch.exp(wide(x)), x.dtype) + x, [d.normal(4, 35)])


@row(5, "#2341")
def narrowing(d):
    for shape in ((2, 65), (257,), (1, 5, 129), (33, 2)):
        name = "x".join(map(str, shape))
        yield Case(f"bf16_{name}", lambda x: cast(x, BF16), [d.normal(*shape, dtype=F32)])
        yield Case(f"f16_{name}", lambda x: cast(x, F16), [d.normal(*shape, dtype=F32)])
    yield Case("between_16_bit", lambda x: cast(x, BF16) * 2, [d.normal(5, 33)])
    yield Case("both", lambda x: (cast(x, F16), cast(x, BF16)), [d.normal(3, 70, dtype=F32)])


@row(5, "#2507")
def largest_numbers(d):
    # What every 16-bit format here holds: powers of two with nine fraction bits.
    edges = torch.tensor([65472.0, -65472.0, 2.0**-14, -(2.0**-14), 0.0, -0.0, 1.0], dtype=F16)
    yield Case("copied", lambda x: x.clone(), [edges])
    yield Case("chosen", lambda x, c: torch.where(c, x, -x), [edges, d.bools(7)])
    yield Case("joined", lambda x, y: torch.cat((x, y)), [edges, d.normal(60)])
    yield Case("transposed", lambda x: x.t().contiguous(), [edges.repeat(5, 1).contiguous()])
    yield Case("clamped", lambda x: x.clamp(-65472.0, 65472.0), [edges])


@row(5, "#2130")
def integers_beyond_f32(d):
    near = torch.tensor([[16777215, 16777216, 16777217, -16777217, 3]], dtype=torch.int64)
    yield Case("add_one", lambda x: x + 1, [near], expect="value-or-named-refusal")
    yield Case("difference", lambda x, y: x - y, [near, near - 2], expect="value-or-named-refusal")
    yield Case("equal", lambda x, y: x == y, [near, near + 1], expect="value-or-named-refusal")
    i32 = near.to(torch.int32)
    yield Case("i32_double", lambda x: x + x, [i32], expect="value-or-named-refusal")
    yield Case(
        "small",
        lambda x, y: x * y + 3,
        [d.integers(-90, 90, 3, 33), d.integers(-90, 90, 33)],
        expect="value-or-named-refusal",
    )
    yield Case(
        "chosen", lambda c, x, y: torch.where(c, x, y), [d.bools(1, 5), near, near - 1], expect="value-or-named-refusal"
    )


# --- 6. products -------------------------------------------------------------


@row(6, "#4206")
def products_with_a_side_of_one(d):
    for m, k, n in ((33, 65, 1), (1, 100, 33), (1, 33, 1), (7, 1, 1), (1, 1, 65), (1, 1, 1)):
        yield Case(f"mm_{m}x{k}x{n}", torch.mm, [d.normal(m, k), d.weight(k, n)])
        yield Case(f"bmm_{m}x{k}x{n}", torch.bmm, [d.normal(3, m, k), d.weight(3, k, n)])
    yield Case("experts", lambda x, w: x.unsqueeze(0) @ w, [d.normal(9, 33), d.weight(4, 33, 65)])
    yield Case("mv", torch.mv, [d.normal(33, 65), d.weight(65)])
    yield Case("dot", torch.dot, [d.normal(100), d.weight(100)])
    yield Case("one_expert", torch.matmul, [d.normal(1, 5, 65), d.weight(1, 65, 33)])


@row(6, "#1194")
def products_of_inner_size_one(d):
    for b, m, n in ((1, 33, 12), (3, 65, 1), (2, 1, 100), (4, 7, 129)):
        yield Case(f"bmm_{b}x{m}x{n}", torch.bmm, [d.normal(b, m, 1), d.normal(b, 1, n)])
    yield Case("outer", torch.outer, [d.normal(33), d.normal(70)])
    yield Case("not_square", lambda x, y: (x @ y) - (y.t() @ x.t()).t() * 2, [d.normal(9, 1), d.normal(1, 65)])


@row(6, "#2588")
def operands_shared_or_not(d):
    for b in (1, 2, 3):
        yield Case(
            f"expanded_{b}", lambda x, y, n=b: x @ y.expand(n, 65, 31), [d.normal(b, 5, 65), d.weight(1, 65, 31)]
        )
        yield Case(f"own_{b}", torch.bmm, [d.normal(b, 5, 33), d.weight(b, 33, 65)])
    yield Case("two_batches", torch.matmul, [d.normal(2, 3, 5, 33), d.weight(3, 33, 7)])
    yield Case("shared_left", lambda x, y: x.expand(4, 5, 33) @ y, [d.normal(1, 5, 33), d.weight(4, 33, 65)])
    yield Case(
        "plain_and_shared", lambda x, w, y: (x @ w, x @ y), [d.normal(2, 5, 33), d.weight(33, 9), d.weight(2, 33, 9)]
    )


@row(6, "#1793")
def tall_and_skinny_products(d):
    for b, m, k, n in ((3, 500, 2, 3), (1, 1025, 3, 2), (2, 257, 1, 5), (1, 401, 5, 9)):
        yield Case(f"{b}x{m}x{k}x{n}", torch.bmm, [d.normal(b, m, k), d.normal(b, k, n)])
    yield Case("wide", torch.mm, [d.normal(2, 3), d.normal(3, 1001)])
    yield Case("deep", torch.mm, [d.normal(2, 1500), d.normal(1500, 3, scale=0.03)])


@row(6, "#1247")
def products_of_distinct_sizes(d):
    for m, k, n in ((31, 200, 33), (129, 33, 9), (65, 257, 2)):
        yield Case(f"{m}x{k}x{n}", torch.mm, [d.normal(m, k), d.weight(k, n)])
    yield Case("rank4", torch.matmul, [d.normal(2, 3, 5, 65), d.weight(2, 3, 65, 7)])
    yield Case("rank5", torch.matmul, [d.normal(2, 1, 3, 5, 33), d.weight(2, 3, 33, 7)])


@row(6, "T lx")
def written_as_einsum(d):
    for text, one, other in (
        ("mk,kn->nm", (33, 65), (65, 9)),
        ("bik,bjk->bij", (3, 7, 65), (3, 9, 65)),
        ("bhqd,bkhd->bhqk", (2, 3, 5, 33), (2, 7, 3, 33)),
        ("abc,cd->adb", (3, 7, 31), (31, 9)),
        ("i,j->ij", (33,), (65,)),
        ("ij,ij->i", (9, 70), (9, 70)),
    ):
        name = text.replace(",", "_").replace("->", "_to_")
        yield Case(name, lambda x, y, t=text: torch.einsum(t, x, y), [d.normal(*one), d.normal(*other, scale=0.2)])
    tiled = lambda x, y: x.repeat(2, 1) @ y.repeat(1, 2)
    yield Case("tiled", tiled, [d.normal(5, 65), d.weight(65, 33)])
    narrowed = lambda x, y: cast(x, F16) @ cast(y, F16)
    yield Case("cast_down", narrowed, [d.normal(7, 33, dtype=F32), d.normal(33, 65, dtype=F32, scale=0.2)])


# --- 7. reductions and norms -------------------------------------------------


@row(7, "#1707")
def sums_over_everything(d):
    for shape in ((2, 3, 2, 5, 33), (2, 1, 3, 65), (1, 1, 1, 1, 7), (3, 2, 2, 2, 2, 9), (5, 129), (257,)):
        name = "x".join(map(str, shape))
        yield Case(f"sum_{name}", lambda x: x.sum(), [d.normal(*shape)])
        yield Case(f"mean_{name}", lambda x: x.mean(), [d.normal(*shape, offset=1)])
        yield Case(f"max_{name}", lambda x: x.amax(), [d.between(-9, -1, *shape)])
    yield Case("some", lambda x: x.sum((0, 2, 4)), [d.normal(2, 3, 5, 7, 33)])
    yield Case("others", lambda x: x.mean((1, 3)), [d.normal(2, 3, 5, 7, 33)])


@row(7, "#141")
def sums_of_many_rows(d):
    for rows, columns in ((130, 70), (257, 65), (65, 200), (1025, 3), (100, 64)):
        yield Case(f"sum_{rows}x{columns}", lambda x: x.sum(1), [d.numbered(rows, columns) * 2**-6])
        yield Case(f"max_{rows}x{columns}", lambda x: x.amax(1), [d.normal(rows, columns)])
    yield Case("columns", lambda x: x.sum(0), [d.normal(200, 65)])
    yield Case("mean_rank3", lambda x: x.mean(2), [d.normal(3, 67, 65, offset=1)])


# --- 8. work division --------------------------------------------------------


@row(8, "#3417")
def divisions_of_many_rows(d):
    for rows, columns in ((2700, 3), (1009, 5), (131, 33)):
        yield Case(f"{rows}x{columns}", lambda x: x / 16, [d.normal(rows, columns)])
    yield Case("huge", lambda x: x / 16, [shapeless(270001, 16384, dtype=BF16)], expect="compile-only")
    yield Case("huge_rank3", lambda x: x * 2, [shapeless(31, 65521, 4096)], expect="compile-only")


@row(8, "#1379")
def vocabulary_projections(d):
    for rows in (1009, 1537):
        yield Case(f"{rows}", functional.linear, [d.normal(1, 1, 9), d.weight(rows, 9)], whole=True)
    for rows, width in ((49155, 4096), (131071, 5120), (262144, 3840)):
        inputs = [shapeless(1, 1, width), shapeless(rows, width)]
        yield Case(f"{rows}x{width}", functional.linear, inputs, expect="compile-only")


@row(8, "#3339")
def few_sticks_for_many_cores(d):
    for shape in ((65,), (3, 67), (1, 130), (7, 193), (2, 2, 70), (1,)):
        name = "x".join(map(str, shape))
        yield Case(f"add_{name}", lambda x, y: x + y, [d.normal(*shape), d.normal(*shape)])
        yield Case(f"chain_{name}", lambda x: torch.exp(x) * x - 1, [d.normal(*shape, dtype=BF16)])


@row(8, "#555")
def divisions_that_not_all_operands_share(d):
    for b, m, k, n in ((4, 9, 33, 130), (6, 1, 9, 257), (3, 33, 64, 31)):
        biased = lambda x, y, c: torch.bmm(x, y) + c
        yield Case(f"row_{b}x{m}x{k}x{n}", biased, [d.normal(b, m, k), d.weight(b, k, n), d.normal(n)])
        yield Case(f"column_{b}x{m}x{k}x{n}", biased, [d.normal(b, m, k), d.weight(b, k, n), d.normal(b, m, 1)])
    yield Case("outer_sum", lambda x, y: x[:, None] + y[None, :], [d.normal(33, 31), d.normal(9, 31)])


@row(8, "#4090")
def padded_copies_divided(d):
    for shape in ((70, 66), (2, 65, 33), (257, 3), (9, 200)):
        name = "x".join(map(str, shape))
        yield Case(f"copy_{name}", lambda x: x.transpose(-1, -2).contiguous(), [d.normal(*shape)])
        yield Case(f"double_{name}", lambda x: x.transpose(-1, -2) * 2 + 1, [d.normal(*shape)])
    yield Case("reduced", lambda x: x.t().amax(-1), [d.normal(70, 131)])


@row(8, "#2829")
def decode_projections(d):
    for rows in (1, 2, 3):
        yield Case(f"{rows}", functional.linear, [d.normal(1, rows, 100), d.weight(225, 100)], whole=True)
        product = lambda x, g, u: functional.silu(functional.linear(x, g)) * functional.linear(x, u)
        gates = [d.weight(130, 65), d.weight(130, 65)]
        yield Case(f"gated_{rows}", product, [d.normal(rows, 65), *gates], whole=True)
    yield Case("full_size", functional.linear, [shapeless(1, 1, 4096), shapeless(25599, 4096)], expect="compile-only")


@row(8, "T hints")
def products_that_hints_would_divide(d):
    for m, k, n in ((64, 160, 32), (96, 33, 65), (31, 257, 33)):
        yield Case(f"{m}x{k}x{n}", torch.mm, [d.normal(m, k), d.weight(k, n)])


# --- 9. scratchpad -----------------------------------------------------------


@row(9, "#2062")
def producers_and_consumers_in_lx(d):
    yield Case("transpose_sum", lambda x: (x.transpose(1, 2) * 2).sum(-1), [d.normal(3, 65, 70)])
    yield Case("transpose_max_first", lambda x: torch.exp(x.transpose(0, 1)).amax(0), [d.normal(33, 65)])
    yield Case("expand_sum", lambda x, y: (x.expand(4, 9, 65) * y).sum(1), [d.normal(4, 1, 65), d.normal(9, 65)])
    yield Case(
        "product_sum_both", lambda x, w: ((x @ w).sum(-1), (x @ w).sum(-2)), [d.normal(3, 33, 65), d.weight(65, 70)]
    )
    yield Case(
        "permuted_product",
        lambda x, w: (x.permute(1, 0, 2) @ w).permute(1, 2, 0) + 1,
        [d.normal(5, 3, 33), d.weight(33, 65)],
    )
    conv = lambda x, w: functional.conv2d(x, w).sum((2, 3))
    filters = d.normal(5, 3, 3, 3, scale=0.2)
    yield Case("conv_sum", conv, [d.normal(1, 3, 9, 9), filters], expect="value-or-named-refusal")


@row(9, "#2688")
def slices_of_values_in_lx(d):
    for start, width in ((32, 64), (1, 33), (65, 31), (64, 64)):
        window = slice(start, start + width)

        def sliced_sum(x, s=window):
            t = (x * 2)[..., s].sum(-1, keepdim=True)
            return t + t

        yield Case(f"sum_{start}_{width}", sliced_sum, [d.normal(3, 5, 129)])
        yield Case(
            f"add_{start}_{width}", lambda x, y, s=window: (x + y)[:, s] * y[:, s], [d.normal(9, 129), d.normal(9, 129)]
        )
    yield Case("rows", lambda x: torch.exp(x)[5:9] + (x + 1)[1:5], [d.numbered(12, 65) * 2**-4])
    yield Case("two_of_one", lambda x: (x * 2)[:, :33] - (x * 2)[:, 33:], [d.normal(7, 66)])


@row(9, "#2005")
def more_values_than_lx_holds(d):
    def chain(x, y):
        values = [x * (i + 1) + y for i in range(12)]
        total = values[0]
        for value in values[1:]:
            total = torch.maximum(total, value) - value * 0.125
        return total

    yield Case("many_live", chain, [d.normal(66, 65), d.normal(66, 65)])
    yield Case("softmax", lambda x: torch.softmax(x, 0), [shapeless(32768, 8192)], expect="compile-only")
    yield Case("norm", lambda x: functional.layer_norm(x, (65536,)), [shapeless(64, 65536)], expect="compile-only")
    yield Case(
        "mlp",
        lambda x, w, v: torch.relu(x @ w) @ v,
        [shapeless(8192, 8192), shapeless(8192, 28672), shapeless(28672, 8192)],
        expect="compile-only",
    )


@row(9, "#2298")
def divisions_that_do_not_meet(d):
    for m, k, n in ((65, 33, 2), (3, 65, 130), (66, 64, 31)):
        yield Case(f"relu_{m}x{k}x{n}", lambda x, w: torch.relu(x @ w), [d.normal(m, k), d.weight(k, n)])
        two = lambda x, w: (torch.relu(x @ w) @ w.t()) + x
        yield Case(f"again_{m}x{k}x{n}", two, [d.normal(m, k), d.weight(k, n)])
        yield Case(f"softmax_{m}x{k}x{n}", lambda x, w: torch.softmax(x @ w, -1), [d.normal(m, k), d.weight(k, n)])
    yield Case("transposed", lambda x, w: torch.relu(x @ w).t() + 1, [d.normal(70, 33), d.weight(33, 65)])


@row(9, "#2385")
def values_with_many_users(d):
    def product_users(x, w):
        t = x @ w
        return torch.exp(t) + t.sum(-1, keepdim=True), t.t() @ x

    yield Case("product", product_users, [d.normal(33, 65), d.weight(65, 9)])

    def sum_users(x, y):
        t = x + y
        return t * 2, t[:, 5:38], t.sum(0), t @ y.t()

    yield Case("sum", sum_users, [d.normal(9, 70), d.normal(9, 70)])

    def norm_users(x, w, v):
        n = functional.layer_norm(x, (65,))
        return functional.linear(n, w) * functional.linear(n, v) + x.sum()

    yield Case("norm", norm_users, [d.normal(7, 65), d.weight(33, 65), d.weight(33, 65)], whole=True)


@row(9, "#2415")
def norms_in_lx(d):
    for rows, columns in ((34, 128), (3, 257), (65, 33)):
        weights = [d.normal(columns, scale=0.25, offset=1), d.normal(columns)]
        norm = lambda x, w, b, n=columns: functional.layer_norm(x, (n,), w, b)
        yield Case(f"{rows}x{columns}", norm, [d.normal(rows, columns), *weights], whole=True)
        twice = lambda x, w, b, n=columns: functional.layer_norm(functional.layer_norm(x + 1, (n,), w, b) + x, (n,), w)
        yield Case(f"twice_{rows}x{columns}", twice, [d.normal(rows, columns), *weights], whole=True)
    between = lambda x, w: functional.layer_norm(torch.exp(x) @ w, (33,))
    yield Case("of_product", between, [d.normal(9, 65), d.weight(65, 33)], whole=True)
