# SPDX-License-Identifier: Apache-2.0
"""The wheels that are only a name: what pip and importlib.metadata read of them. make check-python installs them."""
import email
import importlib.util
import os
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("make_wheel", os.path.join(HERE, "..", "..", "python", "make_wheel.py"))
make_wheel = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_wheel)


class Aliases(unittest.TestCase):
    def test_the_vendors_names_require_openrknn_and_hold_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("rknn-toolkit2", "rknn-toolkit-lite2"):
                path = make_wheel.write_alias(name, folder)
                stem = name.replace("-", "_") + "-2.3.2"
                self.assertEqual(os.path.basename(path), stem + "-py3-none-any.whl")
                with zipfile.ZipFile(path) as wheel:
                    self.assertEqual(sorted(wheel.namelist()),
                                     [stem + ".dist-info/" + n for n in ("METADATA", "RECORD", "WHEEL")])
                    text = email.message_from_bytes(wheel.read(stem + ".dist-info/METADATA"))
                self.assertEqual((text["Name"], text["Version"]), (name, "2.3.2"))
                self.assertEqual(text["Requires-Dist"], "openrknn (==%s)" % make_wheel.version())

    def test_the_package_says_the_version_of_the_libraries(self):
        import openrknn
        self.assertEqual(openrknn.__version__, make_wheel.version())

    def test_the_tag_is_the_oldest_system_that_has_what_the_libraries_ask_for(self):
        elf = lambda *names: ("lib.so", b"\x7fELF" + b"".join(b"\0" + n for n in names) + b"\0")
        tag = lambda *files: make_wheel.platform_tag(list(files), "x86_64")
        self.assertEqual(tag(("a.py", b"\0GLIBC_2.99\0")), "manylinux2014_x86_64.manylinux_2_17_x86_64")  # no library
        self.assertEqual(tag(elf(b"GLIBC_2.4", b"GLIBC_2.34"), elf(b"GLIBC_2.7")), "manylinux_2_34_x86_64")
        self.assertEqual(tag(elf(b"GLIBC_2.34", b"GLIBCXX_3.4.30")), "manylinux_2_35_x86_64")
        self.assertRaises(SystemExit, tag, elf(b"GLIBCXX_3.4.99"))

    def test_the_reader_of_torchscript_files_is_packed_where_it_was_built(self):
        with tempfile.TemporaryDirectory() as build:
            self.assertEqual(list(make_wheel.helper_files(build)), [])
            folder = os.path.join(build, "tools", "import_torchscript")
            os.makedirs(folder)
            with open(os.path.join(folder, "rknn-import-torchscript"), "wb") as file:
                file.write(b"program")
            # The library in openrknn/lib looks in ../bin.
            self.assertEqual(list(make_wheel.helper_files(build)), [("openrknn/bin/rknn-import-torchscript", b"program")])

    def test_the_wheel_describes_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            path = make_wheel.write_wheel(make_wheel.package_files(), folder, "linux_x86_64")
            with zipfile.ZipFile(path) as wheel:
                text = email.message_from_bytes(wheel.read("openrknn-%s.dist-info/METADATA" % make_wheel.version()))
                self.assertIn("rknn/__main__.py", wheel.namelist())
        self.assertIn("OpenRKNN", text.get_payload())
        self.assertEqual(text["Requires-Dist"], "numpy")


if __name__ == "__main__":
    unittest.main()
