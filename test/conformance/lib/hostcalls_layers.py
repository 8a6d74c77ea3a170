# hostcalls_layers.py - Calls of operations that networks' layers are
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Contractions, windows, norms and other sizes, and what PyTorch refuses; see hostcalls.py.
"""Samples for test_host.py."""

import itertools

import torch

from .hostcalls import ANY, COMPLEX, DOUBLE, FLOATS, INF, NAN, REAL, SINGLE, calls, refuses


def first_close(i, wanted, got):
    """Factors depend on the order in which rows are taken."""
    if not wanted.dtype.is_floating_point and not wanted.dtype.is_complex:
        return
    if i == 0 or got.shape == wanted.shape and wanted.dim() < 2:
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-4)


# --- contractions ------------------------------------------------------------

NUMBERS = REAL + COMPLEX
calls(
    "aten.mm",
    NUMBERS,
    lambda t: (t(3, 4), t(4, 5)),
    lambda t: (t(3, 0), t(0, 5)),
    lambda t: (t(17, 33), t(33, 5)),
    tolerance=4,
)
calls("aten._int_mm", [torch.int8], lambda t: (t(32, 16), t(16, 8)))
calls("aten.bmm", NUMBERS, lambda t: (t(2, 3, 4), t(2, 4, 5)), tolerance=4)
calls("aten.mv", NUMBERS, lambda t: (t(3, 4), t(4)), tolerance=4)
calls("aten.dot", NUMBERS, lambda t: (t(4), t(4)), tolerance=4)
calls(
    "aten.matmul",
    NUMBERS,
    *[
        lambda t, a=a, b=b: (t(*a), t(*b))
        for a, b in (((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4, 5)))
    ],
    tolerance=4,
)
calls(
    "aten.linear",
    FLOATS,
    lambda t: (t(2, 3, 4), t(5, 4)),
    lambda t: (t(3, 4), t(5, 4), t(5)),
    lambda t: (t(4), t(5, 4), t(5)),
    tolerance=4,
)
calls("aten.outer aten.ger", ANY, lambda t: (t(3), t(4)))
calls(
    "aten.addmm",
    NUMBERS,
    lambda t: (t(5), t(3, 4), t(4, 5)),
    lambda t: (t(3, 5), t(3, 4), t(4, 5), {"beta": 2, "alpha": 3}),
    tolerance=8,
)
calls(
    "aten.addmm",
    FLOATS,
    lambda t: (t(3, 1), t(3, 4), t(4, 5), {"beta": 0.5, "alpha": 0.3}),
    lambda t: (t(3, 5) * NAN, t(3, 4), t(4, 5), {"beta": 0}),
    tolerance=8,
)
calls("aten.baddbmm", NUMBERS, lambda t: (t(2, 3, 5), t(2, 3, 4), t(2, 4, 5), {"beta": 2, "alpha": 3}), tolerance=8)
calls("aten.addbmm", NUMBERS, lambda t: (t(3, 5), t(2, 3, 4), t(2, 4, 5), {"beta": 2, "alpha": 3}), tolerance=16)
calls(
    "aten.addmv",
    NUMBERS,
    lambda t: (t(3), t(3, 4), t(4)),
    lambda t: (t(3), t(3, 4), t(4), {"beta": 2, "alpha": 3}),
    tolerance=8,
)
calls(
    "aten._scaled_mm",
    [torch.float8_e4m3fn],
    lambda t: (t(16, 32), t(16, 32).t(), torch.tensor(0.5), torch.tensor(2.0), {"out_dtype": torch.bfloat16}),
    tolerance=2,
)


