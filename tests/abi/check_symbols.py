# SPDX-License-Identifier: Apache-2.0
"""Checks what librknnrt.so shows to the outside: symbols, needed libraries, soname, version text.

Exported means exactly the functions of abi_facts.json: one C++ symbol too many can clash with
another library in the caller's process.

    check_symbols.py --facts FACTS --map MAP [--library SO] [--sanitizers address,undefined]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ALLOWED_LIBRARIES = (
    r"libc\.so|libm\.so|libstdc\+\+\.so|libgcc_s\.so|libpthread\.so|ld-linux[-\w]*\.so"
)
SANITIZER_LIBRARIES = {"address": "asan", "undefined": "ubsan", "thread": "tsan", "leak": "lsan"}
# Users find the version with `strings librknnrt.so | grep "librknnrt version"`.
VERSION_TEXT = re.compile(rb"librknnrt version: \d+\.\d+\.\d+ \([0-9A-Za-z]+@[^\s()][^()\0]*\)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compare(what, found, expected):
    if found - expected:
        yield f"{what}: unexpected {sorted(found - expected)}"
    if expected - found:
        yield f"{what}: missing {sorted(expected - found)}"


def names_in_map(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    exported = re.search(r"global:(.*?)local:\s*\*;", text, flags=re.S)
    return set(re.findall(r"[^\s;]+", exported.group(1))) if exported else set()


def exported_symbols(library):
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}


def dynamic_entries(library, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", library))


def library_problems(library, functions, sanitizers):
    yield from compare("exported symbols", exported_symbols(library), functions)
    allowed = "|".join(
        [ALLOWED_LIBRARIES]
        + [rf"lib{SANITIZER_LIBRARIES[s]}\.so" for s in sanitizers if s in SANITIZER_LIBRARIES]
    )
    for needed in dynamic_entries(library, "NEEDED"):
        if not re.match(rf"(?:{allowed})", needed):
            yield f"needs {needed}, which is none of libc, libm, libstdc++, libgcc_s, libpthread"
    soname = dynamic_entries(library, "SONAME")
    if soname != ["librknnrt.so"]:
        yield f"soname: found {soname}, expected librknnrt.so"
    if not VERSION_TEXT.search(pathlib.Path(library).read_bytes()):
        yield "version text: no 'librknnrt version: X.Y.Z (hash@timestamp)' in the file"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=pathlib.Path, required=True)
    parser.add_argument("--map", type=pathlib.Path, required=True)
    parser.add_argument("--library")
    parser.add_argument("--sanitizers", default="")
    args = parser.parse_args()

    headers = json.loads(args.facts.read_text())["headers"]
    functions = {name for facts in headers.values() for name in facts["functions"]}
    own = args.map.parent.parent.parent / "include" / "openrknn_plugin.h"
    functions |= set(re.findall(r"\b(openrknn_plugin_\w+)\(", own.read_text()))
    problems = list(compare(args.map.name, names_in_map(args.map), functions))
    if args.library:
        problems += library_problems(args.library, functions, args.sanitizers.split(","))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
