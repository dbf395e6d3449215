# SPDX-License-Identifier: Apache-2.0
"""Names, parameters and defaults of the vendor's reference (2.3.2), and the stubs against the classes."""
import ast
import inspect
import os
import unittest

import rknn.api.rknn as implementation
from rknn.api import RKNN
from rknn.utils import onnx_edit
from rknnlite.api import RKNNLite
from rknnlite.api import rknn_lite as lite_implementation

import models

NOT_GIVEN = inspect.Parameter.empty

# Of rknn-toolkit2 2.3.2 and rknn-toolkit-lite2 2.3.2: names, order and defaults, as inspect.signature gives them there.
VENDOR_TOOLKIT = {
    "__init__": {"verbose": False, "verbose_file": None},
    "config": {"mean_values": None, "std_values": None, "quantized_dtype": "w8a8", "quantized_algorithm": "normal",
               "quantized_method": "channel", "quantized_hybrid_level": 0, "target_platform": None,
               "quant_img_RGB2BGR": False, "float_dtype": "float16", "optimization_level": 3, "custom_string": None,
               "remove_weight": False, "compress_weight": False, "inputs_yuv_fmt": None, "single_core_mode": False,
               "dynamic_input": None, "model_pruning": False, "op_target": None, "quantize_weight": False,
               "remove_reshape": False, "sparse_infer": False, "enable_flash_attention": False,
               "auto_hybrid_cos_thresh": 0.98, "auto_hybrid_euc_thresh": None, "kwargs": NOT_GIVEN},
    "load_tensorflow": {"tf_pb": NOT_GIVEN, "inputs": NOT_GIVEN, "input_size_list": NOT_GIVEN, "outputs": NOT_GIVEN,
                        "input_is_nchw": False},
    "load_caffe": {"model": NOT_GIVEN, "blobs": None, "input_name": None},
    "load_tflite": {"model": NOT_GIVEN, "input_is_nchw": False},
    "load_onnx": {"model": NOT_GIVEN, "inputs": None, "input_size_list": None, "input_initial_val": None,
                  "outputs": None},
    "load_darknet": {"model": NOT_GIVEN, "weight": NOT_GIVEN},
    "load_pytorch": {"model": NOT_GIVEN, "input_size_list": NOT_GIVEN},
    "build": {"do_quantization": True, "dataset": None, "rknn_batch_size": None, "auto_hybrid": False},
    "hybrid_quantization_step1": {"dataset": "dataset.txt", "rknn_batch_size": None, "proposal": False,
                                  "proposal_dataset_size": 1, "custom_hybrid": None},
    "hybrid_quantization_step2": {"model_input": NOT_GIVEN, "data_input": NOT_GIVEN,
                                  "model_quantization_cfg": NOT_GIVEN},
    "export_rknn": {"export_path": NOT_GIVEN, "kwargs": NOT_GIVEN},
    "export_encrypted_rknn_model": {"input_model": NOT_GIVEN, "output_model": None, "crypt_level": 1},
    "load_rknn": {"path": NOT_GIVEN},
    "accuracy_analysis": {"inputs": NOT_GIVEN, "output_dir": "./snapshot", "target": None, "device_id": None},
    "init_runtime": {"target": None, "device_id": None, "perf_debug": False, "eval_mem": False, "async_mode": False,
                     "core_mask": 0, "fallback_prior_device": "cpu"},
    "inference": {"inputs": NOT_GIVEN, "data_format": None, "inputs_pass_through": None, "get_frame_id": False},
    "eval_perf": {"is_print": True, "fix_freq": True},
    "eval_memory": {"is_print": True},
    "list_devices": {},
    "get_sdk_version": {},
    "reg_custom_op": {"custom_op": NOT_GIVEN},
    "optimize_onnx": {"model": NOT_GIVEN, "optimized_path": None, "passes_enable": None, "inputs_for_dump": None},
    "codegen": {"output_path": NOT_GIVEN, "inputs": None, "overwrite": False},
    "release": {},
}
VENDOR_LITE = {
    "__init__": {"verbose": False, "verbose_file": None},
    "load_rknn": {"path": NOT_GIVEN},
    "list_devices": {},
    "init_runtime": {"target": None, "device_id": None, "async_mode": False, "core_mask": 0},
    "inference": {"inputs": NOT_GIVEN, "data_type": None, "data_format": None, "inputs_pass_through": None,
                  "get_frame_id": False},
    "get_sdk_version": {},
    "list_support_target_platform": {"rknn_model": None},
    "release": {},
}
# What we add: methods, and keyword-only parameters (2.5.0's and our own).
MORE_TOOLKIT = {"clear_op_cache": {},  # 2.5.0
                "export": {"export_path": NOT_GIVEN, "kwargs": NOT_GIVEN},
                "list_support_target_platform": {"rknn_model": None}}
