#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the networks of the golden files with the `rknn` command given; kept to say what is in v2.

    tests/golden/make.py build/release/tools/rknn/rknn FOLDER

Files that are there already stay as they are. Float networks with integer weights compute exactly, so their bytes are
the same on every machine.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

F32 = TensorProto.FLOAT


class Net:
    def __init__(self, seed):
        self.random = numpy.random.RandomState(seed)
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, name, shape, scale=0.3):
        return self.constant(name, (self.random.standard_normal(shape) * scale).astype(numpy.float32))

    def integers(self, name, shape, largest=2):
        return self.constant(name, self.random.randint(-largest, largest + 1, shape).astype(numpy.float32))

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def save(self, path, inputs, outputs):
        values = [helper.make_tensor_value_info(n, F32, s) for n, s in inputs]
        results = [helper.make_tensor_value_info(n, F32, None) for n in outputs]
        graph = helper.make_graph(self.nodes, path.stem, values, results, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, path)


def int8_network(path):
    net = Net(1)
    net.add("Conv", ["x", net.weights("w0", (16, 3, 3, 3)), net.weights("b0", (16,))], "stem", pads=[1, 1, 1, 1],
            strides=[2, 2])
    net.add("Relu", ["stem"], "stem_relu")
    net.add("Conv", ["stem_relu", net.weights("w1", (16, 1, 3, 3)), net.weights("b1", (16,))], "depthwise",
            pads=[1, 1, 1, 1], group=16)
    net.add("Clip", ["depthwise", net.constant("low", numpy.float32(0)), net.constant("high", numpy.float32(6))], "six")
    net.add("Conv", ["six", net.weights("w2", (16, 16, 1, 1)), net.weights("b2", (16,))], "point")
    net.add("Add", ["point", "stem_relu"], "residual")
    net.add("Relu", ["residual"], "residual_relu")
    net.add("MaxPool", ["residual_relu"], "largest", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    net.add("AveragePool", ["residual_relu"], "mean", kernel_shape=[2, 2], strides=[2, 2])
    net.add("Sigmoid", ["mean"], "gate")
    net.add("Concat", ["largest", "gate"], "both", axis=1)
    net.add("ConvTranspose", ["both", net.weights("w3", (32, 8, 2, 2))], "up", strides=[2, 2])
    net.add("Resize", ["up", "", net.constant("scales", numpy.array([1, 1, 2, 2], numpy.float32))], "bigger",
            mode="linear", coordinate_transformation_mode="half_pixel")
    net.add("LeakyRelu", ["bigger"], "leaky", alpha=0.1)
    net.add("GlobalAveragePool", ["both"], "pooled")
    net.save(path, [("x", [1, 3, 16, 20])], ["leaky", "pooled"])


def float_network(path):
    net = Net(2)
    net.add("Conv", ["x", net.integers("w0", (16, 3, 3, 3)), net.integers("b0", (16,))], "stem", pads=[1, 1, 1, 1])
    net.add("Clip", ["stem", net.constant("low", numpy.float32(0)), net.constant("high", numpy.float32(6))], "six")
    net.add("Conv", ["six", net.integers("w1", (16, 8, 3, 3))], "grouped", pads=[0, 1, 2, 1], group=2, strides=[2, 1],
            dilations=[1, 1])
    net.add("MaxPool", ["grouped"], "largest", kernel_shape=[2, 2], strides=[2, 2])
    net.add("Flatten", ["largest"], "flat")
    net.add("Gemm", ["flat", net.integers("w2", (10, 240), 1), net.integers("b2", (10,))], "y", transB=1)
    net.save(path, [("x", [1, 3, 12, 10])], ["largest", "y"])


def dynamic_network(path):
    net = Net(3)
    net.add("Conv", ["x", net.integers("w0", (8, 3, 3, 3)), net.integers("b0", (8,))], "stem", pads=[1, 1, 1, 1],
            strides=[2, 2])
    net.add("Relu", ["stem"], "relu")
    net.add("MaxPool", ["relu"], "pool", kernel_shape=[2, 2], strides=[2, 2])
    net.add("Conv", ["pool", net.integers("w1", (4, 8, 1, 1), 1)], "y")
    net.save(path, [("x", [1, 3, "h", "w"])], ["y"])


def attention_network(path):
    net = Net(4)
    for name in "qkv":
        net.add("MatMul", ["x", net.weights("w" + name, (16, 16))], name)
    net.add("Transpose", ["k"], "kt", perm=[0, 2, 1])
    net.add("MatMul", ["q", "kt"], "raw")
    net.add("Mul", ["raw", net.constant("quarter", numpy.float32(0.25))], "scores")
    net.add("Softmax", ["scores"], "weights", axis=2)
    net.add("MatMul", ["weights", "v"], "mixed")
    net.add("Add", ["mixed", "x"], "sum")
    net.add("LayerNormalization", ["sum", net.weights("gain", (16,)), net.weights("shift", (16,))], "y", axis=-1)
    net.save(path, [("x", [1, 6, 16])], ["y"])


def make(rknn, folder, name, network, *options, samples=None):
    target = folder / (name + ".rknn")
    if target.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / (name + ".onnx")
        network(model)
        command = [rknn, "convert", model, "-o", target, "-t", "rk3588", *options]
        if samples is None:
            command.append("--float")
        else:
            random = numpy.random.RandomState(9)
            listing = pathlib.Path(scratch) / "dataset.txt"
            lines = []
            for i in range(4):
                numpy.save(model.with_suffix(f".{i}.npy"), random.uniform(0, 255, samples).astype(numpy.float32))
                lines.append(str(model.with_suffix(f".{i}.npy")))
            listing.write_text("\n".join(lines) + "\n")
            command += ["--dataset", listing]
        subprocess.run([str(word) for word in command], check=True)
    print(f"{target}: {target.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rknn", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    make(args.rknn, args.folder, "int8", int8_network, "--mean", "103.5,116.25,123.675", "--std", "58,57,57.5",
         "--custom-string", "golden", samples=(1, 3, 16, 20))
    make(args.rknn, args.folder, "int8_batch", int8_network, "--mean", "127,127,127", "--std", "64,64,64", "--batch", "2",
         samples=(1, 3, 16, 20))
    make(args.rknn, args.folder, "float16", float_network)
    make(args.rknn, args.folder, "float16_no_weights", float_network, "--remove-weight")
    make(args.rknn, args.folder, "dynamic", dynamic_network, "--dynamic-input", "1,3,16,16", "--dynamic-input",
         "1,3,24,32", "--dynamic-input", "1,3,32,16")
    make(args.rknn, args.folder, "attention", attention_network)


if __name__ == "__main__":
    main()
