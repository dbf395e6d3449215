# SPDX-License-Identifier: Apache-2.0
"""The Python signature, the command line, yml files, hybrid data and the documentation hold the same options."""
import inspect
import json
import os
import re
import subprocess
import tempfile
import unittest

from rknn.api import RKNN

import models

RKNN_COMMAND = os.environ["OPENRKNN_COMMAND"]
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/options.md")
# Of a type that no option takes.
WRONG = {"no": {"such": "value"}}


def run(*arguments):
    result = subprocess.run([RKNN_COMMAND] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = RKNN()._toolkit.call("options", {})

    def names(self, method):
        return [row["name"] for row in self.table[method]]

    def test_python(self):
        keywords = [p.name for p in inspect.signature(RKNN.config).parameters.values() if p.kind != p.VAR_KEYWORD]
        self.assertEqual(keywords[1:], self.names("config"))

    def test_command_line(self):
        for command, methods in ((["convert"], ("config", "load", "build")), (["analyze"], ("config", "load", "build")),
                                 (["compare"], ("config", "load", "build")),
                                 (["hybrid", "step1"], ("config", "load", "hybrid_quantization_step1"))):
            code, text = run(*command, "--help")
            self.assertEqual(code, 0, text)
            flags = set(re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", text))
            for method in methods:
                for row in self.table[method]:
                    self.assertIn(row["flags"][0], flags, "%s: %s" % (command, row["name"]))
                    self.assertIn(row["doc"], text)
                    # Both spellings are taken: the complaint is about the model that is not there, or the value.
                    for flag in row["flags"]:
                        code, answer = run(*command, flag + "=1", "/no/such.onnx")
                        self.assertEqual(code, 1, answer)
                        self.assertNotIn("unknown option", answer)
        self.assertIn("unknown option '--mean-value'", run("convert", "--mean-value", "1", "x.onnx")[1])

    def test_yml(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.yml")
            for name in self.names("config"):
                with open(path, "w") as file:
                    json.dump({"models": {"model_file_path": "a.onnx", "configs": {name: WRONG}}}, file)
                code, text = run("convert", "-i", path)
                self.assertEqual(code, 1)
                self.assertIn("Invalid %s " % name, text)
                with models.captured() as (_, err):
                    from rknn.api import rknn_convert
                    self.assertEqual(rknn_convert.main(["-i", path]), 1)
                self.assertIn("Invalid %s " % name, err.getvalue())

    def test_hybrid_data(self):
        with tempfile.TemporaryDirectory() as folder:
            code, text = run("hybrid", "step1", models.DIGITS_ONNX, "-t", "rk3588", "--dataset", models.DIGITS_DATASET,
                             "--mean", "127.5", "--std", "64", "--what-if", "--model-pruning", "--cos-thresh", "0.5",
                             "-o", folder)
            self.assertEqual(code, 0, text)
            with open(os.path.join(folder, os.path.splitext(os.path.basename(models.DIGITS_ONNX))[0] + ".data")) as file:
                config = json.load(file)["config"]
        self.assertEqual(list(config), self.names("config"))
        self.assertEqual((config["what_if"], config["model_pruning"], config["auto_hybrid_cos_thresh"]),
                         (True, True, 0.5))

    def test_docs(self):
        with open(DOCS) as file:
            page = file.read()
        self.assertEqual(page, run("info", "--options")[1])
        for method in ("config", "load", "build", "hybrid_quantization_step1"):
            for row in self.table[method]:
                self.assertIn("| `%s` | " % row["name"], page)


if __name__ == "__main__":
    unittest.main()
