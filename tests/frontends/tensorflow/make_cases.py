#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin: one tiny TensorFlow graph per operator, with outputs by the formulas of formulas.py.

    python3 make_cases.py          (numpy only; the same bytes each time)
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import formulas as f  # noqa: E402
from pack import Pack  # noqa: E402
from writer import QINT8, QUINT8, Net, Type, field, number_field  # noqa: E402

rng = np.random.RandomState(20261116)
pack = Pack("tensorflow")


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def first(x):
    """A picture as the graph takes it."""
    return np.moveaxis(x, -1, 1) if np.ndim(x) in (4, 5) else x


def add(name, net, inputs, results, **more):
    results = [np.asarray(r, np.float32) if np.asarray(r).dtype == np.float64 else np.asarray(r) for r in results]
    nchw = more.get("nchw", False)
    pack.add(name, [net.bytes()], [x if nchw else first(x) for x in inputs], results, **more)


def one(name, op, inputs, result, constants=(), attrs=None, order=None, **more):
    """One operator 'y': `inputs` are fed, `constants` follow them; order: how the node lists them."""
    net = Net()
    ids = [net.input("x%d" % i, x) for i, x in enumerate(inputs)]
    ids += [net.constant("c%d" % i, c) for i, c in enumerate(constants)]
    net.node(op, "y", [ids[i] for i in order] if order else ids, **(attrs or {}))
    add(name, net, inputs, [result], **more)


def averaged(net, picture):
    """Ends a net without the Transpose that an output of rank 4 needs."""
    net.node("Mean", "y", [picture, net.constant("over", np.array([1, 2], np.int32))])


def i32(*values):
    return np.array(values, np.int32)


# Convolutions: every extent different, odd and even borders, dilation, NCHW, explicit borders.
x = normal(1, 5, 7, 3)
w = normal(4, 3, 2, 3)  # [out, h, w, in], as formulas.py has it
hwio = w.transpose(1, 2, 3, 0).copy()
for pad in ("SAME", "VALID"):
    for stride, dilation in (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1))):
        one("conv_%s_%d%d_%d%d" % ((pad,) + stride + dilation), "Conv2D", [x],
            f.conv(x, w, 0, stride, dilation, pad == "SAME"), [hwio],
            {"padding": pad, "strides": [1, *stride, 1], "dilations": [1, *dilation, 1], "data_format": "NHWC"},
            tolerance=2e-5)
xn = x.transpose(0, 3, 1, 2).copy()
one("conv_nchw", "Conv2D", [xn], f.conv(x, w, 0, (2, 1)).transpose(0, 3, 1, 2), [hwio],
    {"padding": "SAME", "strides": [1, 1, 2, 1], "data_format": "NCHW"}, nchw=True, tolerance=2e-5, without="Transpose")
one("conv_nchw_told", "Conv2D", [xn], f.conv(x, w, 0).transpose(0, 3, 1, 2), [hwio],
    {"padding": "SAME", "strides": [1, 1, 1, 1], "data_format": "NCHW"}, tolerance=2e-5, note="pass input_is_nchw=True")
padded = np.pad(x, ((0, 0), (2, 1), (0, 3), (0, 0)))
one("conv_explicit", "Conv2D", [x], f.conv(padded, w, 0, (2, 1), same=False), [hwio],
    {"padding": "EXPLICIT", "strides": [1, 2, 1, 1], "explicit_paddings": [0, 0, 2, 1, 0, 3, 0, 0]}, tolerance=2e-5)
half = normal(3, 2, 3, 4).astype(np.float16)
net = Net()
conv = net.node("Conv2D", "conv", [net.input("x", x), net.node("Cast", "w", [net.constant("h", half)], SrcT=Type(19),
                                                              DstT=Type(1))], padding="SAME", strides=[1, 1, 1, 1])
averaged(net, conv)
add("conv_half_weights", net, [x], [f.conv(x, half.astype(np.float32).transpose(3, 0, 1, 2), 0).mean((1, 2))],
    tolerance=2e-5, without="Cast Transpose")
wd = normal(3, 2, 3, 2)  # [h, w, in, times]
for pad, stride in (("SAME", (2, 2)), ("VALID", (1, 1))):
    one("depthwise_" + pad, "DepthwiseConv2dNative", [x],
        f.depthwise(x, wd.reshape(1, 3, 2, 6), 0, stride, (1, 1), pad == "SAME"), [wd],
        {"padding": pad, "strides": [1, *stride, 1]}, tolerance=2e-5)
