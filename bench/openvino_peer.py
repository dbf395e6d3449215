#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenVINO as the benchmark's peer: runs one model on request.

    openvino_peer.py MODEL.onnx THREADS

Says "ready", then answers each line "round MS" with the median time of one inference in milliseconds, taken over MS
milliseconds after one unmeasured inference. ONEDNN_MAX_CPU_ISA limits its instruction set. Needs numpy and openvino.
"""
import statistics
import sys
import time

import numpy as np
import openvino


def main():
    core = openvino.Core()
    model = core.compile_model(core.read_model(sys.argv[1]), "CPU", {
        "INFERENCE_NUM_THREADS": int(sys.argv[2]), "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
        "ENABLE_CPU_PINNING": False, "INFERENCE_PRECISION_HINT": "f32"})
    request = model.create_infer_request()
    shape = list(model.inputs[0].shape)
    feed = openvino.Tensor(np.random.default_rng(2).random(shape, dtype=np.float32))
    request.infer([feed])
    print("ready", openvino.__version__.split("-")[0], flush=True)
    for line in sys.stdin:
        end = time.perf_counter() + float(line.split()[1]) / 1000
        request.infer([feed])
        times = []
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            request.infer([feed])
            times.append(time.perf_counter() - start)
        print(statistics.median(times) * 1000, flush=True)


if __name__ == "__main__":
    main()
