#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tritonclient[grpc], the field's own client, against rknn_server: run with a Python that has it.

    triton.py ADDRESS INPUTS.npy EXPECTED.npy MODEL
"""
import sys

import grpc as plain
import numpy as np
import tritonclient.grpc as grpc


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def answers(client, name, pictures, want):
    about = client.get_model_metadata(name)
    right = 0
    for picture, wanted in zip(pictures, want):
        data = grpc.InferInput(about.inputs[0].name, list(picture[None].shape), about.inputs[0].datatype)
        data.set_data_from_numpy(picture[None])
        got = client.infer(name, [data]).as_numpy(about.outputs[0].name)
        right += got.tobytes() == wanted.tobytes()
    return right


def refusals(client, name, picture):
    """What must fail, and how."""
    def status(model, shape, datatype, array):
        data = grpc.InferInput("x" if model == "nothing" else client.get_model_metadata(name).inputs[0].name, shape, datatype)
        data.set_data_from_numpy(array)
        try:
            client.infer(model, [data])
            return "answered"
        except grpc.InferenceServerException as error:
            return error.status().replace("StatusCode.", "")
    shape = list(picture[None].shape)
    wide = shape[:3] + [shape[3] + 1]
    found = [(status("nothing", shape, "UINT8", picture[None]), "NOT_FOUND"),
             (status(name, wide, "UINT8", np.zeros(wide, "uint8")), "INVALID_ARGUMENT"),
             (status(name, shape, "FP64", picture[None].astype("float64")), "UNIMPLEMENTED")]
    for got, wanted in found:
        if got != wanted:
            print("status %s, expected %s" % (got, wanted))
    return [got == wanted for got, wanted in found]


def main():
    address, inputs, expected, name = sys.argv[1:]
    client = grpc.InferenceServerClient(address)
    pictures, want = np.load(inputs), np.load(expected)
    ready = client.is_server_live() and client.is_server_ready() and client.is_model_ready(name)
    listed = [model.name for model in client.get_model_repository_index().models]
    good = figure("tritonclient: live, ready, metadata, index", "%s, %s" % (ready, listed), "True, ['%s']" % name,
                  ready and listed == [name])
    right = answers(client, name, pictures, want)
    good &= figure("tritonclient: answers equal to the local ones", right, len(pictures), right == len(pictures))
    refused = refusals(client, name, pictures[0])
    good &= figure("tritonclient: wrong calls with the right status", sum(refused), len(refused), all(refused))
    with plain.insecure_channel(address) as channel:
        health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"")
        # list_services of the reflection service: field 7, empty.
        ask = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        services = next(iter(ask(iter([b"\x3a\x00"]))))
    told = [s for s in (b"inference.GRPCInferenceService", b"openrknn.device.RknnDevice") if s in services]
    good &= figure("health checking and reflection", "status %d, %d services" % (health[-1], len(told)),
                   "status 1, 2 services", health == b"\x08\x01" and len(told) == 2)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