def convolutions(t):
    yield (t(2, 3, 9), t(4, 3, 3), t(4), [1], [0], [1], False, [0], 1)
    yield (t(2, 4, 7, 8), t(6, 2, 3, 2), None, [2, 1], [1, 2], [1, 2], False, [0, 0], 2)
    yield (t(3, 7, 8), t(2, 3, 3, 3), t(2), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    yield (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), None, [1, 2, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1)
    yield (t(2, 4, 5), t(4, 3, 3), t(3), [2], [1], [1], True, [1], 1)
    yield (t(2, 4, 5, 4), t(4, 2, 3, 2), t(4), [2, 3], [1, 0], [2, 1], True, [1, 0], 2)
    yield (t(1, 2, 3, 3, 3), t(2, 2, 2, 2, 2), None, [1, 2, 1], [0, 0, 1], [1, 1, 1], True, [0, 1, 0], 1)


calls("aten.convolution", FLOATS, lambda t: list(convolutions(t)), tolerance=8)
calls("aten._convolution", [SINGLE], lambda t: [(*a, False, False, True, True) for a in convolutions(t)], tolerance=8)
calls("aten.conv1d", FLOATS, lambda t: (t(2, 4, 9), t(6, 2, 3), t(6), [2], [1], [2], 2), tolerance=8)
calls("aten.conv2d", FLOATS, lambda t: (t(2, 4, 9, 7), t(6, 2, 3, 3), t(6), [2, 1], [1, 0], [2, 1], 2), tolerance=8)
calls("aten.conv3d", [SINGLE], lambda t: (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), t(3)), tolerance=8)
calls("aten.conv1d.padding", [SINGLE], lambda t: (t(2, 4, 9), t(6, 4, 3), None, [1], "valid"), tolerance=8)
calls("aten.conv2d.padding", [SINGLE], lambda t: (t(2, 4, 9, 7), t(6, 4, 3, 2), None, [1, 1], "valid"), tolerance=8)
calls(
    "aten.conv3d.padding",
    [SINGLE],
    lambda t: (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), None, [1, 1, 1], "valid"),
    tolerance=8,
)
calls("aten.conv_transpose1d", FLOATS, lambda t: (t(2, 4, 5), t(4, 3, 3), t(6), [2], [1], [1], 2, [2]), tolerance=8)
calls(
    "aten.conv_transpose2d.input",
    FLOATS,
    lambda t: (t(2, 4, 5, 4), t(4, 3, 3, 2), t(3), [2, 2], [1, 0], [1, 0]),
    tolerance=8,
)
calls("aten.conv_transpose3d.input", [SINGLE], lambda t: (t(1, 2, 3, 3, 3), t(2, 2, 2, 2, 2)), tolerance=8)
calls("aten.conv_tbc", FLOATS, lambda t: (t(7, 2, 3), t(3, 3, 4), t(4), 1), tolerance=8)
calls(
    "aten.im2col",
    FLOATS,
    lambda t: (t(2, 3, 7, 8), [3, 2], [1, 2], [1, 0], [2, 1]),
    lambda t: (t(3, 5, 5), [2, 2], [1, 1], [0, 0], [1, 1]),
)
calls("aten.col2im", FLOATS, lambda t: (t(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]), tolerance=2)

calls("aten._trilinear", [SINGLE, DOUBLE], lambda t: (t(2, 3), t(2, 3, 4), t(2, 4), [2], [], [1], [1, 2]), tolerance=4)
Q_K_V = [
    ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)),
    ((5, 4), (6, 4), (6, 4)),
    ((2, 6, 5, 4), (2, 6, 5, 4), (2, 6, 5, 3)),
]
calls(
    "aten.scaled_dot_product_attention",
    FLOATS,
    lambda t: [tuple(t(*s) for s in shapes) for shapes in Q_K_V],
    tolerance=4,
)
calls(
    "aten.scaled_dot_product_attention",
    FLOATS,
    lambda t: (t(2, 3, 5, 4), t(2, 3, 5, 4), t(2, 3, 5, 4), None, 0.0, True),
    lambda t: (t(2, 3, 5, 4), t(2, 3, 6, 4), t(2, 3, 6, 4), t.mask(5, 6), 0.0, False, {"scale": 0.3}),
    lambda t: (t(2, 3, 5, 4), t(2, 3, 6, 4), t(2, 3, 6, 4), t(2, 1, 5, 6)),
    lambda t: (t(2, 6, 5, 4), t(2, 2, 6, 4), t(2, 2, 6, 4), None, 0.0, False, {"enable_gqa": True}),
    tolerance=4,
)

