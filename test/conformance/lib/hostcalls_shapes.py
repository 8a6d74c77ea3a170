# hostcalls_shapes.py - Calls of operations that move, index, sort and reduce
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Movement, reductions, order and indices; see hostcalls.py.
"""Samples for test_host.py."""

import itertools

import torch

from .hostcalls import ANY, BOOL, COMPLEX, DOUBLE, FLOATS, HALF, INF, INTS, REAL, SINGLE, calls

# --- movement ----------------------------------------------------------------

calls("aten.clone aten.detach aten.alias aten.contiguous aten.lift_fresh_copy aten.squeeze aten.ravel aten.atleast_1d"
      " aten.atleast_2d aten.atleast_3d aten.numpy_T", ANY, lambda t: t(3, 1, 4), lambda t: t(), lambda t: t(0, 2))  # fmt: skip
CASTS = [lambda t, d=d: (t(3, 4), d) for d in ANY]
calls("prims.convert_element_type", REAL + BOOL, *CASTS)
calls("aten.to.dtype", ANY, *[lambda t, d=d: (t(3, 4), d) for d in ANY + [torch.float8_e4m3fn, torch.float8_e5m2]])
calls("aten.to.dtype", FLOATS, lambda t: (t(9) * 300, torch.float8_e4m3fn), lambda t: (t(9) * 1e-3, torch.float8_e5m2fnuz), lambda t: (t(9) * 1e-3, torch.float8_e4m3fnuz), special=True)  # fmt: skip
calls("aten._to_copy", ANY, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.to.dtype_layout", ANY, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.to.other aten.type_as", ANY, lambda t: (t(3, 4), t(2, dtype=torch.float64)))
calls("aten.to.device", ANY, lambda t: (t(3, 4), torch.device("cpu"), torch.float32))
calls(
    "aten.view aten.reshape aten._unsafe_view aten.view_copy aten._reshape_copy",
    ANY,
    lambda t: (t(3, 4), [2, 6]),
    lambda t: (t(3, 4), [-1]),
)
calls("aten._reshape_alias", ANY, lambda t: (t(3, 4), [2, 6], [6, 1]))
calls("aten.view_as aten.reshape_as", ANY, lambda t: (t(3, 4), t(2, 6)))
calls("aten.unsqueeze aten.squeeze.dim", ANY, lambda t: (t(3, 1), 1), lambda t: (t(3, 1), -1))
calls("aten.squeeze.dims prims.squeeze", ANY, lambda t: (t(1, 3, 1), [0, 2]))
calls("aten.flatten.using_ints", ANY, lambda t: (t(2, 3, 4), 1, -1))
calls("aten.unflatten.int", ANY, lambda t: (t(2, 12), 1, [3, 4]))
calls("prims.collapse", ANY, lambda t: (t(2, 3, 4), 0, 1))
calls("prims.split_dim", ANY, lambda t: (t(2, 12), 1, 3))
calls("prims.view_of", ANY, lambda t: t(3, 4))
calls("aten.permute", ANY, lambda t: (t(2, 3, 4), [2, 0, 1]), lambda t: (t(2, 3, 4), [-1, 1, 0]), lambda t: (t(), []))
calls("aten.transpose.int aten.swapaxes aten.swapdims", ANY, lambda t: (t(2, 3, 4), 0, -1), lambda t: (t(), 0, -1))
calls("aten.t", ANY, lambda t: t(2, 3), lambda t: t(3))
calls("aten.mT", ANY, lambda t: t(2, 3, 4))
calls("aten.movedim.int", ANY, lambda t: (t(2, 3, 4), 0, -1))
calls("aten.movedim.intlist", ANY, lambda t: (t(2, 3, 4, 5), [0, 2], [-1, 0]))
calls("aten.pixel_shuffle", REAL, lambda t: (t(2, 12, 3, 4), 2))
calls("aten.pixel_unshuffle", REAL, lambda t: (t(2, 3, 6, 4), 2))
calls("aten.expand aten.broadcast_to", ANY, lambda t: (t(3, 1), [2, 3, 4]), lambda t: (t(), [3]))
calls("aten.expand", ANY, lambda t: (t(3, 1), [-1, 4]))
calls("aten.expand_as", ANY, lambda t: (t(3, 1), t(2, 3, 4)))
calls("aten.repeat", ANY, lambda t: (t(2, 3), [2, 1, 3]), lambda t: (t(2, 3), [0, 2]))
calls("aten.tile", ANY, lambda t: (t(2, 3), [2]))
calls(
    "aten.repeat_interleave.self_int",
    ANY,
    lambda t: (t(2, 3), 2),
    lambda t: (t(2, 3), 3, 1),
    lambda t: (t(2, 3), 0, -1),
)
calls(
    "aten.slice.Tensor",
    ANY,
    *[lambda t, a=a: (t(5, 6), *a) for a in ((0, 1, 4), (1, -4, 99, 2), (-1, 3, 1), (0, None, -2), (1, -99, None, 3))],
)
calls("aten.narrow", ANY, lambda t: (t(5, 6), 1, 2, 3), lambda t: (t(5, 6), 0, -2, 2))
calls("aten.select.int", ANY, lambda t: (t(5, 6), 0, 2), lambda t: (t(5, 6), -1, -1))
calls(
    "aten.diagonal",
    ANY,
    lambda t: t(4, 5),
    lambda t: (t(2, 3, 4), 1, -1, 0),
    lambda t: (t(4, 3), -2),
    lambda t: (t(2, 2), 5),
)
calls("aten.diag_embed", ANY, lambda t: t(2, 3), lambda t: (t(2, 3), 1), lambda t: (t(2, 3), -2, 0, 2))
calls("aten.as_strided", ANY, lambda t: (t(4, 5), [2, 3], [3, 2]), lambda t: (t(4, 5), [2, 2, 2], [0, 5, 1], 4))
calls("aten.flip", ANY, lambda t: (t(2, 3, 4), [0, -1]), lambda t: (t(2, 3), []))
calls("aten.roll", ANY, lambda t: (t(3, 4), [2]), lambda t: (t(3, 4), [1, -6], [0, 1]))
calls("aten.unfold", ANY, lambda t: (t(), 0, 1, 1), lambda t: (t(), 0, 0, 1))
calls("aten.repeat_interleave.Tensor", [torch.int32, torch.int64], lambda t: t(5, low=0, high=4))
calls("aten.unfold", ANY, lambda t: (t(7, 3), 0, 3, 2), lambda t: (t(3, 7), -1, 2, 1))
calls("aten.tril aten.triu", ANY, lambda t: t(3, 4), lambda t: (t(2, 4, 3), 1), lambda t: (t(4, 4), -2))
calls(
    "aten.cat aten.concat",
    ANY,
    lambda t: ([t(2, 3), t(4, 3)],),
    lambda t: ([t(2, 3), t(2, 1)], -1),
    lambda t: ([t(0), t(2, 3)], 1),
)
calls("aten.cat", REAL, lambda t: ([t(2), t(3, dtype=torch.float64)],))
calls("aten.split.Tensor aten.unsafe_split.Tensor", ANY, lambda t: (t(7, 3), 3), lambda t: (t(3, 4), 2, -1))
calls("aten.split_with_sizes aten.split.sizes", ANY, lambda t: (t(7, 3), [2, 0, 5]), lambda t: (t(3, 4), [1, 3], 1))
calls("aten.chunk aten.tensor_split.sections", ANY, lambda t: (t(7, 3), 3), lambda t: (t(3, 4), 2, -1))
calls("aten.unbind.int", ANY, lambda t: t(3, 4), lambda t: (t(3, 4), -1))
calls("aten.stack", ANY, lambda t: ([t(2, 3), t(2, 3)],), lambda t: ([t(2, 3), t(2, 3)], -1), lambda t: ([t(), t()],))
calls(
    "aten.constant_pad_nd",
    ANY,
    lambda t: (t(2, 3), [1, 2], 3),
    lambda t: (t(3, 4), [-1, 1, 2, -1]),
    lambda t: (t(2, 3), [0, 0]),
)
calls(
    "aten.reflection_pad1d aten.replication_pad1d", FLOATS, lambda t: (t(2, 5), [2, 1]), lambda t: (t(1, 2, 5), [-1, 3])
)
calls("aten.reflection_pad2d aten.replication_pad2d", FLOATS, lambda t: (t(2, 4, 5), [2, 1, 0, 3]))
calls("aten.reflection_pad3d aten.replication_pad3d", FLOATS, lambda t: (t(1, 2, 3, 4, 5), [2, 1, 0, 3, 1, 1]))
calls(
    "aten.pad",
    REAL,
    *[lambda t, m=m: (t(1, 2, 4, 5), [2, 1, 0, 3], m) for m in ("reflect", "replicate", "circular", "constant")],
)
calls("aten.pad", REAL, lambda t: (t(4, 5), [2, 1], "constant", 1.0))
calls("aten.copy", ANY, lambda t: (t(3, 4), t(4)), lambda t: (t(3, 4), t(3, 1, dtype=torch.float32)))
calls("aten.view_as_real", COMPLEX, lambda t: t(3, 4))
calls("aten.view_as_complex", [SINGLE, DOUBLE], lambda t: t(3, 4, 2))
calls(
    "aten.view.dtype",
    [SINGLE],
    lambda t: (t(3, 4), torch.int32),
    lambda t: (t(3, 4), torch.float16),
    lambda t: (t(3, 4), torch.uint8),
)
calls("aten.view.dtype", [torch.int32], lambda t: (t(3, 4), torch.float32), lambda t: (t(3, 4), torch.int64))

