#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The general flow through ctypes, without declared argument types and with the handle kept in 32 bits, as scripts on
boards do it: caller.py LIBRARY MODELS."""
import ctypes
import sys

PICTURE = bytes([10, 20, 30, 255, 255, 255, 16, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 200, 200, 0, 0, 1, 2, 3])
WANTED = [-6, 38, -10, -8, -10, 9, -4, -10, -9, -10, -10, -12, -10, -4, -16, -10]


class Input(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("buf", ctypes.c_void_p), ("size", ctypes.c_uint32),
                ("pass_through", ctypes.c_uint8), ("type", ctypes.c_int), ("fmt", ctypes.c_int)]


class Output(ctypes.Structure):
    _fields_ = [("want_float", ctypes.c_uint8), ("is_prealloc", ctypes.c_uint8), ("index", ctypes.c_uint32),
                ("buf", ctypes.c_void_p), ("size", ctypes.c_uint32)]


def main():
    library = ctypes.CDLL(sys.argv[1])
    context = ctypes.c_uint64(0)
    path = (sys.argv[2] + "/picture.rknn").encode()
    assert library.rknn_init(ctypes.byref(context), path, 0, 0, None) == 0
    handle = ctypes.c_uint32(context.value)
    buffer = ctypes.create_string_buffer(PICTURE, len(PICTURE))
    given = Input(0, ctypes.cast(buffer, ctypes.c_void_p), len(PICTURE), 0, 3, 1)
    assert library.rknn_inputs_set(handle, 1, ctypes.byref(given)) == 0
    assert library.rknn_run(handle, None) == 0
    output = Output()
    assert library.rknn_outputs_get(handle, 1, ctypes.byref(output), None) == 0
    scores = list((ctypes.c_int8 * output.size).from_address(output.buf))
    assert scores == WANTED, scores
    assert library.rknn_outputs_release(handle, 1, ctypes.byref(output)) == 0
    assert library.rknn_destroy(handle) == 0
    assert library.rknn_destroy(handle) == -7


main()
