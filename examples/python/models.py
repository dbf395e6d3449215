# SPDX-License-Identifier: Apache-2.0
"""Networks for the examples, made with the onnx package (Debian: python3-onnx). The toolkit itself does not need it."""
import os
import sys

import numpy as np

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


def _info(name, shape):
    from onnx import TensorProto, helper
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _save(path, nodes, inputs, outputs, constants):
    import onnx
    from onnx import helper, numpy_helper
    graph = helper.make_graph(nodes, "example", [_info(*i) for i in inputs], [_info(*o) for o in outputs],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, path)
    return path


def digits_with(path, op_type, **attributes):
    """The digits network with one more node at its end; the operator need not be one of ONNX."""
    import onnx
    from onnx import helper
    model = onnx.load(DIGITS_ONNX)
    model.graph.node.append(helper.make_node(op_type, ["logits"], ["result"], name="last", **attributes))
    model.graph.output[0].CopyFrom(_info("result", [1, 10]))
    onnx.save(model, path)
    return path


def digits_with_own(path, old, new, **attributes):
    """The digits network with every operator `old` called `new`."""
    import onnx
    from onnx import helper
    model = onnx.load(DIGITS_ONNX)
    for node in model.graph.node:
        if node.op_type == old:
            node.op_type = new
            node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
    onnx.save(model, path)
    return path


def two_inputs(path):
    """A picture (1x3x32x32) and eight further numbers become five scores."""
    from onnx import helper
    random = np.random.RandomState(7)
    constants = {"w1": random.randn(8, 3, 3, 3).astype("float32") * 0.3, "b1": np.zeros(8, "float32"),
                 "w2": random.randn(16, 5).astype("float32") * 0.4, "b2": random.randn(5).astype("float32"),
                 "flat": np.array([1, 8], "int64")}
    nodes = [helper.make_node("Conv", ["picture", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("GlobalAveragePool", ["r"], ["p"]),
             helper.make_node("Reshape", ["p", "flat"], ["f"]),
             helper.make_node("Concat", ["f", "numbers"], ["j"], axis=1),
             helper.make_node("Gemm", ["j", "w2", "b2"], ["scores"])]
    return _save(path, nodes, [("picture", [1, 3, 32, 32]), ("numbers", [1, 8])], [("scores", [1, 5])], constants)


def any_size(path):
    """Convolutions only: takes pictures of every even size."""
    from onnx import helper
    random = np.random.RandomState(5)
    constants = {"w1": random.randn(16, 3, 3, 3).astype("float32") * 0.3, "b1": random.randn(16).astype("float32"),
                 "w2": random.randn(4, 16, 3, 3).astype("float32") * 0.1, "b2": random.randn(4).astype("float32")}
    nodes = [helper.make_node("Conv", ["picture", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Conv", ["r", "w2", "b2"], ["map"], pads=[1, 1, 1, 1])]
    return _save(path, nodes, [("picture", [1, 3, "height", "width"])], [("map", [1, 4, "h", "w"])], constants)
