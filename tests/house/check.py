#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the tree itself: sizes, words, layers, guides, and that checks cannot pass on nothing.

    check.py SOURCE_FOLDER

Prints one 'FIGURE <name> | <value> | <bar> | ok/SHORT' line each; what is short is listed above its figure.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
CODE = (".cpp", ".h", ".c", ".cc", ".py", ".cmake", ".sh")
TEXT = CODE + (".md", ".proto", ".fbs")
LONGEST = 900
# British endings of words the code itself spells the American way, and habits of speech that were taken out.
BRITISH = re.compile(r"\b(behaviour|colour|neighbour|centre\b|artefact|\w*(?:quanti|optimi|normali|recogni|seriali|"
                     r"initiali|saniti|canonicali|vectori|paralleli)s(?:e|ed|es|er|ing|ation)\b)", re.IGNORECASE)
TICS = re.compile(r"newcomer's mistake|\bTODO\b|\bFIXME\b")
WORKPLACE = re.compile(r"(?<![\w.])/(?:work|root|home)/\w")
short = 0


def figure(name, value, bar, ok, details=()):
    global short
    for line in list(details)[:20]:
        print("  " + line)
    print(f"FIGURE {name} | {value} | {bar} | {'ok' if ok else 'SHORT'}", flush=True)
    short += not ok


def none_of(name, found):
    found = list(found)
    figure(name, len(found), "0", not found, found)


def tracked():
    out = subprocess.run(["git", "-C", SOURCE, "ls-files"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [path for path in out.splitlines() if os.path.exists(os.path.join(SOURCE, path))]


def lines_of(path):
    with open(os.path.join(SOURCE, path), errors="replace") as file:
        return file.read().splitlines()


def matches(paths, pattern, without=()):
    for path in paths:
        if path in without:
            continue
        for number, line in enumerate(lines_of(path), 1):
            if pattern.search(line.replace('["quantisation"]', "")):  # a key of the stored models' descriptions
                yield f"{path}:{number}: {line.strip()[:120]}"


def judge_words(files):
    texts = [path for path in files if path.endswith(TEXT)]
    own = ("tests/house/check.py",)
    none_of("files over 900 lines", (f"{path}: {len(lines_of(path))}" for path in files
                                     if path.endswith(TEXT) and len(lines_of(path)) > LONGEST))
    none_of("British spellings", matches(texts, BRITISH, own))
    none_of("habits of speech, notes to oneself", matches(texts, TICS, own))
    none_of("paths of one machine", matches([p for p in texts if not p.startswith("docs/")], WORKPLACE, own))
    none_of("generated files checked in", (p for p in files if p.endswith((".pb.h", ".pb.cc", ".o", ".so", ".pyc"))))


def judge_guides(files):
    folders = sorted({path.split("/")[0] for path in files if "/" in path and not path.startswith(".")})
    none_of("top folders without a README", (f for f in folders if f"{f}/README.md" not in files))
    wanted = [f"docs/adding-a-{what}.md" for what in ("chip", "kernel", "pass", "frontend", "query")]
    wanted += ["docs/adding-an-operator.md", "docs/testing.md", "docs/glossary.md", "CHANGELOG.md", "SECURITY.md",
               "CONTRIBUTING.md", ".clang-format", ".clang-tidy"]
    none_of("guides that are missing", (path for path in wanted if path not in files))
    dead = []
    for path in (p for p in files if p.endswith(".md")):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", "\n".join(lines_of(path))):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not os.path.exists(os.path.normpath(os.path.join(SOURCE, os.path.dirname(path), target))):
                dead.append(f"{path}: {target}")
    none_of("links to files that are not there", dead)


def judge_checks(files):
    """An acceptance command that has nothing to judge must fail."""
    check = os.path.join(SOURCE, "tests", "check.py")
    for says in ("x.cpp:1: Skipped\n../shared is absent", "SKIP models: ../shared is absent"):
        with tempfile.NamedTemporaryFile("w") as output:
            output.write(says + "\nFIGURE a | 1 | 1 | ok\n")
            output.flush()
            code = subprocess.run([sys.executable, check, "empty", "--", "cat", output.name],
                                  stdout=subprocess.DEVNULL).returncode
        figure(f"a check whose test says '{says.splitlines()[-1][:40]}' exits with", code, "1", code == 1)
    makefile = "\n".join(lines_of("Makefile"))
    targets = set(re.findall(r"^(check-[\w-]+):", makefile, re.MULTILINE))
    shown = set(re.findall(r'@echo "make (check-[\w-]+)', makefile)) | {"check-python"}
    none_of("acceptance commands that `make help` does not show", sorted(targets - shown))


def main():
    files = tracked()
    judge_words(files)
    judge_guides(files)
    judge_checks(files)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
