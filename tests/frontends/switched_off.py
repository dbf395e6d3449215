#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each format can be left out of a build.

    switched_off.py --source FOLDER --work FOLDER

Configures the project once per format with RK_FRONTEND_<FORMAT>=OFF and looks at what would be compiled: nothing of the
format's folder, and its row in the table of formats knows that it is off (units_frontends checks what the row then says).
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def configure(source, folder, options):
    return subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                           "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"] + ["-D%s=OFF" % o for o in options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def problem(source, folder, formats):
    options = ["RK_FRONTEND_" + fmt.upper() for fmt in formats]
    result = configure(source, folder, options)
    if result.returncode != 0:
        return "\n".join(result.stdout.splitlines()[-5:])
    with open(os.path.join(folder, "compile_commands.json")) as file:
        commands = json.load(file)
    for command in commands:
        if any("/src/frontends/%s/" % fmt in command["file"] for fmt in formats):
            return "%s is compiled" % command["file"]
    table = [c["command"] for c in commands if c["file"].endswith("/src/frontends/model_source.cpp")]
    missing = [o for o in options if not table or "-D%s=0" % o not in table[0]]
    return "the table of formats does not know that %s is off" % missing[0] if missing else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", default=ROOT)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    folder = os.path.join(args.source, "src", "frontends")
    with open(os.path.join(folder, "model_source.cpp")) as file:
        table = file.read()
    formats = sorted(f for f in os.listdir(folder) if "RK_FRONTEND_%s," % f.upper() in table)
    bad = []
    for fmt in formats:
        found = problem(args.source, os.path.join(args.work, fmt), [fmt])
        if found:
            bad.append(fmt)
            print("%s: %s" % (fmt, found))
    print("FIGURE builds without one format that configure | %d of %d | all | %s" %
          (len(formats) - len(bad), len(formats), "SHORT" if bad else "ok"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
