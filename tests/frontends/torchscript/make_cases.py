#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.bin from cases.txt: answers of rknn-import-torchscript, and outputs that libtorch itself computed.

    make_cases.py --run-cases build/release/tests/frontends/run_cases --helper .../rknn-import-torchscript

Needs libtorch (both programs link it); the tests that read cases.bin do not. The answers stand in place of the .pt files,
so that every build can import them. --pt FOLDER keeps the .pt files.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pack import Pack  # noqa: E402


def read_cases(path):
    cases = []
    for line in open(path):
        word, _, rest = line.strip().partition(" ")
        if line.startswith("    "):
            continue
        if word == "case":
            cases.append({"name": rest, "shapes": []})
        elif word == "input":
            extents = rest.split()[1]
            cases[-1]["shapes"].append([int(n) for n in extents.split(",")])
        elif word in ("refused", "note", "without", "tolerance"):
            cases[-1][word] = rest
    return cases


def arrays(prefix):
    found = []
    while os.path.exists("%s%d.npy" % (prefix, len(found))):
        found.append(np.load("%s%d.npy" % (prefix, len(found))))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-cases", required=True)
    parser.add_argument("--helper", required=True)
    parser.add_argument("--pt")
    args = parser.parse_args()
    source = os.path.join(HERE, "cases.txt")
    pack = Pack("pytorch")
    with tempfile.TemporaryDirectory() as own:
        folder = args.pt or os.path.join(own, "pt")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        subprocess.run([args.run_cases, source, folder], check=True)
        for case in read_cases(source):
            base = os.path.join(folder, case["name"])
            answer = os.path.join(own, "answer")
            subprocess.run([args.helper, base + ".pt", answer], check=True)
            pack.add(case["name"], [open(answer, "rb").read()], arrays(base + ".in"), arrays(base + ".out"),
                     tolerance=float(case.get("tolerance", 1e-5)), shapes=case["shapes"],
                     refusal=case.get("refused", ""), without=case.get("without", ""), note=case.get("note", ""))
    pack.write(os.path.join(HERE, "cases.bin"))
    print("%d cases" % len(pack.cases))


if __name__ == "__main__":
    main()
