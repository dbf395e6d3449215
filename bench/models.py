#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the benchmark's networks as ONNX with random weights: MobileNetV2, ResNet18, ResNet50 (224), YOLOv5s with ReLU
(640, three raw heads), each as float and as QDQ (u8 activations, s8 weights symmetric per channel, s32 bias, as ONNX
Runtime's quantize_static writes them).

    models.py FOLDER [--size N] [--batch N] [--only NAME]

Ranges are not calibrated: weights are drawn so that every convolution of unit-variance inputs has unit variance, and
ranges follow from that. Speed does not depend on it; no number of these networks means anything else.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIGMAS = 4.5  # a unit-variance sum stays within this range but for a few values per million


class Value:
    """A tensor of the network: its name, channels and what is known of its numbers."""

    def __init__(self, name, channels, square, low, high):
        self.name, self.channels, self.square, self.low, self.high = name, channels, square, low, high


class Network:
    """Builds the float and the QDQ graph side by side."""

    def __init__(self, name, batch, size):
        self.name, self.random, self.count = name, np.random.default_rng(1), 0
        self.float_nodes, self.float_constants, self.qdq_nodes, self.qdq_constants = [], [], [], []
        self.shape, self.outputs, self.macs = [batch, 3, size, size], [], 0
        self.steps = {}  # tensor -> (scale, zero point)
        self.input = Value("input", 3, 1.0 / 3, 0.0, 1.0)
        self.quantize("input", self.input)

    def fresh(self, kind):
        self.count += 1
        return f"{kind}_{self.count}"

    def constant(self, name, array, only_qdq=False):
        tensor = numpy_helper.from_array(array, name)
        self.qdq_constants.append(tensor)
        if not only_qdq:
            self.float_constants.append(tensor)
        return name

    def quantize(self, raw, value, like=None):
        """raw -> QuantizeLinear -> DequantizeLinear, which the QDQ graph knows as value.name + '_dq'."""
        if like is None:
            scale = (value.high - value.low) / 255
            step = (scale, int(np.clip(round(-value.low / scale), 0, 255)))
        else:
            step = self.steps[like.name]
        self.steps[value.name] = step
        names = [self.constant(value.name + "_scale", np.float32(step[0]), True),
                 self.constant(value.name + "_zero", np.uint8(step[1]), True)]
        self.qdq_nodes.append(helper.make_node("QuantizeLinear", [raw] + names, [value.name + "_q"]))
        self.qdq_nodes.append(helper.make_node("DequantizeLinear", [value.name + "_q"] + names, [value.name + "_dq"]))

    def add(self, op, inputs, value, like=None, extra=(), activation=None, qdq_extra=None, **attrs):
        """One operator in both graphs. A ReLU is its own node in the float graph and saturation in the QDQ graph."""
        sum_name = value.name if activation is None else value.name + "_sum"
        self.float_nodes.append(
            helper.make_node(op, [v.name for v in inputs] + list(extra), [sum_name], value.name, **attrs))
        if activation == "relu":
            self.float_nodes.append(helper.make_node("Relu", [sum_name], [value.name]))
        elif activation == "relu6":
            limits = [self.constant(value.name + "_min", np.float32(0)), self.constant(value.name + "_max", np.float32(6))]
            self.float_nodes.append(helper.make_node("Clip", [sum_name] + limits, [value.name]))
        self.qdq_nodes.append(helper.make_node(op, [v.name + "_dq" for v in inputs] + list(qdq_extra or extra),
                                               [value.name + "_raw"], value.name, **attrs))
        self.quantize(value.name + "_raw", value, like)
        return value

    def weights(self, name, x, shape):
        """Weights and bias in both graphs; their names in the float graph and in the QDQ graph."""
        fan_in = int(np.prod(shape[1:]))
        w = self.random.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(fan_in * x.square))
        b = self.random.uniform(-0.2, 0.2, shape[0]).astype(np.float32)
        scale = (np.abs(w).reshape(shape[0], -1).max(1) / 127).astype(np.float32)
        whole = np.rint(w / scale.reshape([-1] + [1] * (len(shape) - 1))).astype(np.int8)
        bias_scale = (scale * np.float32(self.steps[x.name][0])).astype(np.float32)
        for suffix, array, step in (("_w", whole, scale), ("_b", np.rint(b / bias_scale).astype(np.int32), bias_scale)):
            names = [self.constant(name + suffix + "_q", array, True),
                     self.constant(name + suffix + "_scale", step, True),
                     self.constant(name + suffix + "_zero", np.zeros(shape[0], array.dtype), True)]
            self.qdq_nodes.append(helper.make_node("DequantizeLinear", names, [name + suffix + "_dq"], axis=0))
        self.float_constants.append(numpy_helper.from_array(w, name + "_w"))
        self.float_constants.append(numpy_helper.from_array(b, name + "_b"))
        return [name + "_w", name + "_b"], [name + "_w_dq", name + "_b_dq"]

    def conv(self, x, channels, kernel=1, stride=1, pad=None, group=1, activation="relu"):
        name = self.fresh("conv")
        extra, qdq_extra = self.weights(name, x, [channels, x.channels // group, kernel, kernel])
        pad = kernel // 2 if pad is None else pad
        low = 0.0 if activation else -SIGMAS
        high = min(6.0, SIGMAS) if activation == "relu6" else SIGMAS
        value = Value(name, channels, 0.5 if activation else 1.0, low, high)
        return self.add("Conv", [x], value, extra=extra, qdq_extra=qdq_extra, activation=activation,
                        kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4, group=group)

    def sum(self, a, b, activation=None):
        square = a.square + b.square
        sigma = SIGMAS * float(np.sqrt(square))
        low = 0.0 if activation or (a.low >= 0 and b.low >= 0) else -sigma
        return self.add("Add", [a, b], Value(self.fresh("add"), a.channels, square / (2 if activation else 1), low, sigma),
                        activation=activation)

    def concat(self, parts):
        square = sum(p.square * p.channels for p in parts) / sum(p.channels for p in parts)
        value = Value(self.fresh("concat"), sum(p.channels for p in parts), square, min(p.low for p in parts),
                      max(p.high for p in parts))
        return self.add("Concat", parts, value, axis=1)

    def max_pool(self, x, kernel, stride, pad):
        value = Value(self.fresh("pool"), x.channels, 2 * x.square, x.low, x.high)
        return self.add("MaxPool", [x], value, like=x, kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4)

    def upsample(self, x):
        name = self.fresh("resize")
        scales = self.constant(name + "_scales", np.array([1, 1, 2, 2], np.float32))
        value = Value(name, x.channels, x.square, x.low, x.high)
        return self.add("Resize", [x], value, like=x, extra=["", scales], mode="nearest",
                        coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def classifier(self, x, classes):
        mean = Value(self.fresh("mean"), x.channels, 0.2, 0.0, 1.5)
        self.add("GlobalAveragePool", [x], mean)
        flat = Value(self.fresh("flat"), x.channels, mean.square, mean.low, mean.high)
        self.add("Flatten", [mean], flat, like=mean, axis=1)
        name = self.fresh("fc")
        extra, qdq_extra = self.weights(name, flat, [classes, x.channels])
        self.output(self.add("Gemm", [flat], Value(name, classes, 1.0, -SIGMAS, SIGMAS), extra=extra,
                             qdq_extra=qdq_extra, transB=1))

    def output(self, value):
        self.outputs.append(value.name)

    def save(self, folder):
        described = [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.shape)]
        for kind, nodes, constants, suffix in (("float", self.float_nodes, self.float_constants, ""),
                                               ("qdq", self.qdq_nodes, self.qdq_constants, "_dq")):
            outputs = [helper.make_tensor_value_info(name + suffix, TensorProto.FLOAT, None) for name in self.outputs]
            graph = helper.make_graph(nodes, self.name, described, outputs, constants)
            model = onnx.shape_inference.infer_shapes(
                helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="bench"))
            model.ir_version = 8
            onnx.save(model, os.path.join(folder, f"{self.name}.{kind}.onnx"))


def mobilenet_v2(net):
    x = net.conv(net.input, 32, 3, 2, activation="relu6")
    for expansion, channels, repeat, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeat):
            inner = x.channels * expansion
            y = net.conv(x, inner, activation="relu6") if expansion != 1 else x
            y = net.conv(y, inner, 3, stride if i == 0 else 1, group=inner, activation="relu6")
            y = net.conv(y, channels, activation=None)
            x = net.sum(x, y) if i > 0 else y
    net.classifier(net.conv(x, 1280, activation="relu6"), 1000)


