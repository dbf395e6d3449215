#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX conformance cases and, where given, the network tests; closes with one summary line.

    check.py --binary onnx_conformance [--quantized binary] [--networks binary] [--shared ../shared] [--work folder] [--quick]

The node tests lie in archives of ../shared, which are unpacked once into the work folder. Without ../shared there is
nothing to run: a SKIP line says so, and all but --quick fail. --quick runs the opset-19 archive through the evaluator only, for `make test`.
Every FIGURE line is printed beside its bar; the exit code is 0 only when every command succeeded and none is short.
"""
import argparse
import os
import re
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXCEPTIONS = os.path.join(HERE, "exceptions.txt")
ARCHIVES = {"opset19": "onnx-node-tests-opset19.tar.xz", "newest": "onnx-node-tests.tar.xz"}
NODE_FOLDER = os.path.join("onnx", "backend", "test", "data", "node")


def unpack(archive, folder):
    """The folder of node tests; unpacked anew when the archive is newer."""
    done = os.path.join(folder, "unpacked")
    if not os.path.exists(done) or os.path.getmtime(done) < os.path.getmtime(archive):
        os.makedirs(folder, exist_ok=True)
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        open(done, "w").close()
    return os.path.join(folder, NODE_FOLDER)


def run(command):
    """(succeeded, counts per name, number of short figures)."""
    start = time.time()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    counts, short = {}, 0
    networks = {}  # name -> all its tests passed
    for line in result.stdout.splitlines():
        tested = re.match(r"\[\s+(OK|FAILED)\s+\] All/Networks\.\w+/(\w+)", line)
        if tested:
            networks[tested.group(2)] = networks.get(tested.group(2), True) and tested.group(1) == "OK"
        if line.startswith("COUNTS "):
            name = line.split()[1]
            counts[name] = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}
        elif line.startswith("FIGURE "):
            short += line.rstrip().endswith("SHORT")
            print(line, flush=True)
        elif result.returncode != 0 or "per operator" in line or line.startswith(("SKIP ", "not run", "PLACEMENT ")):
            print(line)
    print(f"== {' '.join(os.path.basename(word) for word in command)}: "
          f"{'ok' if result.returncode == 0 else f'failed with {result.returncode}'}, {time.time() - start:.0f} s",
          flush=True)
    if networks:
        # The two activations of YOLOv5s are one network.
        families = {}
        for name, passed in networks.items():
            family = re.sub(r"_(relu|silu)$", "", name)
            families[family] = families.get(family, True) and passed
        counts["networks"] = {"passed": sum(families.values()), "total": len(families)}
    return result.returncode == 0, counts, short


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--quantized", help="the tests of quantized operators")
    parser.add_argument("--networks", help="the tests of whole networks")
    parser.add_argument("--shared", default=os.environ.get("RK_SHARED", os.path.join(HERE, "..", "..", "..", "shared")))
    parser.add_argument("--work", default=os.path.join(HERE, "..", "..", "build", "conformance"))
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()

    assets = os.path.join(args.shared, "assets")
    commands, absent = [], 0
    for name in ["opset19"] if args.quick else ["opset19", "newest"]:
        archive = os.path.join(assets, ARCHIVES[name])
        if not os.path.exists(archive):
            print(f"SKIP conformance {name}: {archive} is absent")
            absent += 1
            continue
        folder = unpack(archive, os.path.join(args.work, name))
        commands.append([args.binary, name, folder, EXCEPTIONS] + ([] if args.quick else ["--rknn"]))
    layers = os.path.join(assets, "layers", "onnx")
    if not args.quick and os.path.exists(layers):
        commands.append([args.binary, "layers", layers, EXCEPTIONS, "--rknn"])
    elif not args.quick:
        print(f"SKIP conformance layers: {layers} is absent")
        absent += 1
    commands += [[binary] for binary in (args.quantized, args.networks) if binary]

    counts, failed, short = {}, 0, 0
    for command in commands:
        ok, found, below = run(command)
        counts.update(found)
        failed += not ok
        short += below
    if not args.quick:
        newest, networks = counts.get("newest", {}), counts.get("networks", {})
        print(f"onnx: {newest.get('passed', 0)} of {newest.get('total', 0)} conformance cases, "
              f"{newest.get('exceptions', 0)} listed exceptions, "
              f"{networks.get('passed', 0)} of {networks.get('total', 0)} networks")
        if absent:
            print("onnx: FAILED: the cases are not there to be shown; --shared or RK_SHARED names their folder")
    return 1 if failed or short or (absent and not args.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
