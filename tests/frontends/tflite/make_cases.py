#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin: one tiny TFLite model per operator, with outputs by the formulas of formulas.py.

    python3 make_cases.py          (numpy only; the same bytes each time)
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import formulas as f  # noqa: E402
from pack import Pack  # noqa: E402
from writer import NONE, RELU, RELU6, SAME, TANH, VALID, Net  # noqa: E402

rng = np.random.RandomState(20261115)
pack = Pack("tflite")


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def first(x):
    """A picture as the graph takes it."""
    return x.transpose(0, 3, 1, 2) if np.ndim(x) == 4 else x


def add(name, net, outputs, inputs, results, **more):
    results = [np.asarray(r, np.float32) if np.asarray(r).dtype == np.float64 else np.asarray(r) for r in results]
    pack.add(name, [net.bytes(outputs)], [first(x) for x in inputs], results, **more)


def one(name, code, inputs, result, options=None, constants=(), dtype="float32", **more):
    """One operator: `inputs` are fed, `constants` follow them; either may be (position, array)."""
    net = Net()
    ids = [net.input("x%d" % i, x.shape, x.dtype.name) for i, x in enumerate(inputs)]
    ids += [net.constant("c%d" % i, c) if c is not None else -1 for i, c in enumerate(constants)]
    order = more.pop("order", range(len(ids)))
    result = np.asarray(result)
    y = net.tensor("y", result.shape, dtype)
    net.op(code, [ids[i] for i in order], [y], options)
    if result.dtype == np.float64:
        result = result.astype(np.float32)
    add(name, net, [y], inputs, [result], **more)


def i32(*values):
    return np.array(values, np.int32)


# Convolutions: every extent different, odd and even borders, groups, dilation, activations.
x = normal(1, 5, 7, 3)
w, b = normal(4, 3, 2, 3), normal(4)
for pad in (SAME, VALID):
    for stride, dilation in (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1))):
        one("conv_%d_%d%d_%d%d" % ((pad,) + stride + dilation), 3, [x],
            np.maximum(f.conv(x, w, b, stride, dilation, pad == SAME), 0),
            {0: ("b", pad), 1: ("i", stride[1]), 2: ("i", stride[0]), 3: ("b", RELU), 4: ("i", dilation[1]),
             5: ("i", dilation[0])}, [w, b], tolerance=2e-5)
conv_options = {0: ("b", SAME), 1: ("i", 1), 2: ("i", 1), 3: ("b", NONE)}
one("conv_no_bias", 3, [x], f.conv(x, w, 0), conv_options, [w], tolerance=2e-5)
x6, w6, b6 = normal(2, 4, 3, 6), normal(4, 3, 3, 3), normal(4)
one("conv_groups", 3, [x6], f.conv(x6, w6, b6, groups=2), conv_options, [w6, b6], tolerance=2e-5)
one("conv_relu6", 3, [x], np.clip(f.conv(x, 3 * w, b), 0, 6), {**conv_options, 3: ("b", RELU6)}, [3 * w, b],
    tolerance=5e-5)
one("conv_tanh", 3, [x], np.tanh(f.conv(x, w, b)), {**conv_options, 3: ("b", TANH)}, [w, b], tolerance=2e-5)
wd, bd = normal(1, 3, 2, 6), normal(6)
for pad, stride in ((SAME, (2, 1)), (VALID, (1, 2))):
    one("depthwise_%d" % pad, 4, [x], f.depthwise(x, wd, bd, stride, (1, 1), pad == SAME),
        {0: ("b", pad), 1: ("i", stride[1]), 2: ("i", stride[0]), 3: ("i", 2), 4: ("b", NONE)}, [wd, bd],
        tolerance=2e-5)
wt = normal(4, 3, 2, 3)
for pad, shape in ((SAME, (1, 10, 21, 4)), (VALID, (1, 11, 21, 4))):
    one("transpose_conv_%d" % pad, 67, [x], f.transpose_conv(x, wt, shape, (2, 3), pad == SAME),
        {0: ("b", pad), 1: ("i", 3), 2: ("i", 2)}, [i32(*shape), wt], order=(1, 2, 0), tolerance=2e-5)

