# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python: in build, calibration, simulator, accuracy analysis and in files."""
import os
import tempfile
import unittest

import models
import numpy as np
import onnx_bytes
from rknn.api import RKNN
from rknn.api.custom_op import get_node_attr
from rknnlite.api import RKNNLite


VENDOR_FILES = os.path.join(models.EXAMPLES, "..", "..", "shared", "assets", "vendor-rknn")


class Softmax:
    op_type = "cstSoftmax"

    def __init__(self):
        self.calls = []

    def shape_infer(self, node, in_shapes, in_dtypes):
        self.calls.append("shape_infer")
        return in_shapes.copy(), in_dtypes.copy()

    def compute(self, node, inputs):
        self.calls.append("compute")
        x = inputs[0]
        x -= np.max(x, axis=get_node_attr(node, "axis"), keepdims=True)  # the input is the operator's own copy
        return [np.exp(x) / np.sum(np.exp(x), axis=get_node_attr(node, "axis"), keepdims=True)]


class CustomOp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.picture = models.digit_pictures()[0][:1]
        self.outputs = None  # where the last model that was made ends

    def path(self, name):
        return os.path.join(self.folder, name)

    def digits_with(self, op_type, outputs=("result",), **attributes):
        self.outputs = list(outputs)
        return onnx_bytes.with_node(models.DIGITS_ONNX, self.path("model.onnx"), op_type, ["logits"], outputs, attributes)

    def build(self, model, *operators, quantize=True):
        rknn = RKNN()
        rknn.config(mean_values=[[127.5]], std_values=[[64]], target_platform="rk3588")
        for operator in operators:
            self.assertEqual(rknn.reg_custom_op(operator), 0)
        self.assertEqual(rknn.load_onnx(model, outputs=self.outputs), 0)
        self.assertEqual(rknn.build(do_quantization=quantize, dataset=models.DIGITS_DATASET), 0)
        return rknn

    def failing(self, call):
        with models.captured() as (_, err):
            self.assertIn(call(), (-1, None))
        return err.getvalue()

    def test_an_operator_runs_in_every_stage(self):
        operator = Softmax()
        rknn = self.build(self.digits_with("cstSoftmax", axis=1), operator)
        self.assertIn("shape_infer", operator.calls)
        self.assertIn("compute", operator.calls, "calibration runs it")
        del operator.calls[:]
        self.assertEqual(rknn.init_runtime(), 0)
        result = rknn.inference([self.picture])[0]
        self.assertEqual(operator.calls.count("compute"), 1)
        standard = self.build(self.digits_with("Softmax", axis=1))
        standard.init_runtime()
        np.testing.assert_allclose(result, standard.inference([self.picture])[0], atol=2e-3)
        del operator.calls[:]
        with models.captured() as (out, _):
            self.assertEqual(rknn.accuracy_analysis([os.path.join(models.DIGITS, "calib_png", "000.png")],
                                                    output_dir=self.path("snapshot")), 0)
        self.assertIn("cstSoftmax", out.getvalue())
        self.assertIn("compute", operator.calls)

        file = self.path("model.rknn")
        self.assertEqual(rknn.export_rknn(file), 0)
        again = RKNN()
        again.config(target_platform="rk3588")
        again.reg_custom_op(Softmax)  # a class serves like an instance
        self.assertEqual(again.load_rknn(file), 0)
        self.assertEqual(again.init_runtime(), 0)
        self.assertEqual(again.inference([self.picture])[0].tobytes(), result.tobytes())

    def test_hybrid_quantization_keeps_the_operator(self):
        model = self.digits_with("cstSoftmax", axis=1)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        dataset = os.path.abspath(models.DIGITS_DATASET)
        os.chdir(self.folder)
        rknn = RKNN()
        rknn.config(mean_values=[[127.5]], std_values=[[64]], target_platform="rk3588")
        rknn.reg_custom_op(Softmax())
        self.assertEqual(rknn.load_onnx(model, outputs=self.outputs), 0)
        self.assertEqual(rknn.hybrid_quantization_step1(dataset=dataset), 0)
        second = RKNN()
        second.reg_custom_op(Softmax())
        self.assertEqual(second.hybrid_quantization_step2("model.model", "model.data", "model.quantization.cfg"), 0)
        second.init_runtime()
        os.chdir(here)
        direct = self.build(model, Softmax())
        direct.init_runtime()
        np.testing.assert_allclose(second.inference([self.picture])[0], direct.inference([self.picture])[0], atol=2e-3)

    def test_a_file_says_which_operators_it_needs(self):
        rknn = self.build(self.digits_with("cstSoftmax", axis=1), Softmax())
        file = self.path("model.rknn")
        rknn.export_rknn(file)
        with open(file, "rb") as handle:
            self.assertIn(b"cstSoftmax", handle.read())
        lite = RKNNLite()
        lite.load_rknn(file)
        self.assertEqual(lite.init_runtime(), 0)
        self.assertIn("RKNN run failed", self.failing(lambda: lite.inference([self.picture])))

    def test_an_own_version_of_a_standard_operator(self):
        calls = []

        class Relu:
            op_type = "Relu"

            def shape_infer(self, node, in_shapes, in_dtypes):
                return in_shapes, in_dtypes

            def compute(self, node, inputs):
                calls.append(node.name)
                return [np.maximum(inputs[0], 0) + 1]

        own = self.build(models.DIGITS_ONNX, Relu, quantize=False)
        self.assertFalse(calls, "nothing to calibrate")
        own.init_runtime()
        plus_one = own.inference([self.picture])[0]
        self.assertEqual(len(calls), 5, "every Relu of the network is the user's")
        Relu.compute = lambda self, node, inputs: [np.maximum(inputs[0], 0)]
        as_before = own.inference([self.picture])[0]
        standard = self.build(models.DIGITS_ONNX, quantize=False)
        standard.init_runtime()
        wanted = standard.inference([self.picture])[0]
        np.testing.assert_allclose(as_before, wanted, rtol=0.01, atol=0.05)
        self.assertGreater(np.abs(plus_one - wanted).max(), 0.5)

    @unittest.skipUnless(os.path.isdir(VENDOR_FILES), "files made by the vendor's converter are not here")
    def test_an_operator_of_a_vendor_file(self):
        class DualResidual:
            op_type = "cstDualResidual"

            def shape_infer(self, node, in_shapes, in_dtypes):
                return in_shapes, in_dtypes

            def compute(self, node, inputs):
                alpha = get_node_attr(node, "alpha")
                return [inputs[0] + alpha * inputs[1], inputs[1] + alpha * inputs[0]]

        rknn = RKNN()
        rknn.reg_custom_op(DualResidual)
        self.assertEqual(rknn.load_rknn(os.path.join(VENDOR_FILES, "dual_residual_RK3588.rknn")), 0)
        self.assertEqual(rknn.init_runtime(), 0)
        random = np.random.RandomState(4)
        a, b = (random.randint(0, 100, (1, 3, 10, 10)).astype("float32") for _ in range(2))
        found = rknn.inference([a, b], data_format="nchw")
        np.testing.assert_allclose(found[0], a + 0.5 * b, rtol=2e-3)
        np.testing.assert_allclose(found[1], b + 0.5 * a, rtol=2e-3)

    def test_a_mark_on_a_standard_operator(self):
        class Mark:
            op_type = "ArgMax"

        rknn = self.build(self.digits_with("ArgMax", axis=1, keepdims=0), Mark())
        rknn.init_runtime()
        result = rknn.inference([self.picture])[0]
        self.assertEqual((result.dtype, result.shape), (np.int64, (1,)))
        plain = self.build(self.digits_with("ArgMax", axis=1, keepdims=0))
        plain.init_runtime()
        np.testing.assert_array_equal(result, plain.inference([self.picture])[0])
        rknn.export_rknn(self.path("mark.rknn"))
        lite = RKNNLite()
        lite.load_rknn(self.path("mark.rknn"))
        lite.init_runtime()
        # Nothing is registered in its place, so the standard operator runs.
        np.testing.assert_array_equal(result, lite.inference([self.picture])[0])
        Mark.op_type = "cstUnknown"
        other = RKNN()
        other.config(target_platform="rk3588")
        self.assertIn("cstUnknown", self.failing(lambda: other.reg_custom_op(Mark)))

    def test_attributes_of_every_kind(self):
        seen = {}

        class Attributes:
            op_type = "cstAttributes"

            def shape_infer(self, node, in_shapes, in_dtypes):
                for name in ("i", "f", "s", "ints", "floats", "strings", "t", "none"):
                    seen[name] = get_node_attr(node, name)
                seen["node"] = (node.name, node.op_type, list(node.input))
                return [[1, 10], [2]], [np.dtype("float32"), np.int64]

            def compute(self, node, inputs):
                return [inputs[0].astype("float64"), np.array([3, 4])]

        tensor = np.arange(6, dtype="int32").reshape(2, 3)
        rknn = self.build(self.digits_with("cstAttributes", ("a", "b"), i=7, f=0.5, s="text", ints=[1, 2],
                                           floats=[0.25, 2.0], strings=["p", "q"], t=tensor), Attributes)
        self.assertEqual((seen["i"], seen["f"], seen["s"], seen["ints"], seen["floats"], seen["strings"], seen["none"]),
                         (7, 0.5, "text", [1, 2], [0.25, 2.0], ["p", "q"], None))
        np.testing.assert_array_equal(seen["t"], np.arange(6).reshape(2, 3))
        self.assertEqual(seen["node"], ("last", "cstAttributes", ["logits"]))
        rknn.init_runtime()
        outputs = rknn.inference([self.picture])
        self.assertEqual([o.shape for o in outputs], [(1, 10), (2,)])
        np.testing.assert_array_equal(outputs[1], [3, 4])

    def test_failures_name_the_operator_and_the_reason(self):
        class Broken(Softmax):
            def compute(self, node, inputs):
                raise RuntimeError("no luck")

        class WrongShape(Softmax):
            def compute(self, node, inputs):
                return [np.zeros((3, 3))]

        class NoShape(Softmax):
            def shape_infer(self, node, in_shapes, in_dtypes):
                return None

        model = self.digits_with("cstSoftmax", axis=1)
        for operator, text in ((Broken, "no luck"), (WrongShape, "(3, 3)"), (NoShape, "out_shapes")):
            rknn = RKNN()
            rknn.config(target_platform="rk3588")
            rknn.reg_custom_op(operator)

            def convert():
                ret = rknn.load_onnx(model, outputs=self.outputs)
                return ret if ret != 0 else rknn.build(dataset=models.DIGITS_DATASET)

            message = self.failing(convert)
            self.assertIn("cstSoftmax", message)
            self.assertIn(text, message)
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        self.assertIn("cstSoftmax", self.failing(lambda: rknn.load_onnx(model, outputs=self.outputs)))

    def test_ctrl_c_inside_an_operator_reaches_the_caller(self):
        class Interrupted(Softmax):
            stop = False

            def compute(self, node, inputs):
                if Interrupted.stop:
                    raise KeyboardInterrupt
                return Softmax.compute(self, node, inputs)

        rknn = self.build(self.digits_with("cstSoftmax", axis=1), Interrupted, quantize=False)
        rknn.init_runtime()
        Interrupted.stop = True
        with self.assertRaises(KeyboardInterrupt):
            rknn.inference([self.picture])
        Interrupted.stop = False
        self.assertIsNotNone(rknn.inference([self.picture]))

    def test_calls_from_inside_an_operator_are_refused(self):
        found = []

        class Nested(Softmax):
            def compute(self, node, inputs):
                found.append(rknn.eval_memory(is_print=False))
                return Softmax.compute(self, node, inputs)

        rknn = self.build(self.digits_with("cstSoftmax", axis=1), Nested, quantize=False)
        rknn.init_runtime(eval_mem=True)
        with models.captured() as (_, err):
            rknn.inference([self.picture])
        self.assertEqual(found, [None])
        self.assertIn("callback", err.getvalue())


class Classes(unittest.TestCase):
    def test_what_is_no_operator_raises(self):
        class NoType:
            pass

        class OneFunction:
            op_type = "cstHalf"

            def compute(self, node, inputs):
                return inputs

        class TooFew:
            op_type = "cstNames"

            def shape_infer(self, node, shapes):
                return shapes, shapes

            def compute(self, node, inputs):
                return inputs

        for custom_op, text in ((NoType, "op_type"), (object(), "op_type"), (OneFunction, "shape_infer and compute"),
                                (TooFew, "in_shapes, in_dtypes")):
            with self.assertRaisesRegex(ValueError, text):
                RKNN().reg_custom_op(custom_op)

    def test_parameters_may_have_other_names(self):
        class OtherNames:
            op_type = "cstNames"

            def shape_infer(self, n, shapes, dtypes):
                return shapes, dtypes

            def compute(self, n, arrays, *more):
                return arrays

        self.assertEqual(RKNN().reg_custom_op(OtherNames()), 0)

    def test_get_node_attr_wants_a_node(self):
        with self.assertRaisesRegex(ValueError, "shape_infer"):
            get_node_attr(3, "axis")


if __name__ == "__main__":
    unittest.main()
