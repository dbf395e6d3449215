#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes twelve further networks of the benchmark as float ONNX files with random weights, some of them as QDQ, too: shapes
and operators of the published ones, numbers that mean nothing.

    networks.py FOLDER [--only NAME]
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from qdq import to_qdq


class Tensor:
    """A value of the graph: its name and shape."""

    def __init__(self, name, shape):
        self.name, self.shape = name, list(shape)


class Network:
    def __init__(self, name, shape):
        self.name, self.random, self.nodes, self.constants = name, np.random.default_rng(1), [], []
        self.input = Tensor("input", shape)

    def node(self, op, inputs, shape, **attrs):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [i if isinstance(i, str) else i.name for i in inputs], [name], name, **attrs))
        return Tensor(name, shape)

    def constant(self, array):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, fan_in=None):
        scale = 1 / np.sqrt(fan_in or np.prod(shape[1:]))
        return self.constant(self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale))

    def bias(self, count):
        return self.constant(self.random.uniform(-0.1, 0.1, count).astype(np.float32))

    def save(self, folder, output):
        graph = helper.make_graph(self.nodes, self.name,
                                  [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.input.shape)],
                                  [helper.make_tensor_value_info(output.name, TensorProto.FLOAT, output.shape)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="bench")
        model.ir_version = 8
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.save(model, os.path.join(folder, f"{self.name}.float.onnx"))
        if self.name in QDQ:
            onnx.save(to_qdq(model), os.path.join(folder, f"{self.name}.qdq.onnx"))

    # Operators.
    def conv(self, x, channels, kernel=1, stride=1, group=1, pad=None, dilation=1, act=None):
        n, c, h, w = x.shape
        pad = dilation * (kernel // 2) if pad is None else pad
        size = [(s + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for s in (h, w)]
        y = self.node("Conv", [x, self.weight(channels, c // group, kernel, kernel), self.bias(channels)], [n, channels] + size,
                      kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group, dilations=[dilation] * 2)
        return getattr(self, act)(y) if act else y

    def relu(self, x):
        return self.node("Relu", [x], x.shape)

    def sigmoid(self, x):
        return self.node("Sigmoid", [x], x.shape)

    def silu(self, x):
        return self.node("Mul", [x, self.sigmoid(x)], x.shape)

    def gelu(self, x):
        e = self.node("Erf", [self.node("Div", [x, self.constant(np.float32(np.sqrt(2)))], x.shape)], x.shape)
        y = self.node("Mul", [x, self.node("Add", [e, self.constant(np.float32(1))], x.shape)], x.shape)
        return self.node("Mul", [y, self.constant(np.float32(0.5))], x.shape)

    def add(self, a, b):
        return self.node("Add", [a, b], a.shape)

    def norm(self, x):
        c = x.shape[-1]
        return self.node("LayerNormalization",
                         [x, self.constant(np.ones(c, np.float32)), self.bias(c)], x.shape, axis=-1, epsilon=1e-5)

    def batch_norm(self, x):
        c = x.shape[1]
        ones = np.ones(c, np.float32)
        return self.node("BatchNormalization", [x, self.constant(ones), self.bias(c), self.bias(c), self.constant(ones)], x.shape)

    def linear(self, x, channels, bias=True):
        c = x.shape[-1]
        y = self.node("MatMul", [x, self.weight(c, channels, fan_in=c)], x.shape[:-1] + [channels])
        return self.node("Add", [y, self.bias(channels)], y.shape) if bias else y

    def reshape(self, x, *shape):
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))], shape)

    def transpose(self, x, *order):
        return self.node("Transpose", [x], [x.shape[i] for i in order], perm=order)

    def max_pool(self, x, kernel, stride, pad):
        n, c, h, w = x.shape
        size = [(s + 2 * pad - kernel) // stride + 1 for s in (h, w)]
        return self.node("MaxPool", [x], [n, c] + size, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def avg_pool(self, x):
        n, c, h, w = x.shape
        return self.node("AveragePool", [x], [n, c, h // 2, w // 2], kernel_shape=[2, 2], strides=[2, 2])

    def mean(self, x):
        return self.node("GlobalAveragePool", [x], x.shape[:2] + [1, 1])

    def classifier(self, x, classes=1000):
        x = self.mean(x)
        return self.linear(self.reshape(x, *x.shape[:2]), classes)

    def gate(self, x, inner, act):
        """Squeeze and excitation."""
        g = self.conv(self.conv(self.mean(x), inner, act=act), x.shape[1], act="sigmoid")
        return self.node("Mul", [x, g], x.shape)

    def attention(self, x, heads, bias=False):
        """[batch, tokens, channels]; with a bias per pair of tokens where asked for."""
        b, t, c = x.shape
        each = c // heads
        q, k, v = (self.transpose(self.reshape(self.linear(x, c), b, t, heads, each), 0, 2, *order)
                   for order in ((1, 3), (3, 1), (1, 3)))
        s = self.node("MatMul", [q, k], [b, heads, t, t])
        s = self.node("Mul", [s, self.constant(np.float32(each ** -0.5))], s.shape)
        if bias:
            s = self.node("Add", [s, self.weight(1, heads, t, t, fan_in=1)], s.shape)
        s = self.node("Softmax", [s], s.shape, axis=-1)
        y = self.transpose(self.node("MatMul", [s, v], [b, heads, t, each]), 0, 2, 1, 3)
        return self.linear(self.reshape(y, b, t, c), c)

    def mlp(self, x, inner):
        return self.linear(self.gelu(self.linear(x, inner)), x.shape[-1])

    def encoder(self, x, heads, inner, first=True):
        """A transformer block with its norms before (or after) attention and MLP."""
        if first:
            x = self.add(x, self.attention(self.norm(x), heads))
            return self.add(x, self.mlp(self.norm(x), inner))
        x = self.norm(self.add(x, self.attention(x, heads)))
        return self.norm(self.add(x, self.mlp(x, inner)))

    def windows(self, x, size, spread=False):
        """[1, h, w, c] -> [windows, size * size, c], neighbors or, spread, every (h / size)-th pixel, and the way back."""
        _, h, w, c = x.shape
        a, b = h // size, w // size
        shape, order = ([a, size, b, size, c], (0, 2, 1, 3, 4)) if not spread else ([size, a, size, b, c], (1, 3, 0, 2, 4))
        y = self.reshape(self.transpose(self.reshape(x, *shape), *order), a * b, size * size, c)

        def back(z):
            z = self.reshape(z, a, b, size, size, c)
            z = self.transpose(z, *((0, 2, 1, 3, 4) if not spread else (2, 0, 3, 1, 4)))
            return self.reshape(z, 1, h, w, c)
        return y, back

    def roll(self, x, by):
        for axis in (1, 2):
            size, parts = x.shape[axis], []
            for begin, end in ((by % size, size), (0, by % size)):
                shape = list(x.shape)
                shape[axis] = end - begin
                parts.append(self.node("Slice", [x] + [self.constant(np.array([v], np.int64)) for v in (begin, end, axis)], shape))
            x = self.node("Concat", parts, x.shape, axis=axis)
        return x


def swin_t(net):
    x = net.norm(net.transpose(net.conv(net.input, 96, 4, 4, pad=0), 0, 2, 3, 1))
    for stage, (depth, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
        if stage > 0:
            _, h, w, c = x.shape
            y = net.transpose(net.reshape(x, h // 2, 2, w // 2, 2, c), 0, 2, 3, 1, 4)
            x = net.linear(net.norm(net.reshape(y, 1, h // 2, w // 2, 4 * c)), 2 * c, bias=False)
        for i in range(depth):
            shift = 3 if i % 2 == 1 and x.shape[1] > 7 else 0
            y = net.norm(x)
            y, back = net.windows(net.roll(y, shift) if shift else y, 7)
            y = back(net.attention(y, heads, bias=True))
            x = net.add(x, net.roll(y, -shift) if shift else y)
            x = net.add(x, net.mlp(net.norm(x), 4 * x.shape[-1]))
    return net.classifier(net.transpose(net.norm(x), 0, 3, 1, 2))


def convnext_t(net):
    def norm(x):
        return net.transpose(net.norm(net.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)

    x = norm(net.conv(net.input, 96, 4, 4, pad=0))
    for stage, depth in enumerate((3, 3, 9, 3)):
        if stage > 0:
            x = net.conv(norm(x), 2 * x.shape[1], 2, 2, pad=0)
        for _ in range(depth):
            c = x.shape[1]
            y = net.transpose(net.conv(x, c, 7, group=c), 0, 2, 3, 1)
            y = net.transpose(net.mlp(net.norm(y), 4 * c), 0, 3, 1, 2)
            x = net.add(x, net.node("Mul", [y, net.weight(c, 1, 1)], y.shape))
    return net.classifier(x)


def maxvit_t(net):
    x = net.conv(net.conv(net.input, 64, 3, 2, act="gelu"), 64, 3)
    for channels, depth in ((64, 2), (128, 2), (256, 5), (512, 2)):
        for i in range(depth):
            stride, c = 2 if i == 0 else 1, x.shape[1]
            short = x
            if stride == 2:
                short = net.conv(net.avg_pool(x), channels)
            y = net.conv(net.batch_norm(x), 4 * channels, act="gelu")
            y = net.gate(net.conv(y, 4 * channels, 3, stride, group=4 * channels, act="gelu"), c // 4, "silu")
            x = net.transpose(net.add(short, net.conv(y, channels)), 0, 2, 3, 1)
            for spread in (False, True):
                y, back = net.windows(net.norm(x), 7, spread)
                x = net.add(x, back(net.attention(y, channels // 32, bias=True)))
                x = net.add(x, net.mlp(net.norm(x), 4 * channels))
            x = net.transpose(x, 0, 3, 1, 2)
    return net.classifier(x)


def densenet121(net):
    x = net.max_pool(net.conv(net.input, 64, 7, 2, act="relu"), 3, 2, 1)
    for stage, depth in enumerate((6, 12, 24, 16)):
        for _ in range(depth):
            y = net.conv(net.relu(net.batch_norm(x)), 128, act="relu")
            y = net.conv(y, 32, 3)
            x = net.node("Concat", [x, y], [1, x.shape[1] + 32] + x.shape[2:], axis=1)
        x = net.relu(net.batch_norm(x))
        if stage < 3:
            x = net.avg_pool(net.conv(x, x.shape[1] // 2))
    return net.classifier(x)


def bottlenecks(net, x, stages, act="relu"):
    """Stages of (depth, inner, outer, stride, dilation, group width, gate)."""
    for depth, inner, outer, stride, dilation, width, gate in stages:
        for i in range(depth):
            step, c = stride if i == 0 else 1, x.shape[1]
            y = net.conv(net.conv(x, inner, act=act), inner, 3, step, inner // width, dilation=dilation, act=act)
            y = net.conv(net.gate(y, c // 4, act) if gate else y, outer)
            x = getattr(net, act)(net.add(y, net.conv(x, outer, 1, step) if step != 1 or c != outer else x))
    return x


def resnext50(net):
    x = net.max_pool(net.conv(net.input, 64, 7, 2, act="relu"), 3, 2, 1)
    return net.classifier(bottlenecks(net, x, [(d, 128 << s, 256 << s, 1 if s == 0 else 2, 1, 4 << s, False)
                                               for s, d in enumerate((3, 4, 6, 3))]))


def regnet_y(net):
    """RegNetY-1.6GF."""
    x = net.conv(net.input, 32, 3, 2, act="relu")
    return net.classifier(bottlenecks(net, x, [(d, c, c, 2, 1, 24, True)
                                               for d, c in ((2, 48), (6, 120), (17, 336), (2, 888))]))


def deeplab_v3(net):
    """With a ResNet50 of output stride 16."""
    x = net.max_pool(net.conv(net.input, 64, 7, 2, act="relu"), 3, 2, 1)
    x = bottlenecks(net, x, [(3, 64, 256, 1, 1, 64, False), (4, 128, 512, 2, 1, 128, False),
                             (6, 256, 1024, 2, 1, 256, False), (3, 512, 2048, 1, 2, 512, False)])
    parts = [net.conv(x, 256, act="relu")] + [net.conv(x, 256, 3, dilation=d, act="relu") for d in (6, 12, 18)]
    g = net.conv(net.mean(x), 256, act="relu")
    parts.append(net.node("Expand", [g, net.constant(np.array(parts[0].shape, np.int64))], parts[0].shape))
    y = net.node("Concat", parts, [1, 1280] + x.shape[2:], axis=1)
    y = net.conv(net.conv(net.conv(y, 256, act="relu"), 256, 3, act="relu"), 21)
    sizes = net.constant(np.array([1, 21] + net.input.shape[2:], np.int64))
    return net.node("Resize", [y, "", "", sizes], [1, 21] + net.input.shape[2:], mode="linear",
                    coordinate_transformation_mode="half_pixel")


def efficientnet_b0(net):
    x = net.conv(net.input, 32, 3, 2, act="silu")
    for expand, channels, depth, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                    (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(depth):
            c = x.shape[1]
            y = net.conv(x, c * expand, act="silu") if expand != 1 else x
            y = net.conv(y, c * expand, kernel, stride if i == 0 else 1, group=c * expand, act="silu")
            y = net.conv(net.gate(y, max(1, c // 4), "silu"), channels)
            x = net.add(x, y) if i > 0 else y
    return net.classifier(net.conv(x, 1280, act="silu"))


def bert_base(net):
    x = net.norm(net.input)
    for _ in range(12):
        x = net.encoder(x, 12, 3072, first=False)
    return x


def whisper_tiny(net):
    """The encoder: 80 mel bands of 30 seconds."""
    def conv(x, stride):
        n, c, _, w = x.shape
        return net.gelu(net.node("Conv", [x, net.weight(384, c, 1, 3), net.bias(384)], [n, 384, 1, (w + 1) // stride - (stride - 1) // 2],
                                 kernel_shape=[1, 3], strides=[1, stride], pads=[0, 1, 0, 1]))

    x = conv(conv(net.input, 1), 2)
    tokens = x.shape[3] = 1500
    x = net.transpose(net.reshape(x, 1, 384, tokens), 0, 2, 1)
    x = net.node("Add", [x, net.weight(1, tokens, 384)], x.shape)
    for _ in range(4):
        x = net.encoder(x, 6, 1536)
    return net.norm(x)


def vit_b16(net):
    x = net.conv(net.input, 768, 16, 16, pad=0)
    x = net.transpose(net.reshape(x, 1, 768, 196), 0, 2, 1)
    x = net.node("Concat", [net.weight(1, 1, 768), x], [1, 197, 768], axis=1)
    x = net.node("Add", [x, net.weight(1, 197, 768)], x.shape)
    for _ in range(12):
        x = net.encoder(x, 12, 3072)
    first = net.node("Slice", [net.norm(x)] + [net.constant(np.array([v], np.int64)) for v in (0, 1, 1)], [1, 1, 768])
    return net.linear(net.reshape(first, 1, 768), 1000)


def lstm(net):
    """One layer of 256 over 100 steps."""
    x = net.transpose(net.input, 1, 0, 2)
    y = net.node("LSTM", [x, net.weight(1, 1024, 256, fan_in=256), net.weight(1, 1024, 256, fan_in=256), net.bias((1, 2048))],
                 [100, 1, 1, 256], hidden_size=256)
    return net.reshape(y, 100, 256)


NETWORKS = {
    "swin_t": ([1, 3, 224, 224], swin_t), "convnext_t": ([1, 3, 224, 224], convnext_t), "maxvit_t": ([1, 3, 224, 224], maxvit_t),
    "densenet121": ([1, 3, 224, 224], densenet121), "resnext50": ([1, 3, 224, 224], resnext50),
    "regnet_y": ([1, 3, 224, 224], regnet_y), "deeplab_v3": ([1, 3, 513, 513], deeplab_v3),
    "efficientnet_b0": ([1, 3, 224, 224], efficientnet_b0), "bert_base": ([1, 128, 768], bert_base),
    "whisper_tiny": ([1, 80, 1, 3000], whisper_tiny), "vit_b16": ([1, 3, 224, 224], vit_b16), "lstm": ([1, 100, 256], lstm),
}
# Written as QDQ, too.
QDQ = ("convnext_t", "densenet121", "resnext50", "regnet_y", "bert_base", "vit_b16")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for name, (shape, build) in NETWORKS.items():
        if args.only in (None, name):
            net = Network(name, shape)
            net.save(args.folder, build(net))


if __name__ == "__main__":
    main()
