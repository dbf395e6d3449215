#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder of files with the vendor's toolkit from small models of random weights, for vendor_corpus --further.

    python3 -m venv VENV && VENV/bin/pip install rknn-toolkit2==2.3.2 onnx==1.16.1      # once; Python 3.11
    VENV/bin/python tests/vendor/make_files.py FOLDER [--chips rk3588,rk3566,rk3576] [--types int8,fp16] [--only TEXT]
                                                      [--seconds N] [--torch] [--config method=layer,compress]

--config: method=layer quantizes with one scale for a layer's weights, compress stores weights coded (compress_weight).
--torch adds networks of torchvision and timm (torch_models.py) where they are installed.
FOLDER/CHIP/int8|fp16/NAME holds model.rknn, input_K.npy, sim_K.npy (the vendor simulator's outputs) and float_K.npy. What
exists is kept, so a run can be continued. The toolkit is a peer that may be absent; nothing of it enters the project.
"""
import argparse
import os
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(20261115)
models = {}  # name: (ModelProto, inputs), or a function that returns them
CONFIGS = {"method=layer": {"quantized_method": "layer"}, "compress": {"compress_weight": True}}
config = {}  # of all files, from --config


def weights(*shape, scale=None):
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 4
    return (random.standard_normal(shape) * (scale or fan_in ** -0.5)).astype(np.float32)


class Net:
    """A model that is put together operator by operator."""

    def __init__(self, name, *shapes, opset=17):
        self.name, self.shapes, self.opset = name, shapes, opset
        self.nodes, self.constants, self.count = [], [], 0
        self.inputs = [f"x{i}" for i in range(len(shapes))]

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{self.count + i}" for i in range(outputs)]
        self.count += outputs
        operands = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(kind, operands, names, name=f"n{len(self.nodes)}_{kind}", **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, cin, cout, k=3, stride=1, group=1, bias=True, dilation=1, pad=None):
        pad = (k - 1) * dilation // 2 if pad is None else pad
        operands = [x, weights(cout, cin // group, k, k)] + ([weights(cout, scale=0.2)] if bias else [])
        return self.op("Conv", *operands, kernel_shape=[k, k], strides=[stride, stride], group=group,
                       pads=[pad] * 4, dilations=[dilation, dilation])

    def done(self, *outputs):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in zip(self.inputs, self.shapes)],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        inputs = [random.standard_normal(s).astype(np.float32) for s in self.shapes]
        models[self.name] = (model, inputs)


def silu(net, x):
    return net.op("Mul", x, net.op("Sigmoid", x))


def gelu(net, x):
    inner = net.op("Add", net.op("Erf", net.op("Div", x, np.float32(2 ** 0.5))), np.float32(1))
    return net.op("Mul", net.op("Mul", x, inner), np.float32(0.5))


ACTIVATIONS = {
    "relu": lambda n, x: n.op("Relu", x),
    "relu6": lambda n, x: n.op("Clip", x, np.float32(0), np.float32(6)),
    "sigmoid": lambda n, x: n.op("Sigmoid", x),
    "tanh": lambda n, x: n.op("Tanh", x),
    "silu": silu,
    "gelu": gelu,
    "hardswish": lambda n, x: n.op("HardSwish", x),
    "hardsigmoid": lambda n, x: n.op("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    "mish": lambda n, x: n.op("Mul", x, n.op("Tanh", n.op("Softplus", x))),
    "softplus": lambda n, x: n.op("Softplus", x),
    "elu": lambda n, x: n.op("Elu", x, alpha=1.0),
    "leaky": lambda n, x: n.op("LeakyRelu", x, alpha=0.1),
    "prelu": lambda n, x: n.op("PRelu", x, np.abs(weights(16, 1, 1, scale=0.3))),
}


def define_activations():
    for name, activation in ACTIVATIONS.items():
        net = Net(f"layer_conv_{name}", [1, 8, 12, 12])
        net.done(activation(net, net.conv("x0", 8, 16)))
        net = Net(f"layer_alone_{name}", [1, 16, 8, 8])
        net.done(activation(net, "x0"))


def define_convolutions():
    for name, options in {
            "k1": {"k": 1}, "k5s2": {"k": 5, "stride": 2}, "dilated": {"dilation": 2}, "grouped": {"group": 4},
            "no_bias": {"bias": False}, "k7": {"k": 7, "stride": 2}}.items():
        net = Net(f"layer_conv_{name}", [1, 24, 17, 15])
        net.done(net.conv("x0", 24, 40, **options))
    for channels in (16, 33, 72):
        net = Net(f"layer_depthwise_{channels}", [1, channels, 14, 14])
        net.done(net.conv("x0", channels, channels, group=channels))
    for name, cin, cout in (("first3", 3, 20), ("first1", 1, 8), ("one_out", 16, 1), ("wide", 96, 130)):
        net = Net(f"layer_conv_{name}", [1, cin, 20, 20])
        net.done(net.conv("x0", cin, cout))
    for name, k, stride, pads in (("2x", 2, 2, 0), ("4x", 4, 2, 1), ("3s1", 3, 1, 1)):
        net = Net(f"layer_deconv_{name}", [1, 12, 7, 9])
        net.done(net.op("ConvTranspose", "x0", weights(12, 20, k, k), weights(20, scale=0.2), kernel_shape=[k, k],
                        strides=[stride, stride], pads=[pads] * 4))
    net = Net("layer_conv_add_relu", [1, 16, 10, 10])
    net.done(net.op("Relu", net.op("Add", net.conv("x0", 16, 16), "x0")))
    net = Net("layer_conv_relu_add", [1, 16, 10, 10])
    net.done(net.op("Add", net.op("Relu", net.conv("x0", 16, 16)), "x0"))


def define_plain():
    net = Net("layer_maxpool", [1, 10, 13, 13])
    net.done(net.op("MaxPool", "x0", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    net = Net("layer_avgpool", [1, 10, 12, 12])
    net.done(net.op("AveragePool", "x0", kernel_shape=[2, 2], strides=[2, 2]))
    net = Net("layer_global_pool", [1, 20, 7, 7])
    net.done(net.op("GlobalAveragePool", "x0"))
    for mode in ("nearest", "linear"):
        net = Net(f"layer_resize_{mode}", [1, 12, 9, 9])
        net.done(net.op("Resize", "x0", "", np.float32([1, 1, 2, 2]), mode=mode,
                        coordinate_transformation_mode="asymmetric" if mode == "nearest" else "half_pixel",
                        **({"nearest_mode": "floor"} if mode == "nearest" else {})))
    for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        net = Net(f"layer_two_{kind.lower()}", [1, 12, 6, 10], [1, 12, 6, 10])
        net.done(net.op(kind, "x0", "x1"))
        net = Net(f"layer_const_{kind.lower()}", [1, 12, 6, 10])
        net.done(net.op(kind, "x0", np.abs(weights(1, 12, 1, 1)) + 0.5))
    for axis in (1, 2, 3):
        net = Net(f"layer_concat_{axis}", [1, 6, 8, 10], [1, 6, 8, 10])
        net.done(net.op("Concat", "x0", "x1", axis=axis))
        net = Net(f"layer_softmax_{axis}", [1, 6, 8, 10])
        net.done(net.op("Softmax", "x0", axis=axis))
        net = Net(f"layer_mean_{axis}", [1, 6, 8, 10])
        net.done(net.op("ReduceMean", "x0", axes=[axis], keepdims=1))
    net = Net("layer_slice", [1, 12, 16, 16])
    net.done(net.op("Slice", "x0", np.int64([2, 3]), np.int64([10, 15]), np.int64([1, 2]), np.int64([1, 2])))
    net = Net("layer_split", [1, 12, 8, 8])
    net.done(*net.op("Split", "x0", np.int64([4, 8]), outputs=2, axis=1))
    for mode in ("constant", "reflect", "edge"):
        net = Net(f"layer_pad_{mode}", [1, 6, 8, 8])
        net.done(net.op("Pad", "x0", np.int64([0, 0, 1, 2, 0, 0, 2, 1]), mode=mode))
    net = Net("layer_transpose", [1, 6, 8, 10])
    net.done(net.op("Transpose", "x0", perm=[0, 3, 1, 2]))
    net = Net("layer_gather", [1, 6, 8, 10])
    net.done(net.op("Gather", "x0", np.int64([3, 0, 5]), axis=2))
    net = Net("layer_expand", [1, 6, 1, 10])
    net.done(net.op("Expand", "x0", np.int64([1, 6, 4, 10])))
    net = Net("layer_where", [1, 6, 8, 10], [1, 6, 8, 10])
    net.done(net.op("Where", net.op("Greater", "x0", "x1"), "x0", "x1"))
    net = Net("layer_batchnorm", [1, 6, 8, 10])
    net.done(net.op("BatchNormalization", "x0", weights(6), weights(6), weights(6), np.abs(weights(6)) + 0.5))
    net = Net("layer_shuffle", [1, 8, 6, 6])
    x = net.op("Reshape", "x0", np.int64([1, 2, 4, 6, 6]))
    net.done(net.op("Reshape", net.op("Transpose", x, perm=[0, 2, 1, 3, 4]), np.int64([1, 8, 6, 6])))
    net = Net("layer_depth_to_space", [1, 16, 6, 6])
    net.done(net.op("DepthToSpace", "x0", blocksize=2, mode="CRD"))


def define_sequences():
    for width in (24, 40):
        net = Net(f"layer_layernorm_{width}", [1, 10, width])
        net.done(net.op("LayerNormalization", "x0", weights(width), weights(width), axis=-1))
        net = Net(f"layer_gemm_{width}", [1, width])
        net.done(net.op("Gemm", "x0", weights(20, width), weights(20), transB=1))
    net = Net("layer_matmul", [1, 2, 6, 10], [1, 2, 10, 14])
    net.done(net.op("MatMul", "x0", "x1"))
    net = Net("layer_instancenorm", [1, 8, 6, 16])
    net.done(net.op("InstanceNormalization", "x0", weights(8), weights(8)))
    for kind, gates in (("LSTM", 4), ("GRU", 3)):
        for direction, d in (("forward", 1), ("bidirectional", 2)):
            net = Net(f"layer_{kind.lower()}_{direction}", [4, 1, 16])
            out = net.op(kind, "x0", weights(d, gates * 20, 16), weights(d, gates * 20, 20),
                         weights(d, 2 * gates * 20, scale=0.2), outputs=2, hidden_size=20, direction=direction,
                         **({"linear_before_reset": 1} if kind == "GRU" else {}))
            net.done(*out)


def attention(net, x, length, width, heads):
    parts = []
    for _ in range(3):
        y = net.op("Add", net.op("MatMul", x, weights(width, width)), weights(width, scale=0.1))
        y = net.op("Reshape", y, np.int64([1, length, heads, width // heads]))
        parts.append(net.op("Transpose", y, perm=[0, 2, 1, 3]))
    q, k, v = parts
    scores = net.op("Mul", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2])),
                    np.float32((width // heads) ** -0.5))
    y = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), np.int64([1, length, width]))
    return net.op("Add", x, net.op("MatMul", y, weights(width, width)))


def define_networks():
    for name, activation in ACTIVATIONS.items():
        if name == "prelu":
            continue
        net = Net(f"resnet_{name}", [1, 3, 48, 48])
        x = activation(net, net.conv("x0", 3, 16, stride=2))
        for cin, cout, stride in ((16, 16, 1), (16, 32, 2), (32, 48, 2)):
            y = net.conv(activation(net, net.conv(x, cin, cout, stride=stride)), cout, cout)
            short = x if cin == cout else net.conv(x, cin, cout, k=1, stride=stride)
            x = activation(net, net.op("Add", y, short))
        x = net.op("Flatten", net.op("GlobalAveragePool", x))
        net.done(net.op("Gemm", x, weights(10, 48), weights(10), transB=1))
        net = Net(f"yolo_{name}", [1, 3, 64, 64])
        x = activation(net, net.conv("x0", 3, 16, stride=2))
        x = activation(net, net.conv(x, 16, 24, stride=2))
        a, b = net.op("Split", activation(net, net.conv(x, 24, 24, k=1)), np.int64([12, 12]), outputs=2, axis=1)
        y = activation(net, net.conv(activation(net, net.conv(b, 12, 12)), 12, 12))
        high = activation(net, net.conv(net.op("Concat", a, b, y, axis=1), 36, 32, k=1))
        low = activation(net, net.conv(high, 32, 40, stride=2))
        pools = [low] + [net.op("MaxPool", low, kernel_shape=[k, k], pads=[k // 2] * 4, strides=[1, 1]) for k in (3, 5)]
        low = activation(net, net.conv(net.op("Concat", *pools, axis=1), 120, 32, k=1))
        up = net.op("Resize", low, "", np.float32([1, 1, 2, 2]), mode="nearest",
                    coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        top = activation(net, net.conv(net.op("Concat", up, high, axis=1), 64, 24))
        net.done(net.conv(top, 24, 21, k=1), net.op("Sigmoid", net.conv(low, 32, 6, k=1)))
    for name, activation in (("relu6", ACTIVATIONS["relu6"]), ("hardswish", ACTIVATIONS["hardswish"])):
        net = Net(f"mobilenet_{name}", [1, 3, 48, 48])
        x = activation(net, net.conv("x0", 3, 16, stride=2))
        for cin, cout, stride in ((16, 24, 2), (24, 24, 1), (24, 40, 2)):
            y = activation(net, net.conv(x, cin, cin * 4, k=1))
            y = activation(net, net.conv(y, cin * 4, cin * 4, stride=stride, group=cin * 4))
            gate = net.op("Relu", net.conv(net.op("GlobalAveragePool", y), cin * 4, cin, k=1))
            y = net.op("Mul", y, net.op("Sigmoid", net.conv(gate, cin, cin * 4, k=1)))
            y = net.conv(y, cin * 4, cout, k=1)
            x = net.op("Add", x, y) if cin == cout and stride == 1 else y
        net.done(net.conv(net.op("GlobalAveragePool", x), 40, 12, k=1))
    for heads in (2, 4):
        net = Net(f"vit_{heads}", [1, 3, 32, 32])
        x = net.conv("x0", 3, 32, k=8, stride=8, pad=0)
        x = net.op("Transpose", net.op("Reshape", x, np.int64([1, 32, 16])), perm=[0, 2, 1])
        x = net.op("Add", x, weights(1, 16, 32, scale=0.1))
        for _ in range(2):
            x = attention(net, net.op("LayerNormalization", x, weights(32), weights(32), axis=-1), 16, 32, heads)
            y = net.op("LayerNormalization", x, weights(32), weights(32), axis=-1)
            y = gelu(net, net.op("Add", net.op("MatMul", y, weights(32, 64)), weights(64)))
            x = net.op("Add", x, net.op("MatMul", y, weights(64, 32)))
        net.done(net.op("Gemm", net.op("ReduceMean", x, axes=[1], keepdims=0), weights(10, 32), weights(10), transB=1))
    net = Net("unet", [1, 3, 48, 48])
    a = net.op("Relu", net.conv("x0", 3, 16))
    b = net.op("Relu", net.conv(net.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 16, 32))
    up = net.op("ConvTranspose", b, weights(32, 16, 2, 2), weights(16), kernel_shape=[2, 2], strides=[2, 2])
    y = net.op("Relu", net.conv(net.op("Concat", up, a, axis=1), 32, 16))
    net.done(net.op("Sigmoid", net.conv(y, 16, 1, k=1)))


def make(name, chip, dtype, folder):
    import onnxruntime
    from rknn.api import RKNN
    model, inputs = models[name]() if callable(models[name]) else models[name]
    out = os.path.join(folder, chip, dtype, name)
    os.makedirs(out, exist_ok=True)
    onnx.save(model, f"{out}/source.onnx")
    session = onnxruntime.InferenceSession(f"{out}/source.onnx", providers=["CPUExecutionProvider"])
    for k, array in enumerate(session.run(None, {i.name: a for i, a in zip(session.get_inputs(), inputs)})):
        np.save(f"{out}/float_{k}.npy", array)
    for k, array in enumerate(inputs):
        np.save(f"{out}/input_{k}.npy", array)
    with open(f"{out}/dataset.txt", "w", encoding="utf-8") as file:
        file.write(" ".join(f"{out}/input_{k}.npy" for k in range(len(inputs))) + "\n")
    rknn = RKNN(verbose=False)
    rknn.config(target_platform=chip, **config)
    good = rknn.load_onnx(f"{out}/source.onnx") == 0
    good = good and rknn.build(do_quantization=dtype == "int8", dataset=f"{out}/dataset.txt") == 0
    good = good and rknn.export_rknn(f"{out}/made.rknn") == 0 and rknn.init_runtime() == 0
    if good:
        formats = ["nchw" if a.ndim == 4 else "undefined" for a in inputs]
        options = {"data_format": formats} if any(a.ndim == 4 for a in inputs) else {}
        for k, array in enumerate(rknn.inference(inputs=inputs, **options) or []):
            np.save(f"{out}/sim_{k}.npy", array)
        os.rename(f"{out}/made.rknn", f"{out}/model.rknn")
    rknn.release()
    return good


def in_a_process(name, chip, dtype, folder):
    """A crash of the toolkit is one file less."""
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        os.chdir(folder)
        try:
            os._exit(0 if make(name, chip, dtype, folder) else 1)
        except BaseException:  # pylint: disable=broad-except
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--chips", default="rk3588,rk3566,rk3576")
    parser.add_argument("--types", default="int8,fp16")
    parser.add_argument("--only", default="")
    parser.add_argument("--config", default="")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    for word in filter(None, args.config.split(",")):
        config.update(CONFIGS[word])
    for define in (define_networks, define_activations, define_convolutions, define_plain, define_sequences):
        define()
    if args.torch:
        import torch_models
        models.update(torch_models.networks())
    folder = os.path.abspath(args.folder)
    os.makedirs(folder, exist_ok=True)
    from rknn.api import RKNN  # noqa: F401  loaded once, before the first fork
    start, made, failed = time.time(), 0, 0
    for chip in args.chips.split(","):
        for name in models:
            for dtype in args.types.split(","):
                path = os.path.join(folder, chip, dtype, name)
                if args.only not in f"{chip}/{dtype}/{name}" or os.path.exists(path):
                    continue
                if time.time() - start > args.seconds:
                    break
                good = in_a_process(name, chip, dtype, folder)
                made, failed = made + good, failed + (not good)
                print(f"{chip}/{dtype}/{name}: {'made' if good else 'the toolkit failed'}", flush=True)
    print(f"{made} files made, {failed} failed, {len(models)} models in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
