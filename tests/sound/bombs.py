#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that describe enormous models: each is refused or dealt with in little time and memory.

    bombs.py RKNN_COMMAND BAD_FOLDER

Prints one FIGURE per file: seconds of processor time and the largest memory of the process.
"""
import lzma
import os
import resource
import subprocess
import sys
import tempfile

SECONDS = 20
MEGABYTES = 1024 + 512  # 1 GiB beyond the base of what docs/limits.md promises


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (10 * SECONDS, 10 * SECONDS))


def measure(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limits)
    text = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    return code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def identity_chain(path, count):
    """An ONNX file of `count` Identity nodes, written by hand: no package is needed for it."""
    def field(number, payload):
        out, size = bytes([number << 3 | 2]), len(payload)
        while size > 127:
            out, size = out + bytes([size & 127 | 128]), size >> 7
        return out + bytes([size]) + payload

    def value(name):
        shape = field(2, field(1, b"\x08\x04"))  # one extent of 4
        return field(1, name.encode()) + field(2, field(1, b"\x08\x01" + shape))
    graph = b"".join(field(1, field(1, b"v%d" % i) + field(2, b"v%d" % (i + 1)) + field(4, b"Identity"))
                     for i in range(count))
    graph += field(2, b"chain") + field(11, value("v0")) + field(12, value("v%d" % count))
    with open(path, "wb") as file:
        file.write(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x0d"))


def main():
    command, bad = sys.argv[1:3]
    short = 0
    with tempfile.TemporaryDirectory() as work:
        chain = os.path.join(work, "identity_20000.onnx")
        identity_chain(chain, 20000)
        files = [chain] + sorted(os.path.join(bad, name) for name in os.listdir(bad))
        for path in files:
            name = os.path.basename(path)
            if name.endswith(".xz"):
                name, packed = name[:-3], path
                path = os.path.join(work, name)
                with lzma.open(packed) as source, open(path, "wb") as target:
                    target.write(source.read())
            if name.endswith((".onnx", ".tflite", ".pb")):
                words = [command, "convert", path, "--float", "-o", os.path.join(work, "out.rknn"), "--target", "rk3588"]
            elif name.endswith(".rknn"):
                words = [command, "bench", path, "--loops", "1"]
            else:
                continue
            code, seconds, megabytes, text = measure(words)
            good = code in (0, 1) and seconds <= SECONDS and megabytes <= MEGABYTES and (code == 0 or len(text) > 20)
            short += not good
            print("FIGURE %s | %s, %.1f s, %d MiB | an answer, %d s, %d MiB | %s" %
                  (name, "runs" if code == 0 else "refused" if code == 1 else "ends with %d" % code, seconds, megabytes,
                   SECONDS, MEGABYTES, "ok" if good else "SHORT"))
            if not good:
                print(text[-400:])
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
