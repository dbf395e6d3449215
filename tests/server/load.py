#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Load on an rknn_server through tritonclient[grpc]: run with a Python that has it. Prints one JSON object.

    load.py ADDRESS MODEL --connections 64 --seconds 5 [--rate CALLS_PER_SECOND]

Without a rate every connection calls as soon as its answer is there. With one, calls are due at even times and their
times count from then, so that waiting for a free connection is part of them.
"""
import argparse
import itertools
import json
import sys
import threading
import time

import numpy as np
import tritonclient.grpc as grpc


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("model")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--warmup", type=float, default=1)
    parser.add_argument("--rate", type=float, default=0)
    args = parser.parse_args()
    # Without this the clients of one process would share one connection.
    own = [("grpc.use_local_subchannel_pool", 1)]
    clients = [grpc.InferenceServerClient(args.address, channel_args=own) for _ in range(args.connections)]
    about = clients[0].get_model_metadata(args.model)
    inputs = []
    for tensor in about.inputs:
        shape = [int(d) for d in tensor.shape]
        inputs.append(grpc.InferInput(tensor.name, shape, tensor.datatype))
        inputs[-1].set_data_from_numpy(np.full(shape, 100, grpc_type(tensor.datatype)))
    ended, failed, lock = [], [], threading.Lock()
    tickets = itertools.count()
    ready = threading.Barrier(args.connections)
    start = [0.0]

    def work(client):
        client.is_server_live()  # connects
        if ready.wait() == 0:
            start[0] = time.monotonic() + 0.05
        ready.wait()
        end = start[0] + args.warmup + args.seconds
        mine, errors = [], []
        while True:
            due = time.monotonic()
            if args.rate:
                with lock:
                    due = start[0] + next(tickets) / args.rate
                time.sleep(max(0.0, due - time.monotonic()))
            if due >= end:
                break
            try:
                client.infer(args.model, inputs)
            except grpc.InferenceServerException as error:
                errors.append(str(error))
                time.sleep(0.01)
            now = time.monotonic()
            mine.append((now, now - due))
        with lock:
            ended.extend(mine)
            failed.extend(errors)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, last = start[0] + args.warmup, start[0] + args.warmup + args.seconds
    inside = [seconds for at, seconds in ended if first <= at < last]
    times = np.sort(np.asarray(inside or [0.0])) * 1e3
    print(json.dumps({"rate": len(inside) / args.seconds, "p50_ms": float(times[int(0.5 * (len(times) - 1))]),
                      "p99_ms": float(times[int(0.99 * (len(times) - 1))]), "failed": len(failed),
                      "first_failure": failed[0] if failed else ""}))
    return 0


def grpc_type(datatype):
    return {"UINT8": "uint8", "INT8": "int8", "FP32": "float32", "FP16": "float16", "INT64": "int64"}[datatype]


if __name__ == "__main__":
    sys.exit(main())