for code, kind in ((1, "average"), (17, "max"), (12, "l2")):
    for pad in (SAME, VALID):
        one("%s_pool_%d" % (kind, pad), code, [x], f.pool(x, (3, 2), (2, 1), pad == SAME, kind),
            {0: ("b", pad), 1: ("i", 1), 2: ("i", 2), 3: ("i", 2), 4: ("i", 3), 5: ("b", NONE)})
for code, linear in ((23, True), (97, False)):
    slot = 2 if linear else 0
    for align, half in ((0, 0), (1, 0), (0, 1)):
        one("resize_%d_%d%d" % (linear, align, half), code, [x], f.resize(x, (8, 4), linear, align, half),
            {slot: ("?", align), slot + 1: ("?", half)}, [i32(8, 4)])
x4 = normal(2, 4, 6, 3)
s2d = x4.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12)
one("space_to_depth", 26, [x4], s2d, {0: ("i", 2)})
d2s_in = normal(2, 2, 3, 12)
one("depth_to_space", 5, [d2s_in], d2s_in.reshape(2, 2, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3),
    {0: ("i", 2)})
padded = np.pad(x4, ((0, 0), (0, 0), (1, 1), (0, 0)))
s2b = padded.reshape(2, 2, 2, 4, 2, 3).transpose(2, 4, 0, 1, 3, 5).reshape(8, 2, 4, 3)
one("space_to_batch", 38, [x4], s2b, None, [i32(2, 2), np.array([[0, 0], [1, 1]], np.int32)])
one("batch_to_space", 37, [s2b], x4, None, [i32(2, 2), np.array([[0, 0], [1, 1]], np.int32)])
squares = np.stack([(x[..., max(c - 1, 0):c + 2] ** 2).sum(-1) for c in range(3)], -1)
one("lrn", 13, [x], x / (0.5 + 0.3 * squares) ** 0.75, {0: ("i", 1), 1: ("f", 0.5), 2: ("f", 0.3), 3: ("f", 0.75)})

# Matrices.
m, wm, bm = normal(3, 5), normal(4, 5), normal(4)
one("fully_connected", 9, [m], m @ wm.T + bm, {0: ("b", NONE)}, [wm, bm])
m3 = normal(2, 3, 5)
one("fully_connected_keeps_dims", 9, [m3], np.maximum(m3 @ wm.T, 0), {0: ("b", RELU), 2: ("?", 1)}, [wm, None])
ba, bb = normal(2, 3, 4), normal(2, 5, 4)
one("batch_matmul", 126, [ba, bb], ba @ bb.transpose(0, 2, 1), {1: ("?", 1)})
table = normal(6, 3)
one("embedding_lookup", 7, [], table[[4, 0, 5]], None, [i32(4, 0, 5), table])
# A flattened picture: the matrix is reordered, no Transpose stays.
net = Net()
xi = net.input("x", x.shape)
conv = net.tensor("conv", (1, 5, 7, 4))
net.op(3, [xi, net.constant("w", w), net.constant("b", b)], [conv], conv_options)
flat = net.tensor("flat", (1, 140))
net.op(22, [conv, net.constant("shape", i32(1, -1))], [flat])
wf = normal(3, 140)
y = net.tensor("y", (1, 3))
net.op(9, [flat, net.constant("wf", wf), net.constant("bf", normal(3) * 0)], [y], {0: ("b", NONE)})
add("flatten_without_transpose", net, [y], [x], [f.conv(x, w, b).reshape(1, 140) @ wf.T], tolerance=1e-4,
    without="Transpose")

# Recurrent.
depth, cells = 3, 4
gates = [normal(cells, depth) for _ in range(4)], [normal(cells, cells) for _ in range(4)], \
        [normal(cells) for _ in range(4)]