SQUARE = [lambda t: t(3, 3), lambda t: t(2, 4, 4), lambda t: t(0, 0)]
WIDE = [SINGLE, DOUBLE] + COMPLEX
calls("aten._linalg_det aten.linalg_det aten.det", WIDE, *SQUARE, tolerance=20, check=first_close)
calls("aten._linalg_slogdet aten.linalg_slogdet aten.slogdet", WIDE, *SQUARE, tolerance=20, check=first_close)
NORMS = [lambda t, o=o: (t(2, 3, 4), o, [0, 2]) for o in (1, -1, INF, -INF)]
VECTOR_NORMS = [lambda t, o=o: (t(2, 3, 4), o, [1], True) for o in (2, 1, 0, INF)]
calls("aten.linalg_norm", WIDE, *NORMS, *VECTOR_NORMS, lambda t: t(3, 4), lambda t: (t(3, 4), 1), lambda t: (t(5), 3))
calls("aten.linalg_norm.ord_str", WIDE, lambda t: (t(3, 4), "fro", None, True), lambda t: (t(2, 3, 4), "fro", [0, 1]))
LENGTHS = [lambda t, n=n: t(3, n) for n in (1, 8, 7, 30, 49)]
calls("aten.fft_fft aten.fft_ifft", WIDE, *LENGTHS, lambda t: (t(5, 6), 9, 0, "ortho"), tolerance=10)
calls("aten.fft_rfft", [SINGLE, DOUBLE], *LENGTHS, lambda t: (t(5, 6), 4, -2, "forward"), tolerance=10)
calls(
    "aten.stft",
    [SINGLE, DOUBLE],
    lambda t: (t(40), 8, None, None, None, False, True, True),
    lambda t: (t(2, 40), 9, 3, 6, t(6), True, False, True),
    lambda t: (t(2, 40), 9, 3, 6, t(6), True, True, False),
    tolerance=20,
)

# --- windows -----------------------------------------------------------------


def pools(rank):
    shape = (5, 7, 6)[:rank]

    def make(t):
        yield (t(2, 3, *shape), [2] * rank)
        yield (t(3, *shape), [3] * rank, [2] * rank, [1] * rank)
        yield (t(2, 3, *shape), [3, 2, 3][:rank], [2, 1, 2][:rank], [1, 0, 1][:rank])

    return make


for rank in (1, 2, 3):
    make = pools(rank)
    extras = [(), ([2] * rank, True), ([1] * rank, True)]
    names = f"aten.max_pool{rank}d" + (f" aten.max_pool{rank}d_with_indices" if rank > 1 else "")
    calls(
        names,
        FLOATS,
        lambda t, m=make, e=extras: [(*a, *x) if len(a) == 4 else a for a in m(t) for x in e],
        special=True,
    )
    more = [(), (True,), (True, False)] + ([(False, True, 3)] if rank > 1 else [])
    calls(
        f"aten.avg_pool{rank}d",
        FLOATS,
        lambda t, m=make, e=more: [(*a, *x) if len(a) == 4 else a for a in m(t) for x in e],
    )
    outputs = [[3, 4, 2][:rank], [1] * rank, [7] * rank]
    calls(
        f"aten.adaptive_avg_pool{rank}d", FLOATS, lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o]
    )
    if rank > 1:
        calls(
            f"aten._adaptive_avg_pool{rank}d",
            FLOATS,
            lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o],
        )
    calls(
        f"aten.adaptive_max_pool{rank}d",
        FLOATS,
        lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o],
        special=True,
    )
calls("aten.max_pool1d_with_indices", FLOATS, lambda t: (t(2, 3, 9), [3], [2], [1], [2], True), special=True)

calls(
    "aten.max_pool2d_with_indices_backward",
    FLOATS,
    lambda t: (t(2, 2, 3), t(2, 4, 6), [2, 2], [2, 2], [0, 0], [1, 1], False, t.index(2, 2, 3, below=24)),
    tolerance=2,
)
calls(
    "aten.max_pool3d_with_indices_backward",
    [SINGLE, DOUBLE],
    lambda t: (t(2, 2, 2, 2), t(2, 4, 4, 4), [2] * 3, [2] * 3, [0] * 3, [1] * 3, False, t.index(2, 2, 2, 2, below=64)),
)

# --- norms -------------------------------------------------------------------

calls(
    "aten._softmax aten._log_softmax",
    FLOATS,
    *[lambda t, d=d: (t(3, 4), d, False) for d in (0, -1)],
    lambda t: (t(), 0, False),
    special=True,
)
calls(
    "aten.softmax.int aten.log_softmax.int aten._safe_softmax",
    FLOATS,
    lambda t: (t(3, 4), 1),
    lambda t: (t(3, 4), -1, SINGLE),
    special=True,
)
calls("aten._safe_softmax", [SINGLE], lambda t: (torch.full((2, 3), -INF), 1))
for name, tail in (("aten.native_layer_norm", ()), ("aten.layer_norm", (False,))):
    calls(
        name,
        FLOATS,
        lambda t, e=tail: (t(2, 3, 4), [4], t(4), t(4), 1e-5, *e),
        lambda t, e=tail: (t(2, 3, 4), [3, 4], None, None, 0.1, *e),
        tolerance=2,
    )
