#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds that `make test` does not make: the runtime alone, every frontend switched off, and clang.

    builds.py SOURCE_FOLDER WORK_FOLDER

Each is configured and built from nothing; a figure says what came out of it.
"""
import os
import shutil
import subprocess
import sys

SOURCE, WORK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# -O1 is quick to compile; GCC 12 then takes some returned values to be uninitialized.
RELEASE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -Wno-maybe-uninitialized",
           "-DRK_BUILD_TESTS=OFF", "-DRK_USE_CCACHE=OFF", "-DRK_BATCHES=ON", "-DRK_WERROR=ON"]


def frontend_switches():
    """One per folder of src/frontends."""
    folder = os.path.join(SOURCE, "src", "frontends")
    return sorted("RK_FRONTEND_" + name.upper() for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))


def build(name, options, targets, product):
    """One figure: the product exists after a build from nothing."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    log = ""
    for command in (["cmake", "-S", SOURCE, "-B", folder] + RELEASE + options,
                    ["cmake", "--build", folder, "--target"] + targets):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log += done.stdout
        if done.returncode != 0:
            break
    ok = os.path.exists(os.path.join(folder, product))
    if not ok:
        print("\n".join(log.splitlines()[-30:]))
    print(f"FIGURE build {name}: {product} | {'built' if ok else 'not built'} | built | {'ok' if ok else 'SHORT'}", flush=True)
    return ok


def main():
    good = build("runtime-only", ["-DRK_BUILD_TOOLKIT=OFF", "-DRK_BUILD_TOOLS=OFF"], ["rknnrt"], "src/capi/librknnrt.so")
    good &= build("without-frontends", [f"-D{switch}=OFF" for switch in frontend_switches()], ["rknn"],
                  "tools/rknn/rknn")
    if shutil.which("clang++-14"):
        good &= build("clang", ["-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_CXX_COMPILER=clang++-14",
                                "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DRK_BUILD_TOOLKIT=OFF", "-DRK_BUILD_TOOLS=OFF"],
                      ["rknnrt"], "src/capi/librknnrt.so")
    else:
        print("SKIP clang: clang++-14 (Debian's clang-14) is not installed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
