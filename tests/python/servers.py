# SPDX-License-Identifier: Apache-2.0
"""An rknn_server of the build folder (OPENRKNN_SERVER, an emulator may stand before it) as a child process."""
import os
import signal
import subprocess
import tempfile
import time


def runtime_library():
    """Behind the server; OPENRKNN_SERVER_LIBRARY names another one."""
    if "OPENRKNN_SERVER_LIBRARY" in os.environ:
        return os.environ["OPENRKNN_SERVER_LIBRARY"]
    for folder in os.environ["OPENRKNN_LIBRARY_DIR"].split(os.pathsep):
        path = os.path.join(folder, "librknnrt.so")
        if os.path.exists(path):
            return path
    raise AssertionError("no librknnrt.so in OPENRKNN_LIBRARY_DIR")


class Server:
    """Waits until it listens. `with Server() as server: server.address`."""

    def __init__(self, *options, port=0, program=None, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        port_file = os.path.join(self.folder.name, "port")
        self.log = os.path.join(self.folder.name, "log")
        words = (program or os.environ["OPENRKNN_SERVER"].split() + ["--library", runtime_library()]) + [
            "--port", str(port), "--port-file", port_file] + list(options)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, env=dict(os.environ, **(environment or {})))
        end = time.time() + 60
        while not os.path.exists(port_file):
            if self.process.poll() is not None or time.time() > end:
                raise AssertionError("rknn_server does not come up:\n" + self.output())
            time.sleep(0.02)
        with open(port_file) as file:
            self.port = int(file.read())
        self.address = "127.0.0.1:%d" % self.port

    def output(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.end(signal.SIGKILL)
        self.folder.cleanup()
