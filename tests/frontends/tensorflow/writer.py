# SPDX-License-Identifier: Apache-2.0
"""Writes frozen TensorFlow graphs (GraphDef) byte by byte: no framework needed."""
import struct

import numpy as np

DTYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9, "bool": 10, "float16": 19}
QINT8, QUINT8 = 11, 12


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """A length-delimited field."""
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number_field(number, value):
    return varint(number << 3) + varint(int(value))


def shape_proto(dims):
    return b"".join(field(2, number_field(1, d)) for d in dims)


def tensor_proto(array, dtype=None, form="content"):
    """form: content (raw bytes), last (one value stands for all), values (one by one)."""
    array = np.asarray(array)
    out = number_field(1, dtype or DTYPES[array.dtype.name]) + field(2, shape_proto(array.shape))
    if form == "content":
        return out + field(4, np.ascontiguousarray(array).tobytes())
    values = array.ravel()[:1] if form == "last" else array.ravel()
    if array.dtype == np.float32:
        return out + field(5, values.tobytes())
    if array.dtype == np.float16:
        return out + field(13, b"".join(varint(int(v)) for v in values.view(np.uint16)))
    number = {"int32": 7, "int64": 10, "bool": 11}[array.dtype.name]
    return out + field(number, b"".join(varint(int(v)) for v in values))


class Type(int):
    """A DataType as an attribute."""


def attr_value(value):
    if isinstance(value, bytes):
        return value  # an encoded AttrValue
    if isinstance(value, Type):
        return number_field(6, value)
    if isinstance(value, bool):
        return number_field(5, value)
    if isinstance(value, int):
        return number_field(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        return field(2, value)
    if value and isinstance(value[0], str):
        return field(1, b"".join(field(2, v) for v in value))
    return field(1, field(3, b"".join(varint(v) for v in value)))


class Net:
    def __init__(self):
        self.nodes = []

    def node(self, op, name, inputs=(), **attrs):
        body = field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs)
        for key, value in attrs.items():
            body += field(5, field(1, key) + field(2, attr_value(value)))
        self.nodes.append(field(1, body))
        return name

    def input(self, name, array, shape=None):
        dims = np.shape(array) if shape is None else shape
        return self.node("Placeholder", name, dtype=Type(DTYPES[array.dtype.name]), shape=field(7, shape_proto(dims)))

    def constant(self, name, array, dtype=None, form="content"):
        array = np.asarray(array)
        return self.node("Const", name, dtype=Type(dtype or DTYPES[array.dtype.name]),
                         value=field(8, tensor_proto(array, dtype, form)))

    def bytes(self):
        return b"".join(self.nodes)
