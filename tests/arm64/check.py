#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make test-arm64: the runtime for 64-bit ARM under qemu-user. Kernel tests once per instruction set, the C callers, and
the output bytes of a bundled int8 model beside this machine's.

usage: check.py --arm BUILD --host BUILD --rknn COMMAND --work FOLDER
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QEMU = ["qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu"]
FLOWS = "general zero_copy external_memory dynamic_shape multi_batch multi_thread weight_sharing async".split()
FIGURES = []


def figure(name, value, bar, ok):
    FIGURES.append(ok)
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def run(command, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=3600)
    if done.returncode != 0:
        print(done.stdout[-3000:])
    return done


def kernels(arm):
    for isa in ("i8mm", "dotprod", "neon", "generic"):
        done = run(QEMU + [os.path.join(arm, "src/units_kernels"), "--gtest_brief=1"], RKNN_KERNEL=isa)
        passed = re.search(r"\[  PASSED  \] (\d+) tests", done.stdout)
        figure("arm64 kernel tests, RKNN_KERNEL=%s" % isa, "%s passed" % (passed.group(1) if passed else 0),
               "all", done.returncode == 0 and passed is not None)


def callers(arm, work):
    models = os.path.join(work, "models")
    os.makedirs(models, exist_ok=True)
    abi = os.path.join(arm, "tests/abi")
    commands = [[os.path.join(abi, "abi_layout_c")], [os.path.join(abi, "abi_layout_cpp")],
                [os.path.join(abi, "abi_caller")], [os.path.join(abi, "abi_write_models"), models]]
    commands += [[os.path.join(abi, "abi_flows"), models, flow] for flow in FLOWS]
    good = sum(run(QEMU + command).returncode == 0 for command in commands)
    figure("arm64 C callers", "%d of %d" % (good, len(commands)), "all", good == len(commands))


def output_hash(command, model, path, **environment):
    if os.path.exists(path):
        os.remove(path)
    done = run(command + [model, path], **environment)
    if done.returncode != 0 or not os.path.exists(path):
        return "nothing"
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def same_bytes(arm, host, rknn, work):
    signs = os.path.join(ROOT, "examples/signs")
    model = os.path.join(work, "signs.rknn")
    run([rknn, "convert", os.path.join(signs, "signs.onnx"), "-t", "rk3588", "--dataset",
         os.path.join(signs, "dataset.txt"), "--mean", "0,0,0", "--std", "255,255,255", "-o", model])
    wanted = output_hash([os.path.join(host, "tests/arm64/outputs")], model, os.path.join(work, "host.bin"))
    for isa in ("i8mm", "dotprod", "neon"):
        found = output_hash(QEMU + [os.path.join(arm, "tests/arm64/outputs")], model,
                            os.path.join(work, isa + ".bin"), RKNN_KERNEL=isa)
        figure("signs, int8, %s beside this machine" % isa, found, wanted, found == wanted != "nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("arm", "host", "rknn", "work"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    kernels(options.arm)
    callers(options.arm, options.work)
    same_bytes(options.arm, options.host, options.rknn, options.work)
    print("test-arm64: %d of %d figures hold" % (sum(FIGURES), len(FIGURES)))
    return 0 if all(FIGURES) else 1


sys.exit(main())
