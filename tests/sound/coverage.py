#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line coverage per module from the .gcda files of a build made with --coverage.

    coverage.py BUILD_FOLDER [--bar MODULE=PERCENT ...] [--files MODULE]

Reads gcov's JSON; a line counts as reached when any object reached it. A module with a bar prints a FIGURE.
--files lists the files of a module by the number of lines that nothing reached, with the first of them.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def module_of(path):
    parts = os.path.relpath(path, os.path.join(ROOT, "src")).split(os.sep)
    if parts[0].startswith("..") or path.endswith(("_test.cpp", ".pb.h", ".pb.cc")) or "/test_" in path:
        return None
    return "verify" if os.path.basename(path) == "verify.cpp" else parts[0]


def read_counts(build):
    notes = []
    for folder, _, names in os.walk(build):
        notes += [os.path.join(folder, name) for name in names if name.endswith(".gcda")]
    lines = collections.defaultdict(dict)
    for start in range(0, len(notes), 20):
        # On standard output: files of one name, as every frontend has, would overwrite each other's.
        result = subprocess.run(["gcov", "--json-format", "--stdout"] +
                                [os.path.abspath(note) for note in notes[start:start + 20]],
                                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for text in result.stdout.splitlines():
            report = json.loads(text)
            for source in report["files"]:
                path = os.path.normpath(os.path.join(report["current_working_directory"], source["file"]))
                if module_of(path) is None:
                    continue
                for line in source["lines"]:
                    number = line["line_number"]
                    lines[path][number] = lines[path].get(number, False) or line["count"] > 0
    return len(notes), lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--bar", action="append", default=[])
    parser.add_argument("--files")
    args = parser.parse_args()
    bars = dict(text.split("=") for text in args.bar)
    objects, lines = read_counts(args.build)
    if objects == 0:
        print("coverage: no .gcda below %s: run the tests of a coverage build first" % args.build, file=sys.stderr)
        return 1
    modules = collections.defaultdict(lambda: [0, 0])
    for path, found in lines.items():
        counts = modules[module_of(path)]
        counts[0] += sum(found.values())
        counts[1] += len(found)
    short = 0
    for module in sorted(modules):
        reached, total = modules[module]
        percent = 100.0 * reached / total
        print("%-12s %6.1f %%  %6d of %6d lines" % (module, percent, reached, total))
        if module in bars:
            good = percent >= float(bars[module])
            short += not good
            print("FIGURE line coverage of %s | %.1f %% | at least %s %% | %s" % (module, percent, bars[module],
                                                                             "ok" if good else "SHORT"))
    missed = {path: [n for n, hit in sorted(found.items()) if not hit] for path, found in lines.items()
              if module_of(path) == args.files}
    for path in sorted(missed, key=lambda path: -len(missed[path])):
        print("%5d of %5d  %s: %s" % (len(missed[path]), len(lines[path]), os.path.relpath(path, ROOT),
                                      " ".join(map(str, missed[path][:12]))))
    missing = set(bars) - set(modules)
    for module in sorted(missing):
        print("FIGURE line coverage of %s | not measured | at least %s %% | SHORT" % (module, bars[module]))
    return 1 if short or missing else 0


if __name__ == "__main__":
    sys.exit(main())
