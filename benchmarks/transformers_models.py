# transformers_models.py - Models of the library transformers, compiled as they are
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each model is built from a tiny configuration with random weights, mostly in float16, and
# compiled unmodified with torch.compile(model, backend="spyre"). The result is compared
# with the same model in float64 on the same rounded weights. Each runs in a process of
# its own. --write makes docs/models.md of what was found; test_transformers.py asserts it.
"""Runs tiny models of transformers through torch.compile and says what ran where."""

import argparse
import collections
import copy
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "models.md"
# Of errors by the rms of the result: two layers' rounding to 9 bits; or by what float16 does to PyTorch's own
# result, where a model makes small differences large.
LIMITS, OF_HOST = {"float16": 0.02, "bfloat16": 0.02, "float32": 1e-5}, 4
SECONDS = 900
VOCABULARY, LENGTH, BATCH = 160, 24, 2


@dataclasses.dataclass(frozen=True)
class Model:
    """A class of transformers with its configuration, and how to call it."""

    name: str
    config: str  # class of the configuration
    model: str  # class of the model
    settings: dict
    inputs: Callable  # (torch) -> keyword arguments
    result: str = "logits"
    attention: str = ""  # else what transformers chooses: scaled_dot_product_attention where a model can
    base: str = ""  # what is compiled of it, else all
    wide: str = "float64"  # of the reference
    dtype: str = "float16"

    def make(self):
        """(module, keyword arguments), seeded."""
        import torch
        import transformers

        torch.manual_seed(0)
        config = getattr(transformers, self.config)(**self.settings)
        if self.attention:
            config._attn_implementation = self.attention
        module = getattr(transformers, self.model)(config)
        module = getattr(module, self.base) if self.base else module
        randomise(module)
        dtype = getattr(torch, self.dtype)
        module = module.to(dtype).eval()
        with torch.no_grad():
            for weight in [*module.parameters(), *module.buffers()]:
                weight.copy_(as_on_device(weight))
        inputs = {
            key: value.to(dtype) if value.is_floating_point() else value for key, value in self.inputs(torch).items()
        }
        return module, {key: as_on_device(value) for key, value in inputs.items()}


def as_on_device(tensor):
    """Numbers that DL16 has, too: one bit less behind the point than float16."""
    import torch

    return (tensor.view(torch.int16) & ~1).view(torch.float16) if tensor.dtype == torch.float16 else tensor


def randomise(module):
    """Weights that keep the size of what passes, so that every operation has a part in the result."""
    import torch

    embeddings = {id(m.weight) for m in module.modules() if isinstance(m, torch.nn.Embedding)}
    with torch.no_grad():
        for name, weight in [*module.named_parameters(), *module.named_buffers()]:
            if not weight.is_floating_point() or "inv_freq" in name:
                continue
            if name.endswith("running_var"):
                weight.uniform_(0.5, 1.5)
            elif weight.dim() < 2:  # norms and biases stay about what they begin with, which some models add 1 to
                weight.add_(torch.randn_like(weight), alpha=0.1)
            elif id(weight) in embeddings or weight.shape[0] == 1:
                weight.normal_()
            else:
                weight.normal_(std=weight[0].numel() ** -0.5)
                if name.endswith("Attention.q.weight"):  # T5 has the scale of attention in its weights
                    weight.mul_(T5["d_kv"] ** -0.5)


def tokens(torch):
    return {"input_ids": torch.randint(3, VOCABULARY, (BATCH, LENGTH))}


def masked_tokens(torch):
    mask = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    mask[1, LENGTH - 7 :] = 0
    return {**tokens(torch), "attention_mask": mask}


def left_padded_tokens(torch):
    mask = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    mask[1, :5] = 0
    return {**tokens(torch), "attention_mask": mask}


def sequence_pair(torch):
    return {**masked_tokens(torch), "decoder_input_ids": torch.randint(3, VOCABULARY, (BATCH, 9))}


def picture(size):
    return lambda torch: {"pixel_values": torch.randn(BATCH, 3, size, size)}


