#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder over the vendor's files and closes with one summary line; exit 0 only when every figure
holds.

    check.py BUILD_FOLDER

The corpus (files of the vendor's converter beside its simulator's outputs) is unpacked below the build folder once.
LONG=1 adds further files from RK_VENDOR_FURTHER (a folder of the same form, made by make_files.py) and the long run of
damaged files.
RK_VENDOR_COST names a folder of networks of everyday size, made by make_cost_files.py; their cost is part of the check.
"""
import os
import subprocess
import sys
import tarfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def unpack_corpus(build):
    """The folder with the unpacked files, or None when the archive is not there."""
    given = os.environ.get("RK_VENDOR_CORPUS")
    if given:
        return given if os.path.isdir(given) else None
    archive = os.path.join(SOURCE, "..", "shared", "assets", "vendor-oracle", "files.tar.xz")
    folder = os.path.join(build, "vendor-oracle")
    if not os.path.isdir(folder):
        if not os.path.exists(archive):
            return None
        with tarfile.open(archive) as tar:
            tar.extractall(folder + ".part")
        os.rename(folder + ".part", folder)
    return os.path.join(folder, "dev")


def cost_folder(totals):
    """The networks that the corpus does not have: a YOLO with SiLU, MobileNets with a clip and with HardSwish."""
    folder = os.environ.get("RK_VENDOR_COST")
    if folder and os.path.isdir(folder):
        return [folder]
    print("FIGURE cost of vendor files of everyday size | none: set RK_VENDOR_COST | 4 networks | SHORT")
    totals.figures += 1
    totals.short += 1
    return []


class Totals:
    def __init__(self):
        self.figures = self.short = self.failed = self.passed = 0
        self.skipped = False


def run(command, totals, verbose):
    print("==", " ".join(command), flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    for line in process.stdout:
        line = line.rstrip("\n")
        if line.startswith("FIGURE "):
            totals.figures += 1
            totals.short += line.endswith("SHORT")
            print(line)
        elif line.startswith("SKIP "):
            totals.skipped = True
        elif line.startswith("[       OK ]"):
            totals.passed += 1
        elif line.startswith("[  FAILED  ]") and "ms)" in line:
            totals.failed += 1
            print(line)
        elif verbose or "Failure" in line or line.startswith(("Expected", "  Actual", "Value of")):
            print(line)
        sys.stdout.flush()
    return process.wait()


def main():
    build = sys.argv[1]
    totals = Totals()
    tests = os.path.join(build, "tests", "vendor")
    corpus = unpack_corpus(build)
    if corpus is not None:
        os.environ["RK_VENDOR_CORPUS"] = os.path.abspath(corpus)
    codes = [run([os.path.join(tests, "vendor_check")], totals, False)]
    if corpus is None:
        totals.skipped = True
    else:
        codes.append(run([os.path.join(tests, "vendor_corpus"), corpus], totals, True))
        codes.append(run([os.path.join(tests, "vendor_cost"), corpus] + cost_folder(totals), totals, False))
        codes.append(run([os.path.join(tests, "vendor_emulator"), corpus], totals, True))
        if os.path.exists(os.path.join(tests, "vendor_lift")):
            codes.append(run([os.path.join(tests, "vendor_lift"), corpus], totals, True))
    further = os.environ.get("RK_VENDOR_FURTHER")
    if os.environ.get("LONG") == "1":
        if further and os.path.isdir(further):
            codes.append(run([os.path.join(tests, "vendor_corpus"), further, "--further"], totals, True))
        else:
            print("FIGURE further vendor files | none: set RK_VENDOR_FURTHER | >= 300 | SHORT")
            totals.figures += 1
            totals.short += 1
    if totals.skipped:
        print("check-vendor: the vendor's files are not there (../shared/assets); nothing was shown")
        return 1
    ok = not any(codes) and totals.short == 0 and totals.failed == 0 and totals.figures > 0
    print(f"check-vendor: {totals.figures - totals.short} of {totals.figures} figures hold, "
          f"{totals.passed} tests passed, {totals.failed} failed: {'all hold' if ok else 'SHORT'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
