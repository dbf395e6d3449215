# SPDX-License-Identifier: Apache-2.0
"""Small ONNX files without the onnx package: nodes, constants and a graph around them, as protobuf's wire format has them."""
import struct

import numpy as np

_DTYPES = {"float32": 1, "int64": 7}


def _varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _fields(message):
    """[(field, wire type, value)] of a message: an int, or bytes for texts, messages and floats."""
    at, out = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
            value = message[at:at + size]
            at += size
        out.append((key >> 3, kind, value))
    return out


def _joined(fields):
    out = b""
    for field, kind, value in fields:
        out += _number(field, value) if kind == 0 else (
            _bytes(field, value) if kind == 2 else _varint(field << 3 | kind) + value)
    return out


def _attribute(name, value):
    if isinstance(value, float):
        body, kind = _varint(2 << 3 | 5) + struct.pack("<f", value), 1
    elif isinstance(value, int):
        body, kind = _number(3, value), 2
    elif isinstance(value, str):
        body, kind = _bytes(4, value), 3
    else:
        body, kind = b"".join(_number(8, v) for v in value), 7
    return _bytes(1, name) + body + _number(20, kind)


def node(op_type, inputs, outputs, name="", **attributes):
    """One node; attributes are numbers, texts or lists of whole numbers."""
    return (b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs) + _bytes(3, name)
            + _bytes(4, op_type) + b"".join(_bytes(5, _attribute(*a)) for a in attributes.items()))


def _tensor(name, array):
    array = np.ascontiguousarray(array)
    return (b"".join(_number(1, n) for n in array.shape) + _number(2, _DTYPES[array.dtype.name]) + _bytes(8, name)
            + _bytes(9, array.tobytes()))


def _info(name, shape):
    """A float32 input or output; a text in the shape is an extent without a number."""
    dims = b"".join(_bytes(1, _bytes(2, n) if isinstance(n, str) else _number(1, n)) for n in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, dims)))


def save(path, nodes, inputs, outputs, constants):
    """Writes a model of opset 13; inputs and outputs are (name, shape), constants a dictionary of arrays."""
    graph = (b"".join(_bytes(1, n) for n in nodes) + _bytes(2, "example")
             + b"".join(_bytes(5, _tensor(*c)) for c in constants.items())
             + b"".join(_bytes(11, _info(*i)) for i in inputs) + b"".join(_bytes(12, _info(*o)) for o in outputs))
    with open(path, "wb") as file:
        file.write(_number(1, 7) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
    return path


def _edited(source, path, edit):
    """Writes the model of `source` with its graph's fields changed by `edit`."""
    with open(source, "rb") as file:
        model = _fields(file.read())
    model = [(f, k, _joined(edit(_fields(v))) if f == 7 else v) for f, k, v in model]
    with open(path, "wb") as file:
        file.write(_joined(model))
    return path


def append_node(source, path, new_node, output, shape):
    """The model with one more node at its end, whose result is its only output."""
    def edit(graph):
        graph = [item for item in graph if item[0] != 12]
        return graph + [(1, 2, new_node), (12, 2, _info(output, shape))]
    return _edited(source, path, edit)


def rename_operator(source, path, old, new, **attributes):
    """The model with every operator `old` called `new`, with these further attributes."""
    def renamed(item):
        fields = _fields(item[2])
        if item[0] != 1 or (4, 2, old.encode()) not in fields:
            return item
        fields = [(4, 2, new.encode()) if f == (4, 2, old.encode()) else f for f in fields]
        return 1, 2, _joined(fields) + b"".join(_bytes(5, _attribute(*a)) for a in attributes.items())
    return _edited(source, path, lambda graph: [renamed(i) if i[0] == 1 else i for i in graph])
