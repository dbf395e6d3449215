#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs register_compare, and holds its tables of registers against docs/fidelity.md.

    registers_check.py REGISTER_COMPARE FIDELITY.md FOLDER ...

Every register that differs in more than 1 % of a kind's tasks must stand in the first column of the table "Registers that
differ in more than 1 %" of that page, by its place in hexadecimal. A row that begins with chips and a colon speaks of these.
"""
import re
import subprocess
import sys

MOST = 1.0  # percent

TITLE = "Registers that differ in more than 1 %"
KIND = re.compile(r"float16|(RK|RV)\d{4}B?((,| in) float16)?")
ROW = re.compile(r"([0-9a-f]{4}) .*? +\d+ +(\d+\.\d+) %  ")


def explained(page):
    """The first cells of the table's rows: the chips that a row speaks of, or none, and the places of registers."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split(TITLE, 1)[1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        cell = line.split("|")[1]
        chips = re.findall(r"R[KV]\d{4}B?", cell.split(":")[0]) if ":" in cell else []
        rows.append((chips, re.findall(r"0x[0-9a-f]{4}", cell)))
    return rows


def main():
    program, page, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    result = subprocess.run([program] + folders, stdout=subprocess.PIPE, text=True, errors="replace")
    print(result.stdout, end="")
    rows = explained(page)
    kind, over, unexplained = "RK3588", 0, []
    for line in result.stdout.splitlines():
        if KIND.fullmatch(line):
            kind = line
        row = ROW.match(line)
        if not row or float(row[2]) <= MOST:
            continue
        over += 1
        chip = kind.split(",")[0].split()[0].replace("float16", "RK3588")
        place = "0x" + row[1]
        if not any(place in places and (not chips or chip in chips) for chips, places in rows):
            unexplained.append(f"{place} of {kind} ({row[2]} %)")
    for register in unexplained:
        print(f"not explained in {page}: {register}")
    ok = result.returncode in (0, 1) and not unexplained
    print(f"FIGURE registers: that differ in more than {MOST:g} % of a kind's tasks and are not explained in docs/fidelity.md | "
          f"{len(unexplained)} of {over} | 0 | {'ok' if ok else 'SHORT'}")
    return result.returncode or (0 if ok else 1)


if __name__ == "__main__":
    sys.exit(main())
