#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose layout is not what .clang-format says, by Debian's clang-format 14.

    layout.py SOURCE_FOLDER [--change]      --change: lay them out (make format)

Another version of the program lays some lines out differently, so only that one is asked.
"""
import os
import shutil
import subprocess
import sys

PROGRAM = "clang-format-14"
SUFFIXES = (".c", ".cc", ".cpp", ".h")
TEMPLATES = os.path.join("src", "toolkit", "codegen_project")  # @NAMES@ in them are not C++ yet
FOLDERS = ("bench", "examples", "include", "python", "server", "src", "tests", "tools", "packaging")


def sources(root):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            if TEMPLATES in path:
                continue
            yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(SUFFIXES))


def main():
    root, change = sys.argv[1], "--change" in sys.argv
    if not shutil.which(PROGRAM):
        print(f"SKIP layout: {PROGRAM} is not installed")
        return 1 if change else 0
    files = list(sources(root))
    arguments = [PROGRAM, "-i"] if change else [PROGRAM, "--dry-run"]
    said = subprocess.run(arguments + files, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    other = sorted({os.path.relpath(line.split(":")[0], root) for line in said.splitlines() if "[-Wclang-format-violations]" in line})
    for name in other:
        print("make format lays this out differently: " + name)
    print(f"FIGURE files laid out differently from .clang-format | {len(other)} of {len(files)} | 0 | {'SHORT' if other else 'ok'}")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
