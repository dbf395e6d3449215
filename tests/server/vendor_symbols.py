#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library behind the server stands for the vendor's: it exports the vendor's functions and nothing else.

    vendor_symbols.py librknnrt.so tests/abi/abi_facts.json
"""
import json
import subprocess
import sys


def names_in(facts):
    """Every text of the facts that is a function's name."""
    if isinstance(facts, dict):
        return {n for pair in facts.items() for part in pair for n in names_in(part)}
    if isinstance(facts, list):
        return {n for part in facts for n in names_in(part)}
    return {facts} if isinstance(facts, str) and facts.startswith("rknn_") else set()


def main():
    library, facts = sys.argv[1:]
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE).stdout.decode()
    exported = {line.split()[-1] for line in text.splitlines() if line}
    with open(facts) as file:
        others = sorted(exported - names_in(json.load(file)))
    good = not others and "rknn_init" in exported
    print("FIGURE the library behind the server: exports of its own | %d of %d | 0 | %s"
          % (len(others), len(exported), "ok" if good else "SHORT"))
    if others:
        print("not the vendor's: " + ", ".join(others))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
