#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of .clang-tidy by Debian's clang-tidy 14; a figure counts what they find.

    tidy.py BUILD_FOLDER FILES...                  these files, where the build compiles them
    tidy.py BUILD_FOLDER --last N [--most M]       sources that the last N commits touch, at most M of them, newest first
    tidy.py BUILD_FOLDER --all                     every source of the build

Files that are compiled in batches, and options that only GCC knows, are sorted out first: clang-tidy gets one command for
each source.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROGRAM = "clang-tidy-14"
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DROPPED = ("-Winvalid-pch", "-Werror")


def plain(command):
    """The words of a compilation without launcher, output and precompiled header."""
    words = shlex.split(command)
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-include", "-MF", "-MT"):
            skip = True
        elif word not in DROPPED and not word.startswith("--param="):
            kept.append(word)
    return kept


def compilations(build):
    """Each source of ours and how it is compiled."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.join(entry["directory"], entry["file"])
        sources = [path]
        if "/Unity/" in path:
            with open(path) as file:
                sources = re.findall(r'^#include "(.*)"', file.read(), re.MULTILINE)
        for source in map(os.path.abspath, sources):
            if source.startswith(os.path.abspath(build)) or not source.startswith(SOURCE) or not source.endswith(".cpp"):
                continue
            words = [source if os.path.join(entry["directory"], word) == path else word for word in plain(entry["command"])]
            found.setdefault(source, {"directory": entry["directory"], "file": source, "arguments": words})
    return found


def touched(commits):
    """Sources of the last commits, newest first; none where there is no history."""
    done = subprocess.run(["git", "-C", SOURCE, "log", f"-{commits}", "--name-only", "--format=", "--", "*.cpp"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return list(dict.fromkeys(os.path.join(SOURCE, name) for name in done.stdout.splitlines() if name))


def check(folder, files):
    done = subprocess.run([PROGRAM, "-p", folder, "--quiet", "--extra-arg=-Wno-unknown-warning-option"] + files,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=SOURCE)
    return [line.replace(SOURCE + "/", "") for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--last", type=int)
    parser.add_argument("--most", type=int)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    if not shutil.which(PROGRAM):
        print(f"SKIP tidy: {PROGRAM} is not installed")
        return 0
    known = compilations(args.build)
    wanted = list(known) if args.all else touched(args.last) if args.last else map(os.path.abspath, args.files)
    files = [path for path in wanted if path in known][:args.most]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w") as file:
            json.dump(list(known.values()), file)
        parts = [files[i:i + 4] for i in range(0, len(files), 4)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said = sorted({line for lines in pool.map(lambda part: check(folder, part), parts) for line in lines})
    for line in said[:40]:
        print("  " + line)
    print(f"FIGURE findings of clang-tidy in {len(files)} files | {len(said)} | 0 | {'SHORT' if said else 'ok'}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
