# layer_kinds.py - Norms, MLPs, attention, rotary embedding and whole layers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each kind is a function of a Draw (random sizes, data and choices) that returns
# a function of tensors and its inputs. The functions are written as models write
# them: composite operations, or the same by hand.
"""Kinds of layers at sizes that are multiples of nothing, for generate_layers.py."""

import numpy as np
import torch
from export import SIZES, to_nine_fraction_bits, wide, wide_type
from lib.sizes import divisors

functional = torch.nn.functional

HEAD_SIZES = (31, 32, 33, 63, 64, 65, 80, 96, 100, 127, 128)
HEADS = (1, 2, 3, 4, 5, 7)


class Draw:
    """Random choices and data of one case."""

    def __init__(self, seed, dtype):
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype

    def choice(self, *values):
        return values[int(self.rng.integers(len(values)))]

    def flag(self, share=0.5):
        return bool(self.rng.random() < share)

    def size(self, most=257):
        return int(self.rng.choice([n for n in SIZES if n <= most]))

    def shape(self, rank, most=40000):
        """Sizes whose product is at most `most`; the small dims may stand anywhere."""
        dims, left = [], most
        for _ in range(rank):
            dims.append(self.size(max(left, 1)))
            left //= dims[-1]
        self.rng.shuffle(dims)
        return tuple(int(n) for n in dims)

    def batch(self, most=3):
        return int(self.rng.integers(1, most + 1))

    def data(self, *dims, scale=1.0, offset=0.0):
        return to_nine_fraction_bits(self.rng.standard_normal(dims) * scale + offset, self.dtype)

    def between(self, low, high, *dims):
        return to_nine_fraction_bits(self.rng.uniform(low, high, dims), self.dtype)

    def weight(self, outs, ins):
        return self.data(outs, ins, scale=ins**-0.5)

    def scales(self, n):
        """Weights of a norm."""
        return self.data(n, scale=0.25, offset=1.0)


# --- norms -------------------------------------------------------------------


def rows(d, most=40000):
    """A shape whose last dim is the one that is normalized."""
    return d.shape(d.choice(2, 2, 3, 4), most)


def layer_norm(d):
    shape = rows(d)
    count = 2 if len(shape) > 2 and d.flag(0.25) else 1
    normal = shape[-count:]
    if d.flag(0.2):
        return (lambda x: functional.layer_norm(x, normal)), [d.data(*shape)]
    inputs = [d.data(*shape), d.data(*normal, scale=0.25, offset=1.0), d.data(*normal)]
    if d.flag(0.2):
        return (lambda x, w: functional.layer_norm(x, normal, w, None, 1e-6)), inputs[:2]
    return (lambda x, w, b: functional.layer_norm(x, normal, w, b, 1e-5)), inputs


def layer_norm_written_out(d):
    shape = rows(d)
    way = d.choice("mean", "var", "var_mean", "pow")

    def function(x, w, b):
        y = wide(x)
        if way == "var_mean":
            var, mean = torch.var_mean(y, -1, correction=0, keepdim=True)
            centred = y - mean
        else:
            mean = y.mean(-1, keepdim=True)
            centred = y - mean
            if way == "var":
                var = y.var(-1, correction=0, keepdim=True)
            elif way == "pow":
                var = centred.pow(2).mean(-1, keepdim=True)
            else:
                var = (centred * centred).mean(-1, keepdim=True)
        return (centred * torch.rsqrt(var + 1e-5)).to(x.dtype) * w + b

    return function, [d.data(*shape), d.scales(shape[-1]), d.data(shape[-1])]


def rms_normalize(x, weight, eps=1e-5):
    y = wide(x)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return weight * y.to(x.dtype)


def rms_norm(d):
    shape = rows(d)
    n = shape[-1]
    inputs = [d.data(*shape), d.scales(n)]
    way = d.choice("op", "wide", "late", "residual")
    if way == "op":
        return (lambda x, w: functional.rms_norm(x, (n,), w, 1e-5)), inputs
    if way == "late":  # the weight in the wide type
        return (
            lambda x, w: (wide(x) * torch.rsqrt((wide(x) ** 2).mean(-1, True) + 1e-6) * wide(w)).to(x.dtype)
        ), inputs
    if way == "residual":
        return (lambda x, w, r: (rms_normalize(x + r, w), x + r)), [*inputs, d.data(*shape)]
    return rms_normalize, inputs