wt = normal(4, 3, 2, 3)  # [out, h, w, in]
for pad, shape in (("SAME", (1, 10, 21, 4)), ("VALID", (1, 11, 21, 4))):
    one("conv_backprop_" + pad, "Conv2DBackpropInput", [x], f.transpose_conv(x, wt, shape, (2, 3), pad == "SAME"),
        [i32(*shape), wt.transpose(1, 2, 0, 3).copy()], {"padding": pad, "strides": [1, 2, 3, 1]}, order=(1, 2, 0),
        tolerance=2e-5)
x3, w3 = normal(1, 4, 5, 3, 2), normal(2, 3, 2, 2, 3)
full = np.zeros((1, 3, 3, 2, 3))
for d in range(2):
    for h in range(3):
        for v in range(2):
            full += x3[:, d:d + 3, h:h + 3, v:v + 2] @ w3[d, h, v].astype(np.float64)
one("conv_3d", "Conv3D", [x3], full, [w3], {"padding": "VALID", "strides": [1, 1, 1, 1, 1]}, tolerance=2e-5)
b4 = normal(4)
net = Net()
net.node("_FusedConv2D", "y", [net.input("x", x), net.constant("w", hwio), net.constant("b", b4)], padding="SAME",
         strides=[1, 1, 1, 1], fused_ops=["BiasAdd", "Relu6"])
add("fused_conv", net, [x], [np.clip(f.conv(x, w, b4), 0, 6)], tolerance=2e-5)
big = np.pad(f.resize(x, (8, 6), True), ((0, 0), (1, 2), (2, 1), (0, 0)), mode="reflect")
one("fused_resize_conv", "FusedResizeAndPadConv2D", [x], f.conv(big, w, 0, same=False),
    [i32(8, 6), np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32), hwio],
    {"padding": "VALID", "strides": [1, 1, 1, 1], "mode": "REFLECT"}, tolerance=5e-5)
one("fused_pad_conv", "FusedPadConv2D", [x],
    f.conv(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect"), w, 0, same=False),
    [np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), hwio],
    {"padding": "VALID", "strides": [1, 1, 1, 1], "mode": "REFLECT"}, tolerance=2e-5)

# Dilation by SpaceToBatchND: one convolution stays. 5 x 7, blocks 2 x 2, a border of (2,2) x (1,1), padded to whole blocks.
for name, inner in (("atrous_conv", False), ("atrous_bias_relu", True)):
    net = Net()
    s2b = net.node("SpaceToBatchND", "s2b", [net.input("x", x), net.constant("block", i32(2, 2)),
                                             net.constant("pads", np.array([[2, 3], [1, 2]], np.int32))])
    at = net.node("Conv2D", "conv", [s2b, net.constant("w", hwio)], padding="VALID", strides=[1, 1, 1, 1])
    if inner:
        at = net.node("Relu", "relu", [net.node("BiasAdd", "bias", [at, net.constant("b", b4)])])
    back = net.node("BatchToSpaceND", "back", [at, "block", net.constant("crops", np.array([[0, 1], [0, 1]], np.int32))])
    expected = f.conv(np.pad(x, ((0, 0), (2, 2), (1, 1), (0, 0))), w, 0, (1, 1), (2, 2), same=False)
    if inner:
        expected = np.maximum(expected + b4, 0)
    averaged(net, back)
    add(name, net, [x], [expected.mean((1, 2))], tolerance=2e-5, without="Transpose Reshape Pad Slice")
x4 = normal(2, 4, 6, 3)
s2b_in = np.pad(x4, ((0, 0), (0, 0), (1, 1), (0, 0)))
s2b = s2b_in.reshape(2, 2, 2, 4, 2, 3).transpose(2, 4, 0, 1, 3, 5).reshape(8, 2, 4, 3)
borders = np.array([[0, 0], [1, 1]], np.int32)
one("space_to_batch", "SpaceToBatchND", [x4], s2b, [i32(2, 2), borders])
one("batch_to_space", "BatchToSpaceND", [s2b], x4, [i32(2, 2), borders])

