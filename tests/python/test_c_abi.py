# SPDX-License-Identifier: Apache-2.0
"""librknn_toolkit.so by its C functions: whatever a caller passes is answered with an error, never with a crash."""
import ctypes
import subprocess
import unittest

from rknn.api import native

Array = native._Array


class CInterface(unittest.TestCase):
    def setUp(self):
        self.lib = native.library()
        self.toolkit = self.lib.rknn_toolkit_create(None, 0)
        self.addCleanup(lambda: self.lib.rknn_toolkit_destroy(self.toolkit))

    def refused(self, code, text):
        self.assertNotEqual(code, native.OK)
        self.assertIn(text, self.lib.rknn_toolkit_error().decode())
        self.assertEqual(self.lib.rknn_toolkit_result(), b"null")

    def call(self, method, options=None, arrays=None, count=0):
        return self.lib.rknn_toolkit_call(self.toolkit, method, options, arrays, count)

    def test_null_and_nonsense(self):
        self.refused(self.lib.rknn_toolkit_call(None, b"config", b"{}", None, 0), "NULL")
        self.refused(self.call(None), "NULL")
        self.refused(self.call(b"convert"), "no method 'convert'")
        self.refused(self.call(b"config", b"{"), "options")
        self.refused(self.call(b"config", b"[1]"), "object")
        self.refused(self.call(b"config", b'{"mean_value": 1}'), "mean_values")
        self.refused(self.call(b"config", b"[" * 100000), "options")
        self.refused(self.call(b"load_onnx", b"{}", None, 3), "NULL")
        self.refused(self.lib.rknn_toolkit_inference(self.toolkit, None, None, 1, None, 0), "NULL")
        self.refused(self.lib.rknn_toolkit_inference(self.toolkit, None, None, 0, None, 0), "init_runtime")
        self.refused(self.lib.rknn_toolkit_reg_custom_op(self.toolkit, None), "NULL")
        self.refused(self.lib.rknn_toolkit_reg_custom_op(self.toolkit, native._CustomOp()), "op_type")
        self.lib.rknn_toolkit_destroy(None)
        self.lib.rknn_toolkit_answer(None)

    def test_arrays_are_checked_before_they_are_read(self):
        shape = (ctypes.c_int64 * 2)(1 << 40, 1 << 40)
        small = (ctypes.c_int64 * 1)(4)
        memory = ctypes.create_string_buffer(4)
        for array, text in ((Array(None, 0, None, 0, 99), "element type"),
                            (Array(None, 0, None, -1, 1), "dimensions"),
                            (Array(None, 0, None, 2, 1), "dimensions"),
                            (Array(None, 0, None, 1000, 1), "dimensions"),
                            (Array(None, 0, shape, 2, 1), ""),
                            (Array(ctypes.addressof(memory), 4, small, 1, 1), "its shape needs 16"),
                            (Array(None, 16, small, 1, 1), "")):
            self.refused(self.call(b"load_onnx", b'{"model": "x"}', ctypes.pointer(array), 1), text)

    def test_only_the_documented_functions_are_exported(self):
        path = self.lib._name
        names = subprocess.run(["nm", "-D", "--defined-only", path], check=True, stdout=subprocess.PIPE).stdout.decode()
        found = {line.split()[-1] for line in names.splitlines()}
        self.assertEqual(found, {"rknn_toolkit_" + name for name in (
            "version", "create", "destroy", "call", "inference", "reg_custom_op", "answer", "result", "error")})

    def test_texts_belong_to_the_thread(self):
        import threading
        self.refused(self.call(b"convert"), "convert")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(self.lib.rknn_toolkit_error()))
        thread.start()
        thread.join()
        self.assertEqual(seen, [b""])
        self.assertIn(b"convert", self.lib.rknn_toolkit_error())


if __name__ == "__main__":
    unittest.main()
