#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""EfficientNet-Lite0 with explicit Pad nodes, as TensorFlow's exporters write it, against the same network with the pads in
its convolutions: no Pad may be left, and the time may differ by 10 % (int8, random weights, which cost what others do).

usage: check_pads.py RKNN_COMMAND [WORK_FOLDER]
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "python"))
import onnx_file  # noqa: E402

# expansion, channels, repetitions, stride, kernel
BLOCKS = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
          (6, 320, 1, 1, 3))


class Network:
    def __init__(self, explicit):
        self.explicit = explicit  # Pad nodes
        self.nodes, self.constants, self.count = [], {"low": np.array(0, "float32"), "high": np.array(6, "float32")}, 0
        self.random = np.random.RandomState(3)

    def add(self, op, inputs, **attributes):
        self.count += 1
        name = "v%d" % self.count
        self.nodes.append(onnx_file.node(op, inputs, [name], name, **attributes))
        return name

    def conv(self, x, ins, outs, kernel, stride, size, group=1, relu6=True):
        weight = "w%d" % self.count
        fan_in = ins // group * kernel * kernel
        self.constants[weight] = (self.random.randn(outs, ins // group, kernel, kernel) * (1.6 / fan_in ** 0.5)).astype("float32")
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        pads = [total // 2, total // 2, total - total // 2, total - total // 2]
        if self.explicit and total:
            self.constants[weight + "_pads"] = np.array([0, 0] + pads[:2] + [0, 0] + pads[2:], "int64")
            x = self.add("Pad", [x, weight + "_pads"])
            pads = [0, 0, 0, 0]
        x = self.add("Conv", [x, weight], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=group)
        return (self.add("Clip", [x, "low", "high"]) if relu6 else x), -(-size // stride)

    def save(self, path):
        x, size = self.conv("picture", 3, 32, 3, 2, 224)
        channels = 32
        for expansion, outs, count, stride, kernel in BLOCKS:
            for i in range(count):
                before, wide = x, channels * expansion
                if expansion != 1:
                    x, _ = self.conv(x, channels, wide, 1, 1, size)
                x, size = self.conv(x, wide, wide, kernel, stride if i == 0 else 1, size, group=wide)
                x, _ = self.conv(x, wide, outs, 1, 1, size, relu6=False)
                if i:
                    x = self.add("Add", [before, x])
                channels = outs
        x, _ = self.conv(x, channels, 1280, 1, 1, size)
        x = self.add("GlobalAveragePool", [x])
        onnx_file.save(path, self.nodes, [("picture", [1, 3, 224, 224])], [(x, [1, 1280, 1, 1])], self.constants)


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if result.returncode != 0:
        sys.exit(" ".join(command) + "\n" + result.stdout)
    return result.stdout


def main():
    rknn = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[2] if len(sys.argv) > 2 else temporary
        os.makedirs(folder, exist_ok=True)
        np.save(os.path.join(folder, "sample.npy"),
                np.random.RandomState(1).uniform(-1, 1, (1, 3, 224, 224)).astype("float32"))
        dataset = os.path.join(folder, "dataset.txt")
        with open(dataset, "w") as file:
            file.write("sample.npy\n")
        times, left = {}, {}
        files = {}
        for kind in ("folded", "explicit"):
            path = os.path.join(folder, kind + ".onnx")
            Network(kind == "explicit").save(path)
            files[kind] = os.path.join(folder, kind + ".rknn")
            run([rknn, "convert", path, "-o", files[kind], "-t", "rk3588", "--dataset", dataset])
            left[kind] = len(re.findall(r"\bPad:", run([rknn, "info", files[kind]])))
        for _ in range(7):  # in turn, the best of each: the machine's load is not ours
            for kind in files:
                before = os.times()
                run([rknn, "bench", files[kind], "-n", "20", "-w", "1"])
                after = os.times()
                value = 1e6 * (after.children_user - before.children_user) / 42  # two flows of 21 runs
                times[kind] = min(times.get(kind, value), value)
    ratio = times["explicit"] / times["folded"]
    for name, value, bar, ok in (
            ("EfficientNet-Lite0: Pad steps left of 17", left["explicit"], "= 0", left["explicit"] == 0),
            ("EfficientNet-Lite0: CPU time a run with Pad nodes against folded (%.0f us)" % times["folded"], "%.2f x" % ratio,
             "<= 1.10 x", ratio <= 1.1)):
        print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return 0 if left["explicit"] == 0 and ratio <= 1.1 else 1


if __name__ == "__main__":
    sys.exit(main())
