#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completion know every command and option that the rknn command has.

    command_line_check.py RKNN
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", "packaging", "command_line.py")


def completed(script, words):
    """What bash offers after these words."""
    text = "source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _rknn; echo ${COMPREPLY[@]}" % (
        script, " ".join("'%s'" % w for w in words), len(words) - 1)
    return subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def main():
    rknn = os.path.abspath(sys.argv[1])
    commands, options, missing, warnings = 0, 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", PROGRAM, rknn, folder], check=True)
        bash = os.path.join(folder, "bash-completion", "completions", "rknn")
        others = [open(os.path.join(folder, path)).read()
                  for path in ("zsh/vendor-completions/_rknn", "fish/vendor_completions.d/rknn.fish")]
        offered = completed(bash, ["rknn", ""])
        # Independently of the generator: the words that the program itself takes.
        listing = subprocess.run([rknn, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        for name in re.findall(r"(?m)^  (\w+) ", listing):
            steps = [[name, "step1"], [name, "step2"]] if name == "hybrid" else [[name]]
            for words in steps:
                commands += 1
                page = os.path.join(folder, "man", "man1", "rknn-%s.1.gz" % "-".join(words))
                text = gzip.open(page, "rt").read().replace("\\-", "-")
                shown = subprocess.run(["man", "-l", "--warnings", page], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       env=dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8"))
                warnings += shown.returncode != 0 or bool(shown.stderr)
                told = subprocess.run([rknn, *words, "--help"], stdout=subprocess.PIPE, text=True).stdout
                flags = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", told)
                offers = completed(bash, ["rknn", *words, "--"])
                for flag in flags:
                    options += 1
                    ok = flag in text and flag in offers and all(flag[2:] in other for other in others)
                    missing += [] if ok else [" ".join(words + [flag])]
            missing += [] if name in offered else [name]
    print("\n".join("missing: " + entry for entry in missing))
    ok = not missing and not warnings and commands >= 15
    print("FIGURE commands, options in man pages and completion | %d, %d; %d missing, %d pages with warnings | 0, 0 | %s" % (
        commands, options, len(missing), warnings, "ok" if ok else "SHORT"))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
