#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files between us and the vendor: what we write beside what its compiler writes. Closes with one summary line; exit 0 only
when every figure holds.

    check.py BUILD_FOLDER

The corpus of vendor files comes from ../shared (unpacked below the build folder once, as check-vendor does). RK_VENDOR_FURTHER
names a folder of further files with their source models, made by tests/vendor/make_files.py: constants can be judged with
source models only.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "vendor"))
from check import unpack_corpus  # noqa: E402  (tests/vendor/check.py)


def main():
    build = os.path.abspath(sys.argv[1])
    programs = os.path.join(build, "tests", "interop")
    folders = [unpack_corpus(build), os.environ.get("RK_VENDOR_FURTHER")]
    corpus, further = [folder if folder and os.path.isdir(folder) else None for folder in folders]
    commands = []
    if corpus:
        commands.append([os.path.join(programs, "register_compare"), corpus] + ([further] if further else []))
    else:
        print("MISSING the corpus of vendor files is absent: ../shared/assets/vendor-oracle")
    if further:
        commands.append([os.path.join(programs, "constant_compare"), further])
    else:
        print("MISSING RK_VENDOR_FURTHER is not set: no source models beside vendor files")
    words = [sys.executable, os.path.join(HERE, "..", "check.py"), "check-interop"]
    for command in commands:
        words += ["--"] + command
    code = subprocess.run(words).returncode if commands else 1
    return code if corpus and further else 1


if __name__ == "__main__":
    sys.exit(main())
