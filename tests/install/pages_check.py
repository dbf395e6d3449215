#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the first pages of the documentation literally: every ```bash block, in order, in a freshly installed Debian 12
where nothing is but the files of a release.

    pages_check.py --packages build/packages --roots FOLDER
"""
import argparse
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "..", "docs")
sys.path.insert(0, HERE)
from root import Root, make_root  # noqa: E402

PAGES = ("getting-started.md", "guide.md", "how-to.md")
BAR_SECONDS = 300
FIGURES = []


def figure(name, value, bar, ok):
    FIGURES.append(ok)
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def blocks(page):
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S)
    return found, len(re.findall(r"^```\w+$", text, re.M))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", required=True)
    parser.add_argument("--roots", required=True)
    args = parser.parse_args()
    lower = make_root(args.roots, "bookworm", ())
    if lower is None:
        print("SKIP Debian's archive is not there")
        return 1
    script, wanted = "", 0
    for page in PAGES:
        found, fences = blocks(page)
        if not found or len(found) != fences:
            sys.exit("%s: %d of %d blocks are commands" % (page, len(found), fences))
        for number, block in enumerate(found, 1):
            # One shell for all pages, as a reader has; -e ends it at the first line that fails.
            script += block + "echo \"=== %s %d $(date +%%s.%%N)\"\n" % (page, number)
            wanted += 1
    with Root(lower, os.path.join(args.roots, "layers")) as root:
        for name in os.listdir(args.packages):
            if name.endswith(("x86_64.whl", "any.whl", ".tar.gz")):
                root.put(os.path.join(args.packages, name))
        start = time.time()
        done = root.run(script, timeout=1800)
    marks = re.findall(r"^=== (\S+) (\d+) (\S+)$", done.stdout, re.M)
    if done.returncode != 0 or len(marks) != wanted:
        print(done.stdout[-3000:])
    for page in PAGES:
        count = sum(mark[0] == page for mark in marks)
        figure("%s followed in a fresh Debian 12, blocks" % page, count, "= %d" % len(blocks(page)[0]),
               count == len(blocks(page)[0]))
    # Three shapes are drawn; the script that looks for them comes third.
    detected = [mark for mark in marks if mark[:2] == ("getting-started.md", "3")]
    shapes = sum(bool(re.search(r"^ *%s +[01]\.\d\d +\[" % shape, done.stdout, re.M)) for shape in ("circle", "square", "triangle"))
    seconds = float(detected[0][2]) - start if detected else float("inf")
    figure("first detection from nothing: objects, seconds", "%d, %.0f" % (shapes, seconds), "3, < %d" % BAR_SECONDS,
           shapes == 3 and seconds < BAR_SECONDS)
    return 1 if FIGURES.count(False) else 0


if __name__ == "__main__":
    sys.exit(main())
