#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as the benchmark's peer: runs one model on request.

    ort_peer.py MODEL.onnx THREADS

Says "ready", then answers each line "round MS" with the median time of one inference in milliseconds, taken over MS
milliseconds after one unmeasured inference. Needs numpy and onnxruntime.
"""
import statistics
import sys
import time

import numpy as np
import onnxruntime as ort


def main():
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = int(sys.argv[2])
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    info = session.get_inputs()[0]
    feeds = {info.name: np.random.default_rng(2).random(info.shape, dtype=np.float32)}
    session.run(None, feeds)
    print("ready", ort.__version__, flush=True)
    for line in sys.stdin:
        end = time.perf_counter() + float(line.split()[1]) / 1000
        session.run(None, feeds)
        times = []
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            session.run(None, feeds)
            times.append(time.perf_counter() - start)
        print(statistics.median(times) * 1000, flush=True)


if __name__ == "__main__":
    main()
