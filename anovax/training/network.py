"""A few small networks that vote on a window of embeddings, trained with Adam in numpy, written as ONNX.

Their mean must be above the threshold for three frames in a row: 160 ms that spare most of the false accepts. That,
too, is part of the ONNX graph, so that any detector can run it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.files import write_atomically
from anovax.training import Told, untold

Array = NDArray[np.float32]
BATCH_POSITIVE, BATCH_NEGATIVE = 96, 384
HARD_SHARE = 0.5
MINE_EVERY = 250
AGREE = 3  # frames
AVERAGED = 0.995


@dataclass(frozen=True)
class Windows:
    """Windows of ``depth`` embeddings: ``rows`` float32[n, 96], and for each window the row it ends with (int[k])."""

    rows: Array
    ends: NDArray[np.int64]
    depth: int

    def take(self, which: NDArray[np.int64]) -> Array:
        """float32[len(which), depth * 96]."""
        index = self.ends[which][:, None] + np.arange(1 - self.depth, 1)
        taken: Array = self.rows[index].reshape(len(which), -1)
        return taken


class Network:
    """``layers``: weights float32[in, out] and biases float32[out], ReLU between; gives log odds. ``mean``, ``scale``:
    of the inputs."""

    def __init__(self, sizes: tuple[int, ...], mean: Array, scale: Array, draw: np.random.Generator) -> None:
        self.mean, self.scale = mean, scale
        self.layers = [
            [draw.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)]
            for a, b in pairwise(sizes)
        ]

    def log_odds(self, x: Array) -> Array:
        """float32[k] for windows float32[k, inputs]."""
        return self._forward((x - self.mean) / self.scale)[-1][:, 0]

    def scores(self, windows: Windows, which: NDArray[np.int64], block: int = 4096) -> Array:
        """Log odds of many windows, block by block."""
        parts = [self.log_odds(windows.take(which[i : i + block])) for i in range(0, len(which), block)]
        return np.concatenate(parts or [np.zeros(0, np.float32)])

    def _forward(self, x: Array) -> list[Array]:
        out = [x]
        for number, (weights, bias) in enumerate(self.layers):
            y = out[-1] @ weights + bias
            out.append(y if number == len(self.layers) - 1 else np.maximum(y, 0))
        return out

    def gradients(self, x: Array, wanted: Array, weight: Array) -> list[list[Array]]:
        """Of the weighted cross entropy for normalised inputs, for each layer's weights and bias."""
        out = self._forward(x)
        odds = np.clip(out[-1][:, 0], -30, 30)
        delta = ((1 / (1 + np.exp(-odds)) - wanted) * weight / weight.sum())[:, None].astype(np.float32)
        found: list[list[Array]] = []
        for number in reversed(range(len(self.layers))):
            weights, _ = self.layers[number]
            found.append([out[number].T @ delta, delta.sum(0)])
            delta = (delta @ weights.T) * (out[number] > 0)
        return found[::-1]


class Blur:
    """Noise and gaps for normalised inputs, from a table: drawing them anew costs more than learning."""

    def __init__(self, inputs: int, draw: np.random.Generator) -> None:
        shape = (4 * (BATCH_POSITIVE + BATCH_NEGATIVE), inputs)
        self._draw, self._noise = draw, 0.15 * draw.standard_normal(shape, np.float32)
        self._keep = draw.random(shape, np.float32) > 0.1

    def __call__(self, x: Array) -> Array:
        at, other = self._draw.integers(len(self._noise) - len(x), size=2)
        blurred: Array = (x + self._noise[at : at + len(x)]) * self._keep[other : other + len(x)]
        return blurred


class Adam:
    """Kingma and Ba 2015 (arXiv:1412.6980), with decoupled weight decay (Loshchilov and Hutter 2019)."""

    def __init__(self, network: Network, decay: float = 0.02) -> None:
        self._network, self._decay, self._step = network, decay, 0
        self._first = [[np.zeros_like(p) for p in layer] for layer in network.layers]
        self._second = [[np.zeros_like(p) for p in layer] for layer in network.layers]

    def step(self, gradients: list[list[Array]], rate: float) -> None:
        self._step += 1
        for layer, grads, first, second in zip(self._network.layers, gradients, self._first, self._second, strict=True):
            for k, grad in enumerate(grads):
                first[k] += 0.1 * (grad - first[k])
                second[k] += 0.001 * (grad * grad - second[k])
                unbiased = first[k] / (1 - 0.9**self._step)
                size = np.sqrt(second[k] / (1 - 0.999**self._step)) + 1e-8
                layer[k] -= rate * (unbiased / size + (self._decay * layer[k] if k == 0 else 0.0))


