#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin: tiny Caffe networks, one per layer type, with outputs by formulas in numpy.

    python3 make_cases.py          (numpy only; the same bytes each time)
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pack import Pack  # noqa: E402

rng = np.random.RandomState(20261115)
pack = Pack("caffe")


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob(array, old=False):
    array = np.ascontiguousarray(array, np.float32)
    data = field(5, array.tobytes())
    if old:
        dims = (1,) * (4 - array.ndim) + array.shape
        return b"".join(varint((i + 1) << 3) + varint(d) for i, d in enumerate(dims)) + data
    return data + field(7, field(1, b"".join(varint(d) for d in array.shape)))


def model(old=False, **layers):
    """A .caffemodel: layer name -> weight arrays. `old`: V1 layers."""
    out = field(1, b"net")
    for name, arrays in layers.items():
        if old:
            out += field(2, b"".join(field(6, blob(a, True)) for a in arrays) + field(4, name.encode()))
        else:
            out += field(100, field(1, name.encode()) + b"".join(field(7, blob(a)) for a in arrays))
    return out if layers else out + field(100, field(1, b"none"))


def header(*shapes):
    text = 'name: "net"\n'
    for i, shape in enumerate(shapes):
        text += 'input: "x%d" input_shape { %s }\n' % (i, " ".join("dim: %d" % d for d in shape))
    return text


def layer(kind, params="", bottoms=("x0",), tops=("y",), name="l"):
    return 'layer { name: "%s" type: "%s" %s %s %s }\n' % (
        name, kind, " ".join('bottom: "%s"' % b for b in bottoms), " ".join('top: "%s"' % t for t in tops), params)


def add(name, layers, inputs, outputs, weights=None, **more):
    inputs = [np.asarray(x, np.float32) for x in inputs]
    text = more.pop("text", header(*(x.shape for x in inputs)))
    pack.add(name, [(text + layers).encode(), model() if weights is None else weights], inputs,
             [np.asarray(o, np.float32) for o in outputs], **more)


