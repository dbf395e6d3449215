# SPDX-License-Identifier: Apache-2.0
"""Writes small TFLite files by hand: flatbuffer tables as {slot: value}, no library needed.

A field is (kind, value): a scalar kind of `struct` ('b', 'B', 'i', 'I', 'f', 'q', '?'), 'string', 'bytes', 'table',
'tables', or 'vector:' and a scalar kind. Children lie after their table, as flatbuffer offsets demand.
"""
import struct

import numpy as np

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9,
         "float64": 10}
SAME, VALID = 0, 1
NONE, RELU, RELU_N1_TO_1, RELU6, TANH = 0, 1, 2, 3, 4


class _Flat:
    def __init__(self):
        self.out = bytearray()

    def align(self, size, extra=0):
        while (len(self.out) + extra) % size:
            self.out += b"\0"

    def point(self, at):
        struct.pack_into("<I", self.out, at, len(self.out) - at)

    def vector(self, kind, values, size=None):
        size = struct.calcsize("<" + kind) if size is None else size
        self.align(max(4, size), 4)
        start = len(self.out)
        self.out += struct.pack("<I", len(values))
        return start

    def table(self, fields):
        """Writes the table; the position of its start."""
        slots = max(fields) + 1 if fields else 0
        offsets, size, inline = [0] * slots, 4, []
        for slot in sorted(fields):
            kind, value = fields[slot]
            width = struct.calcsize("<" + kind) if len(kind) == 1 else 4
            size += -size % width
            offsets[slot] = size
            inline.append((size, kind, value))
            size += width
        self.align(2)
        vtable = len(self.out)
        self.out += struct.pack("<HH", 4 + 2 * slots, size) + struct.pack("<%dH" % slots, *offsets)
        self.align(8)
        start = len(self.out)
        self.out += bytes(size)
        struct.pack_into("<i", self.out, start, start - vtable)
        for offset, kind, value in inline:
            at = start + offset
            if len(kind) == 1:
                struct.pack_into("<" + kind, self.out, at, value)
            else:
                self.child(at, kind, value)
        return start

    def child(self, at, kind, value):
        if kind == "table":
            start = self.table(value)
            struct.pack_into("<I", self.out, at, start - at)
        elif kind == "tables":
            self.align(4)
            self.point(at)
            self.out += struct.pack("<I", len(value)) + bytes(4 * len(value))
            first = len(self.out) - 4 * len(value)
            for i, fields in enumerate(value):
                start = self.table(fields)
                struct.pack_into("<I", self.out, first + 4 * i, start - (first + 4 * i))
        elif kind in ("string", "bytes"):
            data = value.encode() if kind == "string" else value
            self.align(16, 4)
            self.point(at)
            self.out += struct.pack("<I", len(data)) + data + b"\0"
        else:
            scalar = kind.split(":")[1]
            self.align(8, 4)
            self.point(at)
            self.out += struct.pack("<I", len(value)) + struct.pack("<%d%s" % (len(value), scalar), *value)


class Net:
    """One subgraph. add() returns the index of the tensor."""

    def __init__(self):
        self.tensors, self.buffers, self.codes, self.operators = [], [b""], [], []
        self.inputs, self.outputs, self.names = [], [], []

    def tensor(self, name, shape, dtype="float32", data=None, scale=None, zero_point=None, axis=0, signature=None,
               sparsity=None):
        fields = {0: ("vector:i", list(shape)), 1: ("b", TYPES[dtype]), 3: ("string", name)}
        if data is not None:
            fields[2] = ("I", len(self.buffers))
            self.buffers.append(np.ascontiguousarray(data, dtype).tobytes())
        if scale is not None:
            scale = np.atleast_1d(scale).tolist()
            zero_point = [0] * len(scale) if zero_point is None else np.atleast_1d(zero_point).tolist()
            fields[4] = ("table", {2: ("vector:f", scale), 3: ("vector:q", zero_point), 6: ("i", axis)})
        if sparsity is not None:
            fields[6] = ("table", sparsity)
        if signature is not None:
            fields[7] = ("vector:i", list(signature))
        self.tensors.append(fields)
        self.names.append(name)
        return len(self.tensors) - 1

    def input(self, name, shape, dtype="float32", **quant):
        self.inputs.append(self.tensor(name, shape, dtype, **quant))
        return self.inputs[-1]

    def constant(self, name, data, **quant):
        data = np.asarray(data)
        return self.tensor(name, data.shape, data.dtype.name, data, **quant)

    def op(self, code, inputs, outputs, options=None, custom=None, custom_options=None):
        key = (code, custom)
        if key not in self.codes:
            self.codes.append(key)
        fields = {0: ("I", self.codes.index(key)), 1: ("vector:i", list(inputs)), 2: ("vector:i", list(outputs))}
        if options is not None:
            fields[3], fields[4] = ("B", 1), ("table", options)
        if custom_options is not None:
            fields[5] = ("bytes", custom_options)
        self.operators.append(fields)

    def bytes(self, outputs):
        codes = []
        for code, custom in self.codes:
            fields = {0: ("b", min(code, 127)), 2: ("i", 1), 3: ("i", code)}
            if custom:
                fields[1] = ("string", custom)
            codes.append(fields)
        graph = {0: ("tables", self.tensors), 1: ("vector:i", self.inputs), 2: ("vector:i", list(outputs)),
                 3: ("tables", self.operators), 4: ("string", "main")}
        model = {0: ("I", 3), 1: ("tables", codes), 2: ("tables", [graph]), 3: ("string", "hand-written"),
                 4: ("tables", [{0: ("bytes", data)} if data else {} for data in self.buffers])}
        flat = _Flat()
        flat.out += bytes(4) + b"TFL3"
        start = flat.table(model)
        struct.pack_into("<I", flat.out, 0, start)
        return bytes(flat.out)
