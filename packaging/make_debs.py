#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Debian packages out of a build: librknnrt, librknnrt-dev, openrknn-tools, openrknn-server, python3-openrknn and
openrknn-torchscript.

    make_debs.py --build build/release --portable FOLDER --notices FOLDER --share FOLDER --output FOLDER [--arch arm64]

What `cmake --install` puts into a prefix, sorted into packages by the table below. Programs and libraries that were linked
for old systems (portable_link.py) replace the build's, so that the same packages serve Debian 12, 13 and Ubuntu. Same inputs
give the same bytes.
"""
import argparse
import fnmatch
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bundled  # noqa: E402
from bundled import make_wheel  # noqa: E402

MAINTAINER = "The OpenRKNN developers <openrknn@localhost>"
# Package: section, other packages it needs, summary, files of the prefix. The first package that names a file takes it.
PACKAGES = {
    "openrknn-torchscript": ("science", ["openrknn-tools (= {version})"], "reader of TorchScript files for the RKNN converter",
                             ["bin/rknn-import-torchscript"]),
    "openrknn-server": ("net", ["librknnrt (= {version})"], "serves .rknn models over the Open Inference Protocol",
                        ["bin/rknn_server", "bin/*start_rknn.sh", "share/openrknn/rknn_server.service"]),
    "librknnrt-dev": ("libdevel", ["librknnrt (= {version})"], "headers and static libraries to run .rknn models",
                      ["include/*", "lib/*.a", "lib/pkgconfig/*", "lib/cmake/*"]),
    "openrknn-tools": ("science", ["librknnrt (= {version})"], "converts, quantizes, analyzes and runs models for Rockchip NPUs",
                       ["bin/rknn", "bin/rknn_benchmark", "lib/librknn_toolkit.so", "lib/librknn_remote.so",
                        "share/bash-completion/*", "share/zsh/*", "share/fish/*", "share/man/*"]),
    "librknnrt": ("libs", [], "runs .rknn models on the CPU as the simulated NPU", ["lib/*"]),
    "python3-openrknn": ("python", ["openrknn-tools (= {version})", "python3", "python3-numpy"],
                         "the Python packages rknn and rknnlite", ["lib/python3/*"]),
}
DESCRIPTION = """ An open implementation of Rockchip's RKNN SDK: the same C headers, Python calls and files, on any
 Linux machine, without a board.
