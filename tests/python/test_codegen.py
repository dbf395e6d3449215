# SPDX-License-Identifier: Apache-2.0
"""codegen as a script calls it: the project is built, run, and must notice when outputs differ."""
import os
import subprocess
import tempfile
import unittest

import models
import numpy as np
from rknn.api import RKNN

LIBRARY = os.environ["OPENRKNN_LIBRARY_DIR"].split(":")[1]


class Codegen(unittest.TestCase):
    def test_the_program_builds_runs_and_agrees_with_the_simulator(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(models.DIGITS, "calib_png", "003.png")
            project = os.path.join(folder, "digits_demo")
            rknn = models.digits()
            with models.captured() as (_, err):
                self.assertEqual(rknn.codegen(project), -1)
            self.assertIn("export_rknn", err.getvalue())
            self.assertEqual(rknn.export_rknn(os.path.join(folder, "digits.rknn")), 0)
            with self.assertRaisesRegex(ValueError, "tensor.bin"):
                rknn.codegen(project, inputs=["tensor.bin"])
            self.assertEqual(rknn.codegen(project, inputs=[picture]), 0)
            rknn.release()

            build = subprocess.run([os.path.join(project, "build-linux.sh"), "-l", LIBRARY], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True,
                                   env=dict(os.environ, CMAKE_BUILD_TYPE="Debug", CMAKE_BUILD_PARALLEL_LEVEL="2"))
            self.assertEqual(build.returncode, 0, build.stdout)
            self.assertNotIn("warning:", build.stdout)
            installed = os.path.join(project, "install", "linux_" + os.uname().machine)

            def run(*words):
                done = subprocess.run([os.path.join(installed, "digits_demo"), "--loops", "2", *words], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=dict(os.environ, RKNN_VALIDATE="1", RKNN_STRICT="1"))
                return done.returncode, done.stdout
            code, text = run()
            self.assertEqual(code, 0, text)
            self.assertIn("agrees with the simulator: 1 of 1 outputs, 1 with equal bytes", text)
            self.assertRegex(text, r"rknn_run +2 +\d")
            self.assertNotIn("RKNN_VALIDATE", text)

            # Another picture gives other outputs: saved over the input, the program says so and fails.
            other = np.load(os.path.join(installed, "data", "input_0.npy"))
            np.save(os.path.join(installed, "data", "input_0.npy"), 255 - other)
            code, text = run()
            self.assertEqual(code, 1, text)
            self.assertIn("DISAGREES with the simulator: 0 of 1 outputs", text)
            np.save(os.path.join(installed, "data", "input_0.npy"), other[:, :, :14])
            self.assertIn("the array is |u1 [1, 28, 14, 1]", run()[1])

            # A picture of another size on the command line.
            pgm = os.path.join(folder, "p.pgm")
            with open(pgm, "wb") as file:
                file.write(b"P5\n56 56\n255\n" + np.kron(other[0, :, :, 0], np.ones((2, 2), "uint8")).tobytes())
            code, text = run(pgm)
            self.assertEqual(code, 0, text)
            self.assertIn("not compared", text)

    def test_cpp_gen_cfg_writes_a_project_beside_the_file(self):
        with tempfile.TemporaryDirectory() as folder, models.digits(quantize=False) as rknn:
            self.assertEqual(rknn.export_rknn(os.path.join(folder, "digits.rknn"), cpp_gen_cfg=True), 0)
            self.assertTrue(os.path.isfile(os.path.join(folder, "rknn_digits_demo", "src", "main.cc")))


if __name__ == "__main__":
    unittest.main()