def sound(torch):
    return {"input_features": torch.randn(BATCH, 16, 48)}


DECODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "use_cache": False,
}
ENCODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
VISION = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 8,
}
GRANITE = {
    "embedding_multiplier": 12.0,
    "attention_multiplier": 1 / 32,
    "residual_multiplier": 0.22,
    "logits_scaling": 8.0,
}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_positions": 64,
    "n_embd": 128,
    "n_layer": 2,
    "n_head": 4,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "use_cache": False,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 128,
    "d_kv": 32,
    "d_ff": 256,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
    "use_cache": False,
}
WHISPER = {
    "vocab_size": VOCABULARY,
    "num_mel_bins": 16,
    "d_model": 128,
    "encoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_layers": 2,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 256,
    "decoder_ffn_dim": 256,
    "max_source_positions": 24,
    "max_target_positions": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
BART = {
    **{key: value for key, value in WHISPER.items() if key not in ("num_mel_bins", "max_source_positions")},
    "max_position_embeddings": 64,
    "use_cache": False,
}
STAGES = {"num_channels": 3, "hidden_sizes": [64, 128], "depths": [1, 1], "num_labels": 10}

MODELS = [
    Model("Granite", "GraniteConfig", "GraniteForCausalLM", {**DECODER, **GRANITE}, tokens),
    Model("Granite, eager attention", "GraniteConfig", "GraniteForCausalLM", {**DECODER, **GRANITE}, tokens, attention="eager"),
    Model("Granite, padded", "GraniteConfig", "GraniteForCausalLM", {**DECODER, **GRANITE}, left_padded_tokens),
    Model("Granite, bfloat16", "GraniteConfig", "GraniteForCausalLM", {**DECODER, **GRANITE}, tokens, dtype="bfloat16"),
    Model("Granite, float32", "GraniteConfig", "GraniteForCausalLM", {**DECODER, **GRANITE}, tokens, dtype="float32"),
    Model("Llama", "LlamaConfig", "LlamaForCausalLM", DECODER, tokens),
    Model("Llama, eager attention", "LlamaConfig", "LlamaForCausalLM", DECODER, tokens, attention="eager"),
    Model("Mistral", "MistralConfig", "MistralForCausalLM", {**DECODER, "sliding_window": 8}, tokens),
    Model("Qwen2", "Qwen2Config", "Qwen2ForCausalLM", DECODER, tokens),
    Model("Qwen3", "Qwen3Config", "Qwen3ForCausalLM", {**DECODER, "head_dim": 32}, tokens),
    Model("Gemma", "GemmaConfig", "GemmaForCausalLM", {**DECODER, "head_dim": 32}, tokens),
    Model("Gemma 2", "Gemma2Config", "Gemma2ForCausalLM", {**DECODER, "head_dim": 32, "query_pre_attn_scalar": 32, "sliding_window": 8}, tokens, attention="eager"),
    Model("Phi-3", "Phi3Config", "Phi3ForCausalLM", DECODER, tokens),
    Model("OLMo 2", "Olmo2Config", "Olmo2ForCausalLM", DECODER, tokens),
    Model("StableLM", "StableLmConfig", "StableLmForCausalLM", DECODER, tokens),
    Model("Mixtral", "MixtralConfig", "MixtralForCausalLM", {**DECODER, "num_local_experts": 4}, tokens, wide="float32"),
    Model("Granite MoE", "GraniteMoeConfig", "GraniteMoeForCausalLM", {**DECODER, **GRANITE, "num_local_experts": 4}, tokens, wide="float32"),
    Model("GPT-2", "GPT2Config", "GPT2LMHeadModel", GPT2, tokens),
    Model("GPT-NeoX", "GPTNeoXConfig", "GPTNeoXForCausalLM", {key: value for key, value in DECODER.items() if key != "num_key_value_heads"}, tokens),
    Model("OPT", "OPTConfig", "OPTForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 128, "ffn_dim": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64, "word_embed_proj_dim": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False}, tokens),
    Model("BLOOM", "BloomConfig", "BloomForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 128, "n_layer": 2, "n_head": 4, "use_cache": False}, tokens, attention="eager"),
    Model("Mamba", "MambaConfig", "MambaForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 64, "state_size": 8, "num_hidden_layers": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False}, tokens),
    Model("BERT", "BertConfig", "BertModel", ENCODER, masked_tokens, "last_hidden_state"),
    Model("BERT, eager attention", "BertConfig", "BertForMaskedLM", ENCODER, masked_tokens, attention="eager"),
    Model("BERT, bfloat16", "BertConfig", "BertModel", ENCODER, masked_tokens, "last_hidden_state", dtype="bfloat16"),
    Model("BERT, float32", "BertConfig", "BertModel", ENCODER, masked_tokens, "last_hidden_state", dtype="float32"),
    Model("DistilBERT", "DistilBertConfig", "DistilBertModel", {"vocab_size": VOCABULARY, "dim": 128, "hidden_dim": 256, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64}, masked_tokens, "last_hidden_state"),
    Model("RoBERTa", "RobertaConfig", "RobertaModel", {**ENCODER, "pad_token_id": 1}, masked_tokens, "last_hidden_state"),
    Model("ALBERT", "AlbertConfig", "AlbertModel", {**ENCODER, "embedding_size": 64}, masked_tokens, "last_hidden_state"),
    Model("ELECTRA", "ElectraConfig", "ElectraModel", {**ENCODER, "embedding_size": 64}, masked_tokens, "last_hidden_state"),
    Model("MPNet", "MPNetConfig", "MPNetModel", {**ENCODER, "pad_token_id": 1}, masked_tokens, "last_hidden_state"),
    Model("DeBERTa-v2", "DebertaV2Config", "DebertaV2Model", {**ENCODER, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}, masked_tokens, "last_hidden_state", attention="eager"),
    Model("ModernBERT", "ModernBertConfig", "ModernBertModel", {**ENCODER, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2, "global_attn_every_n_layers": 2, "local_attention": 8}, masked_tokens, "last_hidden_state"),
    Model("T5 encoder", "T5Config", "T5EncoderModel", T5, masked_tokens, "last_hidden_state", attention="eager"),
    Model("T5", "T5Config", "T5ForConditionalGeneration", T5, sequence_pair, attention="eager"),
    Model("BART", "BartConfig", "BartForConditionalGeneration", BART, sequence_pair),
    Model("Whisper encoder", "WhisperConfig", "WhisperModel", WHISPER, sound, "last_hidden_state", base="encoder"),
    Model("ViT", "ViTConfig", "ViTForImageClassification", {**VISION, "num_labels": 10}, picture(32)),
    Model("ViT, eager attention", "ViTConfig", "ViTModel", VISION, picture(32), "last_hidden_state", attention="eager"),
    Model("ViT, bfloat16", "ViTConfig", "ViTModel", VISION, picture(32), "last_hidden_state", dtype="bfloat16"),
    Model("ViT, float32", "ViTConfig", "ViTModel", VISION, picture(32), "last_hidden_state", dtype="float32"),
    Model("DeiT", "DeiTConfig", "DeiTForImageClassification", {**VISION, "num_labels": 10}, picture(32)),
    Model("BEiT", "BeitConfig", "BeitModel", {**VISION, "use_relative_position_bias": True}, picture(32), "last_hidden_state"),
    Model("CLIP vision", "CLIPVisionConfig", "CLIPVisionModel", VISION, picture(32), "last_hidden_state"),
    Model("CLIP text", "CLIPTextConfig", "CLIPTextModel", {**ENCODER, "eos_token_id": 2, "bos_token_id": 1}, masked_tokens, "last_hidden_state"),
    Model("SigLIP vision", "SiglipVisionConfig", "SiglipVisionModel", VISION, picture(32), "last_hidden_state"),
    Model("DINOv2", "Dinov2Config", "Dinov2Model", {**VISION, "mlp_ratio": 2}, picture(32), "last_hidden_state"),
    Model("Swin", "SwinConfig", "SwinModel", {"image_size": 32, "patch_size": 4, "embed_dim": 64, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}, picture(32), "last_hidden_state"),
    Model("SegFormer", "SegformerConfig", "SegformerModel", {"hidden_sizes": [32, 64, 96, 128], "depths": [1, 1, 1, 1]}, picture(32), "last_hidden_state"),
    Model("ResNet", "ResNetConfig", "ResNetForImageClassification", {**STAGES, "embedding_size": 64, "layer_type": "bottleneck"}, picture(32)),
    Model("ResNet, float32", "ResNetConfig", "ResNetForImageClassification", {**STAGES, "embedding_size": 64, "layer_type": "bottleneck"}, picture(32), dtype="float32"),
    Model("ConvNeXt", "ConvNextConfig", "ConvNextForImageClassification", {**STAGES, "num_stages": 2}, picture(32)),
    Model("MobileNetV2", "MobileNetV2Config", "MobileNetV2Model", {"depth_multiplier": 0.35, "image_size": 32}, picture(32), "last_hidden_state"),
    Model("wav2vec 2.0", "Wav2Vec2Config", "Wav2Vec2Model", {**{key: value for key, value in ENCODER.items() if key not in ("max_position_embeddings",)}, "conv_dim": [64, 64], "conv_kernel": [10, 3], "conv_stride": [5, 2], "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}, lambda torch: {"input_values": torch.randn(BATCH, 400)}, "last_hidden_state"),
]  # fmt: skip


def tensor_of(model, outputs):
    return getattr(outputs, model.result)


def run(model):
    """What is said of the model: errors, places and reasons."""
    import torch

    sys.path[:0] = [str(ROOT / "examples")]
    import spyre_mlir.dynamo as dynamo
    from comparison import error, widened

    module, inputs = model.make()
    with torch.no_grad():
        wide = getattr(torch, model.wide)
        want = tensor_of(model, copy.deepcopy(module).to(wide)(**widened(inputs, wide)))
        narrow = tensor_of(model, module(**inputs))
        torch._dynamo.reset()
        dynamo.reset_summaries()
        compiled = torch.compile(module, backend="spyre")
        began = time.perf_counter()
        got = tensor_of(model, compiled(**inputs))
        first = time.perf_counter() - began
        again = tensor_of(model, compiled(**inputs))
    placements = dynamo.summaries()
    return {
        "name": model.name,
        "class": model.model + (f".{model.base}" if model.base else ""),
        "dtype": model.dtype,
        "error": error(got, want),
        "host_error": error(narrow, want),
        "again": torch.equal(got, again),
        "graphs": len(placements),
        "device": sum(placement.device_nodes for placement in placements),
        "host": sum(placement.host_nodes for placement in placements),
        "reasons": [list(reason) for placement in placements for reason in placement.reasons],
        "first_s": first,
    }


def limit(row):
    return max(LIMITS[row["dtype"]], OF_HOST * row["host_error"])


def is_right(row):
    return "failed" not in row and row["again"] and row["error"] <= limit(row)


def run_apart(model):
    """As `run`, in a process that may crash."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, __file__, "--in-process", "--only", f"={model.name}", "--json", "/dev/stdout", "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
        return json.loads(done.stdout)[0]
    except subprocess.TimeoutExpired:
        return {"name": model.name, "failed": f"more than {SECONDS} s"}
    except (ValueError, IndexError):
        lines = done.stderr.strip().splitlines() or ["nothing was said"]
        return {"name": model.name, "failed": f"exit {done.returncode}: {lines[-1]}", "log": done.stderr}


def guarded(model):
    try:
        return run(model)
    except Exception as problem:  # whatever it is belongs in the table
        import traceback

        return {"name": model.name, "failed": f"{type(problem).__name__}: {problem}", "log": traceback.format_exc()}


def line(row):
    if "failed" in row:
        return f"{row['name']:28} FAILED {row['failed'].splitlines()[0]}"
    total = row["device"] + row["host"]
    verdict = "right" if is_right(row) else "WRONG" if row["again"] else "WRONG: the second call differs"
    return (
        f"{row['name']:28} {verdict:6} error {row['error']:.1e} (host {row['host_error']:.1e})  {row['device']:4} of {total:4} operations "
        f"on the device ({row['device'] / total:.0%}), {row['graphs']} graphs, {row['first_s']:.1f} s"
    )


def short(operation):
    return operation.removesuffix(".default")


def in_general(reason):
    """Without the shapes of one occurrence."""
    return re.sub(r"^spyre\.\w+ \(.*\) -> \(.*?\): ", "", reason.splitlines()[0]).replace("|", "/")


def table(rows, version):
    """docs/models.md."""
    out = [
        "# Models",
        "",
        f"Models of [transformers](https://github.com/huggingface/transformers) {version} from tiny configurations (hidden size 128, two layers) with random weights, in float16 if nothing else is said, compiled",
        'unmodified with `torch.compile(model, backend="spyre")`. Errors are the largest difference from the same model in float64 with the same rounded weights, by',
        "the root mean square of the result; beside it is that of PyTorch in the same types. The device computes in DL16, which has one bit less than float16. Attention is what the library chooses, mostly PyTorch's `scaled_dot_product_attention`, if nothing else is said.",
        "",
        "Made by `python benchmarks/transformers_models.py --write` (`utils/install-deps.sh --transformers`); `python/test/test_transformers.py` runs the same models.",
        "",
        "| model | class | error | PyTorch's | operations | on the device | on the host |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    counts = collections.Counter()
    for row in rows:
        if "failed" in row:
            out.append(f"| {row['name']} | | | | | | fails: {row['failed'].splitlines()[0]} |")
            continue
        total = row["device"] + row["host"]
        operations = collections.Counter(short(operation) for operation, _ in row["reasons"])
        counts.update((short(operation), in_general(reason)) for operation, reason in row["reasons"])
        where = ", ".join(f"{name} {count}" if count > 1 else name for name, count in operations.most_common())
        wrong = "" if is_right(row) else " **wrong**"
        out.append(
            f"| {row['name']} | `{row['class']}` | {row['error']:.1e}{wrong} | {row['host_error']:.1e} | {total} | {row['device'] / total:.0%} | {where} |"
        )
    good = [row for row in rows if "failed" not in row]
    device, host = (sum(row[key] for row in good) for key in ("device", "host"))
    right = sum(map(is_right, rows))
    out += [
        "",
        f"{right} of {len(rows)} models right; {device / max(device + host, 1):.1%} of their {device + host} operations on the device.",
    ]
    out += ["", "## Why operations run on the host", "", "| operation | times | reason |", "|---|---:|---|"]
    for (operation, reason), count in counts.most_common():
        out.append(f"| `{operation}` | {count} | {reason} |")
    return "\n".join(out) + "\n"


def chosen(only):
    if not only:
        return MODELS
    if only.startswith("="):
        return [model for model in MODELS if model.name == only[1:]]
    return [model for model in MODELS if only.lower() in model.name.lower()]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: transformers_models.py --only granite")
    parser.add_argument("--only", metavar="SUBSTRING", help="models whose name contains it; =NAME: that one")
    parser.add_argument("--in-process", action="store_true", help="do not run each model in a process of its own")
    parser.add_argument("--json", metavar="FILE", help="write what was found")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    parser.add_argument("--quiet", action="store_true", help="print nothing but what --json writes")
    options = parser.parse_args(argv)
    models = chosen(options.only)
    if not models:
        parser.error("no model has such a name")
    if options.write and options.only:
        parser.error("--write needs all models")
    try:
        import transformers
    except ImportError:
        print("error: transformers is not installed: utils/install-deps.sh --transformers", file=sys.stderr)
        return 2
    rows = []
    for model in models:
        row = guarded(model) if options.in_process else run_apart(model)
        rows.append(row)
        if not options.quiet:
            print(line(row), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    if options.write:
        TABLE.write_text(table(rows, transformers.__version__))
    right = sum(map(is_right, rows))
    if not options.quiet:
        print(f"{right} of {len(rows)} models right")
    return 0 if right == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