for time_major in (0, 1):
    seq = normal(5, 2, depth) if time_major else normal(2, 5, depth)
    constants = gates[0] + gates[1] + [None] * 3 + gates[2] + [None] * 2
    net = Net()
    ids = [net.input("x", seq.shape)]
    ids += [net.constant("c%d" % i, c) if c is not None else -1 for i, c in enumerate(constants)]
    ids += [net.tensor("state%d" % i, (2, cells)) for i in range(2)]
    y = net.tensor("y", seq.shape[:2] + (cells,))
    net.op(44, ids, [y], {0: ("b", TANH), 3: ("?", time_major)})
    add("sequence_lstm_%d" % time_major, net, [y], [seq], [f.lstm(seq, *gates, time_major=bool(time_major))],
        tolerance=2e-5, note="begins every run with a state of zeros")
constants = [None] + gates[0][1:] + [None] + gates[1][1:] + [None] * 3 + [None] + gates[2][1:] + [None] * 2
net = Net()
ids = [net.input("x", (2, 5, depth))]
ids += [net.constant("c%d" % i, c) if c is not None else -1 for i, c in enumerate(constants)]
y = net.tensor("y", (2, 5, cells))
net.op(44, ids, [y], {0: ("b", TANH)})
seq = normal(2, 5, depth)
add("sequence_lstm_coupled", net, [y], [seq], [f.lstm(seq, *gates, time_major=False, coupled=True)], tolerance=2e-5)

# Element by element: pictures against channels, scalars and each other.
c = normal(3)
for name, code, function in (("add", 0, np.add), ("sub", 41, np.subtract), ("mul", 18, np.multiply),
                             ("div", 42, np.divide), ("maximum", 55, np.maximum), ("minimum", 57, np.minimum),
                             ("squared_difference", 99, lambda a, b: (a - b) ** 2)):
    other = np.abs(c) + 0.5 if name == "div" else c
    one(name + "_channels", code, [x], function(x, other), {0: ("b", NONE)} if code < 50 else None, [other])
    one(name + "_two", code, [m, m[::-1].copy() + 3], function(m, m[::-1] + 3), {0: ("b", NONE)} if code < 50 else None)
one("pow", 78, [np.abs(m)], np.abs(m) ** np.float32(1.5), None, [np.float32(1.5)])
for name, code, function in (("less", 58, np.less), ("less_equal", 63, np.less_equal), ("greater", 61, np.greater),
                             ("greater_equal", 62, np.greater_equal), ("equal", 71, np.equal),
                             ("not_equal", 72, np.not_equal)):
    near = m.copy()
    near[1] = m[1] + 1
    one(name, code, [m, near], function(m, near), None, dtype="bool")
