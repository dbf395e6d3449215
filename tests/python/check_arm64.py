#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make wheel-arm64: the wheel for 64-bit ARM in Debian's arm64 Python under qemu-user: import, convert, run.

Neither a conversion to int8 nor its results depend on the machine, so both have to be the bytes that this machine computes
with its own wheel, which lies beside the other and must be of the same sources.

usage: check_arm64.py --wheel FILE.whl --sysroot FOLDER
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = []

SCRIPT = """
import hashlib, os, platform, sys, tempfile
import models, numpy as np
from rknnlite.api import RKNNLite
pictures, labels = models.digit_pictures()
rknn = models.digits()
assert rknn.init_runtime() == 0
path = os.path.join(tempfile.mkdtemp(), 'digits.rknn')
assert rknn.export_rknn(path) == 0
lite = RKNNLite()
assert lite.load_rknn(path) == 0 and lite.init_runtime() == 0
outputs = [rknn.inference([p[None]])[0] for p in pictures]
same = sum(lite.inference([p[None]])[0].tobytes() == o.tobytes() for p, o in zip(pictures[:20], outputs))
right = sum(int(o.argmax() == label) for o, label in zip(outputs, labels))
bytes_of_all = open(path, 'rb').read() + b''.join(o.tobytes() for o in outputs)
print('result', platform.machine(), right, same, hashlib.sha256(bytes_of_all).hexdigest())
"""


def figure(name, value, bar, ok):
    FIGURES.append(ok)
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


def result_of(command, packages):
    env = dict(os.environ, PYTHONPATH=packages, PYTHONDONTWRITEBYTECODE="1")
    env.pop("OPENRKNN_LIBRARY_DIR", None)
    done = subprocess.run(command + ["-c", SCRIPT], cwd=HERE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=1800)
    found = re.search(r"^result (\S+) (\d+) (\d+) (\S+)$", done.stdout, re.M)
    if not found:
        print(done.stdout[-3000:])
    return found.groups() if found else ("nothing", "0", "0", "none")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--sysroot", required=True)
    args = parser.parse_args()
    root = os.path.abspath(args.sysroot)
    libraries = "/usr/lib/aarch64-linux-gnu"
    python = ["qemu-aarch64", "-L", root, "-E", "LD_LIBRARY_PATH=%s/blas:%s/lapack" % (libraries, libraries),
              os.path.join(root, "usr/bin/python3.11")]
    with tempfile.TemporaryDirectory() as folder:
        machine, right, same, digest = result_of(python, unpacked(args.wheel, os.path.join(folder, "arm64")))
        figure("wheel for arm64: import, convert, run", "on " + machine, "on aarch64", machine == "aarch64")
        figure("wheel for arm64: digits int8, right of 200", right, ">= 184", int(right) >= 184)
        figure("wheel for arm64: rknnlite = simulator, pictures", same, "= 20", same == "20")
        own = glob.glob(os.path.join(os.path.dirname(os.path.abspath(args.wheel)), "*linux_%s.whl" % os.uname().machine))
        wanted = result_of([sys.executable], unpacked(own[0], os.path.join(folder, "own")))[3] if own else "no wheel"
        figure("wheel for arm64: int8 model and results of this machine", "equal" if digest == wanted else "different",
               "equal", digest == wanted)
    short = FIGURES.count(False)
    print("wheel-arm64: %d figures, %d short" % (len(FIGURES), short))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