calls("aten.rms_norm", FLOATS, lambda t: (t(2, 3, 4), [4], t(4), 1e-5), lambda t: (t(2, 3, 4), [3, 4]), tolerance=2)
calls("aten._fused_rms_norm", [SINGLE, DOUBLE], lambda t: (t(2, 3, 4), [4], t(4), 1e-5), tolerance=2)
calls(
    "aten.native_group_norm",
    FLOATS,
    lambda t: (t(2, 6, 4), t(6), t(6), 2, 6, 4, 3, 1e-5),
    lambda t: (t(2, 6, 4), None, None, 2, 6, 4, 2, 1e-5),
    tolerance=2,
)
calls("aten.group_norm", FLOATS, lambda t: (t(2, 6, 4, 3), 3, t(6), t(6), 1e-5, False), tolerance=2)
BATCH = [lambda t, n=n: (t(2, 3, 4), t(3), t(3), t(3), t(3).abs(), n, 0.1, 1e-5) for n in (False, True)]
calls(
    "aten.native_batch_norm",
    FLOATS,
    *BATCH,
    lambda t: (t(5, 3), None, None, t(3), t(3).abs(), False, 0.1, 1e-3),
    tolerance=2,
)
calls("aten._native_batch_norm_legit", FLOATS, *BATCH, tolerance=2)
calls("aten.batch_norm", FLOATS, *[lambda t, b=b: (*b(t), False) for b in BATCH], tolerance=2)
calls(
    "aten._native_batch_norm_legit_no_training",
    FLOATS,
    lambda t: (t(2, 3, 4), t(3), t(3), t(3), t(3).abs(), 0.1, 1e-5),
    tolerance=2,
)
calls(
    "aten._native_batch_norm_legit.no_stats", FLOATS, lambda t: (t(2, 3, 4), t(3), t(3), True, 0.1, 1e-5), tolerance=2
)

# --- other sizes -------------------------------------------------------------

SIZES = {1: (5,), 2: (5, 4), 3: (3, 4, 5)}
for rank, kind in itertools.product((1, 2, 3), ("nearest", "nearest_exact")):
    prefix = "aten._upsample_nearest_exact" if kind == "nearest_exact" else "aten.upsample_nearest"
    sizes = [[7, 9, 4][:rank], [2, 3, 8][:rank]]
    calls(f"{prefix}{rank}d", FLOATS, lambda t, r=rank, s=sizes: [(t(2, 3, *SIZES[r]), x) for x in s])
    if kind == "nearest":
        calls(
            f"{prefix}{rank}d.vec",
            FLOATS,
            lambda t, r=rank: (
                [(t(2, 3, *SIZES[r]), None, [f] * r) for f in (2.0, 1.5, 0.5)]
                + [(t(2, 3, *SIZES[r]), [7, 9, 4][:r], None)]
            ),
        )
for name, rank in (("linear1d", 1), ("bilinear2d", 2), ("trilinear3d", 3), ("bicubic2d", 2)):
    sizes = [[7, 9, 4][:rank], [2, 3, 8][:rank], [1] * rank]
    calls(
        f"aten.upsample_{name}",
        FLOATS,
        lambda t, r=rank, s=sizes: [(t(2, 3, *SIZES[r]), x, a) for x in s for a in (False, True)],
        tolerance=6,
    )
    calls(
        f"aten.upsample_{name}.vec",
        FLOATS,
        lambda t, r=rank: [(t(2, 3, *SIZES[r]), None, a, [f] * r) for f in (2.0, 1.5, 0.5) for a in (False, True)],
        tolerance=6,
    )
for rank in (1, 2, 3):
    calls(
        f"aten.upsample_nearest{rank}d_backward",
        FLOATS,
        lambda t, r=rank: [(t(2, 3, *[7, 9, 4][:r]), [7, 9, 4][:r], [2, 3, *[3, 4, 4][:r]])],
        lambda t, r=rank: [(t(2, 3, *[6] * r), [6] * r, [2, 3] + [3] * r, *[2.0] * r)],
        tolerance=4,
    )
