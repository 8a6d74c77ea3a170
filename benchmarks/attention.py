# attention.py - Whole attentions whose time on a card has been published, as programs
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Other than a kernel (kernels.py) an attention leaves everything to the compiler:
# the figure is that of its best plan, and what is compared is the sum of the
# modelled times of its operations.
"""Texts of attentions in the torch dialect."""


def tensor(*sizes):
    return f"!torch.vtensor<[{','.join(map(str, sizes))}],f16>"


def sdpa(rows, keys, heads, key_heads, size, mask=False):
    """`rows` of queries against `keys` of a cache, heads in groups; `mask`: one is added to the scores."""
    q, k, m = tensor(1, heads, rows, size), tensor(1, key_heads, keys, size), tensor(1, 1, rows, keys)
    arguments = f"%q: {q}, %k: {k}, %v: {k}" + (f", %m: {m}" if mask else "")
    given = "%m" if mask else "%none"
    return f"""module {{
  func.func @main({arguments}) -> {q} {{
    %none = torch.constant.none
    %no = torch.constant.bool false
    %grouped = torch.constant.bool true
    %dropout = torch.constant.float 0.0
    %scale = torch.constant.float {size**-0.5!r}
    %o = torch.aten.scaled_dot_product_attention %q, %k, %v, {given}, %dropout, %no, %scale, %grouped : {q}, {k}, {k}, {m if mask else "!torch.none"}, !torch.float, !torch.bool, !torch.float, !torch.bool -> {q}
    return %o : {q}
  }}
}}
"""
