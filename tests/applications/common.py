# SPDX-License-Identifier: Apache-2.0
"""What the application checks share: where things are, goldens, conversion, figures."""
import json
import os
import subprocess
import sys

import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ASSETS = os.environ.get("RK_ASSETS", os.path.join(SOURCE, "..", "shared", "assets"))
WORD = {"torchscript": "pytorch"}  # of the load_... call


def use_build(build):
    """The Python packages find the libraries of this build; call before `import rknn`."""
    build = os.path.abspath(build)
    os.environ["OPENRKNN_LIBRARY_DIR"] = os.path.join(build, "src/toolkit") + ":" + os.path.join(build, "src/capi")
    os.environ["PYTHONPATH"] = os.path.join(SOURCE, "python")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.pop("RKNN_TARGET", None)
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(SOURCE, "python"))


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, str(value).replace("|", "/"), bar, "ok" if ok else "SHORT"), flush=True)
    return bool(ok)


def need_assets():
    if not os.path.isdir(os.path.join(ASSETS, "models")):
        sys.exit("missing: %s, the models and goldens to check with" % ASSETS)


def run(command, **options):
    """(exit code, output and error text)."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    return done.returncode, done.stdout


def cosine(a, b):
    a, b = np.ravel(a).astype("float64"), np.ravel(b).astype("float64")
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / scale) if scale else float(np.array_equal(a, b))


class Golden:
    """One model of the assets with its cases."""

    def __init__(self, name):
        self.name = name
        self.format, self.model = name.split("/")
        folder = os.path.join(ASSETS, "goldens", name)
        self.spec = json.load(open(os.path.join(folder, "golden.json")))
        self.files = [os.path.join(ASSETS, path) for path in self.spec["model"]]
        sys.path.insert(0, ASSETS)
        import load_golden
        sys.path.pop(0)
        self.cases = list(load_golden.cases(folder))

    def load(self, rknn):
        word = WORD.get(self.format, self.format)
        sizes = [spec["shape"] for spec in self.spec["inputs"]]
        if word == "pytorch":
            return rknn.load_pytorch(self.files[0], input_size_list=sizes)
        if word == "tensorflow":
            return rknn.load_tensorflow(self.files[0], inputs=[s["name"] for s in self.spec["inputs"]],
                                        input_size_list=sizes, outputs=[s["name"] for s in self.spec["outputs"]])
        if word == "onnx":
            return rknn.load_onnx(self.files[0], inputs=[s["name"] for s in self.spec["inputs"]], input_size_list=sizes)
        return getattr(rknn, "load_" + word)(*self.files)