truth = m > 0
net = Net()
a, bb_ = net.input("a", m.shape), net.input("b", m.shape)
zero = net.constant("zero", np.zeros(1, np.float32))
ta, tb, both, either, no = (net.tensor(n, m.shape, "bool") for n in ("ta", "tb", "both", "either", "no"))
net.op(61, [a, zero], [ta])
net.op(61, [bb_, zero], [tb])
net.op(86, [ta, tb], [both])
net.op(84, [ta, tb], [either])
net.op(87, [ta], [no])
m2 = normal(3, 5)
add("logical", net, [both, either, no], [m, m2], [truth & (m2 > 0), truth | (m2 > 0), ~truth])
net = Net()
a = net.input("a", m.shape)
t = net.tensor("t", m.shape, "bool")
net.op(61, [a, net.constant("zero", np.zeros(1, np.float32))], [t])
y = net.tensor("y", m.shape)
net.op(123, [t, a, net.constant("no", np.float32(9))], [y])
add("select_v2", net, [y], [m], [np.where(truth, m, 9)])
ints_a, ints_b = np.array([7, -7, 7, -7], np.int32), np.array([3, 3, -3, -3], np.int32)
one("floor_div_int", 90, [ints_a, ints_b], ints_a // ints_b, None, dtype="int32")
one("floor_mod_int", 95, [ints_a, ints_b], ints_a % ints_b, None, dtype="int32")
one("floor_div", 90, [m], np.floor(m / np.float32(0.7)), None, [np.float32(0.7)])
one("floor_mod", 95, [m], m - np.floor(m / np.float32(0.7)) * np.float32(0.7), None, [np.float32(0.7)])
one("add_n", 106, [m, m2, m], m + m2 + m)

positive = np.abs(x) + 0.1
for name, code, function, value, options in (
        ("logistic", 14, f.sigmoid, x, None), ("tanh", 28, np.tanh, x, None),
        ("relu", 19, lambda v: np.maximum(v, 0), x, None), ("relu6", 21, lambda v: np.clip(v, 0, 6), 5 * x, None),
        ("relu_n1_to_1", 20, lambda v: np.clip(v, -1, 1), 2 * x, None),
        ("relu_0_to_1", 152, lambda v: np.clip(v, 0, 1), 2 * x, None),
        ("elu", 111, lambda v: np.where(v > 0, v, np.exp(v) - 1), x, None),
        ("leaky_relu", 98, lambda v: np.where(v > 0, v, 0.3 * v), x, {0: ("f", 0.3)}),
        ("hard_swish", 117, lambda v: v * np.clip(v + 3, 0, 6) / 6, 4 * x, None),
        ("gelu", 150, lambda v: 0.5 * v * (1 + f.erf(v / np.sqrt(2))), x, {0: ("?", 0)}),
        ("gelu_tanh", 150, lambda v: 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3))), x,
         {0: ("?", 1)}),
        ("abs", 101, np.abs, x, None), ("neg", 59, np.negative, x, None), ("exp", 47, np.exp, x, None),
        ("log", 73, np.log, positive, None), ("sin", 66, np.sin, x, None), ("cos", 108, np.cos, x, None),
        ("sqrt", 75, np.sqrt, positive, None), ("rsqrt", 76, lambda v: 1 / np.sqrt(v), positive, None),
        ("square", 92, np.square, x, None), ("floor", 8, np.floor, 3 * x, None), ("ceil", 104, np.ceil, 3 * x, None),
        ("round", 116, np.rint, 3 * x, None), ("sign", 158, np.sign, x, None),
        ("softmax", 25, lambda v: f.softmax(0.7 * v), x, {0: ("f", 0.7)}),
        ("log_softmax", 50, lambda v: np.log(f.softmax(v)), x, None),
        ("l2_normalization", 11, lambda v: v / np.sqrt((v * v).sum(-1, keepdims=True)), x, {0: ("b", NONE)})):
    one(name, code, [value], function(np.float64(value)), options, tolerance=2e-5)
slope = normal(1, 1, 3)
one("prelu", 54, [x], np.where(x > 0, x, slope * x), None, [slope])

# Reductions: with and without the axes, which must come out in the file's order.
for name, code, function in (("mean", 40, np.mean), ("sum", 74, np.sum), ("reduce_max", 82, np.max),
                             ("reduce_min", 89, np.min), ("reduce_prod", 81, np.prod)):
    for axes in ((1, 2), (1,), (-1,), (0, 3)):
        for keep in (0, 1):
            one("%s_%s_%d" % (name, "".join(str(a % 4) for a in axes), keep), code, [x],
                function(np.float64(x), tuple(a % 4 for a in axes), keepdims=bool(keep)), {0: ("?", keep)},
                [i32(*axes)], tolerance=5e-5)
for name, code, function in (("arg_max", 56, np.argmax), ("arg_min", 79, np.argmin)):
    for axis in (3, 1):
        one("%s_%d" % (name, axis), code, [x], function(x, axis).astype(np.int32), {0: ("b", 2)}, [i32(axis)],
            dtype="int32")
one("cumsum", 128, [m], np.cumsum(m, 1), None, [i32(1)])