for op, kind in (("AvgPool", "average"), ("MaxPool", "max")):
    for pad in ("SAME", "VALID"):
        one("%s_%s" % (op, pad), op, [x], f.pool(x, (3, 2), (2, 1), pad == "SAME", kind), (),
            {"padding": pad, "ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1]})
cube = x3[:, :4, :4, :2].reshape(1, 2, 2, 2, 2, 1, 2, 2)
one("max_pool_3d", "MaxPool3D", [x3], cube.max((2, 4, 6)), (),
    {"padding": "VALID", "ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1]})
one("avg_pool_3d", "AvgPool3D", [x3], np.float64(cube).mean((2, 4, 6)), (),
    {"padding": "VALID", "ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1]})
# Values go where each 2 x 2 block has its largest element; row 4 and column 6 belong to no block.
net = Net()
small = f.pool(x, (2, 2), (2, 2), False, "max")
grad = normal(*small.shape)
net.node("MaxPoolGrad", "y", [net.input("x", x), net.node("MaxPool", "p", ["x"], padding="VALID", ksize=[1, 2, 2, 1],
                                                          strides=[1, 2, 2, 1]), net.input("g", grad)],
         padding="VALID", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1])
spread = np.zeros_like(x)
for oy in range(2):
    for ox in range(3):
        for ch in range(3):
            block = x[0, 2 * oy:2 * oy + 2, 2 * ox:2 * ox + 2, ch]
            ky, kx = np.unravel_index(block.argmax(), (2, 2))
            spread[0, 2 * oy + ky, 2 * ox + kx, ch] = grad[0, oy, ox, ch]
add("max_pool_grad", net, [x, grad], [spread])
for op, linear in (("ResizeBilinear", True), ("ResizeNearestNeighbor", False)):
    for align, half_pixel in ((False, False), (True, False), (False, True)):
        one("%s_%d%d" % (op, align, half_pixel), op, [x], f.resize(x, (8, 4), linear, align, half_pixel), [i32(8, 4)],
            {"align_corners": align, "half_pixel_centers": half_pixel})
s2d = x4.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12)
one("space_to_depth", "SpaceToDepth", [x4], s2d, (), {"block_size": 2})
one("depth_to_space", "DepthToSpace", [s2d], x4, (), {"block_size": 2})
squares = np.stack([(x[..., max(c - 1, 0):c + 2] ** 2).sum(-1) for c in range(3)], -1)
one("lrn", "LRN", [x], x / (0.5 + 0.3 * squares) ** 0.75, (),
    {"depth_radius": 1, "bias": 0.5, "alpha": 0.3, "beta": 0.75})
c3 = normal(3)
one("bias_add", "BiasAdd", [x], x + c3, [c3])
one("bias_add_v1", "BiasAddV1", [x], x + c3, [c3])
one("bias_add_nchw", "BiasAdd", [xn], xn + c3.reshape(1, 3, 1, 1), [c3], {"data_format": "NCHW"}, nchw=True)
gamma, beta, mean, var = normal(3), normal(3), normal(3), np.abs(normal(3)) + 0.5
for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
    one(op, op, [x], (x - mean) / np.sqrt(var + 0.01) * gamma + beta, [gamma, beta, mean, var],
        {"epsilon": 0.01, "is_training": False}, tolerance=2e-5)
one("batch_norm_nchw", "FusedBatchNorm", [xn],
    ((x - mean) / np.sqrt(var + 0.01) * gamma + beta).transpose(0, 3, 1, 2), [gamma, beta, mean, var],
    {"epsilon": 0.01, "data_format": "NCHW"}, nchw=True, tolerance=2e-5)
one("batch_norm_by_itself", "FusedBatchNorm", [x],
    (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 0.01) * gamma + beta,
    [gamma, beta, np.zeros(0, np.float32), np.zeros(0, np.float32)], {"epsilon": 0.01, "is_training": True},
    tolerance=5e-5)
one("batch_norm_global", "BatchNormWithGlobalNormalization", [x], (x - mean) / np.sqrt(var + 0.01) * gamma + beta,
    [mean, var, beta, gamma], {"variance_epsilon": 0.01, "scale_after_normalization": True}, tolerance=2e-5)

# Matrices.
m, wm = normal(3, 5), normal(5, 4)
one("matmul", "MatMul", [m], m @ wm, [wm])
one("matmul_turned", "MatMul", [m], m.T @ wm.T[:, :3].T, [wm.T[:, :3].copy()], {"transpose_a": True, "transpose_b": True})
ba, bb = normal(2, 3, 4), normal(2, 5, 4)
for op in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"):
    one(op, op, [ba, bb], ba @ bb.transpose(0, 2, 1), (), {"adj_y": True})
one("einsum", "Einsum", [ba, bb], np.einsum("bij,bkj->bik", ba, bb), (), {"equation": "bij,bkj->bik"})
net = Net()
conv = net.node("Conv2D", "conv", [net.input("x", x), net.constant("w", hwio)], padding="SAME", strides=[1, 1, 1, 1])
# The shape as old graphs compute it: the batch of the input, then -1.
batch = net.node("StridedSlice", "batch", [net.node("Shape", "shape", [conv]), net.constant("b0", i32(0)),
                                          net.constant("b1", i32(1)), net.constant("bs", i32(1))], shrink_axis_mask=1)
flat = net.node("Reshape", "flat", [conv, net.node("Pack", "dims", [batch, net.constant("rest", np.int32(-1))])])
wf = normal(140, 3)
net.node("MatMul", "y", [flat, net.constant("wf", wf)])
add("flatten_without_transpose", net, [x], [f.conv(x, w, 0).reshape(1, 140) @ wf], tolerance=1e-4, without="Transpose")

# Element by element: pictures against channels, scalars and each other.
for op, function in (("Add", np.add), ("AddV2", np.add), ("Sub", np.subtract), ("Mul", np.multiply),
                     ("RealDiv", np.divide), ("Div", np.divide), ("Maximum", np.maximum), ("Minimum", np.minimum),
                     ("SquaredDifference", lambda a, b: (a - b) ** 2)):
    other = np.abs(c3) + 0.5
    one(op + "_channels", op, [x], function(x, other), [other])
    one(op + "_two", op, [m, m[::-1].copy() + 5], function(m, m[::-1] + 5))
one("Pow", "Pow", [np.abs(m)], np.abs(m) ** np.float32(1.5), [np.float32(1.5)])
divisor = np.array([2, 0, -1, 0, 4], np.float32)
one("DivNoNan", "DivNoNan", [m], np.where(divisor == 0, 0, m / np.where(divisor == 0, 1, divisor)), [divisor])
near = m.copy()
near[1] = m[1] + 1
for op, function in (("Less", np.less), ("LessEqual", np.less_equal), ("Greater", np.greater),
                     ("GreaterEqual", np.greater_equal), ("Equal", np.equal), ("NotEqual", np.not_equal)):
    one(op, op, [m, near], function(m, near))
truth, other = m > 0, near > 0.3
one("LogicalAnd", "LogicalAnd", [truth, other], truth & other)
one("LogicalOr", "LogicalOr", [truth, other], truth | other)
one("LogicalNot", "LogicalNot", [truth], ~truth)
one("Select", "Select", [truth, m, near], np.where(truth, m, near))
one("Select_rows", "Select", [truth[:, 0].copy(), m, near], np.where(truth[:, :1], m, near))
one("SelectV2", "SelectV2", [truth, m], np.where(truth, m, 9), [np.float32(9)])
ints_a, ints_b = np.array([7, -7, 7, -7], np.int32), np.array([3, 3, -3, -3], np.int32)
one("FloorDiv_int", "FloorDiv", [ints_a, ints_b], ints_a // ints_b)
one("FloorMod_int", "FloorMod", [ints_a, ints_b], ints_a % ints_b)
one("TruncateDiv", "TruncateDiv", [ints_a, ints_b], i32(2, -2, -2, 2))
for op in ("TruncateMod", "Mod"):
    one(op, op, [ints_a, ints_b], i32(1, -1, 1, -1))
one("FloorDiv", "FloorDiv", [m], np.floor(m / np.float32(0.7)), [np.float32(0.7)])
one("FloorMod", "FloorMod", [m], m - np.floor(m / np.float32(0.7)) * np.float32(0.7), [np.float32(0.7)])
for op in ("AddN", "AccumulateNV2"):
    one(op, op, [m, near, m], m + near + m)

positive, unit = np.abs(x) + 0.1, np.clip(x / 4, -0.95, 0.95)
for op, function, value, attrs in (
        ("Sigmoid", f.sigmoid, x, None), ("Tanh", np.tanh, x, None), ("Relu", lambda v: np.maximum(v, 0), x, None),
        ("Relu6", lambda v: np.clip(v, 0, 6), 5 * x, None), ("Elu", lambda v: np.where(v > 0, v, np.exp(v) - 1), x, None),
        ("Selu", lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * (np.exp(v) - 1)), x, None),
        ("LeakyRelu", lambda v: np.where(v > 0, v, 0.3 * v), x, {"alpha": 0.3}),
        ("Softplus", lambda v: np.log1p(np.exp(v)), x, None), ("Softsign", lambda v: v / (1 + np.abs(v)), x, None),
        ("Erf", f.erf, x, None), ("Abs", np.abs, x, None), ("Neg", np.negative, x, None), ("Exp", np.exp, x, None),
        ("Expm1", np.expm1, x, None), ("Log", np.log, positive, None), ("Log1p", np.log1p, positive, None),
        ("Sin", np.sin, x, None), ("Cos", np.cos, x, None), ("Tan", np.tan, unit, None),
        ("Asin", np.arcsin, unit, None), ("Acos", np.arccos, unit, None), ("Atan", np.arctan, x, None),
        ("Sinh", np.sinh, x, None), ("Cosh", np.cosh, x, None), ("Asinh", np.arcsinh, x, None),
        ("Acosh", np.arccosh, positive + 1, None), ("Atanh", np.arctanh, unit, None),
        ("Sqrt", np.sqrt, positive, None), ("Rsqrt", lambda v: 1 / np.sqrt(v), positive, None),
        ("Square", np.square, x, None), ("Reciprocal", lambda v: 1 / v, positive, None),
        ("Inv", lambda v: 1 / v, positive, None), ("Floor", np.floor, 3 * x, None), ("Ceil", np.ceil, 3 * x, None),
        ("Round", np.rint, 3 * x, None), ("Rint", np.rint, 3 * x, None), ("Sign", np.sign, x, None),
        ("Softmax", f.softmax, x, None), ("LogSoftmax", lambda v: np.log(f.softmax(v)), x, None)):
    one(op, op, [value], function(np.float64(value)), (), attrs, tolerance=3e-5)
special = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
for op, function in (("IsNan", np.isnan), ("IsInf", np.isinf), ("IsFinite", np.isfinite)):
    one(op, op, [special], function(special))
one("Cast", "Cast", [3 * m], np.trunc(3 * m).astype(np.int32), (), {"SrcT": Type(1), "DstT": Type(3)})

# Reductions: with and without the axes, which must come out in the file's order.
for op, function in (("Mean", np.mean), ("Sum", np.sum), ("Max", np.max), ("Min", np.min), ("Prod", np.prod),
                     ("EuclideanNorm", lambda v, a, keepdims: np.sqrt(np.square(v).sum(a, keepdims=keepdims)))):
    for axes in ((1, 2), (1,), (-1,), (0, 3)):
        for keep in (False, True):
            one("%s_%s_%d" % (op, "".join(str(a % 4) for a in axes), keep), op, [x],
                function(np.float64(x), tuple(a % 4 for a in axes), keepdims=keep), [i32(*axes)], {"keep_dims": keep},
                tolerance=5e-5)
for op, function in (("Any", np.any), ("All", np.all)):
    one(op, op, [truth], function(truth, 1), [i32(1)])
for op, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
    for axis in (3, 1):
        one("%s_%d" % (op, axis), op, [x], function(x, axis).astype(np.int32), [np.int32(axis)], {"output_type": Type(3)})
one("Cumsum", "Cumsum", [m], np.cumsum(m, 1) - m, [np.int32(1)], {"exclusive": True})

# Moves. Each follows a convolution in real networks, so pictures come channels first.
m3, m2 = normal(2, 3, 5), normal(3, 5)
one("Reshape", "Reshape", [x], x.reshape(1, 35, 3), [i32(1, -1, 3)])
one("Squeeze", "Squeeze", [x[:, :1].copy()], x[0, 0], (), {"squeeze_dims": [0, 1]})
one("ExpandDims", "ExpandDims", [m], m[:, None], [np.int32(1)])
one("Transpose_to_nchw", "Transpose", [x], x.transpose(0, 3, 1, 2), [i32(0, 3, 1, 2)], without="Transpose")
one("Transpose", "Transpose", [m3], m3.transpose(2, 0, 1), [i32(2, 0, 1)])
pads = np.array([[0, 0], [1, 2], [0, 3], [1, 0]], np.int32)
one("Pad", "Pad", [x], np.pad(x, pads), [pads])
one("PadV2", "PadV2", [x], np.pad(x, pads, constant_values=2.5), [pads, np.float32(2.5)])
mirror = np.array([[0, 0], [1, 2], [0, 3], [0, 0]], np.int32)
one("MirrorPad", "MirrorPad", [x], np.pad(x, mirror, mode="reflect"), [mirror], {"mode": "REFLECT"})
one("ConcatV2", "ConcatV2", [x, x * 2], np.concatenate([x, x * 2], 3), [np.int32(-1)], {"N": 2})
one("Concat", "Concat", [x, x * 2], np.concatenate([x, x * 2], 1), [np.int32(1)], {"N": 2}, order=(2, 0, 1))
x6 = normal(2, 4, 3, 6)
for op, constants, order, at in (("Split", [np.int32(3)], (1, 0), 3), ("SplitV", [i32(1, -1), np.int32(3)], None, 1)):
    net = Net()
    ids = [net.input("x", x6)] + [net.constant("c%d" % i, c) for i, c in enumerate(constants)]
    net.node(op, "s", [ids[i] for i in order] if order else ids, num_split=2)
    net.node("Neg", "a", ["s"])
    net.node("Neg", "b", ["s:1"])
    add(op, net, [x6], [-x6[..., :at], -x6[..., at:]])
one("Pack", "Pack", [m, m2], np.stack([m, m2], 1), (), {"axis": 1, "N": 2})
net = Net()
net.node("Unpack", "u", [net.input("x", m3)], num=3, axis=1)
for i in range(3):
    net.node("Neg", "r%d" % i, ["u:%d" % i])
add("Unpack", net, [m3], [-m3[:, i] for i in range(3)])
one("Slice", "Slice", [x], x[:, 1:4, 2:, :2], [i32(0, 1, 2, 0), i32(1, 3, -1, 2)])
one("StridedSlice", "StridedSlice", [x], x[:, 1:5:2, ::-3, :2],
    [i32(0, 1, 0, 0), i32(1, 5, 0, 2), i32(1, 2, -3, 1)], {"begin_mask": 4, "end_mask": 4})
one("StridedSlice_shrink", "StridedSlice", [x], x[:, 2, :, -1], [i32(0, 2, 0, -1), i32(0, 3, 0, 0), i32(1, 1, 1, 1)],
    {"begin_mask": 5, "end_mask": 5, "shrink_axis_mask": 10})
one("StridedSlice_ellipsis", "StridedSlice", [x], x[..., None, 1:], [i32(0, 0, 1), i32(0, 0, 0), i32(1, 1, 1)],
    {"end_mask": 4, "ellipsis_mask": 1, "new_axis_mask": 2})
one("Gather", "Gather", [m], m[[2, 0]], [i32(2, 0)])
one("GatherV2", "GatherV2", [x], x[:, :, [3, 0, 3]], [i32(3, 0, 3), np.int32(2)])
one("GatherNd", "GatherNd", [m], m[[2, 0], [1, 4]], [np.array([[2, 1], [0, 4]], np.int32)])
scattered = np.zeros((4, 5), np.float32)
np.add.at(scattered, [1, 3, 1], m)
one("ScatterNd", "ScatterNd", [m], scattered, [np.array([[1], [3], [1]], np.int32), i32(4, 5)], order=(1, 0, 2))
one("Tile", "Tile", [x], np.tile(x, (1, 2, 1, 3)), [i32(1, 2, 1, 3)])
one("BroadcastTo", "BroadcastTo", [m], np.broadcast_to(m, (2, 3, 5)).copy(), [i32(2, 3, 5)])
hot = np.full((3, 4), -1, np.float32)
hot[[0, 1, 2], [2, 0, 3]] = 5
one("OneHot", "OneHot", [i32(2, 0, 3)], hot, [np.int32(4), np.float32(5), np.float32(-1)], {"axis": -1})
order = np.argsort(-m, 1, kind="stable")[:, :2]
for op in ("TopKV2", "TopK"):
    net = Net()
    ids = [net.input("x", m)] + ([net.constant("k", np.int32(2))] if op == "TopKV2" else [])
    net.node(op, "t", ids, **({} if op == "TopKV2" else {"k": 2}))
    net.node("Neg", "v", ["t"])
    net.node("Neg", "i", ["t:1"])
    add(op, net, [m], [-np.take_along_axis(m, order, 1), -order.astype(np.int32)])
one("ReverseV2", "ReverseV2", [x], x[:, ::-1], [i32(1)])
reversed_rows = np.stack([np.concatenate([r[:n][::-1], r[n:]]) for r, n in zip(m, (2, 5, 3))])
one("ReverseSequence", "ReverseSequence", [m], reversed_rows, [i32(2, 5, 3)], {"seq_dim": 1, "batch_dim": 0})
# Numbers computed from shapes.
net = Net()
xi = net.input("x", x)
net.node("Mul", "y", [xi, net.node("Fill", "f", [net.node("Shape", "s", [xi]), net.constant("v", np.float32(2))])])
add("Shape_Fill", net, [x], [2 * x])
net = Net()
xi = net.input("x", m)
net.node("ShapeN", "s", [xi, xi], N=2)
rank = net.node("Cast", "rank", [net.node("Rank", "r", [xi])], SrcT=Type(3), DstT=Type(1))
size = net.node("Cast", "size", [net.node("Size", "n", [xi])], SrcT=Type(3), DstT=Type(1))
ones = net.node("Add", "ones", [net.node("OnesLike", "o", [xi]), net.node("ZerosLike", "z", [xi])])
rows = net.node("Reshape", "rows", [xi, "s:1"])
net.node("AddN", "y", [rows, ones, net.node("Add", "both", [net.node("Mul", "sz", [ones, size]), rank])])
add("ShapeN_Rank_Size", net, [m], [m + 1 + 15 + 2])
net = Net()
xi = net.input("x", m3)
net.node("Transpose", "y", [xi, net.node("InvertPermutation", "p", [net.constant("q", i32(2, 0, 1))])])
net.node("Gather", "z", [xi, net.node("Range", "r", [net.constant("r0", np.int32(0)), net.constant("r1", np.int32(2)),
                                                    net.constant("r2", np.int32(1))])])
add("InvertPermutation_Range", net, [m3], [m3.transpose(1, 2, 0), m3[[0, 1]]])

# Training leftovers: names, control inputs, switches whose condition is known or fed.
net = Net()
at = net.input("x", m)
for i, op in enumerate(("Identity", "Snapshot", "StopGradient", "PreventGradient", "CheckNumerics", "EnsureShape")):
    at = net.node(op, "same%d" % i, [at, "^late"])
net.node("NoOp", "late")
net.node("IdentityN", "pair", [at, at])
net.node("Sub", "y", ["pair:1", net.node("PlaceholderWithDefault", "d", [net.constant("c", np.float32(1))])])
add("identities", net, [m], [m - 1], without="Identity")
for name, condition, ref in (("switch_constant", np.array(True), ""), ("switch_fed", None, ""),
                             ("switch_of_references", np.array(True), "Ref")):
    net = Net()
    xi = net.input("x", m)
    if condition is None:
        pred = net.node("PlaceholderV2", "is_training", dtype=Type(10))
    else:
        pred = net.constant("pred", condition)
    net.node(ref + "Switch", "sw", [xi, pred])
    net.node("DropoutOfTraining", "left", ["sw"] if condition is not None else ["sw:1"])
    net.node("Neg", "right", ["sw:1"] if condition is not None else ["sw"])
    net.node("Abs", "y", [net.node(ref + "Merge", "both", ["left", "right"])])
    add(name, net, [m], [np.abs(m)], note="taken as false" if condition is None else "")

# Constants in each way they are stored.
for form in ("content", "values", "last"):
    net = Net()
    xi = net.input("x", m)
    value = np.full((3, 5), 1.5, np.float32) if form == "last" else m2
    a = net.node("Add", "a", [xi, net.constant("c", value, form=form)])
    h = net.node("Cast", "h", [net.constant("hc", value.astype(np.float16), form=form)], SrcT=Type(19), DstT=Type(1))
    i = net.node("Cast", "i", [net.constant("ic", np.full((3, 5), 7, np.int64), form=form)], SrcT=Type(9), DstT=Type(1))
    net.node("AddN", "y", [a, h, i])
    add("constant_" + form, net, [m], [m + value + value.astype(np.float16).astype(np.float32) + 7], tolerance=1e-5)

# Quantized weights: what the integers stand for, per mode.
low, high = np.float32(-1.3), np.float32(2.1)
raw = rng.randint(0, 256, (5, 4))
step = (np.float64(high) - low) / 255
for name, dtype, mode, real in (
        ("min_combined", QUINT8, "MIN_COMBINED", raw * step + low),
        ("min_first", QUINT8, "MIN_FIRST", raw * step + np.round(low / step) * step),
        ("min_first_signed", QINT8, "MIN_FIRST", raw * step + np.round(low / step) * step),
        ("scaled", QINT8, "SCALED", (raw - 128) * max(np.float64(low) / -128, np.float64(high) / 127))):
    stored = raw.astype(np.uint8) if dtype == QUINT8 else (raw - 128).astype(np.int8)
    net = Net()
    weights = net.node("Dequantize", "wr", [net.constant("w", stored, dtype), net.constant("low", low),
                                            net.constant("high", high)], mode=mode, T=Type(dtype))
    net.node("MatMul", "y", [net.input("x", m), weights])
    add("dequantize_" + name, net, [m], [np.float64(m) @ real], tolerance=5e-5, without="DequantizeLinear")


def faked(v, low, high, bits=8, narrow=False):
    """TensorFlow's rule: zero moves to a step, values go to the nearest."""
    qmin, qmax = int(narrow), 2 ** bits - 1
    scale = (high - low) / (qmax - qmin)
    zero = np.clip(np.floor(qmin - low / scale + 0.5), qmin, qmax)
    least, most = (qmin - zero) * scale, (qmax - zero) * scale
    return np.floor((np.clip(v, least, most) - least) / scale + 0.5) * scale + least


for name, bits, narrow in (("", 8, False), ("_narrow", 8, True), ("_4_bits", 4, False)):
    one("fake_quant_args" + name, "FakeQuantWithMinMaxArgs", [m], faked(m, -1.1, 2.3, bits, narrow), (),
        {"min": -1.1, "max": 2.3, "num_bits": bits, "narrow_range": narrow})
one("fake_quant_vars", "FakeQuantWithMinMaxVars", [x], faked(x, -1.1, 2.3), [np.float32(-1.1), np.float32(2.3)],
    {"num_bits": 8})
lows, highs = np.array([-1, -0.5, -2], np.float32), np.array([1.5, 2, 0.7], np.float32)
one("fake_quant_per_channel", "FakeQuantWithMinMaxVarsPerChannel", [x], faked(x, lows.astype(float), highs.astype(float)),
    [lows, highs], {"num_bits": 8}, tolerance=2e-5)
# A network trained for int8: weights per channel, narrow; the filter is integers, and no Transpose stays before it.
wl = np.abs(w).max((1, 2, 3)).astype(np.float32)
net = Net()
xq = net.node("FakeQuantWithMinMaxVars", "xq", [net.input("x", x), net.constant("xl", np.float32(-1.9)),
                                                net.constant("xh", np.float32(2.2))])
wq = net.node("FakeQuantWithMinMaxVarsPerChannel", "wq", [net.constant("w", hwio), net.constant("wl", -wl),
                                                          net.constant("wh", wl)], narrow_range=True)
averaged(net, net.node("Conv2D", "conv", [xq, wq], padding="SAME", strides=[1, 1, 1, 1]))
real = faked(np.float64(hwio), -wl.astype(float), wl.astype(float), 8, True).transpose(3, 0, 1, 2)
add("fake_quant_conv", net, [x], [f.conv(faked(np.float64(x), -1.9, 2.2), real, 0).mean((1, 2))], tolerance=5e-5,
    without="Transpose")
for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"):
    one(op, op, [m], np.clip(np.rint(m / (2 / 127)), -128, 127) * (2 / 127), [np.float32(-1), np.float32(2)],
        {"range_given": True, "signed_input": True, "num_bits": 8}, tolerance=1e-5)

# What is open, and what is refused.
net = Net()
net.node("MatMul", "y", [net.input("x", m, shape=(-1, 5)), net.constant("w", wm)])
add("open_batch", net, [m[:1]], [m[:1] @ wm])
net = Net()
net.node("Conv2D", "y", [net.node("Placeholder", "x", dtype=Type(1)), net.constant("w", hwio)], padding="SAME",
         strides=[1, 1, 1, 1])
add("shape_without_batch", net, [x], [f.conv(x, w, 0)], shapes=[(5, 7, 3)], tolerance=2e-5)
pack.add("refused_shape", [net.bytes()], refusal="the shape of input 'x' is not in the file; pass it in input_size_list")
net = Net()
net.node("NonMaxSuppression", "nms", [net.input("x", m)])
net.node("Neg", "y", ["nms"])
pack.add("refused_operator", [net.bytes()],
         refusal="NonMaxSuppression 'nms' is not taken; cut the graph before it: outputs=['x']")
net = Net()
net.node("Add", "y", [net.input("x", m), "again"])
net.node("NextIteration", "again", ["y"])
net.node("Neg", "z", ["y"])
pack.add("refused_loop", [net.bytes()], refusal="is part of a loop, which is not taken")
net = Net()
net.node("Neg", "y", ["nowhere"])
net.input("x", m)
pack.add("refused_missing", [net.bytes()], refusal="Neg 'y': reads 'nowhere', which is not in the graph")
net = Net()
net.node("MirrorPad", "y", [net.input("x", m), net.constant("p", np.zeros((2, 2), np.int32))], mode="SYMMETRIC")
pack.add("refused_symmetric", [net.bytes()], refusal="MirrorPad 'y': mode SYMMETRIC is not taken")
net = Net()
net.node("Switch", "sw", [net.input("x", m), net.node("Less", "l", [net.constant("c", np.float32(1)), net.node(
    "Max", "m", ["x", net.constant("a", i32(0, 1))])])])
net.node("Neg", "y", ["sw"])
pack.add("refused_condition", [net.bytes()], refusal="its condition 'l' is computed at run time")
saved_model = number_field(1, 1) + field(2, field(1, "meta") + field(2, net.bytes()))
pack.add("refused_saved_model", [saved_model], refusal="A SavedModel must be frozen into one first")
pack.add("refused_cut_short", [net.bytes()[:-3]], refusal="not a binary GraphDef")

pack.write(os.path.join(HERE, "cases.bin"))
print("%d cases, %d bytes" % (len(pack.cases), os.path.getsize(os.path.join(HERE, "cases.bin"))))
