# SPDX-License-Identifier: Apache-2.0
"""The bundled models for the tests, converted the way a vendor's script does it."""
import contextlib
import io
import os
import sys

import numpy as np

from rknn.api import RKNN

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
DIGITS = os.path.join(EXAMPLES, "digits")
SIGNS = os.path.join(EXAMPLES, "signs")
DIGITS_ONNX = os.path.join(DIGITS, "digits.onnx")
DIGITS_DATASET = os.path.join(DIGITS, "calib.txt")


def figure(name, value, bar, ok):
    """One line for the summary of the test run."""
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def digits(quantize=True, **config):
    """An RKNN object after build."""
    rknn = RKNN()
    rknn.config(mean_values=[[127.5]], std_values=[[64]], **{"target_platform": "rk3588", **config})
    assert rknn.load_onnx(model=DIGITS_ONNX) == 0
    assert rknn.build(do_quantization=quantize, dataset=DIGITS_DATASET if quantize else None) == 0
    return rknn


def gray_png(path):
    """The pixels of an 8-bit gray PNG without interlacing, by the format's own rules."""
    import struct
    import zlib
    with open(path, "rb") as file:
        data = file.read()
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
            assert (depth, color) == (8, 0), "not an 8-bit gray picture"
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(body)
    rows = np.zeros((height + 1, width + 1), dtype=int)  # a row and a column of zeros before the picture
    for y in range(height):
        line = raw[y * (width + 1):(y + 1) * (width + 1)]
        for x in range(width):
            left, up, corner = rows[y + 1, x], rows[y, x + 1], rows[y, x]
            near = left + up - corner
            paeth = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))[2]
            guess = (0, left, up, (left + up) // 2, paeth)[line[0]]
            rows[y + 1, x + 1] = (line[1 + x] + guess) % 256
    return rows[1:, 1:]


def digit_pictures():
    """uint8 NHWC pictures and their labels."""
    return np.load(os.path.join(DIGITS, "test_images.npy")), np.load(os.path.join(DIGITS, "test_labels.npy"))


def cosine(a, b):
    a, b = np.ravel(a).astype("float64"), np.ravel(b).astype("float64")
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


@contextlib.contextmanager
def captured():
    """(standard output, standard error) of the block, as two io.StringIO."""
    out, err = io.StringIO(), io.StringIO()
    saved = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr = saved
