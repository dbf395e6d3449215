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

NOT_GIVEN = inspect.Parameter.empty

TOOLKIT = {
    "__init__": {"verbose": False, "verbose_file": None},
    "config": {"mean_values": None, "std_values": None, "quant_img_RGB2BGR": False, "quantized_dtype": "w8a8",
               "quantized_algorithm": "normal", "quantized_method": "channel", "float_dtype": "float16",
               "optimization_level": 3, "target_platform": None, "custom_string": None, "remove_weight": False,
               "compress_weight": False, "single_core_mode": False, "model_pruning": False, "op_target": None,
               "dynamic_input": None, "quantize_weight": False, "remove_reshape": False, "sparse_infer": False,
               "enable_flash_attention": False, "auto_hybrid_cos_thresh": 0.98, "auto_hybrid_euc_thresh": None},
    "load_caffe": {"model": NOT_GIVEN, "blobs": NOT_GIVEN, "input_name": None},
    "load_tensorflow": {"tf_pb": NOT_GIVEN, "inputs": NOT_GIVEN, "input_size_list": NOT_GIVEN, "outputs": NOT_GIVEN,
                        "input_is_nchw": False},
    "load_tflite": {"model": NOT_GIVEN, "input_is_nchw": False},
    "load_onnx": {"model": NOT_GIVEN, "inputs": None, "input_size_list": None, "input_initial_val": None,
                  "outputs": None},
    "load_darknet": {"model": NOT_GIVEN, "weight": NOT_GIVEN},
    "load_pytorch": {"model": NOT_GIVEN, "input_size_list": NOT_GIVEN},
    "load_rknn": {"path": NOT_GIVEN},
    "build": {"do_quantization": True, "dataset": None, "rknn_batch_size": None, "auto_hybrid": False},
    "export_rknn": {"export_path": NOT_GIVEN, "kwargs": NOT_GIVEN},
    "export": {"export_path": NOT_GIVEN, "kwargs": NOT_GIVEN},
    "init_runtime": {"target": None, "device_id": None, "perf_debug": False, "eval_mem": False, "async_mode": False,
                     "core_mask": 0, "fallback_prior_device": "cpu"},
    "inference": {"inputs": NOT_GIVEN, "data_format": None, "inputs_pass_through": None, "get_frame_id": False},
    "eval_perf": {"is_print": True, "fix_freq": True},
    "eval_memory": {"is_print": True},
    "get_sdk_version": {},
    "list_devices": {},
    "list_support_target_platform": {"rknn_model": None},
    "accuracy_analysis": {"inputs": NOT_GIVEN, "output_dir": "./snapshot", "target": None, "device_id": None},
    "hybrid_quantization_step1": {"dataset": None, "rknn_batch_size": None, "proposal": False,
                                  "proposal_dataset_size": 1, "custom_hybrid": None},
    "hybrid_quantization_step2": {"model_input": NOT_GIVEN, "data_input": NOT_GIVEN,
                                  "model_quantization_cfg": NOT_GIVEN},
    "export_encrypted_rknn_model": {"input_model": NOT_GIVEN, "output_model": None, "crypt_level": 1},
    "reg_custom_op": {"custom_op": NOT_GIVEN},
    "codegen": {"output_path": NOT_GIVEN, "inputs": None, "overwrite": False},
    "release": {},
}

LITE = {
    "__init__": {"verbose": False, "verbose_file": None},
    "load_rknn": {"path": NOT_GIVEN},
    "init_runtime": {"core_mask": 0, "kwargs": NOT_GIVEN},
    "inference": {"inputs": NOT_GIVEN, "data_type": None, "data_format": None, "inputs_pass_through": None,
                  "get_frame_id": False},
    "get_sdk_version": {},
    "list_support_target_platform": {"rknn_model": None},
    "release": {},
}

CORES = {"NPU_CORE_AUTO": 0, "NPU_CORE_0": 1, "NPU_CORE_1": 2, "NPU_CORE_2": 4, "NPU_CORE_0_1": 3,
         "NPU_CORE_0_1_2": 7, "NPU_CORE_ALL": 0xffff}


def parameters(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if name != "self"}


class Signatures(unittest.TestCase):
    def test_parameters_and_defaults(self):
        for cls, methods in ((RKNN, TOOLKIT), (RKNNLite, LITE)):
            for name, wanted in methods.items():
                found = parameters(getattr(cls, name))
                self.assertEqual(found, wanted, "%s.%s" % (cls.__name__, name))
                self.assertEqual(list(found), list(wanted), "order of %s.%s" % (cls.__name__, name))
                self.assertTrue(name.startswith("_") or getattr(cls, name).__doc__, "%s has no docstring" % name)
            for name, value in CORES.items():
                self.assertEqual(getattr(cls, name), value)
            public = {n for n in vars(cls) if not n.startswith("_") and callable(getattr(cls, n))}
            self.assertEqual(public, {n for n in methods if not n.startswith("_")})
        self.assertEqual(parameters(onnx_edit), {"model": NOT_GIVEN, "export_path": NOT_GIVEN, "inputs_transform": {},
                                                 "outputs_transform": {}, "dataset": None})

    def test_every_unknown_keyword_is_refused(self):
        rknn = RKNN()
        for name, wanted in TOOLKIT.items():
            if name.startswith("_") or "kwargs" in wanted or not wanted:
                continue
            close = list(wanted)[-1]
            with self.assertRaisesRegex(TypeError, "%s.*did you mean '%s'" % (close + "x", close)):
                getattr(rknn, name)(**{close + "x": 1})

    def test_stubs_have_the_same_methods_and_parameters(self):
        for module, cls in ((implementation, RKNN), (lite_implementation, RKNNLite)):
            with open(os.path.splitext(module.__file__)[0] + ".pyi") as file:
                tree = ast.parse(file.read())
            stub = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls.__name__)
            functions = {n.name: [a.arg for a in n.args.args[1:]] for n in stub.body if isinstance(n, ast.FunctionDef)}
            for name, wanted in (TOOLKIT if cls is RKNN else LITE).items():
                self.assertEqual(functions.get(name), [p for p in wanted if p != "kwargs"], name)


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
