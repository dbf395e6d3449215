#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test of the two builds and closes with 'N passed, N failed'.

The sanitized build runs the unit tests and a small end-to-end set; the release build runs the figures. A test prints a
figure beside its bar as a line 'FIGURE <name> | <value> | <bar> | ok/SHORT'; they are collected and repeated at the end.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree


def gtest_counts(path):
    """(passed, failed, [names of skips], [(seconds, name)], [names of failures]) of one gtest JSON report."""
    with open(path) as f:
        report = json.load(f)
    passed = failed = 0
    skipped, times, bad = [], [], []
    for suite in report["testsuites"]:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            times.append((float(case["time"].rstrip("s")), name))
            if case.get("failures"):
                failed += 1
                bad.append(name)
            elif case.get("result") == "SKIPPED":
                skipped.append(name)
            else:
                passed += 1
    return passed, failed, skipped, times, bad


class Totals:
    def __init__(self):
        self.passed = self.failed = 0
        self.times, self.bad, self.figures, self.notes, self.skipped = [], [], [], [], []


def run_ctest(build, label, totals):
    reports = tempfile.mkdtemp()
    # One gtest report per binary and test, named by GTEST_OUTPUT's directory form.
    env = dict(os.environ, GTEST_OUTPUT=f"json:{reports}/")
    junit = os.path.join(reports, "ctest.xml")
    start = time.time()
    result = subprocess.run(
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "--output-junit", junit,
         "--timeout", "900", "-j", "2", "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000"],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"== {label}: {time.time() - start:.0f} s")
    gtest_failed = set()
    binaries = set()
    for name in sorted(os.listdir(reports)):
        if not name.endswith(".json"):
            continue
        p, f, s, times, bad = gtest_counts(os.path.join(reports, name))
        binaries.add(name.split(".")[0].split("_shard")[0])
        totals.passed += p
        totals.failed += f
        totals.skipped += [f"{label}: {n}" for n in s]
        totals.times += [(t, f"{label}: {n}") for t, n in times]
        totals.bad += [f"{label}: {n}" for n in bad]
        gtest_failed.update(bad)
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        name = case.get("name")
        ok = case.get("status") == "run"
        output = case.findtext("system-out") or ""
        for line in output.splitlines():
            if line.startswith("FIGURE "):
                totals.figures.append(line[len("FIGURE "):])
            if line.startswith("SKIP "):
                totals.notes.append(f"{label}: {line}")
        if name in binaries and (ok or gtest_failed):
            continue  # its cases were counted from the report
        totals.times.append((float(case.get("time") or 0), f"{label}: {name}"))
        if ok:
            totals.passed += 1
        else:
            totals.failed += 1
            totals.bad.append(f"{label}: {name}")
    if result.returncode != 0:
        print(result.stdout[-20000:])
        if not totals.bad:
            totals.failed += 1
            totals.bad.append(f"{label}: ctest exited with {result.returncode}")


def slowest_files(build, count):
    """From ninja's own log: (seconds, object file)."""
    best = {}
    with open(os.path.join(build, ".ninja_log")) as f:
        for line in f.readlines()[1:]:
            start, end, _, output, _ = line.rstrip("\n").split("\t")
            if output.endswith(".o"):
                best[output] = (int(end) - int(start)) / 1000
    return sorted(((s, o) for o, s in best.items()), reverse=True)[:count]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dev", required=True)
    parser.add_argument("--release", required=True)
    args = parser.parse_args()
    totals = Totals()
    run_ctest(args.dev, "dev", totals)
    run_ctest(args.release, "release", totals)

    print("\nslowest files to compile (dev)")
    for seconds, name in slowest_files(args.dev, 10):
        print(f"  {seconds:7.1f} s  {name}")
    print("slowest tests")
    for seconds, name in sorted(totals.times, reverse=True)[:10]:
        print(f"  {seconds:7.1f} s  {name}")
    print(f"skipped: {len(totals.skipped)}")
    for note in totals.notes + totals.skipped:
        print("  " + note)
    print("\nfigure | value | bar | verdict")
    for figure in totals.figures:
        print("  " + figure)
        if figure.rstrip().endswith("SHORT") and not totals.bad:
            totals.failed += 1
            totals.bad.append(figure)
    for name in totals.bad:
        print("FAILED " + name)
    sys.stdout.flush()
    print(f"{totals.passed} passed, {totals.failed} failed")
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