calls(
    "aten.grid_sampler_2d aten.grid_sampler",
    [SINGLE, DOUBLE],
    lambda t: [
        (t(2, 3, 5, 4), t(2, 3, 6, 2, scale=0.8), m, p, a) for m in (0, 1, 2) for p in (0, 1, 2) for a in (False, True)
    ],
    tolerance=30,
)

# --- what PyTorch refuses ----------------------------------------------------

VECTOR = [(SINGLE, (3,))]
NUMBER = [(SINGLE, ())]
refuses("aten.amax", (lambda t: (t(0, 3), [0]), VECTOR), (lambda t: (t(3), [4]), NUMBER))
refuses("aten.max", (lambda t: t(0), NUMBER))
refuses("aten.argmax", (lambda t: t(0), [(torch.int64, ())]))
refuses("aten.max.dim", (lambda t: (t(3, 0), 1), [*VECTOR, (torch.int64, (3,))]))
refuses(
    "aten.index.Tensor",
    (lambda t: (t(3), [torch.tensor([3])]), [(SINGLE, (1,))]),
    (lambda t: (t(3), [torch.tensor([-4])]), [(SINGLE, (1,))]),
    (lambda t: (t(3), [torch.tensor([0]), torch.tensor([0])]), [(SINGLE, (1,))]),
)
refuses(
    "aten.index_select",
    (lambda t: (t(3), 0, torch.tensor([3])), [(SINGLE, (1,))]),
    (lambda t: (t(3), 0, torch.tensor([-1])), [(SINGLE, (1,))]),
)
refuses(
    "aten.gather",
    (lambda t: (t(3), 0, torch.tensor([3])), [(SINGLE, (1,))]),
    (lambda t: (t(3, 3), 0, torch.tensor([1])), [(SINGLE, (1,))]),
)
refuses(
    "aten.scatter.src",
    (lambda t: (t(3), 0, torch.tensor([3]), t(1)), VECTOR),
    (lambda t: (t(3), 0, torch.tensor([0, 1]), t(1)), VECTOR),
)
refuses("aten.embedding", (lambda t: (t(3, 2), torch.tensor([3])), [(SINGLE, (1, 2))]))
refuses("aten.take", (lambda t: (t(3), torch.tensor([5])), [(SINGLE, (1,))]))
refuses("aten.mm", (lambda t: (t(3, 4), t(3, 4)), [(SINGLE, (3, 4))]), (lambda t: (t(3), t(3)), NUMBER))
refuses("aten.add.Tensor", (lambda t: (t(3), t(4)), VECTOR))
refuses(
    "aten.convolution",
    (lambda t: (t(1, 3, 4), t(2, 2, 2), None, [1], [0], [1], False, [0], 1), [(SINGLE, (1, 2, 3))]),
    (lambda t: (t(1, 2, 1), t(2, 2, 2), None, [1], [0], [1], False, [0], 1), [(SINGLE, (1, 2, 0))]),
)
refuses(
    "aten.max_pool2d",
    (lambda t: (t(1, 4, 4), [2, 2], [2, 2], [2, 2]), [(SINGLE, (1, 4, 4))]),
    (lambda t: (t(1, 4, 4), [5, 5]), [(SINGLE, (1, 0, 0))]),
)
refuses("aten.topk", (lambda t: (t(3), 4), [(SINGLE, (4,)), (torch.int64, (4,))]))
refuses("aten.kthvalue", (lambda t: (t(3), 4), [(SINGLE, ()), (torch.int64, ())]))
refuses("aten.reflection_pad1d", (lambda t: (t(1, 3), [3, 0]), [(SINGLE, (1, 6))]))
refuses("aten.permute", (lambda t: (t(3, 2), [0, 0]), [(SINGLE, (3, 3))]))
refuses("aten.select.int", (lambda t: (t(3), 0, 3), NUMBER))
refuses(
    "aten.native_layer_norm",
    (lambda t: (t(3, 2), [3], None, None, 1e-5), [(SINGLE, (3, 2)), (SINGLE, (3, 1)), (SINGLE, (3, 1))]),
)
refuses("aten.floordiv.int", (lambda t: (1, 0), [(torch.int64, ())]))
