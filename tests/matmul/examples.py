#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the models of the custom-operator examples and runs the three C examples as a user would.

    examples.py --build build/release --work FOLDER [--need-gpu]
"""
import argparse
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--need-gpu", action="store_true")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"), PYTHONDONTWRITEBYTECODE="1",
               OPENRKNN_LIBRARY_DIR=os.path.join(build, "src/toolkit") + ":" + os.path.join(build, "src/capi"))
    env.pop("RKNN_TARGET", None)
    # Plug-ins find the runtime as in an installation, where it lies in the loader's folders.
    env["RKNN_OP_PLUGIN_DIR"] = os.path.join(build, "tests/matmul/plugins")
    env["LD_LIBRARY_PATH"] = os.path.join(build, "src/capi") + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    # Debian's python3 has python3-onnx.
    make = [["/usr/bin/python3", os.path.join(SOURCE, "examples/custom_op_cpu/make_model.py"), args.work]]
    binary = lambda name: os.path.join(build, "examples", name)
    model = lambda name: os.path.join(args.work, name + ".rknn")
    plugins = ["/usr/bin/python3", os.path.join(SOURCE, "tests/matmul/plugin_model.py"), args.work]
    runs = make + [plugins, [binary("matmul_demo"), "4", "512", "256", "3"],
                   [binary("custom_op_cpu"), model("custom"), model("standard")]]
    if args.need_gpu or os.path.exists(binary("custom_op_gpu")):
        runs.append([binary("custom_op_gpu"), model("leaky"), model("leaky_standard")])
    else:
        print("SKIP examples/custom_op_gpu: built without OpenCL")
    for command in runs:
        result = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        name = os.path.basename(command[1] if command[0].endswith("python3") else command[0])
        print("\n".join(line for line in result.stdout.splitlines() if line.startswith("FIGURE")))
        last = (result.stdout.strip().splitlines() or [""])[-1]
        print("FIGURE example %s | %s | exit 0 | %s" % (name, last.replace("|", "/")[:90],
                                                        "ok" if result.returncode == 0 else "SHORT"))
        if result.returncode != 0:
            print(result.stdout)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
