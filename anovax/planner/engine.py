"""One llama.cpp model and its context: tokens in, logits out, the KV cache kept by truncating it.

Everything here runs on one thread, the owner's; only ``stop`` may be called from another. llama-cpp-python's ``Llama``
class resets or re-matches its cache on each call and redirects the process's stdout while it loads, so this goes to the
C functions below it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.errors import Cancelled, PlannerError
from anovax.planner.threads import wait_passively

CONTEXT_TOKENS = 3072
BATCH = 128  # tokens read at once: 512 are no quicker here, and take 40 to 60 MB more
MEMORY_RESERVE = 400 << 20  # context, compute buffers and Python itself, bytes


class Engine:
    """``path`` is an instruct GGUF. Raises PlannerError with one sentence when it cannot be used."""

    tensor_library_name = "numpy"  # what outlines asks a model for

    def __init__(self, path: Path, threads: int, context: int = CONTEXT_TOKENS) -> None:
        check_file(path)
        check_memory(path)
        self.path = path
        self.api: Any = import_llama()
        self._model: Any = self._load()
        self._ctx: Any = None
        try:
            self.vocab: Any = self.api.llama_model_get_vocab(self._model)
            self._check_instruct()
            self._ctx = self._open(threads, context)
        except BaseException:
            self.close()
            raise
        self.n_vocab: int = self.api.llama_vocab_n_tokens(self.vocab)
        self.context = context
        self.threads = threads
        self.past = 0  # tokens in the KV cache
        self._batch: Any = self.api.llama_batch_init(BATCH, 0, 1)

    # --- building ----------------------------------------------------------------------------------------------------

    def _load(self) -> Any:
        params = self.api.llama_model_default_params()
        params.n_gpu_layers = 0
        params.load_mode = self.api.LLAMA_LOAD_MODE_NONE  # most weights are repacked: a mapped file would be held twice
        model = self.api.llama_model_load_from_file(os.fsencode(self.path), params)
        if not model:
            raise PlannerError(f"The planner model {self.path} is damaged", "fetch it again: anovax models fetch")
        return model

    def _check_instruct(self) -> None:
        if not self.api.llama_model_chat_template(self._model, None):
            raise PlannerError(
                f"{self.path.name} is not an instruct model (it has no chat template)",
                "choose an instruct GGUF as planner.model",
            )

    def _open(self, threads: int, context: int) -> Any:
        api = self.api
        params = api.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context, BATCH, BATCH
        params.n_threads = params.n_threads_batch = threads
        params.n_seq_max = 1
        # With flash attention a long prompt is read up to 14% faster here, but the batches of 16 that plans are made of
        # take 28 to 37% longer (2 cores, 1,400 tokens in the cache).
        params.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.no_perf = True
        ctx = api.llama_init_from_model(self._model, params)
        if not ctx:
            raise PlannerError(
                f"There is not enough memory to plan with {self.path.name}",
                "close something or choose a smaller planner.model",
            )
        # llama.cpp asks between two operations whether to go on, thousands of times a second. A Python callback would
        # take the interpreter lock each time; strlen of a one-character buffer answers the same without it.
        self._flag = ctypes.create_string_buffer(2)
        strlen = ctypes.cast(_libc().strlen, ctypes.c_void_p)
        self._abort = ctypes.cast(strlen, api.ggml_abort_callback)
        api.llama_set_abort_callback(ctx, self._abort, ctypes.cast(self._flag, ctypes.c_void_p))
        return ctx

    def use_threads(self, threads: int) -> None:
        """With how many threads the next ``feed`` computes."""
        self.api.llama_set_n_threads(self._ctx, threads, threads)

    # --- text and tokens ---------------------------------------------------------------------------------------------

    def tokenize(self, text: str, special: bool = False) -> list[int]:
        """Token ids of ``text``. Control tokens are recognised only when ``special`` is set: never for users' text."""
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 8
        buffer = (self.api.llama_token * room)()
        n = self.api.llama_tokenize(self.vocab, raw, len(raw), buffer, room, False, special)
        return list(buffer[:n])

    def piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        n = self.api.llama_token_to_piece(self.vocab, token, buffer, 256, 0, True)
        return buffer.raw[: max(n, 0)]

    # --- the cache ---------------------------------------------------------------------------------------------------

    def feed(self, tokens: Sequence[int], want: int = 1) -> NDArray[np.float32]:
        """Read ``tokens`` after what is cached; logits after each of the last ``want`` of them, shape (want, n_vocab).

        The array is llama.cpp's own memory: valid until the next call. Raises Cancelled after ``stop``.
        """
        if self.past + len(tokens) > self.context:
            raise PlannerError(
                "The request and its context are longer than the planner can read", "say it in fewer words"
            )
        done = 0
        while done < len(tokens):
            left = len(tokens) - done
            size = left if left <= BATCH else min(BATCH, left - want)  # the last part holds all that is wanted
            self._decode(tokens[done : done + size], want if size == left else 0)
            done += size
        pointer = self.api.llama_get_logits(self._ctx)
        return np.ctypeslib.as_array(pointer, shape=(want, self.n_vocab))

    def _decode(self, tokens: Sequence[int], want: int) -> None:
        batch, n = self._batch, len(tokens)
        batch.n_tokens = n
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, self.past + i, 1, i >= n - want
            batch.seq_id[i][0] = 0
        status = self.api.llama_decode(self._ctx, batch)
        if status != 0:
            self.truncate(self.past)
            if self._flag[0] != b"\0":
                raise Cancelled
            raise PlannerError(f"The planner model could not go on (llama.cpp status {status})", "ask again")
        self.past += n

    def truncate(self, n: int) -> None:
        """Forget everything after the first ``n`` cached tokens."""
        self.api.llama_memory_seq_rm(self.api.llama_get_memory(self._ctx), 0, n, -1)
        self.past = n

    def state(self) -> bytes:
        """The cached tokens' keys and values."""
        size = self.api.llama_state_seq_get_size(self._ctx, 0)
        buffer = (ctypes.c_uint8 * size)()
        n = self.api.llama_state_seq_get_data(self._ctx, buffer, size, 0)
        return bytes(memoryview(buffer)[:n])

    def restore(self, state: bytes, past: int) -> bool:
        """Put back what ``state`` gave. False, with an empty cache, when llama.cpp does not accept it."""
        self.truncate(0)
        buffer = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))  # no copy: it is only read
        ok = self.api.llama_state_seq_set_data(self._ctx, buffer, len(state), 0) == len(state)
        self.truncate(past if ok else 0)
        return bool(ok)

    # --- stopping ----------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Make a running ``feed`` end with Cancelled, from any thread."""
        self._flag[0] = b"\1"

    def ready(self) -> None:
        """Take an earlier ``stop`` back."""
        self._flag[0] = b"\0"

    @property
    def build(self) -> str:
        """What identifies the llama.cpp build: a KV state is only good for the one that wrote it."""
        import llama_cpp

        return f"{llama_cpp.__version__} {self.api.llama_print_system_info().decode()}"

    def close(self) -> None:
        """Give the memory back. Safe twice."""
        if getattr(self, "_batch", None) is not None:
            self.api.llama_batch_free(self._batch)
            self._batch = None
        if self._ctx is not None:
            self.api.llama_free(self._ctx)
            self._ctx = None
        if self._model is not None:
            self.api.llama_model_free(self._model)
            self._model = None


