#!/usr/bin/env python3
# python_transformers.py - generate() of the library transformers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The model is transformers' own class from a tiny configuration with random weights; one
# line puts its forward on the device. With a static cache the prompt and the further
# tokens are one graph each. Other models: docs/models.md.
"""A tiny Granite or Llama of transformers generates tokens, which are compared with PyTorch's."""

import argparse
import sys

import comparison
import spyre_mlir.dynamo as dynamo
import torch

SIZES = {
    "vocab_size": 512,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.1,
    "eos_token_id": None,
    "pad_token_id": 0,
}


@torch.no_grad()
def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: python_transformers.py --model llama")
    parser.add_argument("--model", choices=("granite", "llama"), default="granite")
    parser.add_argument("--tokens", type=int, default=16, help="tokens to generate (default 16)")
    options = parser.parse_args(argv)
    if not 1 <= options.tokens <= 96:
        parser.error("tokens are 1 to 96")
    try:
        from transformers import GraniteConfig, GraniteForCausalLM, LlamaConfig, LlamaForCausalLM
    except ImportError:
        print("error: transformers is not installed: pip install transformers", file=sys.stderr)
        return 2

    torch.manual_seed(0)
    if options.model == "granite":
        model = GraniteForCausalLM(GraniteConfig(**SIZES, residual_multiplier=0.22, logits_scaling=4.0))
    else:
        model = LlamaForCausalLM(LlamaConfig(**SIZES))
    model = model.half().eval()
    prompt = torch.randint(1, 512, (1, 24))
    how = {
        "max_new_tokens": options.tokens,
        "do_sample": False,
        "cache_implementation": "static",
        "output_logits": True,
        "return_dict_in_generate": True,
    }
    wanted = model.generate(prompt, **how)
    model.forward = torch.compile(model.forward, backend="spyre", dynamic=False)
    got = model.generate(prompt, **how)

    print(dynamo.summary())
    new = slice(prompt.shape[1], None)
    return comparison.report_tokens(got.sequences[0, new], got.logits, wanted.sequences[0, new], wanted.logits)


if __name__ == "__main__":
    sys.exit(main())
