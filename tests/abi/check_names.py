# SPDX-License-Identifier: Apache-2.0
"""Checks that the headers define every name of abi_facts.json and no other.

The layout checks cannot see a name too many. A header that grows one of our own would compile here
and break with the vendor's, so the preprocessed text is compared as a set.

    check_names.py FACTS INCLUDE_DIR COMPILER
"""
import json
import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"\b(?:_?rknn_\w+|RKNN_\w+|get_(?:\w+_string|custom_op_func))\b")
DEFINE = re.compile(r"#define (\w+)")


def names_in_facts(facts):
    for part in ("macros", "typedefs", "enums", "structs", "functions", "inline_functions"):
        yield from facts[part]
    for fact in list(facts["enums"].values()) + list(facts["structs"].values()):
        if fact["tag"]:
            yield fact["tag"]
    for fact in facts["enums"].values():
        yield from fact["constants"]


def lines_of(header, compiler):
    """Preprocessed lines, #define lines included, that stem from this file itself."""
    command = [compiler, "-E", "-dD", "-x", "c", "-std=c99", str(header)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    inside = False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            inside = pathlib.Path(marker.group(1)) == header
        elif inside:
            yield line


def names_in_header(header, compiler):
    names, macros = set(), set()
    for line in lines_of(header, compiler):
        define = DEFINE.match(line)
        if define:
            macros.add(define.group(1))
        else:
            # Texts are not names: get_matmul_type_string returns some that look like them.
            names.update(OURS.findall(re.sub(r'"[^"]*"', "", line)))
    return names, macros


def main(facts_path, include_dir, compiler):
    headers = json.loads(pathlib.Path(facts_path).read_text())["headers"]
    known, problems = set(), []
    # Beside the headers of this interface lie our own, with a prefix of theirs, and those of the 2D engine (rga/).
    present = {path.name for path in pathlib.Path(include_dir).glob("rknn_*.h")}
    if present != set(headers):
        problems.append(f"include/ holds {sorted(present)}, expected {sorted(headers)}")
    for header, facts in headers.items():
        own = set(names_in_facts(facts))
        names, macros = names_in_header(pathlib.Path(include_dir) / header, compiler)
        guard = "_" + header.upper().replace(".", "_")
        expected_macros = set(facts["macros"]) | {guard}
        if macros != expected_macros:
            problems.append(f"{header}: macros differ: {sorted(macros ^ expected_macros)}")
        extra = names - own - known
        missing = own - names - macros
        if extra:
            problems.append(f"{header}: not in the interface: {sorted(extra)}")
        if missing:
            problems.append(f"{header}: missing: {sorted(missing)}")
        known |= own
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
