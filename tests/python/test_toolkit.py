# SPDX-License-Identifier: Apache-2.0
"""rknn.api.RKNN as the vendor's scripts use it."""
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import models
from rknn.api import RKNN


class Conversion(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_quantized_classifier_is_as_accurate_as_the_float_one(self):
        rknn = models.digits()
        self.assertEqual(rknn.export_rknn(self.path("digits.rknn")), 0)
        self.assertEqual(rknn.init_runtime(), 0)
        pictures, labels = models.digit_pictures()
        right = 0
        for picture, label in zip(pictures, labels):
            outputs = rknn.inference(inputs=[picture[np.newaxis]], data_format=["nhwc"])
            self.assertEqual((len(outputs), outputs[0].dtype, outputs[0].shape), (1, np.float32, (1, 10)))
            right += int(outputs[0].argmax() == label)
        rknn.release()
        self.assertTrue(models.figure("python: digits int8, right of 200", right, ">= 184", right >= 184))

    def test_float_model_agrees_with_onnx_runtime(self):
        rknn = models.digits(quantize=False)
        self.assertEqual(rknn.init_runtime(), 0)
        for i in range(2):
            picture = np.load(os.path.join(models.DIGITS, "golden", "%d_image.npy" % i))
            golden = np.load(os.path.join(models.DIGITS, "golden", "%d_logits.npy" % i))
            result = rknn.inference([picture])
            self.assertGreater(models.cosine(result[0], golden), 0.9999)

    def test_detector_with_three_heads(self):
        rknn = RKNN(verbose=False)
        rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform="rk3566",
                    custom_string="three heads")
        self.assertEqual(rknn.load_onnx(os.path.join(models.SIGNS, "signs.onnx")), 0)
        self.assertEqual(rknn.build(do_quantization=True, dataset=os.path.join(models.SIGNS, "dataset.txt")), 0)
        self.assertEqual(rknn.init_runtime(target="rk3566"), 0)
        noise = np.random.RandomState(7).randint(0, 256, (1, 320, 320, 3)).astype("uint8")
        outputs = rknn.inference(inputs=[noise])
        self.assertEqual([o.shape for o in outputs], [(1, 39, 40, 40), (1, 39, 20, 20), (1, 39, 10, 10)])
        # The same picture in another order and type is the same picture.
        again = rknn.inference(inputs=[noise.transpose(0, 3, 1, 2).astype("float32")], data_format=["nchw"])
        for a, b in zip(outputs, again):
            self.assertEqual(a.tobytes(), b.tobytes())

    def test_outputs_cut_the_graph_and_wrong_names_are_told(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        with models.captured() as (_, err):
            self.assertEqual(rknn.load_onnx(models.DIGITS_ONNX, outputs=["nowhere"]), -1)
        self.assertIn("E load_onnx: ", err.getvalue())
        self.assertIn("nowhere", err.getvalue())

    def test_inputs_become_constants(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        value = np.zeros((1, 1, 28, 28), "float32")
        with models.captured() as (_, err):
            self.assertIn(rknn.load_onnx(models.DIGITS_ONNX, input_initial_val=[value]), (0, -1))
            self.assertEqual(rknn.load_onnx(models.DIGITS_ONNX, input_initial_val=[None]), 0, err.getvalue())

    def test_exported_file_runs_in_the_simulator(self):
        rknn = models.digits()
        path = self.path("digits.rknn")
        self.assertEqual(rknn.export(path), 0)
        rknn.init_runtime()
        pictures, _ = models.digit_pictures()
        wanted = rknn.inference([pictures[:1]])[0]
        loaded = RKNN()
        self.assertEqual(loaded.load_rknn(path), 0)
        self.assertEqual(loaded.init_runtime(), 0)
        self.assertEqual(loaded.inference([pictures[:1]])[0].tobytes(), wanted.tobytes())

    def test_unset_platform_is_rk3566_and_said_so(self):
        rknn = RKNN()
        with models.captured() as (_, err):
            self.assertEqual(rknn.config(), 0)
        self.assertRegex(err.getvalue(), r"(?m)^W config: .*rk3566")

    def test_bars_on_a_terminal_and_silence_in_a_pipe(self):
        with models.captured() as (_, err):
            err.isatty = lambda: True
            models.digits()
        self.assertRegex(err.getvalue(), r"I Loading: \|#+\| 1/1\n")
        self.assertRegex(err.getvalue(), r"\rI Quantizating: \|#+\| (\d+)/\1\n")
        with models.captured() as (_, err):
            models.digits()
        self.assertNotIn("|", err.getvalue())

    def test_flat_means_and_numpy_numbers_and_upper_case(self):
        RKNN().config(mean_values=np.array([1, 2, 3]), std_values=(np.float32(1.5),), target_platform="RK3588")

    def test_verbose_file_gets_the_lines(self):
        path = self.path("log.txt")
        with models.captured():
            rknn = RKNN(verbose=True, verbose_file=path)
            rknn.config()
        with open(path) as file:
            text = file.read()
        self.assertIn("I __init__: rknn-toolkit2 version: ", text)
        self.assertIn("W config: ", text)

    def test_rknn_convert_reads_the_yml(self):
        from rknn.api import rknn_convert
        with open(self.path("digits.yml"), "w") as file:
            file.write("models:\n  name: digits\n  platform: onnx\n  model_file_path: %s\n  quantize: true\n"
                       "  dataset: %s\n  configs:\n    quantized_dtype: asymmetric_quantized-8\n"
                       "    mean_values: [127.5]\n    std_values: [64]\n    quant_img_RGB2BGR: false\n"
                       % (os.path.abspath(models.DIGITS_ONNX), os.path.abspath(models.DIGITS_DATASET)))
        with models.captured() as (out, _):
            self.assertEqual(rknn_convert.main(["-i", self.path("digits.yml"), "-o", self.path("out"), "-t", "rk3588",
                                                "-e"]), 0)
        self.assertTrue(os.path.exists(self.path("out/digits.rknn")))
        self.assertIn("Network Layer Information Table", out.getvalue())
        # -d is a board of the chip that the yml file names, also without -t.
        with open(self.path("digits.yml"), "a") as file:
            file.write("    target_platform: rk3588\n")
        picture = os.path.abspath(os.path.join(models.DIGITS, "calib_png", "000.png"))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)  # the analysis is written where it is started
        with models.captured() as (out, _):
            self.assertEqual(rknn_convert.main(["-i", "digits.yml", "-o", "out", "-d", "-a", picture]), 0)
        self.assertIn("runtime_error", out.getvalue())
        with open(self.path("wrong.yml"), "w") as file:
            file.write("models:\n  model_file_path: x.onnx\n  configs:\n    mean_value: [1]\n")
        with models.captured() as (_, err):
            self.assertEqual(rknn_convert.main(["-i", self.path("wrong.yml")]), 1)
        self.assertIn("did you mean 'mean_values'", err.getvalue())
        with models.captured() as (_, err):
            self.assertEqual(rknn_convert.main(["-i", self.path("missing.yml")]), 1)
        self.assertIn("missing.yml", err.getvalue())

    def test_a_frozen_tensorflow_graph_runs_in_float_and_with_its_own_ranges(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "frontends")
        sys.path[:0] = [folder, os.path.join(folder, "tensorflow")]
        import formulas
        from writer import Net
        del sys.path[:2]
        rng = np.random.RandomState(3)
        x, w = rng.uniform(-1, 1, (1, 6, 7, 3)).astype("float32"), rng.uniform(-1, 1, (3, 3, 3, 8)).astype("float32")
        expected = np.maximum(formulas.conv(x, w.transpose(3, 0, 1, 2), 0), 0)
        for ranges in (False, True):
            net = Net()

            def ranged(name, of, low, high):
                if not ranges:
                    return of
                return net.node("FakeQuantWithMinMaxArgs", name, [of], min=low, max=high, num_bits=8)

            picture = ranged("xq", net.input("x", x, shape=(-1, 6, 7, 3)), -1.0, 1.0)
            filters = ranged("wq", net.constant("w", w), -1.0, 1.0)
            conv = net.node("Conv2D", "conv", [picture, filters], padding="SAME", strides=[1, 1, 1, 1])
            ranged("y", net.node("Relu", "relu", [conv]), 0.0, 8.0)
            with open(self.path("net.pb"), "wb") as file:
                file.write(net.bytes())
            rknn = RKNN()
            rknn.config(target_platform="rk3588")
            outputs = ["y" if ranges else "relu"]
            self.assertEqual(rknn.load_tensorflow(self.path("net.pb"), ["x"], [[1, 6, 7, 3]], outputs), 0)
            self.assertEqual(rknn.build(do_quantization=False), 0)
            self.assertEqual(rknn.init_runtime(), 0)
            result = rknn.inference([x], data_format=["nhwc"])[0]
            self.assertEqual(result.shape, (1, 6, 7, 8))
            # Steps of 2 / 255 in 27 products and of 8 / 255 in the result, or float16.
            self.assertLess(np.abs(result - expected).max(), 0.08 if ranges else 0.01)
            steps = result / (8 / 255)
            self.assertEqual(bool(np.abs(steps - np.rint(steps)).max() < 1e-3), ranges)
            rknn.release()


class OnnxEdit(unittest.TestCase):
    def test_edited_model_computes_the_same_in_another_shape(self):
        from rknn.utils import onnx_edit
        with tempfile.TemporaryDirectory() as folder:
            edited = os.path.join(folder, "edited.onnx")
            pictures, _ = models.digit_pictures()
            array = np.random.RandomState(3).rand(1, 1, 28, 28).astype("float32")
            np.save(os.path.join(folder, "a.npy"), array)
            with open(os.path.join(folder, "data.txt"), "w") as file:
                file.write("a.npy\n")
            self.assertEqual(onnx_edit(model=models.DIGITS_ONNX, export_path=edited,
                                       inputs_transform={"image": "n,c,hk,w[h=4]->nw,c,h,k"},
                                       outputs_transform={"logits": "a,bc[b=2]->c,a,1,b"},
                                       dataset=os.path.join(folder, "data.txt")), 0)
            results = []
            for path in (models.DIGITS_ONNX, edited):
                rknn = RKNN()
                rknn.config(target_platform="rk3588")
                self.assertEqual(rknn.load_onnx(path), 0)
                self.assertEqual(rknn.build(do_quantization=False), 0)
                self.assertEqual(rknn.init_runtime(), 0)
                results.append(rknn)
            turned = array.reshape(1, 1, 4, 7, 28).transpose(0, 4, 1, 2, 3).reshape(28, 1, 4, 7)
            wanted = results[0].inference([array], data_format="nchw")[0]
            found = results[1].inference([turned], data_format="nchw")[0]
            self.assertEqual(found.shape, (5, 1, 1, 2))
            np.testing.assert_allclose(found.reshape(5, 2), wanted.reshape(2, 5).T, rtol=2e-3, atol=2e-3)
            with open(os.path.join(folder, "dataset_for_edited.txt")) as file:
                name = file.read().strip()
            self.assertEqual(np.load(os.path.join(folder, name)).tobytes(), turned.tobytes())

    def test_pictures_of_a_dataset_become_arrays_of_the_edited_input(self):
        from rknn.utils import onnx_edit
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(models.DIGITS, "calib_png", sorted(os.listdir(os.path.join(models.DIGITS, "calib_png")))[0])
            with open(os.path.join(folder, "data.txt"), "w") as file:
                file.write(picture + "\n")
            edited = os.path.join(folder, "edited.onnx")
            self.assertEqual(onnx_edit(model=models.DIGITS_ONNX, export_path=edited,
                                       inputs_transform={"image": "n,c,h,w->n,h,w,c"},
                                       dataset=os.path.join(folder, "data.txt")), 0)
            with open(os.path.join(folder, "dataset_for_edited.txt")) as file:
                array = np.load(os.path.join(folder, file.read().strip()))
            # Every pixel of a gray PNG of 28 x 28 is an array element, unscaled.
            self.assertEqual(array.shape, (1, 28, 28, 1))
            wanted = models.gray_png(picture)
            np.testing.assert_array_equal(array.reshape(28, 28), wanted)

    def test_wrong_formulas_and_names_raise(self):
        from rknn.utils import onnx_edit
        for transforms in ({"inputs_transform": {"image": "a,b"}}, {"inputs_transform": {"imag": "a,b,c,d->a,b,d,c"}},
                           {"outputs_transform": {"logits": "a,bc[b=3]->a,b,c"}}):
            with self.assertRaises(ValueError):
                onnx_edit(models.DIGITS_ONNX, "/nowhere/x.onnx", **transforms)
        with models.captured() as (_, err):
            self.assertEqual(onnx_edit("missing.onnx", "/nowhere/x.onnx"), -1)
        self.assertIn("E onnx_edit: ", err.getvalue())


class Mistakes(unittest.TestCase):
    def refused(self, text, **config):
        with self.assertRaisesRegex(ValueError, text):
            RKNN().config(**config)

    def test_config_names_the_accepted_values(self):
        self.refused(r"Invalid quantized_dtype 'float16', expect in \['w8a8', 'w8a16', 'w16a16i', 'w16a16i_dfp', "
                     r"'w4a16'\]!", quantized_dtype="float16", target_platform="rk3588")
        self.refused(r"Invalid quantized_algorithm 'best', expect in \['normal', 'mmse', 'kl_divergence', 'percentile'\]!",
                     quantized_algorithm="best", target_platform="rk3588")
        self.refused("Invalid optimization_level 4", optimization_level=4, target_platform="rk3588")
        self.refused("Invalid float_dtype 'bfloat16'", float_dtype="bfloat16", target_platform="rk3588")
        self.refused("rk3588", target_platform="rk9999")
        self.refused("std_values holds 0", std_values=[[0]], target_platform="rk3588")
        self.refused("Invalid mean_values", mean_values="abc", target_platform="rk3588")
        self.refused("Invalid remove_reshape", remove_reshape="yes", target_platform="rk3588")
        self.refused("op_target", op_target={"Conv": "tpu"}, target_platform="rk3588")

    def test_misspelt_parameters_are_told_the_right_name(self):
        with self.assertRaisesRegex(ValueError, "quantied_method.*did you mean 'quantized_method'"):
            RKNN().config(quantied_method="layer")
        with self.assertRaisesRegex(TypeError, "out_dir.*did you mean 'output_dir'"):
            RKNN().accuracy_analysis(inputs=[], out_dir="x")
        with self.assertRaisesRegex(TypeError, "unexpected keyword"):
            RKNN().build(zzz=1)

    def failing(self, method, call):
        with models.captured() as (_, err):
            self.assertEqual(call(), -1)
        self.assertRegex(err.getvalue(), "(?m)^E %s: ." % method)
        return err.getvalue()

    def test_methods_out_of_order_say_what_comes_first(self):
        rknn = RKNN()
        self.assertIn("config()", self.failing("load_onnx", lambda: rknn.load_onnx(models.DIGITS_ONNX)))
        self.assertIn("load a model", self.failing("build", lambda: rknn.build()))
        self.assertIn("build the model", self.failing("export_rknn", lambda: rknn.export_rknn("/nowhere/x.rknn")))
        self.assertIn("build()", self.failing("init_runtime", lambda: rknn.init_runtime()))
        with models.captured() as (_, err):
            self.assertIsNone(rknn.inference([np.zeros(1)]))
            self.assertIsNone(rknn.eval_perf())
            self.assertIsNone(rknn.eval_memory())
            self.assertIsNone(rknn.get_sdk_version())
        self.assertIn("init_runtime() first", err.getvalue())

    def test_lists_for_a_board_need_the_weights(self):
        rknn = models.digits(remove_weight=True)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.rknn")
            self.assertIn("remove_weight", self.failing("export_rknn", lambda: rknn.export_rknn(path, for_board=True)))
            self.assertFalse(os.path.exists(path))

    def test_weights_for_a_board_are_coded_where_that_is_asked_for(self):
        sizes = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.rknn")
            for coded in (False, True):
                rknn = models.digits(target_platform="rk3562", compress_weight=coded)
                self.assertEqual(rknn.export_rknn(path, for_board=True), 0)
                sizes.append(os.path.getsize(path))
            self.assertEqual(RKNN().load_rknn(path), 0)
        self.assertLess(sizes[1], sizes[0])

    def test_files_that_are_not_there(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        self.assertIn("missing.onnx", self.failing("load_onnx", lambda: rknn.load_onnx("missing.onnx")))
        self.assertIn("missing.rknn", self.failing("load_rknn", lambda: rknn.load_rknn("missing.rknn")))
        rknn.load_onnx(models.DIGITS_ONNX)
        self.assertIn("missing.txt", self.failing("build", lambda: rknn.build(dataset="missing.txt")))
        self.assertIn("dataset", self.failing("build", lambda: rknn.build()))
        self.failing("load_rknn", lambda: rknn.load_rknn(models.DIGITS_ONNX))

    def test_wrong_mean_length_is_found_at_load(self):
        rknn = RKNN()
        rknn.config(mean_values=[[1, 2, 3]], target_platform="rk3588")
        self.assertIn("mean_values", self.failing("load_onnx", lambda: rknn.load_onnx(models.DIGITS_ONNX)))

    def test_a_picture_without_its_batch_axis_is_taken_with_one_warning(self):
        rknn = models.digits()
        rknn.init_runtime()
        pictures, _ = models.digit_pictures()
        wanted = rknn.inference([pictures[:1]])[0].tobytes()
        with models.captured() as (_, err):
            for picture, options in ((pictures[0], {}), (pictures[0].transpose(2, 0, 1), {"data_format": "nchw"})):
                self.assertEqual(rknn.inference([picture], **options)[0].tobytes(), wanted)
        self.assertEqual(err.getvalue().count("a batch of 1 is assumed"), 1)

    def test_accuracy_analysis_takes_any_listed_shape(self):
        rknn = RKNN()
        rknn.config(std_values=[[255, 255, 255]], target_platform="rk3588",
                    dynamic_input=[[[1, 3, 160, 160]], [[1, 3, 192, 192]]])
        self.assertEqual(rknn.load_onnx(os.path.join(models.SIGNS, "signs.onnx")), 0)
        self.assertEqual(rknn.build(do_quantization=False), 0)
        with tempfile.TemporaryDirectory() as folder:
            for size, ret in ((160, 0), (192, 0), (128, -1)):
                path = os.path.join(folder, "%d.npy" % size)
                np.save(path, np.random.RandomState(1).randint(0, 256, (1, size, size, 3)).astype("uint8"))
                with models.captured() as (out, _):
                    self.assertEqual(rknn.accuracy_analysis([path], output_dir=folder), ret, size)
                if ret == 0:
                    golden = os.path.join(folder, "golden")
                    stem = sorted(n[:-4] for n in os.listdir(golden) if n.endswith(".npy"))[0]
                    text = np.loadtxt(os.path.join(golden, stem + ".txt"), dtype="float32", ndmin=1)
                    self.assertEqual(text.tobytes(), np.load(os.path.join(golden, stem + ".npy")).tobytes())

    def test_get_frame_id_counts(self):
        with models.digits() as rknn:
            rknn.init_runtime()
            pictures, _ = models.digit_pictures()
            self.assertEqual([rknn.inference([pictures[:1]], get_frame_id=True)[1] for _ in range(3)], [1, 2, 3])
        with models.captured() as (_, err):
            self.assertIsNone(rknn.inference([pictures[:1]]))
        self.assertIn("released", err.getvalue())

    def test_the_core_mask_shows_in_the_table(self):
        rknn = models.digits()
        for mask, text in ((RKNN.NPU_CORE_0, "100.0%/0.0%/0.0%"), (RKNN.NPU_CORE_2, "0.0%/0.0%/100.0%"),
                           (RKNN.NPU_CORE_0_1, "50.0%/50.0%/0.0%")):
            self.assertEqual(rknn.init_runtime(target="rk3588", core_mask=mask, perf_debug=True), 0)
            table = rknn.eval_perf(is_print=False)
            self.assertIn(text, table, mask)
        self.assertIn("UINT8", table)

    def test_eval_perf_of_a_model_with_several_shapes(self):
        rknn = RKNN()
        rknn.config(std_values=[[255, 255, 255]], target_platform="rk3588",
                    dynamic_input=[[[1, 3, 64, 64]], [[1, 3, 96, 96]]])
        self.assertEqual(rknn.load_onnx(os.path.join(models.SIGNS, "signs.onnx")), 0)
        self.assertEqual(rknn.build(do_quantization=False), 0)
        self.assertEqual(rknn.init_runtime(perf_debug=True), 0)
        rknn.inference([np.zeros((1, 64, 64, 3), "uint8")])
        largest = rknn.eval_perf(is_print=False)
        self.assertIn("(1,3,96,96)", largest)  # MaxShape, whatever ran last
        self.assertNotIn("(1,3,64,64)", largest)
        self.assertEqual(rknn.eval_perf(is_print=False, shape=[[1, 3, 96, 96]]), largest)
        smaller = rknn.eval_perf(is_print=False, shape=[1, 3, 64, 64])
        self.assertIn("(1,3,64,64)", smaller)
        self.assertNotIn("(1,3,96,96)", smaller)
        with models.captured() as (_, err):
            self.assertIsNone(rknn.eval_perf(shape=[1, 3, 80, 80]))
        self.assertRegex(err.getvalue(), r"no inputs of shape \[1, ?3, ?80, ?80\].*64, ?64")
        self.assertEqual(rknn.inference([np.zeros((1, 64, 64, 3), "uint8")])[0].shape, (1, 39, 8, 8))

    def test_eval_perf_says_what_bounds_a_layer_and_what_to_change(self):
        rknn = RKNN(verbose=True)
        with tempfile.TemporaryDirectory() as folder:
            models.digits().export_rknn(os.path.join(folder, "digits.rknn"))
            rknn.load_rknn(os.path.join(folder, "digits.rknn"))
        rknn.init_runtime(perf_debug=True)
        with models.captured() as (out, err):
            report = rknn.eval_perf(is_print=False, fix_freq=False)
        self.assertNotIn("Network Layer", out.getvalue())
        self.assertIn("fix_freq off", err.getvalue() + out.getvalue())
        header = next(line for line in report.split("\n") if line.startswith("ID"))
        self.assertRegex(header, r"FullName\s+Bound\s+Advice")
        self.assertRegex(report, r"Conv:\S+\s+(MAC|DDR)\s+\S.*\(-\d+ us\)")

    def test_the_wrong_board_is_blamed_on_who_named_it(self):
        rknn = models.digits()
        with models.captured() as (_, err):
            self.assertEqual(rknn.init_runtime(target="rk3576"), -1)
        self.assertIn("init_runtime(target=) says rk3576", err.getvalue())
        self.assertNotIn("RKNN_TARGET", err.getvalue())

    def test_wrong_arrays_give_none_and_a_reason(self):
        rknn = models.digits(quantize=False)
        rknn.init_runtime()
        for inputs, options, text in (
                ([np.zeros((27, 28, 1), "uint8")], {}, "batch dimension"),
                ([np.zeros((1, 1, 28, 28), "uint8")], {}, "data_format"),
                ([np.zeros((1, 28, 28, 1), "uint8")] * 2, {}, "2 array"),
                ([], {}, "0 array"),
                ([np.zeros((1, 28, 28, 1), "complex64")], {}, "complex64"),
                ([np.zeros((1, 28, 28, 1), "uint8")], {"data_format": ["chwn"]}, "chwn"),
                ([np.zeros((1, 28, 28, 1), "uint8")], {"data_format": ["nhwc", "nhwc"]}, "2 entries"),
                ([np.zeros((1, 28, 28, 1), "uint8")], {"inputs_pass_through": [1, 0]}, "2 entries"),
                ([np.zeros((1, 28, 28, 1), "uint8")], {"inputs_pass_through": [1]}, "input size"),
                (None, {}, "")):
            with models.captured() as (_, err):
                self.assertIsNone(rknn.inference(inputs, **options))
            self.assertIn("E inference: ", err.getvalue())
            self.assertIn(text, err.getvalue())

    def test_loading_checks_its_arguments_and_refuses_what_is_no_model(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        here = os.path.abspath(__file__)
        for method, good, bad in (
                ("load_tflite", (here,), ("missing",)),
                ("load_caffe", (here, here), (here, "missing")),
                ("load_darknet", (here, here), ("missing", here)),
                ("load_pytorch", (here, [[1, 3, 8, 8]]), ("missing", [[1]])),
                ("load_tensorflow", (here, ["x"], [[1, 8, 8, 3]], ["y"]), ("missing", [], [], [])),
                ("load_onnx", (here,), ("missing",)),
                ("export_encrypted_rknn_model", (here,), ("missing",))):
            self.failing(method, lambda: getattr(rknn, method)(*good))
            self.assertIn("missing", self.failing(method, lambda: getattr(rknn, method)(*bad)))
        for method in ("load_tflite", "load_tensorflow", "load_pytorch"):
            more = {"load_tflite": (), "load_tensorflow": (["x"], [[1]], ["y"]), "load_pytorch": ([[1]],)}[method]
            self.assertIn("it is an ONNX model; use load_onnx",
                          self.failing(method, lambda: getattr(rknn, method)(models.DIGITS_ONNX, *more)))

    def test_input_size_list_is_a_list_of_lists(self):
        rknn = RKNN()
        here = os.path.abspath(__file__)
        for call in (lambda: rknn.load_pytorch(here, [1, 3, 8, 8]),
                     lambda: rknn.load_pytorch(here, None),
                     lambda: rknn.load_tensorflow(here, ["x"], [1, 8, 8, 3], ["y"]),
                     lambda: rknn.load_tensorflow(here, ["x", "z"], [[1, 8, 8, 3]], ["y"])):
            with self.assertRaisesRegex(ValueError, r"one list per input, as in input_size_list=\[\["):
                call()

    def test_input_size_list_of_another_length_than_the_torchscript_model_has_inputs(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        # What the helper program says of a module that returns its input: no libtorch is needed to read it.
        name = struct.pack("<II1sI6s", 1, 1, b"x", 6, b"Tensor")
        answer = b"RKTORCH1" + struct.pack("<I", 1) + name + struct.pack("<BIII", 0, 0, 1, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "identity.pt")
            with open(path, "wb") as file:
                file.write(answer)
            with self.assertRaisesRegex(ValueError, r"2 entries, but there are 1 inputs: 'x'; give one list per input"):
                rknn.load_pytorch(path, [[1, 3], [1, 3]])
            self.assertEqual(rknn.load_pytorch(path, [[1, 3]]), 0)

    def test_a_number_that_a_torchscript_model_takes_is_given_by_value(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588")
        # forward(x, n: int): x * n
        names = struct.pack("<II1sI6sBII1sI3sB", 1, 1, b"x", 6, b"Tensor", 0, 2, 1, b"n", 3, b"int", 0)
        node = struct.pack("<I9sIIIIIII1sI6sBI", 9, b"aten::mul", 0, 2, 1, 2, 1, 3, 1, b"y", 6, b"Tensor", 0, 0)
        answer = b"RKTORCH1" + struct.pack("<I", 2) + names + struct.pack("<I", 1) + node + struct.pack("<II", 1, 3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "times.pt")
            with open(path, "wb") as file:
                file.write(answer)
            self.assertIn("forward() takes 'n' of type int", self.failing("load_pytorch", lambda: rknn.load_pytorch(path, [[1, 3]])))
            self.assertEqual(rknn.load_pytorch(path, [[1, 3], []], input_initial_val=[None, np.array(3)]), 0)
        self.assertEqual((rknn.build(do_quantization=False), rknn.init_runtime()), (0, 0))
        out = rknn.inference([np.array([[1, 2, 4]], np.float32)])[0]
        self.assertEqual(out.tolist(), [[3, 6, 12]])

    def test_an_encrypted_model_runs_like_the_plain_one(self):
        rknn = RKNN()
        here = os.path.abspath(__file__)
        with self.assertRaisesRegex(ValueError, "crypt_level"):
            rknn.export_encrypted_rknn_model(here, crypt_level=4)
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "digits.rknn")
            rknn.config(target_platform="rk3588")
            self.assertEqual(rknn.load_onnx(models.DIGITS_ONNX), 0)
            self.assertEqual(rknn.build(do_quantization=False), 0)
            self.assertEqual(rknn.export_rknn(plain), 0)
            self.assertEqual(RKNN().export_encrypted_rknn_model(plain), 0)
            results = []
            for path in (plain, os.path.join(folder, "digits.crypt.rknn")):
                loaded = RKNN()
                self.assertEqual(loaded.load_rknn(path), 0)
                self.assertEqual(loaded.init_runtime(target="rk3588"), 0)
                picture = np.load(os.path.join(models.DIGITS, "golden", "0_image.npy"))
                results.append(loaded.inference([picture]))
            np.testing.assert_array_equal(results[0][0], results[1][0])
            with open(os.path.join(folder, "digits.crypt.rknn"), "rb") as file:
                self.assertNotIn(b"onnx", file.read())

    def test_accuracy_analysis_says_what_it_needs(self):
        rknn = RKNN()
        here = os.path.abspath(__file__)
        self.assertIn("build", self.failing("accuracy_analysis", lambda: rknn.accuracy_analysis([here])))
        rknn = models.digits()
        self.assertIn("missing.png", self.failing("accuracy_analysis",
                                                  lambda: rknn.accuracy_analysis(["missing.png"], output_dir=None)))
        self.assertIn("1 input", self.failing("accuracy_analysis",
                                              lambda: rknn.accuracy_analysis([], output_dir=None)))

    def test_hybrid_steps_check_their_files(self):
        rknn = RKNN()
        self.assertIn("load", self.failing("hybrid_quantization_step1",
                                           lambda: rknn.hybrid_quantization_step1(dataset="missing")))
        self.assertIn("missing", self.failing("hybrid_quantization_step2",
                                              lambda: rknn.hybrid_quantization_step2("missing", "missing", "missing")))
        rknn.config(target_platform="rk3588")
        rknn.load_onnx(models.DIGITS_ONNX)
        self.assertIn("missing", self.failing("hybrid_quantization_step1",
                                              lambda: rknn.hybrid_quantization_step1(dataset="missing")))
        self.assertIn("custom_hybrid", self.failing("hybrid_quantization_step1",
                                                    lambda: rknn.hybrid_quantization_step1(
                                                        dataset=models.DIGITS_DATASET, custom_hybrid=[["a"]])))

    def test_custom_operators_need_a_type(self):
        with self.assertRaisesRegex(ValueError, "op_type"):
            RKNN().reg_custom_op(object())

    def test_options_that_make_another_model_stop_at_load(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588", dynamic_input=[[[1, 1, 28, 28]], [[1, 1, 56, 56]]])
        self.assertIn("dynamic_input", self.failing("load_onnx", lambda: rknn.load_onnx(models.DIGITS_ONNX)))


class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures, _ = models.digit_pictures()

    def test_dtype_and_layout_do_not_matter(self):
        rknn = models.digits()
        rknn.init_runtime()
        wanted = rknn.inference([self.pictures[:1]])[0].tobytes()
        for dtype in ("int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64", ">i4"):
            picture = self.pictures[:1].astype(dtype)
            self.assertEqual(rknn.inference([picture])[0].tobytes(), wanted, dtype)
            # Every other row of a larger array: not contiguous.
            rows = np.repeat(picture, 2, axis=1)[:, ::2]
            self.assertEqual(rknn.inference([rows])[0].tobytes(), wanted, dtype)
        self.assertEqual(rknn.inference(self.pictures[:1])[0].tobytes(), wanted)

    def test_arrays_that_fit_are_not_copied(self):
        from rknn.api import native
        for array in (self.pictures[:1], np.zeros((2, 3), "float16"), np.zeros((), "int64")):
            self.assertIs(native.fitting(array), array)
        for array in (self.pictures[:1].transpose(0, 3, 1, 2)[:, :, ::2], np.zeros(3, ">f4")):
            self.assertIsNot(native.fitting(array), array)

    def test_pass_through_takes_quantized_bytes(self):
        rknn = models.digits()
        rknn.init_runtime()
        result = rknn.inference([np.zeros((1, 28, 28, 1), "int8")], inputs_pass_through=[1])
        self.assertEqual(result[0].shape, (1, 10))

    def test_simulated_board(self):
        rknn = models.digits()
        with models.captured() as (out, err):
            self.assertEqual(rknn.init_runtime(target="RK3588", perf_debug=True, eval_mem=True,
                                               core_mask=RKNN.NPU_CORE_0_1_2), 0)
            report = rknn.eval_perf()
            memory = rknn.eval_memory()
            version = rknn.get_sdk_version()
        self.assertRegex(err.getvalue(), "(?m)^W init_runtime: .*simulated rk3588")
        self.assertIn("Network Layer Information Table", report)
        self.assertIn("Operator Time Consuming Ranking Table", out.getvalue())
        self.assertEqual(memory["total_memory"],
                         memory["weight_memory"] + memory["internal_memory"] + memory["other_memory"])
        self.assertEqual(memory["total_memory"], memory["total_model_allocation"])
        self.assertIn("Memory Profile Info Dump", out.getvalue())
        self.assertIn("RKNN VERSION:", version)
        self.assertEqual(rknn.list_devices(), ([], []))
        self.assertEqual(rknn.eval_perf(is_print=False)[:3], report[:3])

    def test_boards_that_are_not_there_or_are_another_chip(self):
        rknn = models.digits()
        with models.captured() as (_, err):
            self.assertEqual(rknn.init_runtime(target="rk3588", device_id="515e9b401c060c0b"), -1)
            self.assertEqual(rknn.init_runtime(target="rk3566"), -1)
            self.assertEqual(rknn.init_runtime(target="rk3588", core_mask=9), -1)
            self.assertEqual(rknn.init_runtime(fallback_prior_device="tpu"), -1)
        self.assertIn("RKNN_ERR_DEVICE_UNAVAILABLE", err.getvalue())
        self.assertIn("rk3566", err.getvalue())

    def test_memory_has_to_be_asked_for(self):
        rknn = models.digits()
        rknn.init_runtime()
        with models.captured() as (_, err):
            self.assertIsNone(rknn.eval_memory())
        self.assertIn("eval_mem=True", err.getvalue())

    def test_threads_each_with_their_model(self):
        wrong = []

        def work():
            rknn = models.digits()
            rknn.init_runtime()
            wanted = [rknn.inference([p[np.newaxis]])[0].tobytes() for p in self.pictures[:20]]
            for _ in range(5):
                for picture, result in zip(self.pictures, wanted):
                    if rknn.inference([picture[np.newaxis]])[0].tobytes() != result:
                        wrong.append(1)
            rknn.release()

        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])

    def test_other_threads_go_on_during_a_build(self):
        rknn = RKNN()
        rknn.config(target_platform="rk3588", std_values=[[255, 255, 255]])
        self.assertEqual(rknn.load_onnx(os.path.join(models.SIGNS, "signs.onnx")), 0)
        dataset = os.path.join(models.SIGNS, "dataset.txt")
        results = []
        thread = threading.Thread(target=lambda: results.append(rknn.build(dataset=dataset)))
        thread.start()
        steps = 0
        while thread.is_alive():
            time.sleep(0.001)
            steps += 1
        thread.join()
        self.assertEqual(results, [0])
        self.assertGreater(steps, 20, "the interpreter lock is free while the library works")

    def test_one_model_from_many_threads(self):
        rknn = models.digits()
        rknn.init_runtime()
        wanted = [rknn.inference([p[np.newaxis]])[0].tobytes() for p in self.pictures[:20]]
        wrong = []

        def work():
            for _ in range(10):
                for picture, result in zip(self.pictures, wanted):
                    if rknn.inference([picture[np.newaxis]])[0].tobytes() != result:
                        wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])

    def test_released_objects_answer_with_an_error(self):
        rknn = models.digits()
        rknn.init_runtime()
        rknn.release()
        rknn.release()
        with models.captured():
            self.assertIsNone(rknn.inference([self.pictures[:1]]))
            self.assertEqual(rknn.build(), -1)

    def test_accuracy_analysis_prints_the_table_and_writes_the_files(self):
        rknn = models.digits()
        picture = os.path.join(models.DIGITS, "calib_png", "000.png")
        with tempfile.TemporaryDirectory() as folder:
            with models.captured() as (out, _):
                self.assertEqual(rknn.accuracy_analysis(inputs=[picture], output_dir=folder), 0)
            self.assertRegex(out.getvalue(), r"\[Input\] image")
            self.assertIn("simulator_error", out.getvalue())
            with open(os.path.join(folder, "error_analysis.txt")) as file:
                self.assertIn("[Input] image", file.read())
            self.assertLessEqual({"golden", "simulator", "map_name_to_file.txt"}, set(os.listdir(folder)))

    def test_ctrl_c_stops_a_build_and_the_object_still_works(self):
        # A job in the background starts with interrupts ignored.
        script = ("import models, os, signal\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "from rknn.api import RKNN\n"
                  "rknn = RKNN()\n"
                  "rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform='rk3588')\n"
                  "assert rknn.load_onnx(os.path.join(models.SIGNS, 'signs.onnx')) == 0\n"
                  "print('go', flush=True)\n"
                  "try:\n"
                  "    for _ in range(500): rknn.build(dataset=os.path.join(models.SIGNS, 'dataset.txt'))\n"
                  "    print('finished')\n"
                  "except KeyboardInterrupt:\n"
                  "    print('stopped', flush=True)\n"
                  "assert rknn.build(do_quantization=False) == 0\n"
                  "assert rknn.init_runtime() == 0\n"
                  "print('alive')\n")
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(process.stdout.readline(), b"go\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(out, b"stopped\nalive\n", err.decode())
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