def conv(x, w, b, stride=(1, 1), pad=(0, 0), dilation=(1, 1), groups=1):
    x = np.pad(np.float64(x), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    kh, kw, cout, cin = w.shape[2], w.shape[3], w.shape[0] // groups, x.shape[1] // groups
    h = (x.shape[2] - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    wd = (x.shape[3] - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.zeros((x.shape[0], w.shape[0], h, wd))
    for g in range(groups):
        for i in range(h):
            for j in range(wd):
                patch = x[:, g * cin:(g + 1) * cin, i * stride[0]:i * stride[0] + (kh - 1) * dilation[0] + 1:dilation[0],
                          j * stride[1]:j * stride[1] + (kw - 1) * dilation[1] + 1:dilation[1]]
                out[:, g * cout:(g + 1) * cout, i, j] = np.tensordot(patch, w[g * cout:(g + 1) * cout],
                                                                   ((1, 2, 3), (1, 2, 3)))
    return out + np.reshape(b, (1, -1, 1, 1))


x = normal(1, 4, 5, 7)
w, b = normal(6, 4, 3, 2), normal(6)
P = "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 stride: 2 pad_h: 1 pad_w: 0 }"
expected = conv(x, w, b, (2, 2), (1, 0))
add("convolution", layer("Convolution", P), [x], [expected], model(l=[w, b]), tolerance=2e-5)
add("convolution_v1", 'layers { name: "l" type: CONVOLUTION bottom: "x0" top: "y" blobs_lr: 1 ' + P + " }", [x], [expected],
    model(old=True, l=[w, b]), tolerance=2e-5)
wg = normal(6, 2, 3, 3)
add("convolution_groups", layer("Convolution", "convolution_param { num_output: 6 kernel_size: 3 group: 2 dilation: 2 pad: 2 "
                                "bias_term: false }"), [x], [conv(x, wg, 0, pad=(2, 2), dilation=(2, 2), groups=2)],
    model(l=[wg]), tolerance=2e-5)
wd_ = normal(4, 1, 3, 3)
add("depthwise", layer("DepthwiseConvolution", "convolution_param { num_output: 4 kernel_size: 3 bias_term: false }"), [x],
    [conv(x, wd_, 0, groups=4)], model(l=[wd_]), tolerance=2e-5)
wt = normal(4, 3, 3, 3)
full = np.zeros((1, 3, 2 * 4 + 3, 2 * 6 + 3))
for i in range(5):
    for j in range(7):
        full[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3] += np.einsum("nc,cohw->nohw", x[:, :, i, j], wt)
add("deconvolution", layer("Deconvolution", "convolution_param { num_output: 3 kernel_size: 3 stride: 2 pad: 1 bias_term: "
                           "false }"), [x], [full[:, :, 1:-1, 1:-1]], model(l=[wt]), tolerance=2e-5)


def pool(v, kind, k, s, p, up=True):
    sizes = []
    for i in (2, 3):
        room = v.shape[i] + 2 * p - k
        n = (-(-room // s) if up else room // s) + 1
        if up and p and (n - 1) * s >= v.shape[i] + p:
            n -= 1
        sizes.append(n)
    out = np.zeros(v.shape[:2] + tuple(sizes))
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            r0, c0 = i * s - p, j * s - p
            r1, c1 = min(r0 + k, v.shape[2] + p), min(c0 + k, v.shape[3] + p)
            area = (r1 - r0) * (c1 - c0)
            patch = v[:, :, max(r0, 0):min(r1, v.shape[2]), max(c0, 0):min(c1, v.shape[3])]
            out[:, :, i, j] = patch.max((2, 3)) if kind == "MAX" else patch.sum((2, 3)) / area
    return out


for kind in ("MAX", "AVE"):
    for k, s, p in ((3, 2, 0), (3, 2, 1), (2, 2, 0)):
        add("pooling_%s_%d%d%d" % (kind, k, s, p),
            layer("Pooling", "pooling_param { pool: %s kernel_size: %d stride: %d pad: %d }" % (kind, k, s, p)), [x],
            [pool(x, kind, k, s, p)])
add("pooling_floor", layer("Pooling", "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }"), [x],
    [pool(x, "MAX", 2, 2, 0, False)])
add("pooling_global", layer("Pooling", "pooling_param { pool: AVE global_pooling: true }"), [x],
    [x.mean((2, 3), keepdims=True)])
wi, bi = normal(3, 140), normal(3)
add("inner_product", layer("InnerProduct", "inner_product_param { num_output: 3 }"), [x], [x.reshape(1, -1) @ wi.T + bi],
    model(l=[wi, bi]), tolerance=5e-5)
add("inner_product_v1", 'layers { name: "l" type: INNER_PRODUCT bottom: "x0" top: "y" inner_product_param { num_output: 3 } }',
    [x], [x.reshape(1, -1) @ wi.T + bi], model(old=True, l=[wi, bi]), tolerance=5e-5)

# BatchNorm and Scale in place, as every network has them.
mean, var, factor = normal(4), np.abs(normal(4)) + 0.1, np.float32(2.5)
gamma, beta = normal(4), normal(4)


def col(v):
    return np.reshape(v, (1, -1, 1, 1))


bn = (x - col(mean / factor)) / np.sqrt(col(var / factor) + 1e-5)
add("batch_norm_scale", layer("Power", tops=("a",), name="copy", params="power_param { scale: 1 }") +
    layer("BatchNorm", bottoms=("a",), tops=("a",), name="bn") +
    layer("Scale", "scale_param { bias_term: true }", bottoms=("a",), tops=("a",), name="sc") +
    layer("ReLU", bottoms=("a",), tops=("a",), name="re"), [x], [np.maximum(bn * col(gamma) + col(beta), 0)],
    model(bn=[mean, var, factor.reshape(1)], sc=[gamma, beta]), tolerance=2e-5)
s2 = normal(1, 4)
add("scale_two_bottoms", layer("Scale", "scale_param { axis: 0 }", bottoms=("x0", "x1")), [x, s2],
    [x * s2.reshape(1, 4, 1, 1)])
add("bias", layer("Bias"), [x], [x + col(beta)], model(l=[beta]))
squares = np.stack([(np.float64(x)[:, max(c - 1, 0):c + 2] ** 2).sum(1) for c in range(4)], 1)
add("lrn", layer("LRN", "lrn_param { local_size: 3 alpha: 0.3 beta: 0.75 k: 2 }"), [x],
    [x / (2 + 0.3 / 3 * squares) ** 0.75])
around = pool(np.float64(x) ** 2, "AVE", 3, 1, 1)
add("lrn_within", layer("LRN", "lrn_param { local_size: 3 alpha: 0.3 beta: 0.75 norm_region: WITHIN_CHANNEL }"), [x],
    [x * (1 + 0.3 * around) ** -0.75])
add("normalize", layer("Normalize", "norm_param { across_spatial: false channel_shared: false }"), [x],
    [x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-10) * col(gamma)], model(l=[gamma]))
add("normalize_all", layer("Normalize"), [x], [x / np.sqrt((x * x).sum() + 1e-10) * 3], model(l=[np.float32([3])]))
add("mvn", layer("MVN"), [x], [(x - x.mean((2, 3), keepdims=True)) / (x.std((2, 3), keepdims=True) + 1e-9)],
    tolerance=2e-5)
add("interp", layer("Interp", "interp_param { zoom_factor: 2 }"), [x[:, :, :2, :2]],
    [np.stack([np.stack([(x[:, :, 0, 0] * (2 - i) * (2 - j) + x[:, :, 0, 1] * (2 - i) * j + x[:, :, 1, 0] * i * (2 - j) +
                          x[:, :, 1, 1] * i * j) / 4 for j in range(3)], -1) for i in range(3)], 2)])
add("upsample", layer("Upsample", "upsample_param { scale: 3 }"), [x], [x.repeat(3, 2).repeat(3, 3)])

for name, kind, function, params in (
        ("relu", "ReLU", lambda v: np.maximum(v, 0), ""),
        ("leaky", "ReLU", lambda v: np.where(v > 0, v, 0.2 * v), "relu_param { negative_slope: 0.2 }"),
        ("relu6", "ReLU6", lambda v: np.clip(v, 0, 6), ""), ("sigmoid", "Sigmoid", lambda v: 1 / (1 + np.exp(-v)), ""),
        ("tanh", "TanH", np.tanh, ""), ("abs", "AbsVal", np.abs, ""),
        ("bnll", "BNLL", lambda v: np.log1p(np.exp(v)), ""),
        ("elu", "ELU", lambda v: np.where(v > 0, v, 0.7 * (np.exp(v) - 1)), "elu_param { alpha: 0.7 }"),
        ("power", "Power", lambda v: (9 + 0.5 * v) ** 1.5, "power_param { power: 1.5 scale: 0.5 shift: 9 }"),
        ("exp", "Exp", lambda v: 2 ** (0.5 + 0.3 * v), "exp_param { base: 2 scale: 0.3 shift: 0.5 }"),
        ("log", "Log", lambda v: np.log(9 + v) / np.log(10), "log_param { base: 10 shift: 9 }"),
        ("swish", "Swish", lambda v: v / (1 + np.exp(-2 * v)), "swish_param { beta: 2 }"),
        ("threshold", "Threshold", lambda v: v > 0.3, "threshold_param { threshold: 0.3 }"),
        ("softmax", "Softmax", lambda v: np.exp(v) / np.exp(v).sum(1, keepdims=True), ""),
        ("dropout", "Dropout", lambda v: v + 0.0, "")):
    if name == "dropout":
        add(name, layer("AbsVal", tops=("a",), name="a") + layer(kind, bottoms=("a",)), [x], [np.abs(x)])
        continue
    add(name, layer(kind, params), [x], [function(np.float64(x))], tolerance=2e-5)
slope = normal(4)
add("prelu", layer("PReLU"), [x], [np.where(x > 0, x, col(slope) * x)], model(l=[slope]))
x2 = normal(1, 4, 5, 7)
TWO = {"bottoms": ("x0", "x1")}
add("eltwise_sum", layer("Eltwise", "eltwise_param { coeff: 1 coeff: -0.5 }", **TWO), [x, x2], [x - 0.5 * x2])
add("eltwise_prod", layer("Eltwise", "eltwise_param { operation: PROD }", **TWO), [x, x2], [x * x2])
add("eltwise_max", layer("Eltwise", "eltwise_param { operation: MAX }", **TWO), [x, x2], [np.maximum(x, x2)])
f = normal(1, 4, 1, 1)
add("axpy", layer("Axpy", bottoms=("x0", "x1", "x2")), [f, x, x2], [f * x + x2])
add("reduction", layer("Reduction", "reduction_param { operation: MEAN axis: 2 coeff: 3 }"), [x], [3 * x.mean((2, 3))],
    tolerance=2e-5)
add("arg_max", layer("ArgMax", "argmax_param { axis: 1 }"), [x], [x.argmax(1)[:, None]])
add("concat", layer("Concat", "concat_param { axis: 2 }", **TWO), [x, x2], [np.concatenate([x, x2], 2)])
add("slice", layer("Slice", "slice_param { slice_point: 1 slice_point: 3 }", tops=("a", "b", "c")), [x],
    [x[:, :1], x[:, 1:3], x[:, 3:]])
add("crop", layer("Crop", "crop_param { axis: 2 offset: 1 offset: 2 }", **TWO), [x, normal(1, 4, 3, 4)],
    [x[:, :, 1:4, 2:6]])
add("permute", layer("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"), [x], [x.transpose(0, 2, 3, 1)])
add("flatten", layer("Flatten"), [x], [x.reshape(1, -1)])
add("reshape", layer("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 14 } }"), [x], [x.reshape(1, 10, 14)])
add("reshape_part", layer("Reshape", "reshape_param { shape { dim: 2 dim: 2 } axis: 1 num_axes: 1 }"), [x],
    [x.reshape(1, 2, 2, 5, 7)])
add("tile", layer("Tile", "tile_param { axis: 3 tiles: 2 }"), [x], [np.tile(x, (1, 1, 1, 2))])
add("shuffle_channel", layer("ShuffleChannel", "shuffle_channel_param { group: 2 }"), [x], [x[:, [0, 2, 1, 3]]])
xs = normal(1, 8, 4, 6)
read = xs.reshape(1, 2, 8, 12)
add("reorg", layer("Reorg", "reorg_param { stride: 2 }"), [xs],
    [read.reshape(1, 2, 4, 2, 6, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 32, 2, 3)])
rois = np.float32([[0, 0, 0, 5, 3], [0, 2, 1, 6, 4]])
pooled = np.zeros((2, 4, 2, 2))
for r, (_, x0, y0, x1, y1) in enumerate(rois.astype(int)):
    for i in range(2):
        for j in range(2):
            hh, ww = (y1 - y0 + 1) / 2, (x1 - x0 + 1) / 2
            pooled[r, :, i, j] = x[0, :, y0 + int(np.floor(i * hh)):y0 + int(np.ceil((i + 1) * hh)),
                                   x0 + int(np.floor(j * ww)):x0 + int(np.ceil((j + 1) * ww))].max((1, 2))
add("roi_pooling", layer("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 1 }", **TWO), [x, rois],
    [pooled])
# Prior boxes of a 2 x 3 map on a 40 x 60 picture: one square, one between the sizes, two ratios.
boxes = []
for i in range(2):
    for j in range(3):
        cx, cy = (j + 0.5) * 20, (i + 0.5) * 20
        for bw, bh in ((10, 10), (np.sqrt(200), np.sqrt(200)), (10 * np.sqrt(2), 10 / np.sqrt(2)),
                       (10 / np.sqrt(2), 10 * np.sqrt(2))):
            boxes += [(cx - bw / 2) / 60, (cy - bh / 2) / 40, (cx + bw / 2) / 60, (cy + bh / 2) / 40]
priors = np.stack([boxes, [0.1, 0.1, 0.2, 0.2] * 24])[None]
image = normal(1, 3, 40, 60)
PRIOR = "prior_box_param { min_size: 10 max_size: 20 aspect_ratio: 2 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }"
add("prior_box", layer("Pooling", "pooling_param { pool: AVE kernel_size: 20 stride: 20 }", bottoms=("x0",), tops=("m",),
                       name="p") + layer("PriorBox", PRIOR, bottoms=("m", "x0"), tops=("boxes",), name="pb") +
    layer("Flatten", bottoms=("m",), tops=("loc",), name="fl") +
    layer("DetectionOutput", "detection_output_param { num_classes: 2 }", bottoms=("loc", "boxes"), tops=("det",), name="d"),
    [image], [pool(image, "AVE", 20, 20, 0).reshape(1, -1), priors], tolerance=2e-5, note="(DetectionOutput) is left out")

# Forms of the inputs and phases.
INPUT = 'layer { name: "data" type: "Input" top: "x0" input_param { shape: { dim: 1 dim: 4 dim: 5 dim: 7 } } }\n'
add("input_layer", INPUT + layer("AbsVal"), [x], [np.abs(x)], text='name: "net"\n')
add("input_dim", layer("AbsVal"), [x], [np.abs(x)], text='input: "x0"\ninput_dim: 1 input_dim: 4\ninput_dim: 5 input_dim: 7\n')
add("phases", 'layer { name: "t" type: "Mystery" top: "z" include { phase: TRAIN } }\n' + layer("AbsVal") +
    'layer { name: "acc" type: "Accuracy" bottom: "y" top: "a" include: { phase: TEST } }\n', [x], [np.abs(x)])
pack.add("data_layer_shape", [('layer { name: "data" type: "Data" top: "x0" top: "label" }\n' + layer("AbsVal")).encode(),
                              model()], [x], [np.abs(x)], shapes=[x.shape])
for name, text, data, message in (
        ("refused_type", header(x.shape) + layer("Mystery"), model(), "layer 'l' (Mystery): this type is not taken"),
        ("refused_no_weights", header(x.shape) + layer("Convolution", P), model(),
         "the .caffemodel has 0 weight arrays for it, 1 are needed"),
        ("refused_weights_shape", header(x.shape) + layer("Convolution", P), model(l=[normal(2, 2, 2, 2), b]),
         "weight array 0 is [2,2,2,2] in the .caffemodel, the .prototxt asks for [6,4,3,2]"),
        ("refused_text", header(x.shape) + "layer { name 3 }", model(), "':' or '{' is expected after 'name'"),
        ("refused_no_shape", 'layer { name: "data" type: "Data" top: "x0" }\n' + layer("AbsVal"), model(),
         "input 'x0' has no shape in the .prototxt; replace its data layer"),
        ("refused_first_form", 'name: "n"\nlayers { layer { name: "c" type: "conv" } bottom: "x0" top: "y" }\n', model(),
         "first form")):
    pack.add(name, [text.encode(), data], refusal=message)
pack.write(os.path.join(HERE, "cases.bin"))
print("%d cases, %d bytes" % (len(pack.cases), os.path.getsize(os.path.join(HERE, "cases.bin"))))