def train(
    windows: Windows,
    positive: NDArray[np.int64],
    negative: NDArray[np.int64],
    hidden: tuple[int, ...] = (64, 32),
    steps: int = 2000,
    seed: int = 0,
    told: Told = untold,
) -> Network:
    """A network that tells the windows ``positive`` from ``negative`` (indices into ``windows``).

    Half of the negative windows of each batch are those that are hardest at the moment. The result is the running
    average of the weights. ``told`` may raise Cancelled.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # the matrices are small: more threads only wait for each other
        return _trained(windows, positive, negative, hidden, steps, seed, told)


def _trained(
    windows: Windows,
    positive: NDArray[np.int64],
    negative: NDArray[np.int64],
    hidden: tuple[int, ...],
    steps: int,
    seed: int,
    told: Told,
) -> Network:
    draw = np.random.default_rng(seed)
    some = windows.take(draw.choice(negative, min(len(negative), 4000), replace=False))
    network = Network((some.shape[1], *hidden, 1), some.mean(0), some.std(0) + 1e-3, draw)
    adam, blur = Adam(network), Blur(some.shape[1], draw)
    averaged = [[p.copy() for p in layer] for layer in network.layers]
    for step, chosen in enumerate(_batches(network, windows, positive, negative, steps, draw)):
        wanted = np.concatenate([np.ones(BATCH_POSITIVE), np.zeros(BATCH_NEGATIVE)]).astype(np.float32)
        weight = np.where(wanted > 0, 2.0, 1.0 + 2.0 * step / steps).astype(np.float32)
        rate = 1e-3 * min(1.0, step / 100 + 0.01) * 0.5 * (1 + np.cos(np.pi * step / steps))
        x = blur((windows.take(chosen) - network.mean) / network.scale)
        adam.step(network.gradients(x, wanted, weight), rate)
        for mean, layer in zip(averaged, network.layers, strict=True):
            for k in (0, 1):
                mean[k] += (1 - min(AVERAGED, step / (step + 10))) * (layer[k] - mean[k])
        if step % 20 == 0:
            told("training", step, steps)
    network.layers = averaged
    told("training", steps, steps)
    return network


def _batches(
    network: Network,
    windows: Windows,
    positive: NDArray[np.int64],
    negative: NDArray[np.int64],
    steps: int,
    draw: np.random.Generator,
) -> Iterator[NDArray[np.int64]]:
    hard = negative
    count = round(BATCH_NEGATIVE * HARD_SHARE)
    for step in range(steps):
        if step and step % MINE_EVERY == 0:
            scores = network.scores(windows, negative)
            hard = negative[np.argsort(scores)[-max(count, len(negative) // 50) :]]
        parts = ((positive, BATCH_POSITIVE), (hard, count), (negative, BATCH_NEGATIVE - count))
        yield np.concatenate([draw.choice(among, size) for among, size in parts])


@dataclass(frozen=True)
class Jury:
    """Networks that vote: the mean of their log odds."""

    networks: tuple[Network, ...]

    def scores(self, windows: Windows, which: NDArray[np.int64]) -> Array:
        """Log odds float32[k] for each window."""
        voted: Array = np.mean([one.scores(windows, which) for one in self.networks], axis=0)
        return voted


def agreed(odds: Array) -> Array:
    """The lowest of each frame's log odds and those of the two frames before: float32[n] from float32[n]."""
    before = np.concatenate([np.full(AGREE - 1, -20, np.float32), odds])
    lowest: Array = np.lib.stride_tricks.sliding_window_view(before, AGREE).min(axis=1)
    return lowest


def write_onnx(jury: Jury, depth: int, threshold: float, path: Path, notes: dict[str, str]) -> None:
    """The jury as an ONNX file (float32[1, depth + 2, 96] to float32[1, 1]); written atomically.

    ``threshold`` (log odds) becomes a score of 0.5, ``notes`` its metadata.
    """
    import onnx

    model = _model(jury, depth, threshold)
    onnx.helper.set_model_props(model, notes)
    onnx.checker.check_model(model)
    write_atomically(path, model.SerializeToString())


def _model(jury: Jury, depth: int, threshold: float) -> Any:
    """Cut the window into ``AGREE`` shorter ones, give each to every network; mean over networks, least over cuts."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, values, cuts = [], [], []
    for cut in range(AGREE):
        for name, value in ((f"from{cut}", [cut]), (f"to{cut}", [cut + depth]), ("axis", [1]))[: 3 if not cut else 2]:
            values.append(numpy_helper.from_array(np.array(value, np.int64), name))
        nodes.append(helper.make_node("Slice", ["windows", f"from{cut}", f"to{cut}", "axis"], [f"cut{cut}"]))
        cuts.append(f"cut{cut}")
    nodes += [helper.make_node("Concat", cuts, ["cuts"], axis=0), helper.make_node("Flatten", ["cuts"], ["flat"])]
    votes = []
    for number, network in enumerate(jury.networks):
        votes.append(_voter(f"n{number}", _folded(network, threshold), nodes, values))
    nodes.append(helper.make_node("Mean", votes, ["mean"]))
    nodes.append(helper.make_node("ReduceMin", ["mean"], ["least"], axes=[0], keepdims=1))
    nodes.append(helper.make_node("Sigmoid", ["least"], ["score"]))
    shape_in = helper.make_tensor_value_info("windows", TensorProto.FLOAT, [1, depth + AGREE - 1, 96])
    shape_out = helper.make_tensor_value_info("score", TensorProto.FLOAT, [1, 1])
    graph = helper.make_graph(nodes, "wake_word", [shape_in], [shape_out], values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="anovax", ir_version=9)


def _voter(name: str, layers: list[tuple[Array, Array]], nodes: list[Any], values: list[Any]) -> str:
    """Add one network to the graph; the name of its output, float32[AGREE, 1]."""
    from onnx import helper, numpy_helper

    last = "flat"
    for number, layer in enumerate(layers):
        names = [f"{name}_{kind}{number}" for kind in ("weights", "bias", "sum", "out")]
        values += [numpy_helper.from_array(value, known) for value, known in zip(layer, names[:2], strict=True)]
        nodes.append(helper.make_node("Gemm", [last, *names[:2]], [names[2]]))
        last = names[2]
        if number < len(layers) - 1:
            nodes.append(helper.make_node("Relu", [names[2]], [names[3]]))
            last = names[3]
    return last


def _folded(network: Network, threshold: float) -> list[tuple[Array, Array]]:
    """Weights and biases with the normalisation of the inputs and the threshold worked in."""
    layers = [(w.copy(), b.copy()) for w, b in network.layers]
    weights, bias = layers[0]
    layers[0] = (weights / network.scale[:, None], bias - (network.mean / network.scale) @ weights)
    weights, bias = layers[-1]
    layers[-1] = (weights, bias - np.float32(threshold))
    return layers
