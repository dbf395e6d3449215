#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin: tiny Darknet networks, one per kind of layer, with outputs by formulas in numpy.

    python3 make_cases.py          (numpy only; the same bytes each time)
"""
import os
import struct
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pack import Pack  # noqa: E402

rng = np.random.RandomState(20261115)
pack = Pack("darknet")
NET = "[net]\nbatch=64\nchannels=%d\nheight=%d\nwidth=%d\n"


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def weights(*arrays, old=False, across=False):
    """Header 0.2 (64-bit count), or 0.1 (32 bits); minor 1001 stands for transposed matrices."""
    head = struct.pack("<iiiI", 0, 1, 0, 7) if old else struct.pack("<iiiQ", 0, 2, 0, 7)
    if across:
        head = struct.pack("<iiiI", 0, 1001, 0, 7)
    return head + b"".join(np.ascontiguousarray(a, np.float32).tobytes() for a in arrays)


def add(name, layers, x, outputs, data=None, **more):
    net = NET % x.shape[1:] + layers
    pack.add(name, [net.encode(), weights() if data is None else data], [x],
             [np.asarray(o, np.float32) for o in outputs], **more)


def conv(x, w, stride=1, pad=0, groups=1):
    x = np.pad(np.float64(x), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    k, cout, cin = w.shape[2], w.shape[0] // groups, x.shape[1] // groups
    h, wd = (x.shape[2] - k) // stride + 1, (x.shape[3] - k) // stride + 1
    out = np.zeros((x.shape[0], w.shape[0], h, wd))
    for g in range(groups):
        for i in range(h):
            for j in range(wd):
                patch = x[:, g * cin:(g + 1) * cin, i * stride:i * stride + k, j * stride:j * stride + k]
                out[:, g * cout:(g + 1) * cout, i, j] = np.tensordot(patch, w[g * cout:(g + 1) * cout],
                                                                   ((1, 2, 3), (1, 2, 3)))
    return out


def column(v):
    return np.reshape(v, (1, -1, 1, 1))


def sigmoid(v):
    return 1 / (1 + np.exp(-np.float64(v)))


x = normal(1, 4, 5, 7)
w, b = normal(6, 4, 3, 3), normal(6)
plain = conv(x, w, 2, 1) + column(b)
CONV = "[convolutional]\nfilters=6\nsize=3\nstride=2\npad=1\nactivation=%s\n"
ACTIVATIONS = {
    "linear": lambda v: v, "leaky": lambda v: np.where(v > 0, v, 0.1 * v), "relu": lambda v: np.maximum(v, 0),
    "logistic": sigmoid, "tanh": np.tanh, "mish": lambda v: v * np.tanh(np.log1p(np.exp(v))),
    "swish": lambda v: v * sigmoid(v), "elu": lambda v: np.where(v > 0, v, np.exp(v) - 1),
    "relu6": lambda v: np.clip(v, 0, 6), "hardtan": lambda v: np.clip(v, -1, 1),
    "loggy": lambda v: 2 * sigmoid(v) - 1, "ramp": lambda v: np.maximum(v, 0) + 0.1 * v,
    "relie": lambda v: np.where(v > 0, v, 0.01 * v),
    "selu": lambda v: 1.0507 * np.where(v > 0, v, 1.6732 * (np.exp(v) - 1))}
for kind, function in ACTIVATIONS.items():
    add("conv_" + kind, CONV % kind, x, [function(plain)], weights(b, w), tolerance=1e-3 if kind == "selu" else 2e-5)
add("conv_old_header", CONV % "linear", x, [plain], weights(b, w, old=True), tolerance=2e-5)
scale, mean, var = normal(6), normal(6), np.abs(normal(6)) * 0.01
bn = (conv(x, w, 2, 1) - column(mean)) / (np.sqrt(column(np.float64(var))) + 1e-6) * column(scale) + column(b)
add("conv_batch_normalize", "[convolutional]\nbatch_normalize=1\nfilters=6\nsize=3\nstride=2\npad=1\nactivation=leaky\n", x,
    [ACTIVATIONS["leaky"](bn)], weights(b, scale, mean, var, w), tolerance=2e-3)
wg = normal(6, 2, 1, 1)
add("conv_groups", "[convolutional]\nfilters=6\nsize=1\nstride=1\ngroups=2\nactivation=linear\n", x,
    [conv(x, wg, groups=2) + column(b)], weights(b, wg), tolerance=2e-5)

wf, bf = normal(3, 140), normal(3)
flat = x.reshape(1, -1) @ wf.T + bf
add("connected", "[connected]\noutput=3\nactivation=leaky\n[dropout]\nprobability=.5\n", x, [ACTIVATIONS["leaky"](flat)],
    weights(bf, wf), tolerance=5e-5)
add("connected_transposed", "[connected]\noutput=3\nactivation=linear\n", x, [flat], weights(bf, wf.T, across=True),
    tolerance=5e-5)


def maxpool(v, size, stride, padding):
    h, wd = ((v.shape[i] + padding - size) // stride + 1 for i in (2, 3))
    out = np.full(v.shape[:2] + (h, wd), -np.inf)
    for i in range(h):
        for j in range(wd):
            for di in range(size):
                for dj in range(size):
                    r, c = i * stride - padding // 2 + di, j * stride - padding // 2 + dj
                    if 0 <= r < v.shape[2] and 0 <= c < v.shape[3]:
                        out[:, :, i, j] = np.maximum(out[:, :, i, j], v[:, :, r, c])
    return out


for size, stride in ((2, 2), (2, 1), (3, 2), (5, 1)):
    add("maxpool_%d_%d" % (size, stride), "[maxpool]\nsize=%d\nstride=%d\n" % (size, stride), x,
        [maxpool(x, size, stride, size - 1)])
add("avgpool", "[avgpool]\n", x, [x.mean((2, 3), keepdims=True)])
e = np.exp(x.mean((2, 3)))
add("avgpool_softmax", "[avgpool]\n[softmax]\ngroups=1\n", x, [(e / e.sum(1, keepdims=True)).reshape(1, 4, 1, 1)])
add("upsample", "[upsample]\nstride=2\n", x, [x.repeat(2, 2).repeat(2, 3)])
ONE = "[activation]\nactivation=linear\n[activation]\nactivation=relu\n"
r = np.maximum(x, 0)
add("route", ONE + "[route]\nlayers=-1,0\n", x, [np.concatenate([r, x], 1)])
add("route_groups", ONE + "[route]\nlayers = -1\ngroups=2\ngroup_id=1\n", x, [r[:, 2:]])
add("shortcut", ONE + "[shortcut]\nfrom=-2\nactivation=leaky\n", x, [ACTIVATIONS["leaky"](r + x)])
add("shortcut_fewer_channels", ONE + "[route]\nlayers=0\ngroups=2\ngroup_id=0\n[shortcut]\nfrom=1\nactivation=linear\n", x,
    [x[:, :2] + r[:, :2]])
add("scale_channels", "[activation]\nactivation=linear\n[avgpool]\n[scale_channels]\nfrom=0\nactivation=linear\n", x,
    [x * x.mean((2, 3), keepdims=True)])
xs = normal(1, 8, 4, 6)
read = xs.reshape(1, 2, 8, 12)
blocks = read.reshape(1, 2, 4, 2, 6, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 4, 6)
add("reorg", "[reorg]\nstride=2\n", xs, [blocks.reshape(1, 32, 2, 3)])
squares = np.stack([(np.float64(x)[:, max(c - 2, 0):c + 3] ** 2).sum(1) for c in range(4)], 1)
add("normalization", "[normalization]\nsize=5\nalpha=0.1\nbeta=0.75\nkappa=1\n", x, [x / (1 + 0.1 * squares) ** 0.75])
# Two detection heads: the maps that enter them are the outputs.
w2, b2 = normal(3, 6, 1, 1), normal(3)
HEAD = "[convolutional]\nfilters=3\nsize=1\nstride=1\nactivation=linear\n"
add("yolo_heads", CONV % "linear" + "[yolo]\nmask=0\n[route]\nlayers=-2\n" + HEAD + "[region]\n", x,
    [plain, conv(plain, w2) + column(b2)], weights(b, w, b2, w2), tolerance=1e-4)
add("other_shape", "[maxpool]\nsize=2\nstride=2\n", x[:, :, :4, :6], [maxpool(x[:, :, :4, :6], 2, 2, 1)],
    shapes=[(1, 4, 4, 6)])
short = weights(b, w)[:-4]
for name, layers, data, text in (
        ("refused_short_weights", CONV % "linear", short, "the .weights file ends here: 216 numbers are needed, 215 are left"),
        ("refused_layer", "[lstm]\noutput=3\n", weights(), "[lstm] of line 6: this kind of layer is not taken"),
        ("refused_activation", CONV % "plse", weights(b, w), "activation=plse is not taken; linear, logistic"),
        ("refused_number", "[maxpool]\nsize=two\n", weights(), "[maxpool] of line 6: size=two is not a whole number")):
    pack.add(name, [(NET % (4, 5, 7) + layers).encode(), data], refusal=text)
pack.write(os.path.join(HERE, "cases.bin"))
print("%d cases, %d bytes" % (len(pack.cases), os.path.getsize(os.path.join(HERE, "cases.bin"))))
