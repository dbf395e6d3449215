#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and of docs/, as a reader would after `make release`.

    commands_check.py --build build/release --work FOLDER

A command is a line of an indented block that starts with a program's name. Each page is one shell, in a folder that has the
tree's examples and headers, the build, and the files that the pages call model.onnx, dataset.txt or picture.jpg. A command that
is not run has a row below that says who runs it; a command without a row that fails, fails the test.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAMS = re.compile(r"(?:\w+=\S+ )*(?:\$ )?(rknn\w*|make|python3|pip|cc|g\+\+|export|apt-get|docker|cargo|start_rknn\.sh|\./\S+|"
                      r"build/\S+|env/bin/\S+)(?: |$)")
# Who runs what is not run here: a pattern of the whole line, and the check.
ELSEWHERE = (
    (r"make [\w -]+$", "the Makefile's own targets; only that they exist is looked at here"),
    (r"python3 -m venv|env/bin/pip|pip install|apt-get install", "tests/install/clean_roots.py, make check-install"),
    (r"start_rknn\.sh ", "on a board; tests/server starts the same program"),
    (r".*mobilenet_v2_quantized_1x3x224x224|.*demo_caller\.cpp|.*\./demo_pc", "tests/applications/demo_check.py"),
)
# Programs that serve until they are stopped: what they print once they are ready.
SERVERS = {"rknn view": "http://127.0.0.1:", "build/release/server/rknn_server": "listening"}
PAGE_SECONDS = 300


def commands(page):
    """[(line number, command)] of the indented blocks of a page; comments at the end of a line are left out."""
    found, blank = [], True
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            indented = line.startswith("    ") and line.strip() != ""
            if indented and (blank or found and found[-1][0] == number - 1) and PROGRAMS.match(line.strip()):
                found.append((number, re.sub(r"\s+#.*$|\s+\[--.*\]$", "", line.strip())))
            blank = not indented if indented else line.strip() == ""
    return found


def prepare(work, build):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "build"))
    os.makedirs(os.path.join(work, "models"))
    for name in ("examples", "include", "Makefile"):
        os.symlink(os.path.abspath(os.path.join(ROOT, name)), os.path.join(work, name))
    os.symlink(os.path.abspath(build), os.path.join(work, "build", "release"))
    signs = os.path.abspath(os.path.join(ROOT, "examples", "signs"))
    with open(os.path.join(signs, "dataset.txt")) as file:
        samples = [os.path.join(signs, line.strip()) for line in file if line.strip()][:4]
    for name in ("dataset.txt", "d.txt"):
        with open(os.path.join(work, name), "w") as file:
            file.write("\n".join(samples) + "\n")
    for name in ("picture.jpg", "x.jpg"):
        shutil.copy(samples[0], os.path.join(work, name))
    for name in ("model.onnx", "MODEL.onnx", "models/signs.onnx"):
        shutil.copy(os.path.join(signs, "signs.onnx"), os.path.join(work, name))


def serves(command, ready, work, env):
    """A server is started, waited for and stopped; what it said before is the answer otherwise."""
    server = subprocess.Popen(["bash", "-c", "exec " + command], cwd=work, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    said = ""
    try:
        for line in server.stdout:
            said += line
            if ready in line:
                return None
    finally:
        server.kill()
        server.wait()
    return said


def run_page(page, work, env):
    """(number run, [failures]) of one page."""
    ran, failures = 0, []
    makefile = open(os.path.join(ROOT, "Makefile")).read()
    for number, command in commands(page):
        where = "%s:%d: %s" % (os.path.relpath(page, ROOT), number, command)
        if command.startswith("make ") and not all(re.search(r"^(?:\.PHONY: |[\w -]* )?%s\b" % target, makefile, re.M)
                                                   for target in command.split()[1:]):
            failures.append(where + "\n    the Makefile has no such target")
            continue
        if any(re.match(pattern, command) for pattern, _ in ELSEWHERE):
            continue
        ran += 1
        server = next((ready for name, ready in SERVERS.items() if command.startswith(name)), None)
        if server:
            said = serves(command, server, work, env)
            if said is not None:
                failures.append(where + "\n    it never said '%s': %s" % (server, said[-600:]))
            continue
        done = subprocess.run(["bash", "-c", command], cwd=work, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PAGE_SECONDS)
        if done.returncode != 0:
            failures.append(where + "\n    exit %d: %s" % (done.returncode, done.stdout[-600:]))
    return ran, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    folders = [os.path.abspath(os.path.join(args.build, part)) for part in ("tools/rknn", "server")]
    env = dict(os.environ, PATH=":".join(folders + [os.environ["PATH"]]))
    pages = [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    ran, failed = 0, []
    for page in pages:
        if not commands(page):
            continue
        prepare(args.work, args.build)
        # Later pages start from a model that is built already.
        first = subprocess.run(["bash", "-c", "rknn convert model.onnx -t rk3588 --dataset dataset.txt --mean 0,0,0 --std 255,255,255 "
                                "-o model.rknn && cp model.rknn before.rknn && cp model.rknn after.rknn && mkdir -p build/demo && "
                                "cp model.rknn build/demo/signs.rknn"], cwd=args.work, env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        if first.returncode != 0:
            sys.exit(first.stdout)
        count, failures = run_page(page, args.work, env)
        ran += count
        failed += failures
    print("\n".join(failed))
    for pattern, reason in ELSEWHERE:
        print("not run here: %s (%s)" % (pattern, reason))
    print("FIGURE commands of README and docs that fail, of %d run | %d | 0 | %s" % (ran, len(failed), "SHORT" if failed or ran < 15 else "ok"))
    return 1 if failed or ran < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
