#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rknn bench, rknn_benchmark, rknn device and librknnmrt as a user meets them:

    check_tools.py RKNN MODELS [MICRO_LIBRARY]
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_bench(rknn, models):
    result = json.loads(output(rknn, "bench", models + "/picture.rknn", "--json", "-n", "3", "--per-layer"))
    for flow in ("general", "zero_copy"):
        times = result[flow]
        assert times["run_us"] > 0 and times["fps"] > 0, times
        parts = times["input_us"] + times["run_us"] + times["output_us"]
        assert abs(parts - times["total_us"]) < 1e-3 * parts, times
    assert "Network Layer Information Table" in result["layers"]
    with tempfile.TemporaryDirectory() as folder:
        benchmark = os.path.join(folder, "rknn_benchmark")
        os.symlink(os.path.abspath(rknn), benchmark)
        home = os.getcwd()
        model = os.path.abspath(models + "/picture.rknn")
        os.chdir(folder)  # outputs are written where it is started
        try:
            lines = output(benchmark, model, "", "4", "7").splitlines()
            with open("rt_output0.npy", "rb") as saved:
                assert saved.read(6) == b"\x93NUMPY"
        finally:
            os.chdir(home)
    for start in ("rknn_api/rknnrt version: ", "total weight size: ", "model input num: ", "  index=0, name=", "---- Top5"):
        assert any(line.startswith(start) for line in lines), (start, lines)
    assert sum("Elapse Time = " in line and "FPS = " in line for line in lines) == 4, lines
    assert any(line.startswith("Avg Time ") and "Avg FPS = " in line for line in lines), lines


def check_device(rknn):
    text = output(rknn, "device", "--interval", "1")
    assert text.startswith("RKNPU driver: v"), text
    env = dict(os.environ, RKNN_TARGET="rk3588")
    text = subprocess.run([rknn, "device", "--interval", "1"], check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
    assert "RKNPU: sram region: [0x0000000000000000, 0x00000000000ef000), sram size: 0xef000\n" in text, text


def check_micro(library, models):
    with open(library, "rb") as f:
        assert b"librknnmrt version: 2." in f.read()
    micro = ctypes.CDLL(library)
    context = ctypes.c_uint64(0)
    assert micro.rknn_init(ctypes.byref(context), (models + "/picture.rknn").encode(), 0, 0, None) == 0
    assert micro.rknn_inputs_set(context, 1, ctypes.create_string_buffer(64)) < 0
    duration = ctypes.c_int64(0)
    assert micro.rknn_query(context, 4, ctypes.byref(duration), 8) < 0, "no performance queries on small chips"
    attr = ctypes.create_string_buffer(376)
    assert micro.rknn_query(context, 1, attr, 376) == 0
    assert micro.rknn_destroy(context) == 0


def main():
    rknn, models = sys.argv[1:3]
    check_bench(rknn, models)
    check_device(rknn)
    if len(sys.argv) > 3:
        check_micro(sys.argv[3], models)


main()