def _libc() -> Any:
    return ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)


def import_llama() -> Any:
    """The C functions of llama.cpp, with its chatter turned off. Raises PlannerError where it is not installed."""
    wait_passively()
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise PlannerError(
            f"llama.cpp cannot be loaded ({error})", "install llama-cpp-python, or use --backend fastpath"
        ) from None
    # llama.cpp says a line for every tensor. A Python callback would wait for the interpreter lock each time, in all
    # for more than a second of the start; abs of the line's level does nothing, without the lock.
    llama_cpp.llama_log_set(ctypes.cast(_libc().abs, llama_cpp.llama_log_callback), None)
    llama_cpp.llama_backend_init()
    return llama_cpp


def check_file(path: Path) -> None:
    """PlannerError unless ``path`` looks like a GGUF file."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise PlannerError(
            f"The planner model {path} cannot be read ({error.strerror})", "run: anovax models fetch"
        ) from None
    if magic != b"GGUF":
        raise PlannerError(f"{path} is not a GGUF model file", "choose an instruct GGUF as planner.model")


def check_memory(path: Path, available: Callable[[], int] | None = None) -> None:
    """PlannerError when the weights would not fit into the memory that is free now (bytes)."""
    import psutil

    free = available() if available else psutil.virtual_memory().available
    need = path.stat().st_size + MEMORY_RESERVE
    if free < need:
        raise PlannerError(
            f"Too little memory for {path.name}: it needs {need / 2**30:.1f} GB and {free / 2**30:.1f} GB are free",
            "close something or choose a smaller planner.model",
        )