# Moves. Each follows a convolution in real networks, so pictures come channels first.
one("reshape", 22, [x], x.reshape(1, 35, 3), None, [i32(1, -1, 3)])
one("squeeze", 43, [x[:, :1].copy()], x[0, 0], {0: ("vector:i", [0, 1])})
one("expand_dims", 70, [m], m[:, None], None, [i32(1)])
one("transpose_to_nchw", 39, [x], x.transpose(0, 3, 1, 2), None, [i32(0, 3, 1, 2)], without="Transpose")
one("transpose_3d", 39, [m3], m3.transpose(2, 0, 1), None, [i32(2, 0, 1)])
pads = np.array([[0, 0], [1, 2], [0, 3], [1, 0]], np.int32)
one("pad", 34, [x], np.pad(x, pads), None, [pads])
one("padv2", 60, [x], np.pad(x, pads, constant_values=2.5), None, [pads, np.float32(2.5)])
one("mirror_pad", 100, [x], np.pad(x, ((0, 0), (1, 2), (0, 3), (0, 0)), mode="reflect"), {0: ("b", 0)},
    [np.array([[0, 0], [1, 2], [0, 3], [0, 0]], np.int32)])
one("concatenation", 2, [x, x * 2], np.concatenate([x, x * 2], 3), {0: ("i", -1), 1: ("b", NONE)})
one("concatenation_h", 2, [x, x * 2], np.concatenate([x, x * 2], 1), {0: ("i", 1), 1: ("b", NONE)})
for name, code, order, constants in (("split", 49, "ax", None), ("split_v", 102, "xsa", i32(1, -1))):
    net = Net()
    xi = net.input("x", x6.shape)
    outs = [net.tensor("a", (2, 4, 3, 3 if code == 49 else 1)), net.tensor("b", (2, 4, 3, 3 if code == 49 else 5))]
    axis = net.constant("axis", np.int32(3))
    ids = [axis, xi] if code == 49 else [xi, net.constant("sizes", constants), axis]
    net.op(code, ids, outs, {0: ("i", 2)})
    at = 3 if code == 49 else 1
    add(name, net, outs, [x6], [x6[..., :at], x6[..., at:]])
one("pack", 83, [m, m2], np.stack([m, m2], 1), {0: ("i", 2), 1: ("i", 1)})
net = Net()
mi = net.input("x", m3.shape)
outs = [net.tensor("r%d" % i, (2, 5)) for i in range(3)]
net.op(88, [mi], outs, {0: ("i", 3), 1: ("i", 1)})
add("unpack", net, outs, [m3], [m3[:, i] for i in range(3)])
one("slice", 65, [x], x[:, 1:4, 2:, :2], None, [i32(0, 1, 2, 0), i32(1, 3, -1, 2)])
one("strided_slice", 45, [x], x[:, 1:5:2, ::-3, :2], {0: ("i", 4), 1: ("i", 4)},
    [i32(0, 1, 0, 0), i32(1, 5, 0, 2), i32(1, 2, -3, 1)])
one("strided_slice_shrink", 45, [x], x[:, 2, :, -1], {0: ("i", 5), 1: ("i", 5), 4: ("i", 10)},
    [i32(0, 2, 0, -1), i32(0, 3, 0, 0), i32(1, 1, 1, 1)])
one("strided_slice_ellipsis", 45, [x], x[..., None, 1:], {1: ("i", 4), 2: ("i", 1), 3: ("i", 2)},
    [i32(0, 0, 1), i32(0, 0, 0), i32(1, 1, 1)])
