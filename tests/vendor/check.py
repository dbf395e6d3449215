#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs vendor_check and closes with one summary line; exit 0 only when every figure holds and every test passed."""
import subprocess
import sys


def main():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    figures = short = failed = passed = 0
    skipped = False
    for line in process.stdout:
        line = line.rstrip("\n")
        if line.startswith("FIGURE "):
            figures += 1
            short += line.endswith("SHORT")
            print(line)
        elif line.startswith("SKIP "):
            skipped = True
        elif line.startswith("[       OK ]"):
            passed += 1
        elif line.startswith("[  FAILED  ]") and "ms)" in line:
            failed += 1
            print(line)
        elif "Failure" in line or line.startswith(("Expected", "  Actual", "Value of", "==")):
            print(line)
        sys.stdout.flush()
    code = process.wait()
    if skipped:
        print("check-vendor: the vendor's files are not there (../shared/assets/vendor-rknn); nothing was shown")
        return 1
    ok = code == 0 and short == 0 and failed == 0 and figures > 0
    print(f"check-vendor: {figures - short} of {figures} figures hold, {passed} tests passed, {failed} failed: "
          f"{'all hold' if ok else 'SHORT'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
