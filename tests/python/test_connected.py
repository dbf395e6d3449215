# SPDX-License-Identifier: Apache-2.0
"""Connected mode: the vendor's calls with target and device_id, on an rknn_server of the build folder."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from unittest import mock

import numpy as np

import models
from rknn.api import RKNN
from servers import Server, runtime_library


def table(text):
    """The rows of accuracy_analysis, with their figures."""
    return [line for line in text.splitlines() if line.startswith("[")]


class Connected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.pictures = models.digit_pictures()[0][:8]

    @classmethod
    def tearDownClass(cls):
        code = cls.server.end()
        cls.server.folder.cleanup()
        assert code == 0, code

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        patch = mock.patch.dict(os.environ, {"RKNN_DEVICE_FILE": os.path.join(self.folder, "devices.json")})
        patch.start()
        self.addCleanup(patch.stop)
        os.environ.pop("RKNN_DEVICES", None)

    def test_remote_bytes_are_local_bytes(self):
        for quantize in (True, False):
            rknn = models.digits(quantize)
            self.assertEqual(rknn.init_runtime(), 0)
            local = [rknn.inference([p[None]]) for p in self.pictures]
            with models.captured() as (_, err):
                self.assertEqual(rknn.init_runtime(target="rk3588", device_id=self.server.address), 0)
            self.assertEqual(err.getvalue(), "")
            for picture, want in zip(self.pictures, local):
                got = rknn.inference([picture[None]])
                self.assertEqual([a.tobytes() for a in got], [a.tobytes() for a in want])
                nchw = rknn.inference([picture[None].transpose(0, 3, 1, 2)], data_format="nchw")
                self.assertEqual(nchw[0].tobytes(), want[0].tobytes())
                wide = rknn.inference([picture[None].astype("float64")])
                self.assertEqual(wide[0].tobytes(), want[0].tobytes())
            rknn.release()

    def test_several_shapes(self):
        rknn = RKNN()
        rknn.config(mean_values=[[127.5]], std_values=[[64]], target_platform="rk3588",
                    dynamic_input=[[[1, 1, 28, 28]], [[2, 1, 28, 28]]])
        self.assertEqual(rknn.load_onnx(model=models.DIGITS_ONNX), 0)
        self.assertEqual(rknn.build(do_quantization=False), 0)
        self.assertEqual(rknn.init_runtime(), 0)
        local = [rknn.inference([self.pictures[:n]]) for n in (1, 2, 1)]
        self.assertEqual(rknn.init_runtime(device_id=self.server.address), 0)
        for n, want in zip((1, 2, 1), local):
            got = rknn.inference([self.pictures[:n]])
            self.assertEqual([(a.shape, a.tobytes()) for a in got], [(a.shape, a.tobytes()) for a in want])

    def test_figures_come_from_the_device(self):
        rknn = models.digits()
        self.assertEqual(rknn.init_runtime(target="rk3588", device_id=self.server.address, perf_debug=True,
                                           eval_mem=True), 0)
        with models.captured():
            report = rknn.eval_perf()
            memory = rknn.eval_memory()
            version = rknn.get_sdk_version()
        self.assertIn("Network Layer Information Table", report)
        self.assertGreater(memory["weight_memory"], 0)
        self.assertRegex(version, r"(?m)^  DRV: rknn_server: 2\.3\.2 \(openrknn@")
        self.assertRegex(version, r"(?m)^  DRV: rknnrt: 2\.3\.2 \(openrknn@")
        with models.captured():
            rknn.init_runtime(eval_mem=True)
            local = rknn.eval_memory()
        self.assertEqual(memory, local)
        rknn.init_runtime(target="rk3588", device_id=self.server.address)
        self.assertRegex(rknn.eval_perf(is_print=False), r"Total Time\(us\): \d+\nFPS: ")

    def test_accuracy_analysis_fills_the_board_column_with_the_same_figures(self):
        rknn = models.digits()
        path = os.path.join(self.folder, "digit.npy")
        np.save(path, self.pictures[0][None])
        texts = []
        for device in (None, self.server.address):
            with models.captured() as (out, err):
                self.assertEqual(rknn.accuracy_analysis([path], output_dir=None, target="rk3588", device_id=device), 0,
                                 err.getvalue())
            texts.append(table(out.getvalue()))
        local, remote = texts
        self.assertEqual(len(local), len(remote))
        for a, b in zip(local, remote):
            self.assertEqual(a, b)
        # A layer that is part of another has a row without figures.
        figures = [line for line in remote if "|" in line]
        self.assertGreater(len(figures), 3, remote)
        self.assertTrue(all(line.count("|") == 4 and "None" not in line for line in figures), figures)

    def test_devices_are_listed_and_chosen(self):
        rknn = models.digits()
        with models.captured() as (out, _):
            self.assertEqual(rknn.list_devices(), ([], []))
        with mock.patch.dict(os.environ, {"RKNN_DEVICES": "lab=%s" % self.server.address}):
            with models.captured() as (out, _):
                self.assertEqual(rknn.list_devices(), (["lab"], []))
            self.assertIn("all device(s) with adb mode:\nlab\n", out.getvalue())
            self.assertEqual(rknn.init_runtime(target="rk3588"), 0)
            self.assertIn("rknn_server: 2.3.2", self.version(rknn))
            self.assertEqual(rknn.init_runtime(target="rk3588", device_id="lab"), 0)
            self.assertEqual(rknn.init_runtime(), 0)
            self.assertIn("none (simulated in this process)", self.version(rknn))
        with mock.patch.dict(os.environ, {"RKNN_DEVICES": "lab=%s,desk=127.0.0.1:9" % self.server.address}):
            with models.captured() as (_, err):
                self.assertEqual(rknn.init_runtime(target="rk3588"), -1)
                self.assertEqual(rknn.list_devices(), (["lab"], []))
            self.assertIn("set device_id to one of: lab, desk", err.getvalue())
            self.assertIn("device 'desk' is left out", err.getvalue())

    def version(self, rknn):
        with models.captured():
            return rknn.get_sdk_version()

    def test_what_cannot_be_reached_is_said(self):
        rknn = models.digits()
        for options, text in (
                ({"target": "rk3588", "device_id": "127.0.0.1:9"}, "RKNN_ERR_DEVICE_UNAVAILABLE: no rknn_server answers"),
                ({"target": "rk3588", "device_id": "515e9b401c060c0b"}, "neither a known device (none) nor an address"),
                ({"target": "rk2118"}, "rk2118 has no connected mode"),
                ({"target": "rk3588", "device_id": "a b:1"}, "is no device address")):
            with models.captured() as (_, err):
                self.assertEqual(rknn.init_runtime(**options), -1)
            self.assertIn(text, err.getvalue())

    def test_a_server_that_comes_back_is_used_again(self):
        rknn = models.digits()
        with Server() as first:
            self.assertEqual(rknn.init_runtime(target="rk3588", device_id=first.address), 0)
            want = rknn.inference([self.pictures[:1]])
            first.end(signal.SIGKILL)
            with models.captured() as (_, err):
                self.assertIsNone(rknn.inference([self.pictures[:1]]))
            self.assertIn("the connection to '%s' broke" % first.address, err.getvalue())
            with Server(port=first.port), models.captured():
                got = rknn.inference([self.pictures[:1]])
                self.assertIsNotNone(got)
                self.assertEqual(got[0].tobytes(), want[0].tobytes())

    def test_other_versions_are_warned_of_once(self):
        """The runtime behind the server says that it is another one."""
        library = os.path.join(self.folder, "librknnrt.so")
        with open(runtime_library(), "rb") as file:
            data = file.read()
        self.assertEqual(data.count(b"librknnrt version: 2.3.2"), 1)
        with open(library, "wb") as file:
            file.write(data.replace(b"librknnrt version: 2.3.2", b"librknnrt version: 2.2.9"))
        rknn = models.digits()
        with Server(program=os.environ["OPENRKNN_SERVER"].split() + ["--library", library]) as server:
            with models.captured() as (_, err):
                self.assertEqual(rknn.init_runtime(target="rk3588", device_id=server.address), 0)
                for picture in self.pictures:
                    self.assertIsNotNone(rknn.inference([picture[None]]))
        lines = [line for line in err.getvalue().splitlines() if "2.2.9" in line]
        self.assertEqual(len(lines), 1, err.getvalue())
        self.assertIn("2.3.2", lines[0])

    def test_tokens_come_from_a_file(self):
        token = os.path.join(self.folder, "token")
        with open(token, "w") as file:
            file.write("0123456789abcdef0123\n")
        os.chmod(token, 0o600)
        rknn = models.digits()
        with Server("--token-file", token) as server:
            with models.captured() as (_, err):
                self.assertEqual(rknn.init_runtime(target="rk3588", device_id=server.address), -1)
            self.assertIn("asks for a token", err.getvalue())
            with mock.patch.dict(os.environ, {"RKNN_TOKEN_FILE": token}):
                self.assertEqual(rknn.init_runtime(target="rk3588", device_id=server.address), 0)
                self.assertIsNotNone(rknn.inference([self.pictures[:1]]))

    def certificates(self):
        """Two authorities with a certificate each, for 127.0.0.1."""
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        with open(os.path.join(self.folder, "names"), "w") as file:
            file.write("subjectAltName=IP:127.0.0.1\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        for name in ("ours", "theirs"):
            openssl("req", "-x509", *key, "-keyout", name + "-ca.key", "-out", name + "-ca.pem", "-subj", "/CN=" + name,
                    "-days", "2")
            openssl("req", *key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=127.0.0.1")
            openssl("x509", "-req", "-in", name + ".csr", "-CA", name + "-ca.pem", "-CAkey", name + "-ca.key",
                    "-CAcreateserial", "-out", name + ".pem", "-days", "2", "-extfile", "names")
        return lambda name: os.path.join(self.folder, name)

    def test_certificates_of_both_ends_are_checked(self):
        file = self.certificates()
        rknn = models.digits()
        self.assertEqual(rknn.init_runtime(), 0)
        want = rknn.inference([self.pictures[:1]])[0].tobytes()
        with Server("--tls-cert", file("ours.pem"), "--tls-key", file("ours.key"), "--tls-client-ca",
                    file("ours-ca.pem")) as server:
            def connects(**files):
                secrets = {"RKNN_TLS_" + key.upper(): file(name) for key, name in files.items()}
                with mock.patch.dict(os.environ, secrets), models.captured():
                    if rknn.init_runtime(target="rk3588", device_id=server.address) != 0:
                        return False
                    return rknn.inference([self.pictures[:1]])[0].tobytes() == want
            self.assertTrue(connects(ca="ours-ca.pem", cert="ours.pem", key="ours.key"))
            self.assertFalse(connects())  # in clear text
            self.assertFalse(connects(ca="ours-ca.pem"))
            self.assertFalse(connects(ca="ours-ca.pem", cert="theirs.pem", key="theirs.key"))
            self.assertFalse(connects(ca="theirs-ca.pem", cert="ours.pem", key="ours.key"))
            self.assertTrue(connects(ca="ours-ca.pem", cert="ours.pem", key="ours.key"))

    @unittest.skipUnless(os.environ.get("OPENRKNN_COMMAND"), "the rknn command is not built")
    def test_the_command_runs_on_a_device(self):
        rknn = models.digits()
        model, picture = (os.path.join(self.folder, n) for n in ("digits.rknn", "digit.npy"))
        self.assertEqual(rknn.export_rknn(model), 0)
        np.save(picture, self.pictures[0][None])

        def command(*words):
            return subprocess.run([os.environ["OPENRKNN_COMMAND"], *words], check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT).stdout.decode()
        here = command("run", model, "-i", picture)
        self.assertIn("output 0", here)
        self.assertEqual(command("run", model, "-i", picture, "--device", self.server.address), here)
        command("device", "add", "lab", self.server.address)
        self.assertRegex(command("device", "list"), r"lab +%s +simulator, rknn_server 2\.3\.2" % self.server.address)
        self.assertEqual(command("run", model, "-i", picture, "--device", "lab"), here)
        self.assertRegex(command("bench", model, "-n", "2", "--device", "lab"), r"rknn_run +[\d.]+ us .*whole call")
        self.assertTrue(re.search(r'"call_us"', command("bench", model, "-n", "2", "-j", "--device", "lab")))
        command("device", "remove", "lab")
        self.assertIn("no device is known", command("device", "list"))


if __name__ == "__main__":
    unittest.main()