one("gather", 36, [x], x[:, :, [3, 0, 3]], {0: ("i", 2)}, [i32(3, 0, 3)])
one("gather_nd", 107, [m], m[[2, 0], [1, 4]], None, [np.array([[2, 1], [0, 4]], np.int32)])
scattered = np.zeros((4, 5), np.float32)
np.add.at(scattered, [1, 3, 1], m)
one("scatter_nd", 122, [m], scattered, None, [np.array([[1], [3], [1]], np.int32), i32(4, 5)], order=(1, 0, 2))
one("tile", 69, [x], np.tile(x, (1, 2, 1, 3)), None, [i32(1, 2, 1, 3)])
one("broadcast_to", 130, [m], np.broadcast_to(m, (2, 3, 5)).copy(), None, [i32(2, 3, 5)])
hot = np.full((3, 4), -1, np.float32)
hot[[0, 1, 2], [2, 0, 3]] = 5
one("one_hot", 85, [i32(2, 0, 3)], hot, {0: ("i", -1)}, [np.int32(4), np.float32(5), np.float32(-1)])
net = Net()
mi = net.input("x", m.shape)
outs = [net.tensor("v", (3, 2)), net.tensor("i", (3, 2), "int32")]
net.op(48, [mi, net.constant("k", np.int32(2))], outs)
order = np.argsort(-m, 1, kind="stable")[:, :2]
add("topk", net, outs, [m], [np.take_along_axis(m, order, 1), order.astype(np.int32)])
one("reverse_v2", 105, [x], x[:, ::-1], None, [i32(1)])
reversed_rows = np.stack([np.concatenate([r[:n][::-1], r[n:]]) for r, n in zip(m, (2, 5, 3))])
one("reverse_sequence", 112, [m], reversed_rows, {0: ("i", 1), 1: ("i", 0)}, [i32(2, 5, 3)])
one("cast", 53, [3 * m], np.trunc(3 * m).astype(np.int32), None, dtype="int32")
# A shape computed from shapes: FILL of SHAPE, RANGE of RANK.
net = Net()
xi = net.input("x", x.shape)
shape = net.tensor("shape", (4,), "int32")
net.op(77, [xi], [shape], {0: ("b", 2)})
filled = net.tensor("filled", x.shape)
net.op(94, [shape, net.constant("v", np.float32(2))], [filled])
y = net.tensor("y", x.shape)
net.op(18, [xi, filled], [y], {0: ("b", NONE)})
add("shape_fill", net, [y], [x], [2 * x])
net = Net()
xi = net.input("x", m.shape)
zeros = net.tensor("zeros", m.shape)
net.op(93, [xi], [zeros])
y = net.tensor("y", m.shape)
net.op(0, [xi, zeros], [y], {0: ("b", NONE)})
add("zeros_like", net, [y], [m], [m])

# float16 weights behind DEQUANTIZE.
net = Net()
xi = net.input("x", m.shape)
half = net.constant("half", wm.astype(np.float16))
full = net.tensor("full", wm.shape)
net.op(6, [half], [full])
y = net.tensor("y", (3, 4))
net.op(9, [xi, full, -1], [y], {0: ("b", NONE)})
add("float16_weights", net, [y], [m], [m @ wm.astype(np.float16).astype(np.float32).T])

# Quantized: the file's numbers exactly. Tolerance: half a step, so that every element is the same integer.
for dtype, shift in (("int8", 0), ("uint8", 128)):
    sx, zx, sy, zy = 0.05, 3 + shift, 0.125, -7 + shift
    low, high = -128 + shift, 127 + shift
    net = Net()
    xi = net.input("x", x.shape, dtype, scale=sx, zero_point=zx)
    wq = rng.randint(-127, 128, (4, 3, 2, 3))
    sw = np.array([0.01, 0.02, 0.03, 0.015], np.float32)
    if dtype == "int8":
        wi = net.constant("w", wq.astype(np.int8), scale=sw, zero_point=[0] * 4, axis=0)
    else:
        sw = np.float32(0.02)
        wi = net.constant("w", (wq + 127).astype(np.uint8), scale=sw, zero_point=127)
    bq = rng.randint(-300, 300, 4).astype(np.int32)
    bi = net.constant("b", bq, scale=np.float32(sx) * sw, axis=0)
    y = net.tensor("y", (1, 5, 7, 4), dtype, scale=sy, zero_point=zy)
    net.op(3, [xi, wi, bi], [y], {**conv_options, 3: ("b", RELU)})
    xr = f.rounded(x, np.float32(sx), zx, low, high)
    acc = f.conv(xr, wq * np.reshape(sw, (-1, 1, 1, 1)).astype(np.float64), bq * (np.float64(np.float32(sx)) * sw))
    add("quantized_conv_" + dtype, net, [y], [x], [f.rounded(np.maximum(acc, 0), np.float32(sy), zy, low, high)],
        tolerance=1e-5)
