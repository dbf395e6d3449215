#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build-linux.sh for this machine and for arm64: what it installs, and that the installed programs agree.

    install_check.py --build build --work FOLDER

The arm64 program runs under qemu-user from its folder, with the libraries that were installed beside it.
"""
import argparse
import os
import shutil
import sys
import time

import common
from common import SOURCE, figure, run

SCRIPT = os.path.join(SOURCE, "examples", "build-linux.sh")


def files(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    work = os.path.abspath(args.work)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    env = dict(os.environ, BUILD=os.path.abspath(args.build))
    env.pop("LD_LIBRARY_PATH", None)
    wanted = ["lib/librga.so", "lib/librknnrt.so", "model/0.ppm", "model/signs.rknn", "rknn_yolov5_demo"]
    tables, seconds, good = {}, {}, 0
    # The folder with Debian's arm64 libjpeg and libpng, which a board has, brings its own C library and loader: the compiler's
    # (/usr/aarch64-linux-gnu) must not be mixed with them, threads would not start.
    root = os.path.abspath(os.path.join(args.build, "sysroot-arm64"))
    for arch, prefix in (("x86_64", []), ("aarch64", ["qemu-aarch64", "-L", root])):
        code, text = run([SCRIPT, "-t", "rk3588", "-a", arch, "-d", "yolov5"], cwd=work, env=env)
        folder = os.path.join(work, "install", "rk3588_linux_%s" % arch, "rknn_yolov5_demo")
        if code != 0 or files(folder) != wanted:
            print(text[-1500:], files(folder))
            continue
        begin = time.monotonic()
        code, text = run(prefix + ["./rknn_yolov5_demo", "model/signs.rknn", "model/0.ppm"], cwd=folder, env=env)
        tables[arch], seconds[arch] = text, time.monotonic() - begin
        good += code == 0 and "class   score" in text
        if code != 0:
            print(text[-1500:])
    ok = figure("build-linux.sh: program, lib/ and model/ installed and run (x86_64; aarch64 under qemu-user)",
                "%d of 2 (%s)" % (good, ", ".join("%s %.1f s" % pair for pair in seconds.items())), "2", good == 2)
    same = good == 2 and tables["x86_64"] == tables["aarch64"]
    if not same:
        print(tables)
    ok &= figure("build-linux.sh: both programs print the same table", "%d lines" % len(tables.get("x86_64", "").splitlines()), "equal", same)
    refused = [run([SCRIPT, *words], cwd=work, env=env)[0] for words in (
        [], ["-t", "rk3588", "-a", "mips", "-d", "yolov5"], ["-t", "rk3588", "-a", "x86_64", "-d", "nothing"], ["-t", "rk3588", "-a", "x86_64"])]
    return 0 if ok & figure("build-linux.sh: wrong command lines", "%s" % refused, "2 each", refused == [2] * 4) else 1


if __name__ == "__main__":
    sys.exit(main())
