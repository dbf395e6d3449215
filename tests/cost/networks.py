#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""networks.py NAME OUTPUT.onnx: writes a network of networks/*.txt as ONNX; networks.py --list names them all.

Only shapes matter: weights are one small number, but for a few that keep constants of the same shape apart.
"""
import glob
import math
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks")


class Value:
    def __init__(self, name, c, h, w):
        self.name, self.c, self.h, self.w = name, c, h, w


class Net:
    """Layers as PyTorch exports them after folding batch normalization."""

    def __init__(self, act, inputs):
        self.act, self.nodes, self.constants, self.outputs, self.count = act, [], [], [], 0
        self.inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, inputs)]

    def fresh(self, kind):
        self.count += 1
        return "%s_%d" % (kind, self.count)

    def op(self, kind, inputs, **attributes):
        name = self.fresh(kind)
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name + "_node", **attributes))
        return name

    def floats(self, *dims):
        name = self.fresh("weight")
        data = np.full(dims, 0.01, np.float32)
        data.ravel()[:64] = np.random.default_rng(self.count).normal(0, 0.05, data.ravel()[:64].shape)
        self.constants.append(helper.make_tensor(name, TensorProto.FLOAT, dims, data.tobytes(), raw=True))
        return name

    def numbers(self, values, kind=TensorProto.INT64):
        name = self.fresh("numbers")
        self.constants.append(helper.make_tensor(name, kind, [len(values)], values))
        return name

    def activate(self, x, act=None):
        act = act or self.act
        if act == "none":
            return x
        if act == "silu":
            name = self.op("Mul", [x.name, self.op("Sigmoid", [x.name])])
        elif act == "relu6":
            low, high = self.scalar(0.0), self.scalar(6.0)
            name = self.op("Clip", [x.name, low, high])
        elif act == "leaky":
            name = self.op("LeakyRelu", [x.name], alpha=0.1)
        else:
            name = self.op({"relu": "Relu", "sigmoid": "Sigmoid"}[act], [x.name])
        return Value(name, x.c, x.h, x.w)

    def scalar(self, value):
        name = self.fresh("scalar")
        self.constants.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name

    def conv(self, x, c, k=1, s=1, g=1, act=None, pad=None, d=1):
        kh, kw = (k, k) if isinstance(k, int) else k
        ph, pw = (d * (kh - 1) // 2, d * (kw - 1) // 2) if pad is None else (pad, pad)
        name = self.op("Conv", [x.name, self.floats(c, x.c // g, kh, kw), self.floats(c)], kernel_shape=[kh, kw],
                       strides=[s, s], pads=[ph, pw, ph, pw], group=g, dilations=[d, d])
        h, w = (x.h + 2 * ph - d * (kh - 1) - 1) // s + 1, (x.w + 2 * pw - d * (kw - 1) - 1) // s + 1
        return self.activate(Value(name, c, h, w), act)

    def norm(self, x):
        names = [self.floats(x.c) for _ in range(4)]
        return Value(self.op("BatchNormalization", [x.name] + names), x.c, x.h, x.w)

    def add(self, a, b):
        return Value(self.op("Add", [a.name, b.name]), a.c, a.h, a.w)

    def cat(self, values):
        return Value(self.op("Concat", [v.name for v in values], axis=1), sum(v.c for v in values), values[0].h, values[0].w)

    def split(self, x, parts):
        names = [self.fresh("part") for _ in parts]
        self.nodes.append(helper.make_node("Split", [x.name, self.numbers(parts)], names, axis=1))
        return [Value(n, c, x.h, x.w) for n, c in zip(names, parts)]

    def pool(self, x, k, s, kind="MaxPool", pad=None):
        p = k // 2 if pad is None else pad
        name = self.op(kind, [x.name], kernel_shape=[k, k], strides=[s, s], pads=[p] * 4)
        return Value(name, x.c, (x.h + 2 * p - k) // s + 1, (x.w + 2 * p - k) // s + 1)

    def mean(self, x):
        return Value(self.op("GlobalAveragePool", [x.name]), x.c, 1, 1)

    def up(self, x, h=None, w=None, mode="nearest"):
        h, w = h or x.h * 2, w or x.w * 2
        sizes = self.numbers([1, x.c, h, w])
        extra = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor") if mode == "nearest" else {}
        return Value(self.op("Resize", [x.name, "", "", sizes], mode=mode, **extra), x.c, h, w)

    def transposed(self, x, c, act="none"):
        name = self.op("ConvTranspose", [x.name, self.floats(x.c, c, 2, 2), self.floats(c)], kernel_shape=[2, 2], strides=[2, 2])
        return self.activate(Value(name, c, x.h * 2, x.w * 2), act)

    def shaped(self, name, dims):
        return self.op("Reshape", [name, self.numbers(dims)])

    def output(self, x, *dims):
        name = x.name if isinstance(x, Value) else x
        dims = [1, x.c, x.h, x.w] if isinstance(x, Value) else list(dims)
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))

    def save(self, path):
        graph = helper.make_graph(self.nodes, "network", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, path)


# Blocks of the YOLO families: (net, x, channels, repeats, words, variant) -> value.

def bottleneck(n, x, c, hidden, first, add):
    y = n.conv(n.conv(x, hidden, first), c, 3)
    return n.add(x, y) if add else y


def c3(n, x, c, repeats, words, _, hidden=None, inner=1.0, first=1):
    hidden = hidden or c // 2
    a, b = n.conv(x, hidden), n.conv(x, hidden)
    for _ in range(repeats):
        a = bottleneck(n, a, hidden, int(hidden * inner), first, "add" in words)
    return n.conv(n.cat([a, b]), c)


def c2f(n, x, c, repeats, words, variant, half=None, block=None):
    half = half or c // 2
    parts = n.split(n.conv(x, 2 * half), [half, half])
    for _ in range(repeats):
        make = block or (lambda y: bottleneck(n, y, half, half, 3, "add" in words))
        parts.append(make(parts[-1]))
    return n.conv(n.cat(parts), c)


def c3k2(n, x, c, repeats, words, variant):
    half = int(c * float(words[0]))
    if "inner" in words or variant.get("inner"):
        def block(y):
            return c3(n, y, half, 2, ["add"], variant, first=3)
    else:
        def block(y):
            return bottleneck(n, y, half, half // 2, 3, True)
    return c2f(n, x, c, repeats, [], variant, half, block)


def c2fcib(n, x, c, repeats, words, variant):
    if "optional" in words and not variant.get("cib"):
        return c2f(n, x, c, repeats, ["add"], variant)

    def block(y):
        z = n.conv(n.conv(y, y.c, 3, g=y.c), 2 * y.c)
        z = n.conv(n.conv(z, z.c, 7, g=z.c), y.c)
        return n.add(y, n.conv(z, y.c, 3, g=y.c))
    return c2f(n, x, c, repeats, [], variant, block=block)


def attention(n, x):
    heads = max(1, x.c // 64)
    dim, tokens = x.c // heads, x.h * x.w
    key = dim // 2
    qkv = n.conv(x, x.c + 2 * key * heads, act="none")
    flat = n.shaped(qkv.name, [1, heads, 2 * key + dim, tokens])
    names = [n.fresh("part") for _ in range(3)]
    n.nodes.append(helper.make_node("Split", [flat, n.numbers([key, key, dim])], names, axis=2))
    q, k, v = names
    scores = n.op("MatMul", [n.op("Transpose", [q], perm=[0, 1, 3, 2]), k])
    weights = n.op("Softmax", [n.op("Mul", [scores, n.scalar(key ** -0.5)])], axis=-1)
    mixed = n.op("MatMul", [v, n.op("Transpose", [weights], perm=[0, 1, 3, 2])])
    y = Value(n.shaped(mixed, [1, x.c, x.h, x.w]), x.c, x.h, x.w)
    place = n.conv(Value(n.shaped(v, [1, x.c, x.h, x.w]), x.c, x.h, x.w), x.c, 3, g=x.c, act="none")
    return n.conv(n.add(y, place), x.c, act="none")


def psa(n, x, c, repeats, words, variant):
    half = c // 2
    a, b = n.split(n.conv(x, c), [half, half])
    for _ in range(repeats):
        b = n.add(b, attention(n, b))
        b = n.add(b, n.conv(n.conv(b, 2 * half), half, act="none"))
    return n.conv(n.cat([a, b]), c)


def sppf(n, x, c, repeats, words, variant):
    parts = [n.conv(x, x.c // 2)]
    for _ in range(3):
        parts.append(n.pool(parts[-1], 5, 1))
    return n.conv(n.cat(parts), c)


def spp(n, x, c, repeats, words, variant):
    a = n.conv(x, x.c // 2)
    return n.conv(n.cat([a] + [n.pool(a, k, 1) for k in (5, 9, 13)]), c)


def sppcspc(n, x, c, repeats, words, variant):
    a = n.conv(x, c)
    if "tiny" in words:
        pooled = n.conv(n.cat([a] + [n.pool(a, k, 1) for k in (5, 9, 13)]), c)
        return n.conv(n.cat([pooled, n.conv(x, c)]), c)
    a = n.conv(n.conv(a, c, 3), c)
    pooled = n.conv(n.conv(n.cat([a] + [n.pool(a, k, 1) for k in (5, 9, 13)]), c), c, 3)
    return n.conv(n.cat([pooled, n.conv(x, c)]), c)


def elan(n, x, words):
    first, inner, out, convs, joined = [int(w) for w in words[:5]]
    parts = [n.conv(x, first), n.conv(x, first)]
    for _ in range(convs):
        parts.append(n.conv(parts[-1], inner, 3))
    keep = parts if joined == 6 or convs == 2 else [parts[0], parts[1], parts[3], parts[5]]
    return n.conv(n.cat(keep[::-1]), out)


def down(n, x, c):
    a = n.conv(n.pool(x, 2, 2, pad=0), c)
    return n.cat([n.conv(n.conv(x, c), c, 3, 2), a])


# Heads.

def anchor_head(n, levels, words, variant):
    masks = int(variant.get("masks", 0))
    for x in levels:
        n.output(n.conv(x, int(words[0]), act="sigmoid"))
        if masks:
            n.output(n.conv(x, 3 * masks, act="none"))
    if masks:
        hidden = int(256 * float(variant["width"]))
        y = n.conv(n.up(n.conv(levels[0], hidden, 3)), hidden, 3)
        n.output(n.conv(y, masks))


def decoupled_head(n, levels, words, variant):
    classes, extra, masks = (int(variant.get(k, v)) for k, v in (("classes", 80), ("extra", 0), ("masks", 0)))
    first = levels[0].c
    box, cls = max(16, first // 4, 64), max(first, min(classes, 100))
    for x in levels:
        n.output(n.conv(n.conv(n.conv(x, box, 3), box, 3), 64, act="none"))
        y = x
        for _ in range(2):
            y = n.conv(n.conv(y, y.c, 3, g=y.c), cls) if "depthwise" in words else n.conv(y, cls, 3)
        scores = n.conv(y, classes, act="sigmoid")
        n.output(scores)
        if variant.get("sums") != "none":
            total = n.op("ReduceSum", [scores.name, n.numbers([1])], keepdims=1)
            n.output(n.op("Clip", [total, n.scalar(0.0), n.scalar(1.0)]), 1, 1, x.h, x.w)
        if extra:
            c = max(first // 4, extra)
            n.output(n.conv(n.conv(n.conv(x, c, 3), c, 3), extra, act="none"))
    if masks:
        hidden = int(256 * float(variant["width"]))
        y = n.conv(n.transposed(n.conv(levels[0], hidden, 3), hidden), hidden, 3)
        n.output(n.conv(y, masks))


def yolox_head(n, levels, words, variant):
    c = int(int(words[0]) * float(variant["width"]))
    for x in levels:
        x = n.conv(x, c)
        box = n.conv(n.conv(x, c, 3), c, 3)
        parts = [n.conv(box, 4, act="none"), n.conv(box, 1, act="sigmoid"),
                 n.conv(n.conv(n.conv(x, c, 3), c, 3), 80, act="sigmoid")]
        n.output(n.cat(parts))


def shared_head(n, levels, words, variant):
    for x in levels:
        x = n.conv(x, x.c)
        scores = n.conv(n.conv(x, x.c, 3), int(words[0]), act="sigmoid")
        n.output(scores)
        total = n.op("ReduceSum", [scores.name, n.numbers([1])], keepdims=1)
        n.output(n.op("Clip", [total, n.scalar(0.0), n.scalar(1.0)]), 1, 1, x.h, x.w)
        n.output(n.conv(n.conv(x, x.c, 3), int(words[1]), act="none"))


# Whole networks that are shorter as code than as lines.

def inverted(n, x, c, expand, s, d=1):
    hidden = x.c * expand
    y = n.conv(x, hidden) if expand != 1 else x
    y = n.conv(n.conv(y, hidden, 3, s, g=hidden, d=d), c, act="none")
    return n.add(x, y) if s == 1 and x.c == c else y


def mobilenet_v2(n, x, variant, output_stride=32, upto=None):
    x = n.conv(x, 32, 3, 2)
    stride, kept = 2, None
    for expand, c, repeats, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                  (6, 160, 3, 2), (6, 320, 1, 1)):
        d = 1
        if s == 2 and stride >= output_stride:
            s, d = 1, 2
        stride *= s
        for i in range(repeats):
            x = inverted(n, x, c, expand, s if i == 0 else 1, d)
        if c == 24:
            kept = x
    return x, kept


def classifier(n, x, classes=1000):
    x = n.conv(n.mean(x), classes, act="none")
    n.output(n.shaped(x.name, [1, classes]), 1, classes)


def build_mobilenet_v2(n, x, variant):
    x, _ = mobilenet_v2(n, x, variant)
    classifier(n, n.conv(x, 1280))


def build_resnet50_v2(n, x, variant):
    x = n.pool(n.conv(n.norm(x), 64, 7, 2), 3, 2, pad=1)
    for c, repeats, s in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(repeats):
            a = n.activate(n.norm(x))
            short = n.conv(a, 4 * c, 1, s, act="none") if i == 0 else x
            y = n.conv(n.conv(n.conv(a, c), c, 3, s), 4 * c, act="none")
            x, s = n.add(y, short), 1
    classifier(n, n.activate(n.norm(x)))


def ssh(n, x, act):
    half, quarter = x.c // 2, x.c // 4
    a = n.conv(x, half, 3, act="none")
    b = n.conv(x, quarter, 3, act=act)
    c = n.conv(b, quarter, 3, act="none")
    d = n.conv(n.conv(b, quarter, 3, act=act), quarter, 3, act="none")
    return n.activate(n.cat([a, c, d]), "relu")


def retina(n, levels, width, act):
    levels = [n.conv(x, width, act=act) for x in levels]
    levels[1] = n.conv(n.add(levels[1], n.up(levels[2], levels[1].h, levels[1].w)), width, 3, act=act)
    levels[0] = n.conv(n.add(levels[0], n.up(levels[1], levels[0].h, levels[0].w)), width, 3, act=act)
    heads = {4: [], 2: [], 10: []}
    for x in levels:
        x = ssh(n, x, act)
        for k, rows in heads.items():
            y = n.conv(x, 2 * k, act="none")
            y = n.op("Transpose", [y.name], perm=[0, 2, 3, 1])
            rows.append((n.shaped(y, [1, x.h * x.w * 2, k]), x.h * x.w * 2))
    for k, rows in heads.items():
        y = n.op("Concat", [name for name, _ in rows], axis=1)
        if k == 2:
            y = n.op("Softmax", [y], axis=-1)
        n.output(y, 1, sum(count for _, count in rows), k)


def build_retina_mobile(n, x, variant):
    x, levels = n.conv(x, 8, 3, 2), []
    for c, s in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (128, 1), (128, 1),
                 (256, 2), (256, 1)):
        if s == 2 and x.c >= 64:
            levels.append(x)
        x = n.conv(n.conv(x, x.c, 3, s, g=x.c), c)
    retina(n, levels + [x], 64, "leaky")


def build_retina_resnet(n, x, variant):
    x, levels = n.pool(n.conv(x, 64, 7, 2, act="relu"), 3, 2, pad=1), []
    for c, repeats, s in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(repeats):
            short = n.conv(x, 4 * c, 1, s, act="none") if i == 0 else x
            y = n.conv(n.conv(n.conv(x, c, act="relu"), c, 3, s, act="relu"), 4 * c, act="none")
            x, s = n.activate(n.add(y, short), "relu"), 1
        levels.append(x)
    retina(n, levels[1:], 256, "relu")


def build_deeplab(n, x, variant):
    x, low = mobilenet_v2(n, x, variant, output_stride=16)
    pooled = n.up(n.conv(n.mean(x), 256, act="relu"), x.h, x.w, "linear")
    x = n.conv(n.cat([pooled, n.conv(x, 256, act="relu")]), 256, act="relu")
    x = n.cat([n.up(x, low.h, low.w, "linear"), n.conv(low, 48, act="relu")])
    for _ in range(2):
        x = n.conv(n.conv(x, x.c, 3, g=x.c, act="relu"), 256, act="relu")
    n.output(n.up(n.conv(x, 21, act="none"), 513, 513, "linear"))


def build_transformer(n, x, variant):
    tokens, c, layers, heads = (int(variant[k]) for k in ("tokens", "channels", "layers", "heads"))
    x = "input"

    def linear(y, a, b):
        return n.op("Add", [n.op("MatMul", [y, n.floats(a, b)]), n.floats(b)])

    def norm(y):
        mean = n.op("ReduceMean", [y], axes=[-1], keepdims=1)
        d = n.op("Sub", [y, mean])
        var = n.op("ReduceMean", [n.op("Mul", [d, d])], axes=[-1], keepdims=1)
        z = n.op("Div", [d, n.op("Sqrt", [n.op("Add", [var, n.scalar(1e-5)])])])
        return n.op("Add", [n.op("Mul", [z, n.floats(c)]), n.floats(c)])

    def split_heads(y, perm):
        return n.op("Transpose", [n.shaped(y, [1, tokens, heads, c // heads])], perm=perm)

    for _ in range(layers):
        y = norm(x)
        q, k, v = (linear(y, c, c) for _ in range(3))
        scores = n.op("MatMul", [split_heads(q, [0, 2, 1, 3]), split_heads(k, [0, 2, 3, 1])])
        scores = n.op("Softmax", [n.op("Mul", [scores, n.scalar((c // heads) ** -0.5)])], axis=-1)
        y = n.op("Transpose", [n.op("MatMul", [scores, split_heads(v, [0, 2, 1, 3])])], perm=[0, 2, 1, 3])
        x = n.op("Add", [x, linear(n.shaped(y, [1, tokens, c]), c, c)])
        y = linear(norm(x), c, 4 * c)
        y = n.op("Mul", [y, n.op("Sigmoid", [n.op("Mul", [y, n.scalar(1.702)])])])
        x = n.op("Add", [x, linear(y, 4 * c, c)])
    n.output(norm(x), 1, tokens, c)


WHOLE = {"MobileNetV2": build_mobilenet_v2, "ResNet50v2": build_resnet50_v2, "RetinaMobile": build_retina_mobile,
         "RetinaResNet": build_retina_resnet, "DeepLab": build_deeplab, "Transformer": build_transformer}
BLOCKS = {"C3": c3, "C2f": c2f, "C3k2": c3k2, "C2fCIB": c2fcib, "C2PSA": psa, "PSA": psa, "SPPF": sppf, "SPP": spp,
          "SPPCSPC": sppcspc}
HEADS = {"AnchorHead": anchor_head, "DecoupledHead": decoupled_head, "YoloxHead": yolox_head, "SharedHead": shared_head}


def build_layers(n, x, variant, lines):
    width, depth, most = (float(variant.get(k, v)) for k, v in (("width", 1), ("depth", 1), ("max", 1e9)))
    values = []
    for line in lines:
        origin, repeats, module, *words = line.split()
        sources = [values[int(i)] if values else x for i in origin.split(",")]
        a, count = sources[0], max(1, round(int(repeats) * depth)) if int(repeats) > 1 else 1

        def channels(word):
            return int(math.ceil(min(int(word), most) * width / 8) * 8)
        if module in HEADS:
            HEADS[module](n, sources, words, variant)
        elif module in BLOCKS:
            values.append(BLOCKS[module](n, a, channels(words[0]), count, words[1:], variant))
        elif module == "Conv":
            pad = 2 if words[1] == "6" else None
            values.append(n.conv(a, channels(words[0]), int(words[1]), int(words[2]), pad=pad))
        elif module == "Repeat":
            for _ in range(count):
                a = n.conv(a, channels(words[0]), 3)
            values.append(a)
        elif module == "SCDown":
            c = channels(words[0])
            values.append(n.conv(n.conv(a, c), c, 3, 2, g=c, act="none"))
        elif module == "Up":
            values.append(n.up(a))
        elif module == "Transposed":
            values.append(n.transposed(a, channels(words[0])))
        elif module == "Cat":
            values.append(n.cat(sources))
        elif module == "MaxPool":
            values.append(n.pool(a, int(words[0]), int(words[1]), pad=0))
        elif module == "Elan":
            values.append(elan(n, a, words))
        elif module == "Down":
            values.append(down(n, a, int(words[0])))
        else:
            sys.exit("unknown module in '%s'" % line)


def variants():
    """name -> (attributes, layer lines)"""
    found = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt"))):
        with open(path) as file:
            lines = [line.strip() for line in file if line.strip()]
        layers = [line for line in lines if not line.startswith("variant ")]
        for line in lines:
            if line.startswith("variant "):
                _, name, *words = line.split()
                found[name] = (dict(w.split("=", 1) for w in words), layers)
    return found


def write(name, path, **changes):
    """`changes` replace words of the variant: sums="none" leaves out the sums of scores of a decoupled head."""
    variant, layers = variants()[name]
    variant = dict(variant, **changes)
    size = int(variant.get("size", 640))
    if variant.get("net") == "Transformer":
        shape = [1, int(variant["tokens"]), int(variant["channels"])]
    else:
        shape = [1, 3, size, size]
    n = Net(variant.get("act", "relu"), shape)
    x = Value("input", 3, size, size)
    if "net" in variant:
        WHOLE[variant["net"]](n, x, variant)
    else:
        build_layers(n, x, variant, layers)
    n.save(path)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(variants()))
    else:
        write(sys.argv[1], sys.argv[2])
