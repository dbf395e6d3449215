#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""librknn_remote.so for 64-bit ARM: what it needs is there for the wheel, and under qemu-user it reaches a server of this
machine. Prints FIGURE lines. The environment names the server, as for tests/python.

    arm_client.py --remote librknn_remote.so --sysroot FOLDER
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
sys.path.insert(0, os.path.join(ROOT, "python"))
import make_wheel  # noqa: E402
from servers import Server  # noqa: E402

CLIENT = """
import ctypes, json, platform, sys
remote = ctypes.CDLL(sys.argv[1])
remote.rknn_remote_text.restype = ctypes.c_char_p
remote.rknn_remote_text.argtypes = [ctypes.c_void_p]
remote.rknn_remote_close.argtypes = [ctypes.c_void_p]
handle = ctypes.c_void_p()
code = remote.rknn_remote_open(json.dumps({'address': sys.argv[2], 'version': '2.3.2'}).encode(), ctypes.byref(handle))
print(platform.machine(), code, remote.rknn_remote_text(handle).decode())
remote.rknn_remote_close(handle)
"""


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--remote", required=True)
    parser.add_argument("--sysroot", required=True)
    args = parser.parse_args()
    sysroot = os.path.abspath(args.sysroot)
    needed = make_wheel.needed_in(sysroot, args.remote)
    names = [name for name, _ in needed]
    good = figure("client for 64-bit ARM: libraries for the wheel", len(names), "gRPC among them",
                  any(name.startswith("libgrpc++.so") for name in names))
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        # As in the wheel: all beside it.
        for name, path in needed + [("librknn_remote.so", args.remote)]:
            os.symlink(os.path.realpath(path), os.path.join(folder, name))
        done = subprocess.run(["qemu-aarch64", "-cpu", "max", "-L", sysroot, "-E", "LD_LIBRARY_PATH=" + folder,
                               os.path.join(sysroot, "usr", "bin", "python3.11"), "-c", CLIENT,
                               os.path.join(folder, "librknn_remote.so"), server.address],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        said = done.stdout.strip()
    good &= figure("client for 64-bit ARM: says hello to a server of this machine", said[:30] + "...", "aarch64 0 {...",
                   said.startswith('aarch64 0 {') and '"server_version":"2.3.2' in said.replace(" ", ""))
    if not good:
        print(said[-2000:])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