"""


def run(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def installed(args, folder):
    """The prefix, with portable files where there are some and the Python packages."""
    prefix = os.path.join(folder, "usr")
    run(["cmake", "--install", args.build, "--prefix", prefix, "--strip"],
        env=dict(os.environ, LC_ALL="C"))
    for name in os.listdir(args.portable):
        for place in ("bin", "lib"):
            target = os.path.join(prefix, place, name)
            if os.path.exists(target):
                shutil.copyfile(os.path.join(args.portable, name), target)
    shutil.copytree(args.share, os.path.join(prefix, "share"), dirs_exist_ok=True)
    packages = os.path.join(prefix, "lib", "python3", "dist-packages")
    for path, data in list(make_wheel.package_files()) + list(make_wheel.metadata_files()):
        target = os.path.join(packages, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
    return prefix


def files_below(prefix):
    for folder, folders, names in os.walk(prefix):
        folders.sort()
        for name in sorted(names) + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
            yield os.path.relpath(os.path.join(folder, name), prefix)


def owner(path):
    order = list(PACKAGES)
    order.sort(key=lambda name: name == "librknnrt")  # takes what nobody else names
    for name in order:
        if any(fnmatch.fnmatch(path, pattern) for pattern in PACKAGES[name][3]):
            return name
    raise SystemExit("make_debs: no package takes %s" % path)


def needed(tree, arch, libraries):
    """Packages that the ELF files of a tree need, as dpkg-shlibdeps finds them; ours are in the table."""
    programs = []
    for path in files_below(tree):
        full = os.path.join(tree, path)
        with open(full, "rb") as file:
            if not os.path.islink(full) and file.read(4) == b"\x7fELF":
                programs.append(full)
    if not programs:
        return []
    if arch != run(["dpkg", "--print-architecture"]).strip():
        return ["libc6 (>= 2.17)", "libgcc-s1"]  # portable files need nothing else; the foreign tables are not here
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "debian"))
        with open(os.path.join(folder, "debian", "control"), "w") as file:
            file.write("Source: openrknn\n\nPackage: openrknn\nArchitecture: any\n")
        text = run(["dpkg-shlibdeps", "-O", "--ignore-missing-info", "-l" + libraries] + ["-e" + p for p in programs], cwd=folder,
                   stderr=subprocess.DEVNULL)
    found = re.search(r"shlibs:Depends=(.*)", text)
    return [d for d in found.group(1).split(", ") if not d.startswith(("librknnrt", "openrknn"))] if found else []


def compressed(text):
    return gzip.compress(text.encode(), 9, mtime=0)


def write_package(name, tree, args, libraries):
    section, own, summary, _ = PACKAGES[name]
    version = make_wheel.version()
    arch = "all" if name == "python3-openrknn" else args.arch
    docs = os.path.join(tree, "usr", "share", "doc", name)
    os.makedirs(docs)
    with open(os.path.join(docs, "copyright"), "w", encoding="utf-8") as file:
        file.write("OpenRKNN, Copyright The OpenRKNN developers.\nLicense: Apache-2.0, see "
                   "/usr/share/common-licenses/Apache-2.0\n\n")
        if arch != "all":
            with open(os.path.join(args.notices, "THIRD_PARTY_NOTICES"), encoding="utf-8") as text:
                file.write(text.read())
    with open(os.path.join(bundled.HERE, "..", "CHANGELOG.md"), encoding="utf-8") as file:
        with open(os.path.join(docs, "changelog.gz"), "wb") as out:
            out.write(compressed(file.read()))
    depends = [d.format(version=version) for d in own] + needed(os.path.join(tree, "usr"), args.arch, libraries)
    size = sum(os.lstat(os.path.join(tree, p)).st_size for p in files_below(tree)) // 1024
    control = os.path.join(tree, "DEBIAN")
    os.makedirs(control)
    with open(os.path.join(control, "control"), "w") as file:
        file.write("Package: %s\nSource: openrknn\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n" % (
            name, version, arch, MAINTAINER, size))
        file.write("".join("Depends: %s\n" % ", ".join(depends) for _ in [0] if depends))
        file.write("Section: %s\nPriority: optional\nDescription: %s\n%s" % (section, summary, DESCRIPTION))
    sums = ""
    for path in files_below(tree):
        full = os.path.join(tree, path)
        if path.startswith("DEBIAN") or os.path.islink(full):
            continue
        sums += run(["md5sum", path], cwd=tree)
    with open(os.path.join(control, "md5sums"), "w") as file:
        file.write(sums)
    if name == "librknnrt":
        with open(os.path.join(control, "triggers"), "w") as file:
            file.write("activate-noawait ldconfig\n")
    time = bundled.release_time()
    for folder, folders, names in os.walk(tree):
        for entry in folders + names:
            full = os.path.join(folder, entry)
            if not os.path.islink(full):
                program = entry in folders or "/bin/" in full
                os.chmod(full, 0o755 if program else 0o644)
            os.utime(full, (time, time), follow_symlinks=False)
    os.utime(tree, (time, time))
    path = os.path.join(args.output, "%s_%s_%s.deb" % (name, version, arch))
    run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", tree, path],
        env=dict(os.environ, SOURCE_DATE_EPOCH=str(time)))
    print(path)


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "portable", "notices", "share", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--arch", default=run(["dpkg", "--print-architecture"]).strip())
    args = parser.parse_args()
    os.makedirs(args.output, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prefix = installed(args, os.path.join(folder, "prefix"))
        trees = {}
        for path in list(files_below(prefix)):
            name = owner(path)
            trees[name] = os.path.join(folder, name)
            target = os.path.join(trees[name], "usr", path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(prefix, path), target, follow_symlinks=False)
        for name in sorted(trees):
            os.chmod(trees[name], 0o755)
            write_package(name, trees[name], args, os.path.join(prefix, "lib"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
