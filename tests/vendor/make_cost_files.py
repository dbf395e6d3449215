#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes networks of everyday size with the vendor's toolkit, for the cost figures of vendor_cost.

    VENV/bin/python tests/vendor/make_cost_files.py FOLDER [--chip rk3588] [--only TEXT]      (VENV: see make_files.py)

FOLDER/NAME holds source.onnx, dataset.txt, input_0.npy and model.rknn (int8). What exists is kept. Weights are random:
speed does not depend on them.
"""
import argparse
import os
import sys

import numpy as np

from make_files import ACTIVATIONS, Net, in_a_process, models, weights


def yolo(name, activation, size, width):
    """The shape of YOLOv5: a focus-free stem, CSP stages, three pooled scales, a path up and one down, three heads."""
    net = Net(name, [1, 3, size, size])

    def conv(x, cin, cout, k=1, stride=1):
        return activation(net, net.conv(x, cin, cout, k=k, stride=stride))

    def stage(x, cin, cout, repeat, shortcut=True):
        half = cout // 2
        y = conv(x, cin, half)
        for _ in range(repeat):
            z = conv(conv(y, half, half), half, half, 3)
            y = net.op("Add", y, z) if shortcut else z
        return conv(net.op("Concat", y, conv(x, cin, half), axis=1), cout, cout)

    def up(x):
        return net.op("Resize", x, "", np.float32([1, 1, 2, 2]), mode="nearest",
                      coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    c = [width * 2 ** i for i in range(5)]
    x = activation(net, net.conv("x0", 3, c[0], k=6, stride=2, pad=2))
    x = stage(conv(x, c[0], c[1], 3, 2), c[1], c[1], 1)
    p3 = stage(conv(x, c[1], c[2], 3, 2), c[2], c[2], 2)
    p4 = stage(conv(p3, c[2], c[3], 3, 2), c[3], c[3], 3)
    x = stage(conv(p4, c[3], c[4], 3, 2), c[4], c[4], 1)
    pools = [conv(x, c[4], c[3])]
    for _ in range(3):
        pools.append(net.op("MaxPool", pools[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
    t5 = conv(conv(net.op("Concat", *pools, axis=1), 4 * c[3], c[4]), c[4], c[3])
    t4 = conv(stage(net.op("Concat", up(t5), p4, axis=1), 2 * c[3], c[3], 1, False), c[3], c[2])
    o3 = stage(net.op("Concat", up(t4), p3, axis=1), 2 * c[2], c[2], 1, False)
    o4 = stage(net.op("Concat", conv(o3, c[2], c[2], 3, 2), t4, axis=1), 2 * c[2], c[3], 1, False)
    o5 = stage(net.op("Concat", conv(o4, c[3], c[3], 3, 2), t5, axis=1), 2 * c[3], c[4], 1, False)
    net.done(*[net.op("Sigmoid", net.conv(o, n, 255, k=1)) for o, n in ((o3, c[2]), (o4, c[3]), (o5, c[4]))])


def mobilenet(name, activation, gates):
    """The shape of MobileNetV2, or with gates (squeeze and excite) that of V3."""
    net = Net(name, [1, 3, 224, 224])
    x, cin = activation(net, net.conv("x0", 3, 16, stride=2)), 16
    for factor, cout, repeat, stride in ((1, 16, 1, 1), (4, 24, 2, 2), (3, 40, 3, 2), (6, 80, 3, 2), (6, 112, 2, 1),
                                         (6, 160, 3, 2)):
        for i in range(repeat):
            wide, step = cin * factor, stride if i == 0 else 1
            y = activation(net, net.conv(x, cin, wide, k=1)) if factor > 1 else x
            y = activation(net, net.conv(y, wide, wide, stride=step, group=wide))
            if gates and cout in (40, 112, 160):
                gate = net.op("Relu", net.conv(net.op("GlobalAveragePool", y), wide, wide // 4, k=1))
                y = net.op("Mul", y, net.op("Sigmoid", net.conv(gate, wide // 4, wide, k=1)))
            y = net.conv(y, wide, cout, k=1)
            x, cin = (net.op("Add", x, y) if cin == cout and step == 1 else y), cout
    x = activation(net, net.conv(x, cin, 960, k=1))
    net.done(net.op("Gemm", net.op("Flatten", net.op("GlobalAveragePool", x)), weights(1000, 960), weights(1000),
                    transB=1))


def resnet18(name):
    net = Net(name, [1, 3, 224, 224])
    x = net.op("Relu", net.conv("x0", 3, 64, k=7, stride=2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    for cin, cout, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        for i in range(2):
            step, of = (stride, cin) if i == 0 else (1, cout)
            y = net.conv(net.op("Relu", net.conv(x, of, cout, stride=step)), cout, cout)
            short = x if of == cout and step == 1 else net.conv(x, of, cout, k=1, stride=step)
            x = net.op("Relu", net.op("Add", y, short))
    net.done(net.op("Gemm", net.op("Flatten", net.op("GlobalAveragePool", x)), weights(1000, 512), weights(1000),
                    transB=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--chip", default="rk3588")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    yolo("yolov5n_silu", ACTIVATIONS["silu"], 320, 16)
    yolo("yolov5n_leaky", ACTIVATIONS["leaky"], 320, 16)
    mobilenet("mobilenet_v2_relu6", ACTIVATIONS["relu6"], False)
    mobilenet("mobilenet_v3_hardswish", ACTIVATIONS["hardswish"], True)
    resnet18("resnet18_relu")
    folder = os.path.abspath(args.folder)
    os.makedirs(folder, exist_ok=True)
    from rknn.api import RKNN  # noqa: F401  loaded once, before the first fork
    failed = 0
    for name in models:
        if args.only in name and not os.path.exists(os.path.join(folder, args.chip, "int8", name, "model.rknn")):
            good = in_a_process(name, args.chip, "int8", folder)
            failed += not good
            print(f"{name}: {'made' if good else 'the toolkit failed'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