# --- MLPs --------------------------------------------------------------------


def mlp_shape(d):
    rows_ = d.size()
    ins = d.size()
    hidden = d.size(max(1, 2_000_000 // (rows_ * ins)))
    batch = () if d.flag(0.4) else (d.choice(1, 1, 2, 3),)
    return (*batch, rows_, ins), hidden


def gelu_mlp(d):
    shape, hidden = mlp_shape(d)
    ins = shape[-1]
    approximate = d.choice("none", "tanh")
    inputs = [d.data(*shape), d.weight(hidden, ins), d.weight(ins, hidden), d.data(hidden), d.data(ins)]
    if d.flag(0.3):  # as the first models wrote it
        approximate = "written"

    def gelu(x):
        if approximate == "written":
            return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
        return functional.gelu(x, approximate=approximate)

    if d.flag(0.25):
        return (lambda x, up, down: functional.linear(gelu(functional.linear(x, up)), down)), inputs[:3]
    return (lambda x, up, down, b, c: functional.linear(gelu(functional.linear(x, up, b)), down, c)), inputs


def swiglu_mlp(d):
    shape, hidden = mlp_shape(d)
    ins = shape[-1]
    way = d.choice("silu", "silu", "written", "fused")
    x = d.data(*shape)
    down = d.weight(ins, hidden)
    if way == "fused":  # one matrix for gate and up, as Granite has it

        def fused(x, both, down):
            gate, up = functional.linear(x, both).chunk(2, -1)
            return functional.linear(functional.silu(gate) * up, down)

        return fused, [x, d.weight(2 * hidden, ins), down]

    def function(x, gate, up, down):
        g = functional.linear(x, gate)
        g = g * torch.sigmoid(g) if way == "written" else functional.silu(g)
        return functional.linear(g * functional.linear(x, up), down)

    return function, [x, d.weight(hidden, ins), d.weight(hidden, ins), down]


def matmuls(d):
    """Products whose operands are transposed, broadcast, vectors or slices."""
    m, n = d.size(), d.size()
    k = d.size(max(1, 1_500_000 // (m * n)))
    b, h = d.batch(), d.batch()
    way = d.choice("plain", "t", "both", "heads", "shared", "vector", "column", "slice", "einsum", "addmm", "baddbmm")
    s = k**-0.5
    if way == "plain":
        return torch.matmul, [d.data(m, k), d.data(k, n, scale=s)]
    if way == "t":
        return (lambda x, y: x @ y.mT), [d.data(b, m, k), d.data(b, n, k, scale=s)]
    if way == "both":
        return (lambda x, y: x.mT @ y.mT), [d.data(b, k, m), d.data(b, n, k, scale=s)]
    if way == "heads":
        return (lambda x, y: x.transpose(1, 2) @ y.transpose(1, 2)), [d.data(b, m, h, k), d.data(b, k, h, n, scale=s)]
    if way == "shared":
        return torch.matmul, [d.data(b, 1, m, k), d.data(h, k, n, scale=s)]
    if way == "vector":
        return torch.matmul, [d.data(k), d.data(k, n, scale=s)]
    if way == "column":
        return torch.matmul, [d.data(b, m, k), d.data(k, scale=s)]
    if way == "slice":
        a = int(d.rng.integers(0, 40))
        return (lambda x, y: x[:, a : a + k] @ y[:, a:].mT), [d.data(m, k + a + 3), d.data(n, k + a, scale=s)]
    if way == "einsum":
        return (lambda x, y: torch.einsum("bmhk,bnhk->bhmn", x, y)), [d.data(b, m, h, k), d.data(b, n, h, k, scale=s)]
    if way == "addmm":
        bias = d.data(*d.choice((n,), (m, n), (m, 1)))
        return torch.addmm, [bias, d.data(m, k), d.data(k, n, scale=s)]
    return torch.baddbmm, [d.data(b, m, n), d.data(b, m, k), d.data(b, k, n, scale=s)]


# --- attention ---------------------------------------------------------------


def attention_shape(d, heads=HEADS, most=60000):
    """(batch, heads, query length, key length, head size)"""
    size = d.choice(*HEAD_SIZES)
    head_count = d.choice(*heads)
    batch = d.choice(1, 1, 2, 3)
    left = max(1, most // (batch * head_count))
    queries = d.size(min(257, max(1, left // 64)) if d.flag(0.3) else min(257, max(2, int(left**0.5))))
    keys = queries if d.flag(0.5) else d.size(max(1, left // queries))
    return batch, head_count, queries, keys, size


def boolean_mask(d, dims, fully_masked):
    """True where a query may look; some rows see nothing if wanted."""
    mask = d.rng.random(dims) < 0.7
    mask[..., 0] = True
    if fully_masked:
        flat = mask.reshape(-1, dims[-1])
        flat[d.rng.integers(len(flat), size=max(1, len(flat) // 5))] = False
        mask = flat.reshape(dims)
    return torch.from_numpy(mask)


def mask_dims(d, b, h, q, k):
    return d.choice((q, k), (1, 1, q, k), (b, 1, q, k), (b, 1, 1, k), (b, h, q, k))


def attention(d):
    """Written out, with each way to mask."""
    b, h, q, k, e = attention_shape(d)
    inputs = [d.data(b, h, q, e), d.data(b, h, k, e), d.data(b, h, k, e)]
    way = d.choice("none", "add-inf", "add-min", "fill-inf", "fill-min", "where", "causal", "padding-add")
    in_wide = d.flag(0.4)
    scale = e**-0.5
    fully = d.flag(0.3)

    def core(x, y, z, mask=None):
        scores = (x @ y.transpose(-2, -1)) * scale
        if way in ("add-inf", "add-min", "padding-add"):
            scores = scores + mask
        elif way == "fill-inf":
            scores = scores.masked_fill(~mask, float("-inf"))
        elif way == "fill-min":
            scores = scores.masked_fill(mask.logical_not(), torch.finfo(x.dtype).min)
        elif way == "where":
            scores = torch.where(mask, scores, torch.full((), torch.finfo(x.dtype).min, dtype=x.dtype))
        elif way == "causal":
            seen = torch.ones(q, k, dtype=torch.bool).tril(k - q)
            scores = scores.masked_fill(~seen, float("-inf"))
        if in_wide:
            p = torch.softmax(scores, -1, dtype=wide_type(x)).to(x.dtype)
        else:
            p = torch.softmax(scores, -1)
        return p @ z

    if way in ("none", "causal"):
        return core, inputs
    mask = boolean_mask(d, mask_dims(d, b, h, q, k), fully)
    if way in ("add-inf", "add-min", "padding-add"):
        least = float("-inf") if way == "add-inf" else torch.finfo(d.dtype).min
        mask = torch.where(mask, 0.0, least).to(d.dtype)
    return core, [*inputs, mask]


def sdpa(d):
    b, h, q, k, e = attention_shape(d)
    groups = d.choice(1, 1, 2, 3, 4)
    way = d.choice("plain", "float", "bool", "causal", "scale", "float-inf")
    if d.flag(0.4):
        h, kv = h * groups, h
        if h * b * q * k > 120000:
            h = kv
    else:
        kv = h
    value_size = d.choice(*HEAD_SIZES) if d.flag(0.15) else e
    inputs = [d.data(b, h, q, e), d.data(b, kv, k, e), d.data(b, kv, k, value_size)]
    options = {"is_causal": way == "causal"}
    if kv != h:
        options["enable_gqa"] = True
    if way == "scale":
        options["scale"] = 0.0625
    sdp = functional.scaled_dot_product_attention
    if way == "bool":
        mask = boolean_mask(d, mask_dims(d, b, h, q, k), d.flag(0.3))
    elif way == "float-inf":
        mask = torch.where(boolean_mask(d, mask_dims(d, b, h, q, k), d.flag(0.3)), 0.0, float("-inf")).to(d.dtype)
    elif way == "float":
        mask = d.data(*mask_dims(d, b, h, q, k))
    else:
        return (lambda x, y, z: sdp(x, y, z, **options)), inputs
    return (lambda x, y, z, m: sdp(x, y, z, attn_mask=m, **options)), [*inputs, mask]


def split_heads(x, heads, size):
    return x.view(*x.shape[:-1], heads, size).transpose(-3, -2)


def join_heads(x):
    y = x.transpose(-3, -2)
    return y.reshape(*y.shape[:-2], -1)


def attend(q, k, v, way, mask=None):
    if way == "op":
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask
    return torch.softmax(wide(scores), -1).to(q.dtype) @ v


def multi_head_attention(d):
    """From projections: linear, view, transpose, attention, transpose, reshape, linear."""
    b, h, s, _, e = attention_shape(d, most=30000)
    if h * e > 512:
        h = max(1, 512 // e)
    model = d.choice(h * e, d.size())
    s = min(s, 129)
    way = d.choice("op", "written")
    form = d.choice("three", "bias", "packed", "packed-first")
    x = d.data(b, s, model)
    out = d.weight(model, h * e)
    if form in ("packed", "packed-first"):

        def packed(x, qkv, o):
            y = functional.linear(x, qkv)
            if form == "packed":  # split, then heads
                q, k, v = (split_heads(part, h, e) for part in y.chunk(3, -1))
            else:  # as ViT: (3, batch, heads, length, size)
                q, k, v = y.reshape(b, s, 3, h, e).permute(2, 0, 3, 1, 4).unbind(0)
            return functional.linear(join_heads(attend(q, k, v, way)), o)

        return packed, [x, d.weight(3 * h * e, model), out]
    weights = [d.weight(h * e, model) for _ in range(3)]
    if form == "bias":

        def biased(x, wq, wk, wv, o, bq, bk, bv):
            q, k, v = (split_heads(functional.linear(x, w, c), h, e) for w, c in ((wq, bq), (wk, bk), (wv, bv)))
            return functional.linear(join_heads(attend(q, k, v, way)), o)

        return biased, [x, *weights, out, *(d.data(h * e) for _ in range(3))]

    def plain(x, wq, wk, wv, o):
        q, k, v = (split_heads(functional.linear(x, w), h, e) for w in (wq, wk, wv))
        return functional.linear(join_heads(attend(q, k, v, way)), o)

    return plain, [x, *weights, out]


# --- rotary embedding --------------------------------------------------------


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def rotate_pairs(x):
    y = x.unflatten(-1, (-1, 2))
    return torch.stack((-y[..., 1], y[..., 0]), -1).flatten(-2)


def angles(d, length, size, interleaved=False):
    turn = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)[None]
    turn = np.repeat(turn, 2, 1) if interleaved else np.concatenate([turn, turn], 1)
    return to_nine_fraction_bits(np.cos(turn), d.dtype), to_nine_fraction_bits(np.sin(turn), d.dtype)


def rope(d):
    e = 2 * d.choice(1, 2, 15, 16, 17, 31, 32, 33, 40, 48, 50, 63, 64)
    b, h, s = d.batch(2), d.choice(1, 2, 3, 5), d.size(129)
    way = d.choice("half", "half", "pairs", "steps", "partial", "halves")
    layout = d.choice("heads", "heads", "length")  # (b, h, s, e), or (b, s, h, e) as projections leave it
    x = d.data(b, h, s, e) if layout == "heads" else d.data(b, s, h, e)
    cos, sin = angles(d, s, e, interleaved=way in ("pairs", "steps"))
    if layout == "length":
        cos, sin = cos[:, None], sin[:, None]
    elif d.flag():
        cos, sin = cos[None, None], sin[None, None]
    if way == "half":
        return (lambda x, c, s: x * c + rotate_half(x) * s), [x, cos, sin]
    if way == "pairs":
        return (lambda x, c, s: x * c + rotate_pairs(x) * s), [x, cos, sin]
    if way == "steps":

        def steps(x, c, s):
            even, odd = x[..., ::2], x[..., 1::2]
            c, s = c[..., ::2], s[..., ::2]
            return torch.stack((even * c - odd * s, odd * c + even * s), -1).flatten(-2)

        return steps, [x, cos, sin]
    if way == "halves":

        def halves(x, c, s):
            low, high = x.chunk(2, -1)
            c, s = c[..., : e // 2], s[..., : e // 2]
            return torch.cat((low * c - high * s, high * c + low * s), -1)

        return halves, [x, cos, sin]
    extra = d.choice(1, 2, 31, 32, 64)  # only the first e of each head turn
    x = torch.cat((x, d.data(*x.shape[:-1], extra)), -1)

    def partial(x, c, s):
        y, rest = x[..., :e], x[..., e:]
        return torch.cat((y * c + rotate_half(y) * s, rest), -1)

    return partial, [x.contiguous(), cos, sin]


# --- whole layers ------------------------------------------------------------


def decoder_layer(d):
    """RMSNorm, rotary grouped-query attention, SwiGLU, two residuals, as Llama and Granite."""
    e = d.choice(32, 64, 64, 80, 96, 128, 66, 62)
    kv = d.choice(1, 1, 2)
    h = kv * d.choice(1, 2, 3)
    s = d.size(129)
    b = d.choice(1, 1, 2)
    model = d.choice(h * e, 64, 100, 127, 200)
    hidden = d.choice(65, 100, 129, 200, 257)
    way = d.choice("op", "written", "grouped")
    multiplier = d.choice(1.0, 0.22)
    cos, sin = angles(d, s, e)
    mask = torch.full((s, s), torch.finfo(d.dtype).min if d.flag() else float("-inf")).triu(1).to(d.dtype)
    if d.flag():
        mask = mask[None, None]

    def repeat(x):
        return x[:, :, None].expand(b, kv, h // kv, s, e).reshape(b, h, s, e)

    def function(x, c, t, mask, n1, wq, wk, wv, wo, n2, gate, up, down):
        y = rms_normalize(x, n1)
        q = split_heads(functional.linear(y, wq), h, e)
        k = split_heads(functional.linear(y, wk), kv, e)
        v = split_heads(functional.linear(y, wv), kv, e)
        q, k = q * c + rotate_half(q) * t, k * c + rotate_half(k) * t
        if way == "grouped":
            a = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=h != kv)
        else:
            a = attend(q, repeat(k), repeat(v), way, mask)
        x = x + functional.linear(join_heads(a), wo) * multiplier
        y = rms_normalize(x, n2)
        y = functional.silu(functional.linear(y, gate)) * functional.linear(y, up)
        return x + functional.linear(y, down) * multiplier

    weights = [d.scales(model), d.weight(h * e, model), d.weight(kv * e, model), d.weight(kv * e, model)]
    weights += [d.weight(model, h * e), d.scales(model), d.weight(hidden, model), d.weight(hidden, model)]
    return function, [d.data(b, s, model), cos, sin, mask, *weights, d.weight(model, hidden)]


def encoder_layer(d):
    """BERT's layer (norms after) or ViT's block (norms before)."""
    first = d.flag()
    h, e = d.choice(1, 2, 3, 4), d.choice(31, 32, 32, 33, 64, 65, 80)
    s, b = d.size(129), d.choice(1, 1, 2)
    model, hidden = h * e, d.choice(65, 100, 129, 200, 257)
    way = d.choice("op", "written")
    packed = first and d.flag()
    masked = d.flag(0.4)
    approximate = d.choice("none", "tanh")

    def norm(x, w, c):
        return functional.layer_norm(x, (model,), w, c, 1e-6)

    def attention_of(x, weights, biases, mask):
        if packed:
            y = functional.linear(x, weights[0], biases[0])
            q, k, v = y.reshape(b, s, 3, h, e).permute(2, 0, 3, 1, 4).unbind(0)
        else:
            q, k, v = (split_heads(functional.linear(x, w, c), h, e) for w, c in zip(weights[:3], biases[:3]))
        return functional.linear(join_heads(attend(q, k, v, way, mask)), weights[-1], biases[-1])

    projections = [(3 * model, model)] if packed else [(model, model)] * 3
    projections.append((model, model))
    count = len(projections)

    def function(x, n1, c1, n2, c2, up, bup, down, bdown, *rest):
        weights, biases, mask = rest[:count], rest[count : 2 * count], rest[2 * count] if masked else None

        def mlp(y):
            y = functional.gelu(functional.linear(y, up, bup), approximate=approximate)
            return functional.linear(y, down, bdown)

        if first:
            x = x + attention_of(norm(x, n1, c1), weights, biases, mask)
            return x + mlp(norm(x, n2, c2))
        x = norm(x + attention_of(x, weights, biases, mask), n1, c1)
        return norm(x + mlp(x), n2, c2)

    inputs = [d.data(b, s, model), d.scales(model), d.data(model), d.scales(model), d.data(model)]
    inputs += [d.weight(hidden, model), d.data(hidden), d.weight(model, hidden), d.data(model)]
    inputs += [d.weight(*shape) for shape in projections] + [d.data(shape[0]) for shape in projections]
    if masked:
        keep = boolean_mask(d, (b, 1, 1, s), False)
        inputs.append(torch.where(keep, 0.0, torch.finfo(d.dtype).min).to(d.dtype))
    return function, inputs


def scan(d):
    """The recurrence h = a h + x along the first dim, by pairs, as layers of state-space models compute it."""
    steps = d.choice(2, 3, 4, 5, 6, 7, 9, 12, 13)
    inner = d.shape(d.choice(1, 2, 3), most=2000)

    def combine(a, x):
        count = a.shape[0]
        if count < 2:
            return x
        odd = combine(a[:-1:2] * a[1::2], a[1::2] * x[:-1:2] + x[1::2])
        rest = odd if count % 2 else odd[:-1]
        even = torch.cat([x[:1], a[2::2] * rest + x[2::2]])
        if count % 2:
            odd = torch.cat([odd, torch.zeros_like(odd[:1])])
        joined = torch.cat([even, odd], dim=1)
        pairs = joined.reshape(len(even), 2, *inner)
        return pairs.reshape(2 * len(even), *inner)[:count]

    last = d.flag(0.3)

    def function(a, x):
        states = combine(a, x)
        return states.movedim(0, -1) if last else states

    return function, [d.between(-1.0, 1.0, steps, *inner), d.data(steps, *inner)]


def casts(d):
    """Changes of the element type before, behind and between views that split, join and turn dims.

    Few bits: every step is exact in all types.
    """
    d.dtype = torch.float16  # torch-mlir imports no bfloat16 numbers of its own
    shape = [d.size(130) for _ in range(d.choice(1, 2, 3))]
    while np.prod(shape) > 20000:
        shape[int(np.argmax(shape))] //= 2
    first = tuple(shape)
    begins_wide, ends = d.flag(), d.flag()
    wide = begins_wide
    steps = []
    for _ in range(d.choice(2, 3, 4, 5)):
        kind = d.choice("cast", "cast", "join", "split", "turn", "cut", "add", "compare")
        if kind == "cast":
            wide = not wide
            steps.append(lambda x, to=torch.float32 if wide else d.dtype: x.to(to))
        elif kind == "join" and len(shape) > 1:
            at = int(d.rng.integers(len(shape) - 1))
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
            steps.append(lambda x, to=tuple(shape): x.reshape(to))
        elif kind == "split":
            at = int(d.rng.integers(len(shape)))
            factors = divisors(shape[at])[1:-1]
            if factors and len(shape) < 5:
                inner = d.choice(*factors)
                shape[at : at + 1] = [shape[at] // inner, inner]
                steps.append(lambda x, to=tuple(shape): x.reshape(to))
        elif kind == "turn" and len(shape) > 1:
            a, b = (int(n) for n in d.rng.choice(len(shape), 2, replace=False))
            shape[a], shape[b] = shape[b], shape[a]
            steps.append(lambda x, a=a, b=b: x.transpose(a, b))
        elif kind == "cut":
            at = int(d.rng.integers(len(shape)))
            begin = int(d.rng.integers(shape[at]))
            shape[at] -= begin
            steps.append(lambda x, at=at, begin=begin: x.narrow(at, begin, x.shape[at] - begin))
        elif kind == "add":
            steps.append(lambda x: x + 0.5)
        elif kind == "compare" and not wide:
            steps.append(lambda x: torch.where(x > 0.25, x, -x))

    def function(x):
        x = x.to(torch.float32) if begins_wide else x * 2
        for step in steps:
            x = step(x)
        return x + 1 if ends else x

    return function, [torch.round(d.data(*first) * 4) / 8]


KINDS = {
    "layer_norm": layer_norm,
    "layer_norm_written": layer_norm_written_out,
    "rms_norm": rms_norm,
    "gelu_mlp": gelu_mlp,
    "swiglu_mlp": swiglu_mlp,
    "matmul": matmuls,
    "attention": attention,
    "sdpa": sdpa,
    "mha": multi_head_attention,
    "casts": casts,
    "rope": rope,
    "scan": scan,
    "decoder_layer": decoder_layer,
    "encoder_layer": encoder_layer,
}