MORE_LOAD_PYTORCH = {"inputs": None, "input_initial_val": None, "outputs": None}
MORE_CONFIG = {"mini_rknn": False, "memory_plan_strategy": "BestFit", "compute_order": "WidthFirst",
               "compiler_control_file": None, "what_if": False}

CORES = {"NPU_CORE_AUTO": 0, "NPU_CORE_0": 1, "NPU_CORE_1": 2, "NPU_CORE_2": 4, "NPU_CORE_0_1": 3,
         "NPU_CORE_0_1_2": 7, "NPU_CORE_ALL": 0xffff}


def parameters(function, keyword_only=False):
    return [(name, p.default) for name, p in inspect.signature(function).parameters.items()
            if name != "self" and (p.kind == p.KEYWORD_ONLY) == keyword_only]


class Signatures(unittest.TestCase):
    def test_names_order_and_defaults(self):
        for cls, vendor, more in ((RKNN, VENDOR_TOOLKIT, MORE_TOOLKIT), (RKNNLite, VENDOR_LITE, {})):
            methods = dict(vendor, **more)
            for name, wanted in methods.items():
                self.assertEqual(parameters(getattr(cls, name)), list(wanted.items()), "%s.%s" % (cls.__name__, name))
                self.assertTrue(name.startswith("_") or getattr(cls, name).__doc__, "%s has no docstring" % name)
            for name, value in CORES.items():
                self.assertEqual(getattr(cls, name), value)
            public = {n for n in vars(cls) if not n.startswith("_") and callable(getattr(cls, n))}
            self.assertEqual(public, {n for n in methods if not n.startswith("_")})
        self.assertEqual(dict(parameters(RKNN.config, keyword_only=True)), MORE_CONFIG)
        self.assertEqual(dict(parameters(RKNN.load_pytorch, keyword_only=True)), MORE_LOAD_PYTORCH)
        self.assertEqual(dict(parameters(RKNN.eval_perf, keyword_only=True)), {"shape": None})
        self.assertEqual(parameters(onnx_edit), [("model", NOT_GIVEN), ("export_path", NOT_GIVEN),
                                                 ("inputs_transform", {}), ("outputs_transform", {}),
                                                 ("dataset", None)])

    def test_the_toolkits_option_table_says_the_same(self):
        table = RKNN()._toolkit.call("options", {})
        config = [(row["name"], row["default"]) for row in table["config"]]
        wanted = [p for p in parameters(RKNN.config) if p[0] != "kwargs"]
        self.assertEqual(config[:len(wanted)], wanted)
        self.assertEqual(dict(config[len(wanted):]), MORE_CONFIG)
        self.assertEqual({r["since"] for r in table["config"][:len(wanted)]}, {"2.3.2"})
        for method, own in (("build", ["float_layers"]), ("hybrid_quantization_step1", ["output_dir"])):
            rows = [(row["name"], row["default"]) for row in table[method] if row["since"] == "2.3.2"]
            self.assertEqual(rows, parameters(getattr(RKNN, method)), method)
            self.assertEqual([r["name"] for r in table[method] if r["since"] == "OpenRKNN"], own)
        load = [(r["name"], r["default"]) for r in table["load"]]
        self.assertEqual(load, parameters(RKNN.load_onnx)[1:] + parameters(RKNN.load_tflite)[1:])

    def test_every_option_reaches_the_toolkit(self):
        """Each row of the table is read from a call: a value of a type that no option takes is refused by name."""
        table = RKNN()._toolkit.call("options", {})
        for row in table["config"]:
            with self.assertRaisesRegex(ValueError, "Invalid %s " % row["name"]):
                RKNN().config(**dict({"target_platform": "rk3588"}, **{row["name"]: {"no": {"such": "value"}}}))
        for name in table["ignored_config_keywords"]:
            with models.captured() as (_, err):
                self.assertEqual(RKNN().config(target_platform="rk3588", **{name: True}), 0)
            self.assertIn("%s has no effect" % name, err.getvalue())

    def test_every_unknown_keyword_is_refused(self):
        rknn = RKNN()
        for name, wanted in VENDOR_TOOLKIT.items():
            if name.startswith("_") or "kwargs" in wanted or not wanted:
                continue
            close = list(wanted)[-1]
            with self.assertRaisesRegex(TypeError, "%s.*did you mean '%s'" % (close + "x", close)):
                getattr(rknn, name)(**{close + "x": 1})
        with self.assertRaisesRegex(ValueError, "'what_iff'; did you mean 'what_if'"):
            rknn.config(what_iff=1)

    def test_stubs_have_the_same_methods_and_parameters(self):
        for module, cls, methods in ((implementation, RKNN, dict(VENDOR_TOOLKIT, **MORE_TOOLKIT)),
                                     (lite_implementation, RKNNLite, VENDOR_LITE)):
            with open(os.path.splitext(module.__file__)[0] + ".pyi") as file:
                tree = ast.parse(file.read())
            stub = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls.__name__)
            functions = {n.name: n.args for n in stub.body if isinstance(n, ast.FunctionDef)}
            for name, wanted in methods.items():
                self.assertEqual([a.arg for a in functions[name].args[1:]], [p for p in wanted if p != "kwargs"], name)
                self.assertEqual(functions[name].kwarg is not None, "kwargs" in wanted, name)
            if cls is RKNN:
                self.assertEqual([a.arg for a in functions["config"].kwonlyargs], list(MORE_CONFIG))
                self.assertEqual([a.arg for a in functions["load_pytorch"].kwonlyargs], list(MORE_LOAD_PYTORCH))


class OldPythons(unittest.TestCase):
    """rknnlite and what it imports stay within the grammar and the library of Python 3.7."""

    def test_rknnlite_parses_as_python_3_7(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(lite_implementation.__file__))))
        paths = [os.path.join(folder, n) for package in ("rknnlite", "openrknn")
                 for folder, _, names in os.walk(os.path.join(root, package)) for n in names if n.endswith(".py")]
        self.assertGreaterEqual(len(paths), 6)
        for path in paths:
            with open(path) as file:
                tree = ast.parse(file.read(), path, feature_version=(3, 7))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute):
                    self.assertNotIn(node.attr, ("removeprefix", "removesuffix", "is_relative_to"), path)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                    self.assertFalse(isinstance(node.left, ast.Dict), path)
                if isinstance(node, ast.ImportFrom):
                    self.assertNotIn(node.module, ("functools", "importlib.metadata", "zoneinfo", "graphlib"), path)

    def test_rknn_parses_as_python_3_8(self):
        root = os.path.dirname(os.path.dirname(os.path.abspath(implementation.__file__)))
        for folder, _, names in os.walk(root):
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name)) as file:
                        ast.parse(file.read(), name, feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main()