net = Net()
xi = net.input("x", m.shape, "int8", scale=0.1, zero_point=5)
y = net.tensor("y", m.shape, "int8", scale=0.03, zero_point=-20)
net.op(114, [xi], [y])
z = net.tensor("z", m.shape)
net.op(6, [y], [z])
add("requantize", net, [z], [m], [f.rounded(f.rounded(m, np.float32(0.1), 5), np.float32(0.03), -20)], tolerance=1e-5)
# A sigmoid with another range than 0..1: the file's is kept.
net = Net()
xi = net.input("x", m.shape, "int8", scale=0.1, zero_point=5)
y = net.tensor("y", m.shape, "int8", scale=0.02, zero_point=-30)
net.op(14, [xi], [y])
add("quantized_logistic", net, [y], [m], [f.rounded(f.sigmoid(f.rounded(m, np.float32(0.1), 5)), np.float32(0.02), -30)],
    tolerance=1e-5)

# Open batch, NCHW files, what is cut off and what is refused.
net = Net()
xi = net.input("x", (1, 5), signature=(-1, 5))
y = net.tensor("y", (1, 4))
net.op(9, [xi, net.constant("w", wm), net.constant("b", bm)], [y], {0: ("b", NONE)})
add("open_batch", net, [y], [m], [m @ wm.T + bm], shapes=[(3, 5)])
nchw = normal(1, 3, 5, 7)
net = Net()
xi = net.input("x", nchw.shape)
t = net.tensor("t", (1, 5, 7, 3))
net.op(39, [xi, net.constant("perm", i32(0, 2, 3, 1))], [t])
y = net.tensor("y", (1, 5, 7, 4))
net.op(3, [t, net.constant("w", w), net.constant("b", b)], [y], conv_options)
pack.add("input_is_nchw", [net.bytes([y])], [nchw], [f.conv(nchw.transpose(0, 2, 3, 1), w, b).astype(np.float32)],
         tolerance=2e-5, nchw=True)
net = Net()
xi = net.input("x", m.shape)
boxes, scores = net.tensor("boxes", m.shape), net.tensor("scores", m.shape)
net.op(101, [xi], [boxes])
net.op(59, [xi], [scores])
outs = [net.tensor("detections%d" % i, (1, 10, 4)) for i in range(4)]
net.op(32, [boxes, scores, net.constant("anchors", normal(3, 4))], outs, custom="TFLite_Detection_PostProcess",
       custom_options=b"\1\2\3")
add("detections_cut", net, outs, [m], [np.abs(m), -m], note="is left out: the model's outputs are its inputs 'boxes'")
for name, code, options, custom, text in (
        ("refused_custom", 32, None, "Mystery", "custom operator 'Mystery' for 'y' is not known; register it with"),
        ("refused_while", 119, None, None, "WHILE for 'y' is not taken; cut the graph before it: outputs=['x']"),
        ("refused_symmetric", 100, {0: ("b", 1)}, None, "MIRROR_PAD for 'y': mode SYMMETRIC is not taken")):
    net = Net()
    ids = [net.input("x", m.shape)]
    if code == 100:
        ids.append(net.constant("pads", np.zeros((2, 2), np.int32)))
    y = net.tensor("y", m.shape)
    net.op(code, ids, [y], options, custom=custom)
    pack.add(name, [net.bytes([y])], refusal=text)

# Weights without their zeros: (order of axes, block_map, levels) and the values, each worked out by hand from the matrix.
INDEX_KINDS = {"i": 1, "H": 2, "B": 3}


def dense(size):
    return {0: ("b", 0), 1: ("i", size)}


def compressed(kind, segments, indices):
    return {0: ("b", 1), 2: ("B", INDEX_KINDS[kind]), 3: ("table", {0: ("vector:" + kind, segments)}),
            4: ("B", INDEX_KINDS[kind]), 5: ("table", {0: ("vector:" + kind, indices)})}


