# SPDX-License-Identifier: Apache-2.0
"""One more node for an ONNX file, without the onnx package.

A protobuf message that is followed by another one of its kind is both merged, so a model that holds nothing but the node
and its outputs is simply appended.
"""
import struct

import numpy as np

_FLOAT, _INT, _STRING, _TENSOR, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 4, 6, 7, 8  # AttributeProto.type
_DTYPES = {"float32": 1, "int32": 6, "int64": 7}


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


def _float(field, value):
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _tensor(array):
    return b"".join(_number(1, n) for n in array.shape) + _number(2, _DTYPES[array.dtype.name]) + _bytes(
        9, array.tobytes())


def _attribute(name, value):
    if isinstance(value, np.ndarray):
        kind, body = _TENSOR, _bytes(5, _tensor(value))
    elif isinstance(value, (list, tuple)):
        kind, one = {float: (_FLOATS, lambda v: _float(7, v)), int: (_INTS, lambda v: _number(8, v)),
                     str: (_STRINGS, lambda v: _bytes(9, v))}[type(value[0])]
        body = b"".join(one(v) for v in value)
    else:
        kind, body = {float: lambda: (_FLOAT, _float(2, value)), int: lambda: (_INT, _number(3, value)),
                      str: lambda: (_STRING, _bytes(4, value))}[type(value)]()
    return _bytes(1, name) + body + _number(20, kind)


def with_node(model, path, op_type, inputs, outputs, attributes):
    """Writes `path`: the file `model` and a node named 'last', whose outputs are outputs of the model, too."""
    node = (b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs) + _bytes(3, "last")
            + _bytes(4, op_type) + b"".join(_bytes(5, _attribute(*item)) for item in attributes.items()))
    graph = _bytes(1, node) + b"".join(_bytes(12, _bytes(1, o)) for o in outputs)
    with open(model, "rb") as old, open(path, "wb") as new:
        new.write(old.read() + _bytes(7, graph))
    return path