def resnet(net, blocks, bottleneck):
    x = net.max_pool(net.conv(net.input, 64, 7, 2), 3, 2, 1)
    for stage, repeat in enumerate(blocks):
        for i in range(repeat):
            width, stride = 64 << stage, 2 if stage > 0 and i == 0 else 1
            channels = width * 4 if bottleneck else width
            if bottleneck:
                y = net.conv(net.conv(net.conv(x, width), width, 3, stride), channels, activation=None)
            else:
                y = net.conv(net.conv(x, width, 3, stride), channels, 3, activation=None)
            if stride != 1 or x.channels != channels:
                x = net.conv(x, channels, 1, stride, activation=None)
            x = net.sum(y, x, "relu")
    net.classifier(x, 1000)


def yolov5s_relu(net):
    def c3(x, channels, repeat, shortcut=True):
        half = channels // 2
        y = net.conv(x, half)
        for _ in range(repeat):
            z = net.conv(net.conv(y, half), half, 3)
            y = net.sum(y, z) if shortcut else z
        return net.conv(net.concat([y, net.conv(x, half)]), channels)

    x = c3(net.conv(net.conv(net.input, 32, 6, 2, 2), 64, 3, 2), 64, 1)
    p3 = c3(net.conv(x, 128, 3, 2), 128, 2)
    p4 = c3(net.conv(p3, 256, 3, 2), 256, 3)
    x = c3(net.conv(p4, 512, 3, 2), 512, 1)
    y = [net.conv(x, 256)]
    for _ in range(3):
        y.append(net.max_pool(y[-1], 5, 1, 2))
    t10 = net.conv(net.conv(net.concat(y), 512), 256)
    t14 = net.conv(c3(net.concat([net.upsample(t10), p4]), 256, 1, False), 128)
    o3 = c3(net.concat([net.upsample(t14), p3]), 128, 1, False)
    o4 = c3(net.concat([net.conv(o3, 128, 3, 2), t14]), 256, 1, False)
    o5 = c3(net.concat([net.conv(o4, 256, 3, 2), t10]), 512, 1, False)
    for o in (o3, o4, o5):
        net.output(net.conv(o, 255, activation=None))


NETWORKS = {
    "mobilenet_v2": (224, mobilenet_v2),
    "resnet18": (224, lambda net: resnet(net, (2, 2, 2, 2), False)),
    "resnet50": (224, lambda net: resnet(net, (3, 4, 6, 3), True)),
    "yolov5s_relu": (640, yolov5s_relu),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--size", type=int)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--only")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for name, (size, build) in NETWORKS.items():
        if args.only not in (None, name):
            continue
        net = Network(name, args.batch, args.size or size)
        build(net)
        net.save(args.folder)


if __name__ == "__main__":
    main()
