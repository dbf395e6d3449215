#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian packages in freshly installed systems: install, import, convert, run, compare bytes.

    clean_roots.py --packages build/packages --build build/release --roots FOLDER [SUITE...]

What a conversion to int8 and its results are does not depend on the system, so each system has to give the bytes that the
build itself gives here (not the packages: other link lines, another C library).
"""
import argparse
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "python"))
from check_arm64 import SCRIPT  # noqa: E402  (convert digits, run 200 pictures, print a digest)
from root import SUITES, Root, make_root  # noqa: E402

PYTHON = ("python3", "python3-numpy", "python3-venv")
DEBIAN = ("bookworm", "trixie")
FIGURES = []

WHEEL = """
python3 -m venv --system-site-packages /venv
/venv/bin/pip install -q --no-index --find-links /try rknn-toolkit2 rknn-toolkit-lite2
cd tests/python
/venv/bin/python script.py
/venv/bin/python -c 'from importlib.metadata import version; print("toolkit", version("rknn-toolkit2"))' || true
/venv/bin/rknn --version
/venv/bin/python -m rknn --version
/venv/bin/rknn convert ../../examples/digits/digits.onnx -t rk3588 --dataset ../../examples/digits/calib.txt --mean 127.5 --std 64 -o /try/cli.rknn
/venv/bin/rknn info /try/cli.rknn | head -3
"""
DEB = """
apt-get install -y -qq ./*.deb >/dev/null
cd tests/python
python3 script.py
rknn --version
rknn convert ../../examples/digits/digits.onnx -t rk3588 --dataset ../../examples/digits/calib.txt --mean 127.5 --std 64 -o /try/cli.rknn
rknn info /try/cli.rknn | head -3
rknn_server --help >/dev/null
"""

# What a user of the image does first.
DOCKER_USE = ("rknn --help >/dev/null && rknn convert examples/digits/digits.onnx -t rk3588 --float -o digits.rknn && "
              "rknn info digits.rknn >/dev/null && python3 -c \"from rknnlite.api import RKNNLite\"")


def figure(name, value, bar, ok):
    FIGURES.append(ok)
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def wanted(build):
    """The digest that the build gives on this machine."""
    env = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"), PYTHONDONTWRITEBYTECODE="1", OPENRKNN_LIBRARY_DIR=
               ":".join(os.path.abspath(os.path.join(build, "src", part)) for part in ("toolkit", "capi")))
    done = subprocess.run(["/usr/bin/python3", "-c", SCRIPT], cwd=os.path.join(HERE, "..", "python"), env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"^result \S+ \d+ \d+ (\S+)$", done.stdout, re.M)
    if not found:
        sys.exit("the build itself fails:\n" + done.stdout[-3000:])
    return found.group(1)


def attempt(lower, work, files, script, label, digest):
    with Root(lower, work) as root:
        for path in files:
            root.put(path)
        for path in ("examples/digits", "tests/python/models.py"):
            root.put(os.path.join(ROOT, path), path)
        with open(root.path("tests/python/script.py"), "w") as file:
            file.write(SCRIPT)
        done = root.run(script)
    found = re.search(r"^result (\S+) (\d+) (\d+) (\S+)$", done.stdout, re.M)
    if done.returncode != 0 or not found:
        print(done.stdout[-3000:])
        figure(label, "fails", "runs", False)
        return
    _, right, same, got = found.groups()
    said = "%s of 200 right, rknnlite = simulator %s of 20, bytes %s" % (right, same,
                                                                       "equal" if got == digest else "different")
    figure(label, said, ">= 184, 20, equal", got == digest and int(right) >= 184 and same == "20")


def dockerfile_script():
    """packaging/Dockerfile as a shell script for the same system: its RUN lines, then its command as its user."""
    with open(os.path.join(ROOT, "packaging", "Dockerfile")) as file:
        lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", file.read(), flags=re.M)).splitlines()
    steps, user, folder = ["set -e"], "root", "/"
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FROM" and rest != "debian:12-slim":
            sys.exit("packaging/Dockerfile starts from %s, this check from Debian 12" % rest)
        elif word == "COPY":
            *sources, target = rest.split()
            steps.append("mkdir -p %s && cp %s %s" % (target, " ".join("/try/" + name for name in sources), target))
        elif word == "RUN":
            steps.append(rest)
        elif word == "USER":
            user = rest
        elif word == "WORKDIR":
            folder = rest
            steps.append("mkdir -p " + folder)
    steps.append("cd %s && su -s /bin/sh %s -c 'cp -r /try/examples /tmp/ && cd /tmp && %s'" % (folder, user, DOCKER_USE))
    return "\n".join(steps) + "\n"


def dockerfile(args, debs, work):
    lower = make_root(args.roots, "bookworm", ())
    with Root(lower, work) as root:
        for path in debs:
            root.put(path)
        root.put(os.path.join(ROOT, "examples", "digits"), "examples/digits")
        done = root.run(dockerfile_script(), timeout=900)
    if done.returncode != 0:
        print(done.stdout[-3000:])
    figure("packaging/Dockerfile, step by step on a bare Debian 12", "runs" if done.returncode == 0 else "fails", "runs",
           done.returncode == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--roots", required=True)
    parser.add_argument("suites", nargs="*", default=list(SUITES))
    args = parser.parse_args()
    digest = wanted(args.build)
    work = os.path.join(args.roots, "layers")
    wheels = glob.glob(os.path.join(args.packages, "openrknn-*x86_64.whl")) + glob.glob(
        os.path.join(args.packages, "rknn_toolkit*.whl"))
    debs = [path for path in glob.glob(os.path.join(args.packages, "*.deb")) if re.search(r"_(amd64|all)\.deb$", path)
            and "torchscript" not in path]
    if not wheels or not debs:
        sys.exit("%s holds no wheel or no Debian packages: make packages" % args.packages)
    for suite in args.suites:
        lower = make_root(args.roots, suite, PYTHON)
        if lower is None:
            # tests/install/symbols.py shows that it would run there.
            print("SKIP the wheel on %s: its archive does not answer" % SUITES[suite])
            continue
        attempt(lower, work, wheels, WHEEL, "wheel on " + SUITES[suite], digest)
        if suite in DEBIAN:
            attempt(lower, work, debs, DEB, ".deb on " + SUITES[suite], digest)
        if suite == "bookworm":
            dockerfile(args, debs, work)
    return 1 if FIGURES.count(False) or not FIGURES else 0


if __name__ == "__main__":
    sys.exit(main())
