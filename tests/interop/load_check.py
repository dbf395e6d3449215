#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vendor's toolkit opens files of ours: load_rknn() must return 0.

    VENV/bin/python load_check.py FILE.rknn ...      in an environment with rknn-toolkit2
"""
import sys

from rknn.api import RKNN


def load(path):
    rknn = RKNN()
    try:
        return rknn.load_rknn(path)
    finally:
        rknn.release()


def main():
    files = sys.argv[1:]
    codes = [load(path) for path in files]
    good = sum(code == 0 for code in codes)
    ok = files and good == len(files)
    print(f"FIGURE files of ours that the vendor's load_rknn accepts | {good} of {len(files)} | all | {'ok' if ok else 'SHORT'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
