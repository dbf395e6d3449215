#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs GoogleTest programs under valgrind, which tells where memory decides that nobody wrote.

    memcheck.py PROGRAM...

A first run without valgrind tells how long each test takes; those of more than LONGEST_MS are left out and counted,
because valgrind takes some forty times as long. It executes AVX2 at best, so the kernels are those of such a CPU.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

LONGEST_MS = 1000
SHARDS = 12
LIMIT_SECONDS = 1800  # of one shard
CPU = dict(os.environ, RKNN_KERNEL="avx2")
VALGRIND = ["valgrind", "--quiet", "--leak-check=no", "--error-exitcode=99", "--num-callers=20", "--fair-sched=yes",
            "--suppressions=" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "memcheck.supp")]


def times(program):
    """Milliseconds of each test that passes or is skipped, and the names of those that fail, without valgrind."""
    result = subprocess.run([program], env=CPU, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = re.findall(r"\[\s+(OK|SKIPPED|FAILED) \] (\S+)(?:, where .*)? \((\d+) ms\)", result.stdout)
    return ({name: int(ms) for verdict, name, ms in found if verdict != "FAILED"},
            [name for verdict, name, _ in found if verdict == "FAILED"])


def shard(program, names):
    try:
        result = subprocess.run(VALGRIND + [program, "--gtest_filter=" + ":".join(names)], env=CPU, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return 1, "no end after %d s: %s" % (LIMIT_SECONDS, " ".join(names))
    return result.returncode, result.stdout


def check(program):
    tests, failed = times(program)
    short = [name for name, ms in sorted(tests.items(), key=lambda item: -item[1]) if ms <= LONGEST_MS]
    jobs = [short[i::SHARDS] for i in range(SHARDS) if short[i::SHARDS]]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for code, text in pool.map(lambda names: shard(program, names), jobs):
            if code == 0:
                continue
            bad += 1
            lines = text.splitlines()
            print("\n".join([line for line in lines if line.startswith("==") or "FAILED" in line][:60]) or text[-3000:])
    print("FIGURE %s: parts of the tests that fail under valgrind | %d of %d | 0 | %s" %
          (os.path.basename(program), bad, len(jobs), "SHORT" if bad or not jobs else "ok"))
    print("FIGURE %s: tests that fail without it | %d of %d | 0 | %s" %
          (os.path.basename(program), len(failed), len(tests) + len(failed), "SHORT" if failed else "ok"))
    print("COUNT %d tests under valgrind, %d of more than %d ms left out" % (len(short), len(tests) - len(short), LONGEST_MS))
    return bad + len(failed) + (not jobs)


def main():
    return 1 if len(sys.argv) < 2 or sum([check(program) for program in sys.argv[1:]]) else 0


if __name__ == "__main__":
    sys.exit(main())
