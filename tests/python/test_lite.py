# SPDX-License-Identifier: Apache-2.0
"""rknnlite.api.RKNNLite: the runtime library as programs on a board use it, private names included."""
import ctypes
import os
import subprocess
import sys
import tempfile
import unittest
from collections import OrderedDict

import numpy as np

import models
from rknn.api import RKNN
from rknnlite.api import RKNNLite
from rknnlite.api.rknn_runtime import RKNNInput, RKNNOutput


class Lite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "digits.rknn")
        cls.rknn = models.digits()
        assert cls.rknn.export_rknn(cls.path) == 0
        assert cls.rknn.init_runtime() == 0
        cls.pictures, _ = models.digit_pictures()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def lite(self, **options):
        lite = RKNNLite()
        self.addCleanup(lite.release)
        self.assertEqual(lite.load_rknn(self.path), 0)
        self.assertEqual(lite.init_runtime(**options), 0)
        return lite

    def test_gives_the_simulators_bytes(self):
        lite = self.lite(core_mask=RKNNLite.NPU_CORE_0_1_2)
        equal = sum(lite.inference(inputs=[p[np.newaxis]])[0].tobytes() ==
                    self.rknn.inference(inputs=[p[np.newaxis]])[0].tobytes() for p in self.pictures)
        self.assertTrue(models.figure("python: rknnlite = simulator, pictures", equal, "= 200", equal == 200))

    def c_api(self, runtime, picture):
        """The calls of a C program: one input, one output, memory of the library."""
        inputs = (RKNNInput * 1)(RKNNInput(0, picture.ctypes.data, picture.nbytes, 0, 3, 1))  # UINT8, NHWC
        self.assertEqual(runtime.lib.rknn_inputs_set(runtime.context, 1, inputs), 0)
        self.assertEqual(runtime.lib.rknn_run(runtime.context, None), 0)
        outputs = (RKNNOutput * 1)(RKNNOutput(want_float=1))
        self.assertEqual(runtime.lib.rknn_outputs_get(runtime.context, 1, outputs, None), 0)
        result = ctypes.string_at(outputs[0].buf, outputs[0].size)
        self.assertEqual(runtime.lib.rknn_outputs_release(runtime.context, 1, outputs), 0)
        return result

    def test_the_c_api_gives_the_simulators_bytes(self):
        runtime = self.lite().rknn_runtime
        equal = sum(self.c_api(runtime, np.ascontiguousarray(p)) ==
                    self.rknn.inference(inputs=[p[np.newaxis]])[0].tobytes() for p in self.pictures)
        self.assertTrue(models.figure("python: C API = simulator, pictures", equal, "= 200", equal == 200))

    def test_pass_through_takes_quantized_bytes(self):
        lite = self.lite()
        stored = np.random.RandomState(2).randint(-128, 128, (1, 28, 28, 1)).astype("int8")
        wanted = self.rknn.inference([stored], inputs_pass_through=[1])[0]
        self.assertEqual(lite.inference([stored], inputs_pass_through=[1])[0].tobytes(), wanted.tobytes())
        with models.captured():
            self.assertIsNone(lite.inference([stored], inputs_pass_through=[1, 0]))

    def test_row28_takes_any_dtype_and_nchw_by_shape(self):
        lite = self.lite()
        wanted = lite.inference([self.pictures[:1]])[0].tobytes()
        for dtype in ("int16", "int32", "int64", "uint16", "uint64", "float16", "float32", "float64", ">f4"):
            self.assertEqual(lite.inference([self.pictures[:1].astype(dtype)])[0].tobytes(), wanted, dtype)
        nchw = self.pictures[:1].transpose(0, 3, 1, 2)
        self.assertEqual(lite.inference([nchw])[0].tobytes(), wanted)
        self.assertEqual(lite.inference([nchw], data_format=["nchw"])[0].tobytes(), wanted)
        self.assertEqual(lite.inference([nchw], data_format="NCHW")[0].tobytes(), wanted)

    def test_row27_failures_return_none_or_minus_one(self):
        lite = RKNNLite()
        with models.captured() as (_, err):
            self.assertEqual(lite.init_runtime(), -1)
            self.assertIsNone(lite.inference([self.pictures[:1]]))
            self.assertIsNone(lite.get_sdk_version())
            self.assertEqual(lite.load_rknn("missing.rknn"), -1)
            self.assertEqual(lite.load_rknn(models.DIGITS_ONNX), 0)
            self.assertEqual(lite.init_runtime(), -1)
            self.assertIsNone(lite.list_support_target_platform("missing.rknn"))
            self.assertIsNone(lite.list_support_target_platform(models.DIGITS_ONNX))
        self.assertIn("E Catch exception when init runtime!", err.getvalue())
        self.assertIn("RKNN_ERR_MODEL_INVALID", err.getvalue())
        lite = self.lite()
        for inputs in ([self.pictures[0][:, :, 0]], [], [self.pictures[:2]], None, [self.pictures[:1].astype("complex64")]):
            with models.captured() as (_, err):
                self.assertIsNone(lite.inference(inputs))
            self.assertIn("E ", err.getvalue())

    def test_row26_private_names_that_programs_use(self):
        lite = self.lite()
        runtime = lite.rknn_runtime
        self.assertEqual(tuple(runtime.get_in_out_num()), (1, 1))
        self.assertEqual(runtime.get_tensor_attr(0).name, b"image")
        self.assertEqual(runtime.get_tensor_attr(0, True).name, b"logits")
        self.assertFalse(runtime.is_dynamic_shape)
        lite.rknn_log.logger.setLevel("ERROR")
        wanted = lite.inference([self.pictures[:1]])[0]
        runtime.set_inputs([self.pictures[:1]])
        runtime.run()
        outputs = (RKNNOutput * 1)()
        outputs[0].want_float = 1
        self.assertEqual(runtime.lib.rknn_outputs_get(runtime.context, 1, outputs, None), 0)
        result = np.ctypeslib.as_array(ctypes.cast(outputs[0].buf, ctypes.POINTER(ctypes.c_float)), (1, 10)).copy()
        self.assertEqual(runtime.lib.rknn_outputs_release(runtime.context, 1, outputs), 0)
        self.assertEqual(result.tobytes(), wanted.tobytes())

    def test_several_shapes_in_one_model(self):
        rknn = RKNN()
        sizes = (160, 320, 192)
        rknn.config(std_values=[[255, 255, 255]], target_platform="rk3588",
                    dynamic_input=[[[1, 3, size, size]] for size in sizes])
        self.assertEqual(rknn.load_onnx(os.path.join(models.SIGNS, "signs.onnx")), 0)
        self.assertEqual(rknn.build(do_quantization=False), 0)
        path = os.path.join(self.folder.name, "shapes.rknn")
        self.assertEqual(rknn.export_rknn(path), 0)
        self.assertEqual(rknn.init_runtime(), 0)
        lite = RKNNLite()
        self.addCleanup(lite.release)
        self.assertEqual((lite.load_rknn(path), lite.init_runtime()), (0, 0))
        self.assertTrue(lite.rknn_runtime.is_dynamic_shape)
        for size in sizes + (160,):
            picture = np.random.RandomState(size).randint(0, 256, (1, size, size, 3)).astype("uint8")
            found, wanted = lite.inference([picture]), rknn.inference([picture])
            self.assertEqual([o.shape for o in found], [(1, 39, size // s, size // s) for s in (8, 16, 32)])
            self.assertEqual([o.tobytes() for o in found], [o.tobytes() for o in wanted])
            nchw = lite.inference([picture.transpose(0, 3, 1, 2)], data_format="nchw")
            self.assertEqual([o.tobytes() for o in nchw], [o.tobytes() for o in wanted])
        with models.captured() as (_, err):
            self.assertIsNone(lite.inference([np.zeros((1, 64, 64, 3), "uint8")]))
            self.assertIsNone(rknn.inference([np.zeros((1, 64, 64, 3), "uint8")]))
        self.assertIn("the model takes one of", err.getvalue())

    def test_the_vendors_keywords_and_their_order(self):
        lite = self.lite()
        wanted = lite.inference([self.pictures[:1]])[0].tobytes()
        found = lite.inference(inputs=[self.pictures[:1].astype("int64")], data_type=["uint8"], data_format=["nhwc"],
                               inputs_pass_through=[0], get_frame_id=True)
        self.assertEqual((len(found), found[0].tobytes()), (2, wanted))
        frame = found[1]
        self.assertEqual(lite.inference([self.pictures[:1]], "uint8", "nhwc", None, True)[1], frame + 1)
        for wrong in ("uint9", ["uint8", "uint8"], ["complex64"]):
            with models.captured() as (_, err):
                self.assertIsNone(lite.inference([self.pictures[:1]], data_type=wrong))
            self.assertIn("data_type", err.getvalue())
            self.assertNotIn("Traceback", err.getvalue())

    def test_a_picture_without_its_batch_axis_is_taken_with_one_warning(self):
        lite = self.lite()
        wanted = lite.inference([self.pictures[:1]])[0].tobytes()
        with models.captured() as (_, err):
            for picture in (self.pictures[0], self.pictures[0].transpose(2, 0, 1), self.pictures[0]):
                self.assertEqual(lite.inference([picture])[0].tobytes(), wanted)
        self.assertEqual(err.getvalue().count("a batch of 1 is assumed"), 1)

    def test_a_verbose_object_logs_layers_also_into_its_file(self):
        script = ("import sys, numpy\n"
                  "from rknnlite.api import RKNNLite\n"
                  "for options in ({}, {'verbose': True, 'verbose_file': sys.argv[2]}):\n"
                  "    lite = RKNNLite(**options)\n"
                  "    assert lite.load_rknn(sys.argv[1]) == 0 and lite.init_runtime() == 0\n"
                  "    assert lite.inference([numpy.zeros((1, 28, 28, 1), 'uint8')]) is not None\n"
                  "    sys.stderr.write('next\\n')\n")
        file = os.path.join(self.folder.name, "verbose.log")
        result = subprocess.run([sys.executable, "-c", script, self.path, file], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        quiet, loud = result.stderr.split("next\n")[:2]
        self.assertNotIn("Network Layer Information Table", quiet)
        self.assertIn("Network Layer Information Table", loud)
        with open(file) as text:
            self.assertIn("Network Layer Information Table", text.read())

    def test_a_with_statement_releases(self):
        with RKNNLite() as lite:
            self.assertEqual((lite.load_rknn(self.path), lite.init_runtime()), (0, 0))
        self.assertIsNone(lite.rknn_runtime)

    def test_versions_and_platforms(self):
        lite = self.lite()
        with models.captured() as (out, _):
            self.assertIn("API: 2.3.2", lite.get_sdk_version())
            self.assertEqual(lite.list_support_target_platform(self.path),
                             OrderedDict([("filled_target_platform", ["rk3588"]),
                                          ("support_target_platform", ["RK3588", "RK3588S"])]))
            self.assertIn("Target platforms filled in RKNN model:         ['rk3588']", out.getvalue())
            # The two tables of chips are one.
            self.assertEqual(lite.list_support_target_platform(), RKNN().list_support_target_platform())
            self.assertEqual(lite.list_support_target_platform(self.path),
                             RKNN().list_support_target_platform(self.path))


if __name__ == "__main__":
    unittest.main()
