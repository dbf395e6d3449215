#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""start_rknn.sh and restart_rknn.sh around a real server, and the unit for systemd. Prints FIGURE lines.

    scripts.py --server rknn_server --library librknnrt.so
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "server", "scripts")


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def wait_for(what, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        value = what()
        if value:
            return value
        time.sleep(0.05)
    return None


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in ("start_rknn.sh", "restart_rknn.sh"):
            shutil.copy(os.path.join(SCRIPTS, name), folder)
        shutil.copy(args.server, os.path.join(folder, "rknn_server"))
        port = os.path.join(folder, "port")
        script = subprocess.Popen([os.path.join(folder, "start_rknn.sh"), "--library", args.library, "--port", "0",
                                   "--port-file", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # restart_rknn.sh ends every server of the user; here it sees those of this test only.
        with open(os.path.join(folder, "pgrep"), "w") as file:
            file.write("#!/bin/sh\nexec /usr/bin/pgrep -x -P %d rknn_server\n" % script.pid)
        os.chmod(os.path.join(folder, "pgrep"), 0o755)

        def server():
            found = subprocess.run([os.path.join(folder, "pgrep")], stdout=subprocess.PIPE).stdout.split()
            return int(found[0]) if found and os.path.exists(port) else None
        try:
            first = wait_for(server)
            os.remove(port)
            os.kill(first, signal.SIGKILL)
            second = wait_for(server)
            good &= figure("start_rknn.sh: a killed server comes back", bool(second) and second != first, "True",
                           bool(second) and second != first)
            os.remove(port)
            subprocess.run([os.path.join(folder, "restart_rknn.sh")], check=True,
                           env=dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"]))
            third = wait_for(server)
            good &= figure("restart_rknn.sh: another server runs", bool(third) and third != second, "True",
                           bool(third) and third != second and not alive(second))
        finally:
            script.terminate()
            script.wait(timeout=20)
        gone = wait_for(lambda: third is None or not alive(third))
        good &= figure("start_rknn.sh: ends its server when it is ended", bool(gone), "True", bool(gone))
    with open(os.path.join(SCRIPTS, "rknn_server.service")) as file:
        lines = file.read().splitlines()
    right = all(line in lines for line in ("[Unit]", "[Service]", "[Install]", "Restart=always"))
    right &= any(line.startswith("ExecStart=/usr/bin/rknn_server") for line in lines)
    good &= figure("unit for systemd: sections and restart", right, "True", right)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
