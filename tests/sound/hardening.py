#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What release binaries are protected by, read with readelf: one FIGURE per file.

    hardening.py FILE...
"""
import re
import subprocess
import sys


def readelf(*words):
    return subprocess.run(["readelf", "-W"] + list(words), check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def landing_pads(path):
    """How many endbr64 the file has: -fcf-protection puts one at every function that may be called by a pointer. The
    mark of the whole file is not asked for: the linker drops it, because Debian 12's own crti.o has none."""
    with open(path, "rb") as file:
        return file.read().count(b"\xf3\x0f\x1e\xfa")


def missing(path):
    header, segments = readelf("-h", path), readelf("-l", path)
    dynamic, symbols = readelf("-d", path), readelf("--dyn-syms", path)
    out = []
    if "DYN" not in header:
        out.append("position independence")
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        out.append("full RELRO")
    stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}(\S+)", segments)
    if not stack or "E" in stack.group(1):
        out.append("a stack that does not execute")
    if "__stack_chk_fail" not in symbols:
        out.append("stack canaries")
    if not re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail@", "")):
        out.append("checked string functions")
    if "X86-64" in header.upper() and landing_pads(path) < 1000:
        out.append("control-flow marks")
    for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in paths.split(":")):
            out.append("a run path of $ORIGIN only (found '%s')" % paths)
    return out


def main():
    short = 0
    for path in sys.argv[1:]:
        lacks = missing(path)
        short += bool(lacks)
        print("FIGURE hardening of %s | %s | nothing missing | %s" %
              (path.split("/")[-1], "lacks " + ", ".join(lacks) if lacks else "nothing missing",
               "SHORT" if lacks else "ok"))
    return 1 if short or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
