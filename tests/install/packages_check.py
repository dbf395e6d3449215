#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published files themselves: complete, the same bytes from two runs, checksums, bill of materials, one version.

    packages_check.py --build BUILD_FOLDER --packages FOLDER [MACHINE...]
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "packaging"))
import bundled  # noqa: E402

DEBS = ("librknnrt", "librknnrt-dev", "openrknn-tools", "openrknn-server", "python3-openrknn")
FIGURES = []


def figure(name, value, bar, ok):
    FIGURES.append(ok)
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def content(folder):
    out = {}
    for path in glob.glob(os.path.join(folder, "*")):
        with open(path, "rb") as file:
            out[os.path.basename(path)] = file.read()
    return out


def complete(files):
    version = bundled.make_wheel.version()
    names = ["openrknn-%s" % version, "rknn_toolkit2-", "rknn_toolkit_lite2-"]
    missing = [n for n in names if not any(f.startswith(n) and f.endswith(".whl") for f in files)]
    missing += [n for n in DEBS if not any(f.startswith("%s_%s_" % (n, version)) for f in files)]
    missing += [n for n in ("SHA256SUMS", "THIRD_PARTY_NOTICES", "openrknn-%s.spdx.json" % version) if n not in files]
    print("\n".join("missing: " + name for name in missing))
    figure("published files", "%d, %d missing" % (len(files), len(missing)), "0 missing", not missing)


def reproducible(build, files, machines):
    with tempfile.TemporaryDirectory(dir=build) as folder:
        subprocess.run([os.path.join(ROOT, "packaging", "release.sh"), build, folder] + machines, check=True,
                       stdout=subprocess.DEVNULL)
        again = content(folder)
    different = sorted(n for n in set(files) | set(again) if files.get(n) != again.get(n))
    print("\n".join("different: " + name for name in different))
    figure("files with other bytes in a second run, %d files" % len(again), len(different), "0", not different)


def bill(build, packages, files):
    text = json.loads(files["openrknn-%s.spdx.json" % bundled.make_wheel.version()])
    named = {package["name"]: package for package in text["packages"]}
    with open(os.path.join(build, "portable-" + os.uname().machine, "archives.txt")) as file:
        wanted = {bundled.source_of(line.strip()) or "unknown: " + line.strip() for line in file}
    with_version = [n for n in wanted if re.match(r"[\d:]+", named.get(n, {}).get("versionInfo", ""))]
    noticed = [n for n in wanted if n in named and ("\n%s %s (" % (n, named[n]["versionInfo"])).encode()
               in files["THIRD_PARTY_NOTICES"]]
    wheel = glob.glob(os.path.join(packages, "openrknn-*.whl"))[0]
    with zipfile.ZipFile(wheel) as file:
        inside = [n for n in file.namelist() if n.endswith(("THIRD_PARTY_NOTICES", ".spdx.json"))]
    ok = len(with_version) == len(noticed) == len(wanted) and len(inside) == 2
    print("\n".join("missing in the bill or the notices: " + n for n in wanted if n not in noticed))
    figure("bundled work in the bill of materials, in the notices, both in the wheel",
           "%d, %d, %d files" % (len(with_version), len(noticed), len(inside)), "%d, %d, 2 files" % (len(wanted), len(wanted)), ok)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("machines", nargs="*")
    args = parser.parse_args()
    files = content(args.packages)
    complete(files)
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=args.packages).returncode
    figure("checksums", "agree" if sums == 0 else "differ", "agree", sums == 0)
    bill(args.build, args.packages, files)
    reproducible(args.build, files, args.machines)
    return 1 if FIGURES.count(False) else 0


if __name__ == "__main__":
    sys.exit(main())
