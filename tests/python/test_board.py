# SPDX-License-Identifier: Apache-2.0
"""openrknn.board: what programs that look for a board find."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import os, sys
from pathlib import Path
path = Path('/proc/device-tree/compatible')
with open('/proc/device-tree/compatible') as file:
    lines = file.read()
with open('/proc/device-tree/compatible', 'rb') as file:
    assert file.read().decode() == lines
print(path.exists(), os.path.exists(str(path)), path.read_text() == lines, path.open().read() == lines)
print(lines.rstrip('\\0').split('\\0')[-1], os.environ['RKNN_TARGET'], sys.argv[1:], open(__file__).read()[:1] == '\\n')
"""


class Board(unittest.TestCase):
    def run_board(self, *arguments):
        return subprocess.run([sys.executable, "-m", "openrknn.board"] + list(arguments), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)

    def test_a_program_sees_the_chip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(PROGRAM)
            result = self.run_board("RK3588", path, "a", "-b")
        self.assertEqual(result.stdout, "True True True True\nrockchip,rk3588 rk3588 ['a', '-b'] True\n", result.stderr)

    def test_unknown_chips_are_refused_with_those_that_exist(self):
        result = self.run_board("rk9", "x.py")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'rk3588'", result.stderr)
        self.assertEqual(self.run_board("rk3588").returncode, 2)

    def test_a_program_that_is_not_there_is_named(self):
        result = self.run_board("rk3588", "nowhere.py")
        self.assertEqual((result.returncode, result.stderr),
                         (2, "cannot find the program 'nowhere.py': neither a file nor in PATH\n"))


if __name__ == "__main__":
    unittest.main()
