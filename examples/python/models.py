# SPDX-License-Identifier: Apache-2.0
"""Networks for the examples; nothing but numpy is needed."""
import os
import sys

import numpy as np

import onnx_file

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "digits")
SIGNS = os.path.join(HERE, "..", "signs")
DIGITS_ONNX = os.path.join(DIGITS, "digits.onnx")
DIGITS_DATASET = os.path.join(DIGITS, "calib.txt")
DIGIT_PNG = os.path.join(DIGITS, "calib_png", "000.png")
MEAN, STD = [[127.5]], [[64]]  # of the digits network


def output_folder():
    """Where an example writes: its first argument, or below build/."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "build", "examples-python")
    os.makedirs(folder, exist_ok=True)
    return folder


def check(what, ret):
    """What classification.py writes out after every call."""
    if ret != 0:
        print(what + ' failed!')
        sys.exit(ret)


def pictures():
    """uint8 NHWC pictures of digits and their labels."""
    return np.load(os.path.join(DIGITS, "test_images.npy")), np.load(os.path.join(DIGITS, "test_labels.npy"))


def digits_with(path, op_type, **attributes):
    """The digits network with one more node at its end; the operator need not be one of ONNX."""
    last = onnx_file.node(op_type, ["logits"], ["result"], "last", **attributes)
    return onnx_file.append_node(DIGITS_ONNX, path, last, "result", [1, 10])


def digits_with_own(path, old, new, **attributes):
    """The digits network with every operator `old` called `new`."""
    return onnx_file.rename_operator(DIGITS_ONNX, path, old, new, **attributes)


def two_inputs(path):
    """A picture (1x3x32x32) and eight further numbers become five scores."""
    random = np.random.RandomState(7)
    constants = {"w1": random.randn(8, 3, 3, 3).astype("float32") * 0.3, "b1": np.zeros(8, "float32"),
                 "w2": random.randn(16, 5).astype("float32") * 0.4, "b2": random.randn(5).astype("float32"),
                 "flat": np.array([1, 8], "int64")}
    nodes = [onnx_file.node("Conv", ["picture", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
             onnx_file.node("Relu", ["c"], ["r"]),
             onnx_file.node("GlobalAveragePool", ["r"], ["p"]),
             onnx_file.node("Reshape", ["p", "flat"], ["f"]),
             onnx_file.node("Concat", ["f", "numbers"], ["j"], axis=1),
             onnx_file.node("Gemm", ["j", "w2", "b2"], ["scores"])]
    return onnx_file.save(path, nodes, [("picture", [1, 3, 32, 32]), ("numbers", [1, 8])], [("scores", [1, 5])], constants)


def any_size(path):
    """Convolutions only: takes pictures of every even size."""
    random = np.random.RandomState(5)
    constants = {"w1": random.randn(16, 3, 3, 3).astype("float32") * 0.3, "b1": random.randn(16).astype("float32"),
                 "w2": random.randn(4, 16, 3, 3).astype("float32") * 0.1, "b2": random.randn(4).astype("float32")}
    nodes = [onnx_file.node("Conv", ["picture", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
             onnx_file.node("Relu", ["c"], ["r"]),
             onnx_file.node("Conv", ["r", "w2", "b2"], ["map"], pads=[1, 1, 1, 1])]
    return onnx_file.save(path, nodes, [("picture", [1, 3, "height", "width"])], [("map", [1, 4, "h", "w"])], constants)
