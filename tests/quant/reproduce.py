#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `rknn analyze` and computes its table again from the dumped .npy files, with numpy only.

    reproduce.py RKNN_COMMAND

Every cosine must agree to the five decimals printed, every Euclidean distance to the digits printed. Prints FIGURE lines
and exits with 1 when one is short.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CELL = re.compile(r"(-?\d\.\d{5}) \| (\S+)")


def read_map(folder):
    with open(os.path.join(folder, "map_name_to_file.txt"), encoding="utf-8") as text:
        return dict(line.rstrip("\n").rsplit(" ", 1) for line in text)


def read_table(folder):
    """{name: [(cosine text, distance text), ...]} of the rows that have cells."""
    rows = {}
    with open(os.path.join(folder, "error_analysis.txt"), encoding="utf-8") as text:
        for line in text:
            match = re.match(r"\[[^\]]+\] (.*?)  +(?=-?\d\.\d{5} \|)", line)
            if match:
                rows[match.group(1)] = CELL.findall(line)
    return rows


def load(folder, kind, name):
    return np.load(os.path.join(folder, kind, name)).astype(np.float64).ravel()


def cosine(a, b):
    if not a.any() and not b.any():
        return 1.0
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm else 0.0


def check(folder):
    """(rows, cells, cells that differ)"""
    files, rows = read_map(folder), read_table(folder)
    pairs = [("golden", "simulator"), ("golden", "simulator_single"), ("golden", "runtime"), ("simulator", "runtime")]
    cells = wrong = 0
    for name, printed in rows.items():
        given = [p for p in pairs if all(os.path.exists(os.path.join(folder, kind, files[name])) for kind in p)]
        if name + "_int8" in files:  # an input as given: nothing was computed
            continue
        if len(printed) != len(given):
            print("%s: %d cells, files for %d" % (name, len(printed), len(given)))
            wrong += 1
            continue
        for (cos_text, euc_text), (want, got) in zip(printed, given):
            a, b = load(folder, want, files[name]), load(folder, got, files[name])
            distance = float(np.linalg.norm(a - b))
            cells += 1
            digits = len(euc_text.split(".")[1]) if "." in euc_text else 0
            rest = distance - float(euc_text)  # the table cuts digits off; sums in another order differ by rounding
            rounding = 1e-6 * distance + 1e-9
            same = (abs(cosine(a, b) - float(cos_text)) <= 0.51e-5
                    and -rounding <= rest <= 10.0 ** -digits + rounding)
            if not same:
                print("%s %s/%s: printed %s | %s, found %.6f | %.6f" % (name, want, got, cos_text, euc_text,
                                                                       cosine(a, b), distance))
                wrong += 1
    return len(rows), cells, wrong


def figure(name, value, bar, good):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if good else "SHORT"))
    return good


def main():
    command = sys.argv[1]
    signs, digits = os.path.join(ROOT, "examples", "signs"), os.path.join(ROOT, "examples", "digits")
    runs = {
        "signs": [os.path.join(signs, "signs.onnx"), "--dataset", os.path.join(signs, "dataset.txt"),
                  "--mean", "0,0,0", "--std", "255,255,255", "-i", os.path.join(signs, "test", "000.jpg"),
                  "--board", "rk3588"],
        "digits float16": [os.path.join(digits, "digits.onnx"), "--float", "--mean", "127.5", "--std", "64"],
    }
    good = True
    with tempfile.TemporaryDirectory() as folder:
        picture = np.load(os.path.join(digits, "test_images.npy"))[:1].astype(np.float32).transpose(0, 3, 1, 2)
        np.save(os.path.join(folder, "digit.npy"), picture)
        runs["digits float16"] += ["-i", os.path.join(folder, "digit.npy")]
        for name, words in runs.items():
            out = os.path.join(folder, name.replace(" ", "_"))
            subprocess.run([command, "analyze", "-t", "rk3588", "-o", out] + words, check=True,
                           stdout=subprocess.DEVNULL)
            rows, cells, wrong = check(out)
            good &= figure("rows of the %s table" % name, rows, ">= 5", rows >= 5)
            good &= figure("cells of the %s table that numpy does not reproduce (of %d)" % (name, cells), wrong,
                           "<= 0", wrong == 0 and cells > 0)
            page = open(os.path.join(out, "report.html"), encoding="utf-8").read()
            good &= figure("%s report.html needs no other file" % name, "%d bytes" % len(page), "no address in it",
                           "http" not in page and "src=" not in page)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
