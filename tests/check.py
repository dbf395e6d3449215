#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of one acceptance check and closes with one summary line.

    check.py NAME -- command args [-- command args ...]

Prints every 'FIGURE <name> | <value> | <bar> | ok/SHORT' line beside its bar and the tail of a command that fails.
Exits 0 only when every command succeeded and no figure is short. NAME=value words before a command are its environment.
"""
import os
import subprocess
import sys
import time


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
    for figure in figures:
        print("  " + figure)
    verdict = "ok" if result.returncode == 0 else f"failed with {result.returncode}"
    print(f"== {' '.join(command)[:110]}: {verdict}, {time.time() - start:.0f} s", flush=True)
    if result.returncode != 0:
        print("\n".join(lines[-40:]))
    return figures, result.returncode == 0


def main():
    name, commands = sys.argv[1], split_commands(sys.argv[2:])
    figures, failed = [], 0
    for command in commands:
        found, ok = run(command)
        figures += found
        failed += not ok
    short = sum(figure.rstrip().endswith("SHORT") for figure in figures)
    verdict = "FAILED" if failed or short else "passed"
    print(f"{name}: {verdict}: {len(figures)} figures, {short} short; {len(commands)} commands, {failed} failed")
    return 1 if failed or short else 0


if __name__ == "__main__":
    sys.exit(main())