def sparse_net(values, shape, order, block_map, levels, densify):
    """y = x * transposed matrix, through DENSIFY or read by FULLY_CONNECTED itself."""
    net = Net()
    rows, columns = shape
    ids = [net.input("x", (2, columns))]
    values = np.asarray(values)
    matrix = net.tensor("w", shape, values.dtype.name, values, sparsity={
        0: ("vector:i", order), 1: ("vector:i", block_map), 2: ("tables", levels)})
    if densify:
        full = net.tensor("full", shape, values.dtype.name)
        net.op(124, [matrix], [full])
        matrix = full
    if values.dtype == np.float16:
        real = net.tensor("real", shape)
        net.op(6, [matrix], [real])
        matrix = real
    y = net.tensor("y", (2, rows))
    net.op(9, ids + [matrix, -1], [y], {0: ("b", NONE)})
    return net, y


rows_form = np.array([[0, 2, 0, 0], [0, 0, 0, 0], [-1, 0, 0.5, 3]], np.float32)
blocks_form = np.array([[0, 0, 1, 2], [3, 0, 0, 0], [0, 0, 0, 4]], np.float32)
x = normal(2, 4)
for kind, dtype, densify in (("i", np.float32, True), ("H", np.float16, True), ("B", np.float32, False)):
    net, y = sparse_net(np.array([2, -1, 0.5, 3], dtype), (3, 4), [0, 1], [],
                        [dense(3), compressed(kind, [0, 1, 1, 4], [1, 0, 2, 3])], densify)
    add("sparse_rows_" + kind, net, [y], [x], [x @ rows_form.T])
# Blocks of 1 x 2 along the second axis; then the same matrix by columns of blocks.
net, y = sparse_net(np.array([1, 2, 3, 0, 0, 4], np.float32), (3, 4), [0, 1, 2], [1],
                    [dense(3), compressed("B", [0, 1, 2, 3], [1, 0, 1]), dense(2)], True)
add("sparse_blocks", net, [y], [x], [x @ blocks_form.T])
net, y = sparse_net(np.array([3, 0, 1, 2, 0, 4], np.float32), (3, 4), [1, 0, 2], [1],
                    [dense(2), compressed("B", [0, 1, 3], [1, 0, 2]), dense(2)], True)
add("sparse_columns_of_blocks", net, [y], [x], [x @ blocks_form.T])
ROWS = [dense(3), compressed("i", [0, 1, 1, 4], [1, 0, 2, 3])]
for name, count, order, block_map, levels, text in (
        ("few_values", 3, [0, 1], [], ROWS, "needs more than the 3 values that are stored"),
        ("many_values", 5, [0, 1], [], ROWS, "has room for 4 values of 5 stored ones"),
        ("index", 4, [0, 1], [], [ROWS[0], compressed("i", [0, 1, 1, 4], [4, 0, 2, 3])], "index 4 of axis 1"),
        ("index_twice", 4, [0, 1], [], [ROWS[0], compressed("i", [0, 1, 1, 4], [1, 2, 2, 3])], "index 2 of axis 1"),
        ("segments", 4, [0, 1], [], [ROWS[0], compressed("i", [0, 3, 1, 4], [0, 1, 2, 3])], "segments of level 1"),
        ("short_segments", 4, [0, 1], [], [ROWS[0], compressed("i", [0, 1, 4], [1, 0, 2, 3])], "segments of level 1"),
        ("axis_twice", 4, [0, 0], [], ROWS, "axis 0 of its sparse form is unknown or named twice"),
        ("levels", 4, [0, 1], [], ROWS[:1], "2 axes and 1 levels; 2 are needed"),
        ("dense_size", 4, [0, 1], [], [dense(7), ROWS[1]], "has 7 entries"),
        ("block", 6, [0, 1, 2], [1], [dense(3), compressed("B", [0, 1, 2, 3], [1, 0, 1]), dense(3)], "size 3 on axis 1")):
    net, y = sparse_net(np.ones(count, np.float32), (3, 4), order, block_map, levels, True)
    pack.add("refused_sparse_" + name, [net.bytes([y])], refusal=text)

pack.write(os.path.join(HERE, "cases.bin"))
print("%d cases, %d bytes" % (len(pack.cases), os.path.getsize(os.path.join(HERE, "cases.bin"))))
