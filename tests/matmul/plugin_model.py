#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model whose operators only plug-in libraries have: converted, quantized, simulated and run, beside numpy.

    plugin_model.py FOLDER      with RKNN_OP_PLUGIN_DIR set and librknnrt.so where the loader finds it
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rknn.api import RKNN
from rknnlite.api import RKNNLite

SHAPE = [1, 6, 8, 10]
KEEP, GAIN = 4, 0.5


def weights():
    return (np.random.default_rng(7).standard_normal([6, 6, 1, 1]) * 0.5).astype(np.float32)


def save(path):
    nodes = [helper.make_node("Conv", ["x", "weight"], ["features"], name="conv", kernel_shape=[1, 1]),
             helper.make_node("cstTail", ["features"], ["tail"], name="tail", domain="own", keep=KEEP, gain=GAIN),
             helper.make_node("Relu", ["tail"], ["positive"], name="relu"),
             helper.make_node("cstPair", ["tail", "positive"], ["sum", "rest"], name="pair", domain="own")]
    shape = [1, KEEP] + SHAPE[2:]
    graph = helper.make_graph(nodes, "plug-ins", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("sum", "rest")],
                              [numpy_helper.from_array(weights(), "weight")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("own", 1)],
                                ir_version=8), path)


def expected(x):
    features = np.einsum("oihw,nihw->nohw", weights()[:, :, :1, :1].repeat(SHAPE[2], 2).repeat(SHAPE[3], 3), x)
    tail = GAIN * features[:, -KEEP:]
    return [tail + np.maximum(tail, 0), tail - np.maximum(tail, 0)]


def largest(found, wanted):
    return max(float(np.max(np.abs(f.reshape(w.shape) - w))) for f, w in zip(found, wanted))


def figure(name, value, bar):
    print("FIGURE %s | %.5f | <= %g | %s" % (name, value, bar, "ok" if value <= bar else "SHORT"))
    return value <= bar


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    model, file = os.path.join(folder, "plugins.onnx"), os.path.join(folder, "plugins.rknn")
    save(model)
    random = np.random.default_rng(3)
    x = random.standard_normal(SHAPE).astype(np.float32)
    np.save(os.path.join(folder, "x.npy"), x)
    dataset = os.path.join(folder, "dataset.txt")
    with open(dataset, "w") as out:
        out.write("x.npy\n")
    wanted = expected(x.astype(np.float64))
    holds = True
    for quantize, bar in ((False, 0.01), (True, 0.06)):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        kind = "int8" if quantize else "float16"
        if rknn.load_onnx(model) != 0 or rknn.build(do_quantization=quantize, dataset=dataset) != 0:
            print("FIGURE plug-ins in the converter, %s | not built | built | SHORT" % kind)
            return 1
        if rknn.export_rknn(file) != 0 or rknn.init_runtime() != 0:
            return 1
        simulated = rknn.inference([x], data_format="nchw")
        holds &= figure("plug-ins in the simulator beside numpy, %s" % kind, largest(simulated, wanted), bar)
        rknn.release()
        lite = RKNNLite()
        if lite.load_rknn(file) != 0 or lite.init_runtime() != 0:
            return 1
        run = lite.inference([x], data_format="nchw")
        holds &= figure("plug-ins in the runtime beside the simulator, %s" % kind,
                        largest(run, [s.astype(np.float64) for s in simulated]), 0)
        lite.release()
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
