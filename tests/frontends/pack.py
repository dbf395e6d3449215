# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin: tiny models with inputs and expected outputs, read by cases_test.cpp.

All numbers little-endian. A text or byte string is u32 length and bytes. The file: u32 number of cases, and per case
name, format, u32 files and their bytes, u32 shapes (u32 rank, i64 extents) of input_size_list, u8 input_is_nchw,
inputs and outputs (u32 count, then per array u8 dtype as in ONNX, u32 rank, i64 extents, bytes), f64 tolerance,
refusal (empty, or a part of the message that the import must fail with), ops that must not be in the graph (text,
separated by blanks), a part that some note must have (or empty).
Inputs and outputs are in the graph's order of axes.
"""
import struct

import numpy as np

DTYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}


def _bytes(data):
    data = data.encode() if isinstance(data, str) else bytes(data)
    return struct.pack("<I", len(data)) + data


def _dims(dims):
    return struct.pack("<I", len(dims)) + struct.pack("<%dq" % len(dims), *dims)


def _arrays(arrays):
    out = struct.pack("<I", len(arrays))
    for array in arrays:
        shape = np.shape(array)
        array = np.ascontiguousarray(array)
        out += struct.pack("<B", DTYPES[array.dtype.name]) + _dims(shape) + _bytes(array.tobytes())
    return out


class Pack:
    def __init__(self, fmt):
        self.format, self.cases = fmt, []

    def add(self, name, files, inputs=(), outputs=(), tolerance=1e-5, shapes=(), nchw=False, refusal="", without="",
            note=""):
        body = _bytes(name) + _bytes(self.format)
        body += struct.pack("<I", len(files)) + b"".join(_bytes(data) for data in files)
        body += struct.pack("<I", len(shapes)) + b"".join(_dims(shape) for shape in shapes)
        body += struct.pack("<B", nchw) + _arrays(inputs) + _arrays(outputs) + struct.pack("<d", tolerance)
        body += _bytes(refusal) + _bytes(without) + _bytes(note)
        self.cases.append(body)

    def write(self, path):
        with open(path, "wb") as out:
            out.write(struct.pack("<I", len(self.cases)) + b"".join(self.cases))
