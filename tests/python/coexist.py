#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our libraries beside other users of protobuf and of C++ runtimes, in one process and in both orders.

The danger is a second copy of protobuf that registers the same message names, or a symbol that leaks from one library
into another: both abort the process. So each pair runs in a process of its own, and its end is judged.

usage: coexist.py LIBRARY...
"""
import importlib.util
import subprocess
import sys

MODULES = ["onnx", "torch", "cv2"]

# A module has to do something with its own copy of the shared dependency, not only be imported.
WORK = {
    "onnx": "from onnx import helper, TensorProto as T\n"
            "node = helper.make_node('Relu', ['x'], ['y'])\n"
            "info = lambda n: helper.make_tensor_value_info(n, T.FLOAT, [1, 2])\n"
            "model = helper.make_model(helper.make_graph([node], 'g', [info('x')], [info('y')]))\n"
            "onnx.checker.check_model(onnx.load_from_string(model.SerializeToString()))\n",
    "torch": "assert float(torch.ones(3).sum()) == 3\n",
    "cv2": "import numpy\n"
           "assert cv2.resize(numpy.zeros((4, 4, 3), numpy.uint8), (8, 8)).shape == (8, 8, 3)\n",
}


def script(module, library, library_first):
    load = f"import ctypes\nlibrary = ctypes.CDLL({library!r})\n"
    use = f"import {module}\n{WORK[module]}"
    return (load + use if library_first else use + load) + "print('alive')\n"


def main(libraries):
    if not libraries:
        print(__doc__)
        return 2
    failures = 0
    for module in MODULES:
        if importlib.util.find_spec(module) is None:
            print(f"SKIP {module} beside our libraries: it is not installed")
            continue
        for library in libraries:
            for library_first in (True, False):
                result = subprocess.run([sys.executable, "-c", script(module, library, library_first)],
                                        capture_output=True, text=True, timeout=120)
                ok = result.returncode == 0 and result.stdout.strip().endswith("alive")
                name = library.rsplit("/", 1)[-1]
                order = "before" if library_first else "after"
                print(f"FIGURE {name} loaded {order} {module} | {'alive' if ok else 'dead'} | alive | "
                      f"{'ok' if ok else 'SHORT'}")
                if not ok:
                    failures += 1
                    print(f"exit {result.returncode}\n{result.stdout}{result.stderr}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
