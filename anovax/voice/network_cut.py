"""One ONNX network cut in two at a tensor, so that its second half can run piece by piece.

An ONNX file is a Protocol Buffers message: fields of a number, a kind and a value, in any order. The cut keeps whole
fields and writes none but the new input or output, so all that is read here is which node makes which tensor; the onnx
package would copy the weights several times for that. Field numbers: onnx.proto of ONNX (github.com/onnx/onnx).
"""

from __future__ import annotations

from collections.abc import Iterator

GRAPH, NODE, INITIALIZER, INPUT, OUTPUT = 7, 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, INITIALIZER_NAME, VALUE_NAME = 1, 2, 3, 8, 1
FLOAT_TENSOR = bytes((0x12, 0x04, 0x0A, 0x02, 0x08, 0x01))  # its type without a shape

Field = tuple[int, memoryview, memoryview]  # number, value, the whole field


def cut(network: bytes, tensor: str) -> tuple[bytes, bytes]:
    """The network from its inputs to ``tensor`` (float), and from there to its outputs.

    Nothing else may cross the cut. Raises ValueError when the file is none of ONNX or cannot be cut there.
    """
    model = list(_fields(memoryview(network)))
    graph = [field for number, value, _ in model if number == GRAPH for field in _fields(value)]
    value = _field(VALUE_NAME, tensor.encode()) + FLOAT_TENSOR
    inputs = {_name(v, VALUE_NAME) for number, v, _ in graph if number == INPUT}
    outputs = {_name(v, VALUE_NAME) for number, v, _ in graph if number == OUTPUT}
    first = _part(graph, {tensor}, inputs, drop=OUTPUT, add=_field(OUTPUT, value))
    second = _part(graph, outputs, {tensor}, drop=INPUT, add=_field(INPUT, value))
    rest = b"".join(whole for number, _, whole in model if number != GRAPH)
    return rest + _field(GRAPH, first), rest + _field(GRAPH, second)


def input_of(network: bytes, node: str) -> str:
    """The first input of the node called ``node``. Raises ValueError when there is none."""
    for number, value, _ in _fields(memoryview(network)):
        if number == GRAPH:
            for part, one, _ in _fields(value):
                if part == NODE and _name(one, NODE_NAME) == node:
                    return _name(one, NODE_INPUT)
    raise ValueError(f"the network has no node {node}")


def _part(graph: list[Field], wanted: set[str], given: set[str], drop: int, add: bytes) -> bytes:
    """The part of ``graph`` that makes ``wanted`` from ``given``; ``add`` replaces fields of the number ``drop``."""
    known = given | {_name(v, INITIALIZER_NAME) for number, v, _ in graph if number == INITIALIZER}
    needed, keep = set(wanted), set[int]()
    for index in reversed(range(len(graph))):  # nodes stand in the order in which they run
        number, node, _ = graph[index]
        if number == NODE and needed & set(_names(node, NODE_OUTPUT)) - given:
            keep.add(index)
            needed |= set(_names(node, NODE_INPUT)) - {""}
    made = {name for index in keep for name in _names(graph[index][1], NODE_OUTPUT)}
    if missing := needed - made - known:
        raise ValueError(f"{min(missing)} would have to cross the cut, too")
    kept = (
        whole
        for index, (number, value, whole) in enumerate(graph)
        if number != drop
        and (number != NODE or index in keep)
        and (number != INITIALIZER or _name(value, INITIALIZER_NAME) in needed)
    )
    return b"".join((*kept, add))


def _names(message: memoryview, number: int) -> list[str]:
    return [str(value, "utf-8") for found, value, _ in _fields(message) if found == number]


def _name(message: memoryview, number: int) -> str:
    return next(iter(_names(message, number)), "")


def _fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message. Raises ValueError where it ends too soon or is none."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind, begin = key & 7, at
        if kind == 0:
            _, at = _varint(message, at)
        elif kind == 2:
            size, begin = _varint(message, at)
            at = begin + size
        else:
            at += {1: 8, 5: 4}.get(kind, len(message) + 1)
        if at > len(message):
            raise ValueError("this is no ONNX network")
        yield key >> 3, message[begin:at], message[start:at]


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    for end in range(at, min(len(message), at + 10)):
        value |= (message[end] & 0x7F) << shift
        shift += 7
        if message[end] < 0x80:
            return value, end + 1
    raise ValueError("this is no ONNX network")


def _field(number: int, value: bytes) -> bytes:
    size, head = len(value), bytearray((number << 3 | 2,))
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((*head, size)) + value
