"""The model's tokens as llguidance wants them."""

from __future__ import annotations

import ctypes
from typing import Any

from anovax.planner.engine import Engine

ROOM = 512  # bytes of the longest piece
SPECIAL = b"\xff"  # llguidance's mark for tokens that stand for no text


def llg_tokenizer(engine: Engine) -> Any:
    """An llguidance LLTokenizer for ``engine``'s vocabulary, whose texts llama.cpp itself tokenises.

    Does what ``llguidance.llamacpp.lltokenizer_from_vocab`` does; that one calls functions which llama-cpp-python has
    deprecated, for each of 150,000 tokens.
    """
    from llguidance import LLTokenizer

    api = engine.api
    return LLTokenizer.from_llamacpp(  # type: ignore[attr-defined]
        tokens=pieces(engine),
        vocab_ptr=engine.vocab,
        tokenize_fptr=ctypes.cast(api.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value,
        eos_token=api.llama_vocab_eos(engine.vocab),
        slices=[],  # they make a mask 0.1 ms faster and the start 250 ms slower
    )


def pieces(engine: Engine) -> list[bytes]:
    """The bytes of each token, in the order of their ids; those of control tokens begin with SPECIAL."""
    api, vocab = engine.api, engine.vocab
    to_piece, attributes, buffer = api.llama_token_to_piece, api.llama_vocab_get_attr, ctypes.create_string_buffer(ROOM)
    control, defined = api.LLAMA_TOKEN_ATTR_CONTROL, api.LLAMA_TOKEN_ATTR_USER_DEFINED
    found: list[bytes] = []
    for token in range(engine.n_vocab):
        length = to_piece(vocab, token, buffer, ROOM, 0, True)
        piece = bytes(memoryview(buffer)[: max(0, length)])
        kind = attributes(vocab, token)
        hidden = kind & control or (kind & defined and piece[:1] == b"<" and piece[-1:] == b">")
        found.append(SPECIAL + piece if hidden else piece)
    return found
