#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a prefix and uses it as an outside project would.

    check.py --build DIR --source DIR --models DIR

C by pkg-config, C++ by find_package (shared and static), and the installed `rknn` command. Prints one FIGURE line.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        sys.exit("%s\nexited with %d:\n%s" % (" ".join(command), result.returncode, result.stdout))
    return result.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--models", required=True)
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    work = tempfile.mkdtemp()
    try:
        prefix = os.path.join(work, "prefix")
        run(["cmake", "--install", args.build, "--prefix", prefix])
        libraries = os.path.dirname(next(
            os.path.join(folder, "librknnrt.so") for folder, _, files in os.walk(prefix) if "librknnrt.so" in files))
        model = os.path.join(args.models, "picture.rknn")
        expected = None
        programs = []

        flags = run(["pkg-config", "--cflags", "--libs", "rknnrt"],
                    env=dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))).split()
        c_program = os.path.join(work, "consumer_c")
        run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", os.path.join(here, "consumer.c"), "-o", c_program]
            + flags + ["-Wl,-rpath," + libraries])
        programs.append(c_program)

        outside = os.path.join(work, "outside")
        run(["cmake", "-S", here, "-B", outside, "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release"])
        run(["cmake", "--build", outside])
        programs += [os.path.join(outside, "consumer_shared"), os.path.join(outside, "consumer_static")]

        for program in programs:
            said = run([program, model]).splitlines()[-1]
            expected = expected or said
            if said != expected or not said.startswith("inputs 1 "):
                sys.exit("%s printed '%s', another program '%s'" % (program, said, expected))
        command = os.path.join(prefix, "bin", "rknn")
        used = len(programs)
        if os.path.exists(command):
            run([command, "info", model], env={"PATH": "/usr/bin:/bin"})
            used += 1
        print("FIGURE outside programs that build and run against an installed prefix | %d | %d | ok" % (used, used))
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
