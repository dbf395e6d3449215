# SPDX-License-Identifier: Apache-2.0
"""Every script of examples/python, each in a process of its own, as a user starts it."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")
# A script that reads what another one wrote runs after it.
ORDER = ("hybrid_step1.py", "hybrid_step2.py")
NOT_RUN = ("models.py", "onnx_file.py")


class Examples(unittest.TestCase):
    def test_numpy_is_all_they_need(self):
        for name in sorted(n for n in os.listdir(FOLDER) if n.endswith(".py")):
            with open(os.path.join(FOLDER, name)) as file:
                text = file.read()
            for package in ("onnx", "torch", "cv2", "PIL"):
                self.assertIsNone(re.search(r"^\s*(import|from) %s\b(?!_)" % package, text, re.M), name)

    def test_every_script_ends_well(self):
        names = sorted(n for n in os.listdir(FOLDER) if n.endswith(".py") and n not in NOT_RUN)
        with tempfile.TemporaryDirectory() as output:
            for name in [n for n in names if n not in ORDER] + list(ORDER):
                with self.subTest(name):
                    result = subprocess.run([sys.executable, os.path.join(FOLDER, name), output],
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                    ok = result.returncode == 0
                    print("FIGURE examples/python/%s | exit %d | exit 0 | %s" % (name, result.returncode,
                                                                                "ok" if ok else "SHORT"), flush=True)
                    self.assertTrue(ok, result.stdout)


if __name__ == "__main__":
    unittest.main()