# --- reductions --------------------------------------------------------------

WHOLE = [lambda t: t(3, 4), lambda t: t(), lambda t: t(0, 2)]
DIMS = [lambda t, a=a: (t(2, 3, 4), *a) for a in (([1],), ([0, -1], True), ([-2], False), ([],), (None, True))] + [
    lambda t: (t(2, 0), [1]),
    lambda t: (t(), [0]),
]
DIM = [lambda t, a=a: (t(2, 3, 4), *a) for a in ((1,), (-1, True), (0, False))] + [
    lambda t: (t(), 0),
    lambda t: (t(2, 0), 1),
]
calls("aten.sum", ANY, *WHOLE, lambda t: (t(3, 4), {"dtype": torch.float64}), special=True)
calls("aten.sum.dim_IntList", ANY, *DIMS, special=True)
calls("aten.sum.dim_IntList", REAL, lambda t: (t(3, 4), [0], {"dtype": torch.int32}))
calls("prims.sum", [SINGLE, torch.int64], lambda t: (t(2, 3, 4), [1, 2]))
calls("aten.nansum", REAL, *DIMS, special=True)
calls("aten.mean", FLOATS + COMPLEX, *WHOLE, special=True)
calls("aten.mean", INTS, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.mean.dim", FLOATS + COMPLEX, *DIMS, special=True)
calls("aten.prod", ANY, *WHOLE, tolerance=3)
calls("aten.prod.dim_int", ANY, *DIM, tolerance=3)
calls("aten.amax aten.amin", REAL + BOOL, *DIMS, special=True)
calls("prims.amax prims.amin", REAL, lambda t: (t(2, 3, 4), [1, 2]))
calls("aten.max aten.min", REAL + BOOL, *WHOLE, special=True)
calls("aten.max.dim aten.min.dim", REAL + BOOL, *DIM, special=True)
calls("aten.argmax aten.argmin", REAL, *WHOLE, *DIM, lambda t: (t(3, 4), None, True), special=True)
calls(
    "aten.aminmax",
    REAL,
    lambda t: (t(3, 4), {"dim": 1}),
    lambda t: (t(3, 4), {"dim": 0, "keepdim": True}),
    lambda t: t(5),
    special=True,
)
calls("aten.any aten.all", ANY, *WHOLE, special=True)
calls("aten.any.dim aten.all.dim", ANY, *DIM)
calls("aten.any.dims aten.all.dims", ANY, *DIMS)
calls("aten.count_nonzero", ANY, lambda t: (t(3, 4), None), lambda t: (t(3, 4), 1))
calls("aten.count_nonzero.dim_IntList", ANY, lambda t: (t(2, 3, 4), [0, -1]))
calls(
    "aten.equal",
    ANY,
    lambda t: (t(2), t(2)),
    lambda t: (t.mask(3).to(t.dtype) * 0, t.mask(3).to(t.dtype) * 0),
    lambda t: (t(2), t(3)),
)
calls(
    "aten.var aten.std aten.var_mean aten.std_mean",
    FLOATS + COMPLEX,
    lambda t: t(3, 4),
    lambda t: (t(3, 4), False),
    lambda t: t(1),
    special=True,
)
calls(
    "aten.var.dim aten.std.dim aten.var_mean.dim aten.std_mean.dim",
    FLOATS,
    lambda t: (t(2, 3, 4), [1]),
    lambda t: (t(2, 3, 4), [0, -1], False, True),
    lambda t: (t(2, 3), None, True),
)
calls(
    "aten.var.correction aten.std.correction aten.var_mean.correction aten.std_mean.correction",
    FLOATS,
    lambda t: (t(2, 3, 4), [1]),
    lambda t: (t(2, 3, 4), None, {"correction": 0, "keepdim": True}),
    lambda t: (t(2, 3, 4), [0, 2], {"correction": 2.5}),
    lambda t: (t(2, 3), [0], {"correction": 3}),
)
calls("prims.var", [SINGLE, DOUBLE], lambda t: (t(2, 3, 4), [1], 1))
ORDERS = (2, 1, 0, INF, -INF, 3, 0.5, -1)
calls(
    "aten.linalg_vector_norm",
    FLOATS + COMPLEX,
    *[lambda t, o=o: (t(3, 4), o, [1]) for o in ORDERS],
    lambda t: t(2, 3),
    lambda t: (t(2, 3), 2, None, True),
    special=True,
)
calls(
    "aten.norm.ScalarOpt_dim",
    FLOATS,
    *[lambda t, o=o: (t(3, 4), o, [1]) for o in ORDERS],
    lambda t: (t(3, 4), None, [0, 1], True),
)
calls("aten.norm.ScalarOpt_dim_dtype", [HALF], lambda t: (t(3, 4), 2, [1], False, {"dtype": SINGLE}))
calls("aten.norm.Scalar", FLOATS, lambda t: (t(3, 4), 3), lambda t: t(5))
calls("aten.norm.ScalarOpt_dtype", [HALF], lambda t: (t(3, 4), 2, {"dtype": SINGLE}))
calls("aten.frobenius_norm.dim", FLOATS, lambda t: (t(3, 4), [0, 1], True))
calls("aten.logsumexp", FLOATS, *DIMS, special=True)
calls("aten.trace", ANY, lambda t: t(3, 4), lambda t: t(0, 2))
calls(
    "aten.cumsum aten.cumprod",
    ANY,
    *[lambda t, d=d: (t(3, 4), d) for d in (0, -1)],
    lambda t: (t(), 0),
    lambda t: (t(2, 0), 1),
    tolerance=3,
)
calls("aten.cumsum", REAL, lambda t: (t(3, 4), 0, {"dtype": torch.int64}), lambda t: (t(3, 4), 0, {"dtype": DOUBLE}))
calls("aten.cummax aten.cummin", REAL + BOOL, *[lambda t, d=d: (t(4, 5), d) for d in (0, -1)], special=True)
calls("aten.logcumsumexp", FLOATS, *[lambda t, d=d: (t(4, 5), d) for d in (0, -1)], special=True)

# --- order -------------------------------------------------------------------


def first_only(i, wanted, got):
    """Which of equal elements comes first is left open."""
    if i == 0:
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


calls(
    "aten.sort aten.argsort",
    REAL,
    *[lambda t, a=a: (t.distinct(3, 5), *a) for a in ((), (0,), (-1, True))],
    lambda t: t(),
    lambda t: t(3, 0),
)
calls("aten.sort", REAL + BOOL, lambda t: t(4, 9), lambda t: (t(9, 4), 0, True), check=first_only, special=True)
calls(
    "aten.sort.stable aten.argsort.stable",
    REAL + BOOL,
    *[lambda t, d=d: (t(4, 9), {"stable": True, "dim": 1, "descending": d}) for d in (False, True)],
    special=True,
)
calls(
    "aten.topk",
    REAL,
    *[lambda t, a=a: (t.distinct(3, 7), *a) for a in ((3,), (2, 0), (7, -1, False), (0,))],
    lambda t: (t(), 1),
)
calls("aten.topk", FLOATS, lambda t: (t(3, 9), 4), lambda t: (t(3, 9), 4, -1, False), check=first_only, special=True)
calls("aten.kthvalue", REAL, *[lambda t, a=a: (t.distinct(3, 7), *a) for a in ((3,), (2, 0), (7, -1, True))])
calls("aten.median", REAL, lambda t: t.distinct(3, 4), lambda t: t(7), special=True)
calls("aten.median.dim", REAL, lambda t: (t.distinct(3, 4), 1), lambda t: (t.distinct(3, 5), 0, True))
calls(
    "aten.searchsorted.Tensor",
    REAL,
    lambda t: (t(7).sort().values, t(3, 4)),
    lambda t: (t(3, 7).sort().values, t(3, 4), {"right": True}),
    lambda t: (t(7).sort().values, t(5), {"out_int32": True, "side": "right"}),
)
calls("aten.searchsorted.Scalar", REAL, lambda t: (t(7).sort().values, 2))
calls(
    "aten.bucketize.Tensor",
    REAL,
    lambda t: (t(3, 4), t(5).sort().values),
    lambda t: (t(3), t(5).sort().values, {"right": True}),
)
calls("aten.bucketize.Scalar", REAL, lambda t: (2, t(5).sort().values))
calls("aten.isin.Tensor_Tensor", REAL, lambda t: (t(3, 4), t(5)), lambda t: (t(3, 4), t(2), {"invert": True}))
calls("aten.isin.Tensor_Scalar", REAL, lambda t: (t(3, 4), 1))
calls("aten.isin.Scalar_Tensor", REAL, lambda t: (1, t(3, 4)))

# --- indices -----------------------------------------------------------------

INDICES = [
    lambda t: (t(5, 6), [t.index(4, low=-5, below=5)]),
    lambda t: (t(5, 6), [None, t.index(2, 3, low=-6, below=6)]),
    lambda t: (t(5, 6), [t.index(3, 1, below=5), t.index(4, below=6, dtype=torch.int32)]),
    lambda t: (t(3, 4, 5), [t.index(2, below=3), None, t.index(2, below=5)]),
    lambda t: (t(3, 4, 5), [None, t.index(2, below=4), t.index(2, below=5)]),
    lambda t: (t(3, 4), [t.mask(3, 4)]),
    lambda t: (t(3, 4), [t.mask(3), None]),
    lambda t: (t(3, 4), [t.index(below=3)]),
    lambda t: (t(3, 4), [t.index(0, below=3)]),
]
calls("aten.index.Tensor aten._unsafe_index.Tensor", ANY, *INDICES)
calls("aten.index.Tensor_hacked_twin aten._unsafe_index.Tensor_hacked_twin", REAL, INDICES[0], INDICES[2])


def put(maker, values, *more):
    def make(t):
        target, indices = maker(t)
        shape = torch.ops.aten.index.Tensor(target, indices).shape
        return (target, indices, t(*shape[values:]) if values is not None else t(), *more)

    return make


def unique_put(t):
    return (t(5, 6), [torch.tensor([3, 0, -1])], t(3, 6))


calls(
    "aten.index_put aten._unsafe_index_put",
    ANY,
    unique_put,
    lambda t: (t(3, 4), [t.mask(3, 4)], t()),
    lambda t: (t(3, 4), [None, torch.tensor([1, 3])], t(2)),
)
calls("aten.index_put aten._unsafe_index_put", ANY, *[put(m, v, True) for m in INDICES for v in (0, None)], tolerance=3)
calls("aten.index_put.hacked_twin aten._unsafe_index_put.hacked_twin", REAL, unique_put)
calls("aten._index_put_impl", REAL, lambda t: (*unique_put(t), True))
calls(
    "aten.index_select",
    ANY,
    lambda t: (t(5, 6), 0, t.index(4, below=5)),
    lambda t: (t(5, 6), -1, t.index(below=6)),
    lambda t: (t(), 0, t.index(1, below=1)),
)
calls(
    "aten.gather",
    ANY,
    lambda t: (t(5, 6), 0, t.index(2, 6, below=5)),
    lambda t: (t(5, 6), -1, t.index(3, 9, below=6)),
    lambda t: (t(), 0, t.index(below=1)),
    lambda t: (t(3, 2), 0, t.index(0, 2, below=2)),
)
SCATTER = [
    lambda t: (t(5, 6), 0, torch.tensor([[4, 0, 2], [1, 3, 0]])),
    lambda t: (t(5, 6), 1, torch.tensor([[5, 0], [2, 1]])),
]


def scatter(*more, value=None):
    def source(t, index):
        return t(index.shape[0] + 1, index.shape[1]) if value is None else value

    return [lambda t, m=m: (*(a := m(t)), source(t, a[2]), *more) for m in SCATTER]


calls("aten.scatter.src", ANY, *scatter())
calls("aten.scatter.value", ANY, *scatter(value=1))
calls("aten.scatter_add", ANY, *scatter(), lambda t: (t(5), 0, t.index(9, below=5), t(9)), tolerance=3)
calls("aten.scatter.reduce", REAL, *scatter({"reduce": "add"}), *scatter({"reduce": "multiply"}), tolerance=3)
calls(
    "aten.scatter.value_reduce",
    REAL,
    *scatter({"reduce": "add"}, value=2),
    *scatter({"reduce": "multiply"}, value=2),
    tolerance=3,
)
for how, include in itertools.product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
    calls(
        "aten.scatter_reduce.two",
        REAL,
        lambda t, h=how, i=include: (t(4, 3), 0, t.index(9, 3, below=4), t(9, 3), h, {"include_self": i}),
        tolerance=8,
    )
calls(
    "aten.index_add",
    ANY,
    lambda t: (t(5, 6), 0, t.index(4, below=5), t(4, 6)),
    lambda t: (t(5, 6), 1, t.index(2, below=6), t(5, 2), {"alpha": 2}),
    tolerance=3,
)
calls("aten.index_copy", ANY, lambda t: (t(5, 6), 0, torch.tensor([3, 0]), t(2, 6)))
calls("aten.index_fill.int_Scalar", ANY, lambda t: (t(5, 6), 0, t.index(3, below=5), 1))
calls("aten.index_fill.int_Tensor", ANY, lambda t: (t(5, 6), 1, t.index(3, below=5), t()))
calls(
    "aten.embedding",
    FLOATS,
    lambda t: (t(7, 3), t.index(2, 4, below=7)),
    lambda t: (t(7, 3), t.index(5, below=7, dtype=torch.int32), 2),
)
calls("aten.take", ANY, lambda t: (t(3, 4), t.index(2, 3, low=-12, below=12)))
calls("aten.masked_scatter", ANY, lambda t: (t(3, 4), t.mask(3, 4), t(12)), lambda t: (t(3, 4), t.mask(4), t(4, 4)))
calls("aten.slice_scatter", ANY, lambda t: (t(5, 6), t(2, 6), 0, 1, 3), lambda t: (t(5, 6), t(5, 2), 1, -5, 99, 3))
calls("aten.select_scatter", ANY, lambda t: (t(5, 6), t(6), 0, -1), lambda t: (t(5, 6), t(5), -1, 2))
calls("aten.diagonal_scatter", ANY, lambda t: (t(4, 5), t(4)), lambda t: (t(2, 3, 4), t(3, 2), 1, 2, 0))
