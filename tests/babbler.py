"""A language model that babbles: Qwen's real tokenizer and chat template over a few random weights.

What the grammar promises must hold for any model; this one proposes, step after step, what no sensible one would.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

WIDTH, HEADS, INNER, LAYERS, CONTEXT = 64, 4, 64, 1, 4096
OWN = ("general.architecture", "general.file_type", "general.quantization_version")


def make(source: Path, target: Path, seed: int = 5) -> None:
    """Write ``target`` (GGUF, float16, random weights from ``seed``) with the tokenizer of ``source`` (GGUF)."""
    import gguf

    reader = gguf.GGUFReader(str(source))
    writer = gguf.GGUFWriter(str(target), "qwen2")
    for name, field in reader.fields.items():
        if name.startswith("tokenizer."):
            kind = field.types[0]
            writer.add_key_value(name, field.contents(), kind, field.types[-1] if len(field.types) > 1 else None)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    tokens = len(reader.fields["tokenizer.ggml.tokens"].data)
    for name, values in _tensors(np.random.default_rng(seed), tokens):
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(chance: np.random.Generator, tokens: int) -> list[tuple[str, np.ndarray]]:
    def matrix(rows: int, columns: int = WIDTH) -> np.ndarray:
        return chance.normal(0, 1.0, (rows, columns)).astype(np.float16)

    one, none = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    found = [("token_embd.weight", matrix(tokens)), ("output_norm.weight", one), ("output.weight", matrix(tokens))]
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        found += [(f"{at}attn_norm.weight", one), (f"{at}ffn_norm.weight", one)]
        found += [(f"{at}attn_{name}.weight", matrix(WIDTH)) for name in ("q", "k", "v", "output")]
        found += [(f"{at}attn_{name}.bias", none) for name in ("q", "k", "v")]
        found += [(f"{at}ffn_gate.weight", matrix(INNER)), (f"{at}ffn_up.weight", matrix(INNER))]
        found += [(f"{at}ffn_down.weight", matrix(WIDTH, INNER))]
    return found
