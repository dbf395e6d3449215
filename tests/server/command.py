#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rknn compare` and `rknn analyze` with --device, beside the same without it. Prints FIGURE lines. The environment names
command, server and toolkit, as for tests/python.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import models  # noqa: E402
from servers import Server  # noqa: E402

SOURCE = [models.DIGITS_ONNX, "-t", "rk3588", "--mean", "127.5", "--std", "64", "--dataset", models.DIGITS_DATASET]


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def command(*words):
    return subprocess.run([os.environ["OPENRKNN_COMMAND"], *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout.decode()


def table(text):
    return [line for line in text.splitlines() if line.startswith("[")]


def main():
    good = True
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        picture = os.path.join(folder, "digit.npy")
        np.save(picture, models.digit_pictures()[0][:1])
        here = command("compare", *SOURCE, "--limit", "8")
        there = command("compare", *SOURCE, "--limit", "8", "--device", server.address)
        right = "8 samples, cosine against the float model" in here and there == here
        good &= figure("rknn compare --device: the text of rknn compare", "%d lines" % len(there.splitlines()), "equal", right)
        here = table(command("analyze", *SOURCE, "-i", picture, "--board", "rk3588"))
        there = table(command("analyze", *SOURCE, "-i", picture, "--device", server.address))
        filled = all(line.count("|") == 4 and "None" not in line for line in there)
        good &= figure("rknn analyze --device: layers as on the simulated board, all columns filled", len(there),
                       "equal, %d" % len(here), here and there == here and filled)
        failed = subprocess.run([os.environ["OPENRKNN_COMMAND"], "compare", *SOURCE, "--limit", "1", "--device", "127.0.0.1:9"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = b"no rknn_server answers" in failed.stdout
        good &= figure("rknn compare --device without a server: exit code and reason", "%d, %s" % (failed.returncode, said),
                       "not 0, True", failed.returncode != 0 and said)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
