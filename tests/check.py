#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of one acceptance check and closes with one summary line.

    check.py NAME -- command args [-- command args ...]

Prints every 'FIGURE <name> | <value> | <bar> | ok/SHORT' line beside its bar and the tail of a command that fails. What
commands print after 'COUNT ' is part of the summary.
Exits 0 only when every command succeeded, no figure is short and no test was skipped because its data is absent; what a
machine or a peer cannot do is skipped with a line of its own. NAME=value words before a command are its environment.
"""
import os
import re
import subprocess
import sys
import time


# A test that says so had nothing to judge: the check has shown nothing.
NO_DATA = re.compile(r"shared|is absent|are absent|is missing|is not set|is not there|not at hand|names no folder")


def without_data(lines):
    """The lines that tell of a test skipped for want of its data: ours, and what follows gtest's 'file:line: Skipped'."""
    told = [line for line in lines if line.startswith("SKIP ")]
    told += [after for line, after in zip(lines, lines[1:]) if line.endswith(": Skipped")]
    return [line for line in told if NO_DATA.search(line)]


def split_commands(words):
    commands, current = [], []
    for word in words:
        if word == "--":
            if current:
                commands.append(current)
            current = []
        else:
            current.append(word)
    return commands + ([current] if current else [])


def run(command):
    env = dict(os.environ)
    while command and "=" in command[0] and "/" not in command[0].split("=")[0]:
        key, value = command.pop(0).split("=", 1)
        env[key] = value
    start = time.time()
    result = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace")
    lines = result.stdout.splitlines()
    figures = [line[len("FIGURE "):] for line in lines if line.startswith("FIGURE ")]
    for line in lines:
        if line.startswith("SKIP "):
            print(line)
    missing = without_data(lines)
    for line in missing:
        print("MISSING " + line)
    for figure in figures:
        print("  " + figure)
    verdict = "ok" if result.returncode == 0 else f"failed with {result.returncode}"
    print(f"== {' '.join(command)[:110]}: {verdict}, {time.time() - start:.0f} s", flush=True)
    if result.returncode != 0:
        print("\n".join(lines[-40:]))
    counts = [line[len("COUNT "):] for line in lines if line.startswith("COUNT ")]
    return figures, counts, result.returncode == 0, len(missing)


def main():
    name, commands = sys.argv[1], split_commands(sys.argv[2:])
    figures, counts, failed, missing = [], [], 0, 0
    for command in commands:
        found, counted, ok, skipped = run(command)
        figures += found
        counts += counted
        failed += not ok
        missing += skipped
    short = sum(figure.rstrip().endswith("SHORT") for figure in figures)
    bad = failed or short or missing
    print(f"{name}: {'FAILED' if bad else 'passed'}: {len(figures)} figures, {short} short; {len(commands)} commands, "
          f"{failed} failed; {missing} without data" + "".join(f"; {count}" for count in counts))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
