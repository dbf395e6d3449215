#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel `openrknn`: both packages, both libraries with what they need, the headers and the rknn command.

Beside it two wheels without files, rknn-toolkit2 and rknn-toolkit-lite2, which only require openrknn: programs ask
importlib.metadata and pip for those names, and some install the vendor's package where they find none.

The standard library is enough: a wheel is a zip file with METADATA, WHEEL and RECORD. One wheel serves every Python,
because nothing in it is compiled against one. Same inputs give the same bytes.

The file's name says which C library it needs (manylinux_2_NN): pip then refuses it on systems that are too old, where
importing it would fail.

With --portable the libraries are those of packaging/portable_link.py, which need no others beside them and run on old
systems; --notices adds the bill of materials and the notices of what is inside them (packaging/bundled.py).

usage: make_wheel.py --build build/release --output build/dist [--machine aarch64 --sysroot FOLDER]
       make_wheel.py --portable FOLDER --notices FOLDER --output build/dist [--machine aarch64]
"""
import argparse
import base64
import glob
import hashlib
import os
import re
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PACKAGES = ("openrknn", "rknn", "rknnlite", "autosparsity")
# Part of every Linux that can run Python; everything else is put beside our libraries.
SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[^.]*|linux-vdso)\.so")


def number(name):
    """A version number, from the header that is its home."""
    with open(os.path.join(ROOT, "src", "base", "version.h")) as file:
        return re.search(r'#define %s "([^"]+)"' % name, file.read()).group(1)


METADATA = """Metadata-Version: 2.1
Name: openrknn
Version: {version}
Summary: Open implementation of the RKNN SDK: convert, quantize, simulate and run .rknn models without a board
Author: The OpenRKNN developers
License: Apache-2.0
Keywords: rknn,rockchip,npu,onnx,quantization,inference
Classifier: Development Status :: 4 - Beta
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.7
Requires-Dist: numpy
Description-Content-Type: text/markdown

{readme}"""

# The names under which programs look for the vendor's packages, and the version whose interface is ours.
ALIASES = ("rknn-toolkit2", "rknn-toolkit-lite2")
ALIAS_VERSION = number("RK_API_VERSION")
ALIAS_METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {alias_version}
Summary: The interface of {name} {alias_version}, from the package openrknn; this package has no files of its own
Author: The OpenRKNN developers
License: Apache-2.0
Requires-Python: >=3.7
Requires-Dist: openrknn (=={version})
"""

WHEEL = """Wheel-Version: 1.0
Generator: openrknn
Root-Is-Purelib: {pure}
{tags}"""

ENTRY_POINTS = """[console_scripts]
rknn = openrknn:main
"""


def version():
    return number("RK_PROJECT_VERSION")


def needed_in(sysroot, path):
    """[(soname, file)] like needed(), of a file for another machine: its loader cannot be asked."""
    out = {}
    text = subprocess.run(["readelf", "-d", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
        if SYSTEM.match(name) or name == "librknnrt.so":
            continue
        found = [f for folder in ("lib", "usr/lib") for f in glob.glob(os.path.join(sysroot, folder, "*", name))]
        if not found:
            raise SystemExit("make_wheel: %s needs %s, which is not below %s" % (path, name, sysroot))
        out[name] = found[0]
        out.update(needed_in(sysroot, found[0]))
    return sorted(out.items())


def needed(path):
    """[(soname, file)] of everything the loader would map for an ELF file, system libraries left out."""
    text = subprocess.run(["ldd", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    out = []
    for name, target in re.findall(r"^\s*(\S+) => (\S+) \(", text, re.M):
        if not SYSTEM.match(name):
            out.append((name, target))
    if "not found" in text:
        raise SystemExit("make_wheel: %s needs libraries that are not here:\n%s" % (path, text))
    return out


def with_rpath(path, rpath):
    """The file's bytes with its search path replaced, in place: the new one may not be longer."""
    with open(path, "rb") as file:
        data = file.read()
    text = subprocess.run(["readelf", "-d", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    found = re.search(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    if not found:
        raise SystemExit("make_wheel: %s has no search path to replace" % path)
    old = found.group(1).encode() + b"\0"
    new = rpath.encode() + b"\0"
    if len(new) > len(old) or data.count(old) != 1:
        raise SystemExit("make_wheel: the search path of %s cannot be replaced" % path)
    return data.replace(old, new.ljust(len(old), b"\0"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def package_files():
    for package in PACKAGES:
        for folder, folders, names in os.walk(os.path.join(HERE, package)):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "lib", "bin", "include"))
            for name in sorted(names):
                if name.endswith((".py", ".pyi", "py.typed")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, HERE), read(path)


def helper_files(build):
    """The reader of TorchScript files, where it was built. It links libtorch, which is too large to carry: where the system
    has none, load_pytorch names the package."""
    name = "rknn-import-torchscript"
    path = os.path.join(build, "tools", "import_torchscript", name)
    if os.path.exists(path):
        yield "openrknn/bin/" + name, read(path)


def portable_files(folder):
    """Libraries and the command as they are: what they need of others is inside."""
    for name in ("librknn_toolkit.so", "librknnrt.so", "librknn_remote.so"):
        path = os.path.join(folder, name)
        if os.path.exists(path) or name != "librknn_remote.so":
            yield "openrknn/lib/" + name, read(path)
    yield "openrknn/bin/rknn", read(os.path.join(folder, "rknn"))
    yield from header_files()


def native_files(build, sysroot):
    toolkit = os.path.join(build, "src", "toolkit", "librknn_toolkit.so")
    runtime = os.path.join(build, "src", "capi", "librknnrt.so")
    command = os.path.join(build, "tools", "rknn", "rknn")
    yield "openrknn/lib/librknn_toolkit.so", with_rpath(toolkit, "$ORIGIN")
    yield "openrknn/lib/librknnrt.so", read(runtime)
    yield "openrknn/bin/rknn", with_rpath(command, "$ORIGIN/../lib")
    yield from helper_files(build)
    # Devices at a distance: built where gRPC is installed, loaded when one is named.
    remote = os.path.join(build, "server", "librknn_remote.so")
    remotes = (remote,) if os.path.exists(remote) else ()
    for path in remotes:
        yield "openrknn/lib/librknn_remote.so", read(path)
    others = {}
    for path in (toolkit, runtime, command) + remotes:
        others.update(needed_in(sysroot, path) if sysroot else needed(path))
    for name in sorted(others):
        if name != "librknnrt.so":
            yield "openrknn/lib/" + name, read(others[name])
    yield from header_files()


def share_files(folder):
    """Files for PREFIX/share, where pip puts what lies in the wheel's data folder."""
    for place, folders, names in os.walk(folder or os.devnull):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield "openrknn-%s.data/data/share/%s" % (version(), os.path.relpath(path, folder)), read(path)


def header_files():
    include = os.path.join(ROOT, "include")
    for folder, _, names in sorted(os.walk(include)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield "openrknn/include/" + os.path.relpath(path, include).replace(os.sep, "/"), read(path)
    yield "openrknn/include/rknn_toolkit_c.h", read(os.path.join(ROOT, "src", "toolkit", "rknn_toolkit_c.h"))


# The glibc of the oldest system whose libstdc++ has GLIBCXX_3.4.N, as the manylinux policies pair them.
GLIBC_OF_LIBSTDCXX = {28: 31, 29: 34, 30: 35, 31: 38, 32: 38, 33: 40}


def platform_tag(files, machine):
    """manylinux_2_NN_<machine>: the smallest glibc that has every symbol version the ELF files ask for."""
    glibc, libstdcxx = 17, 0
    for _, data in files:
        if data.startswith(b"\x7fELF"):
            glibc = max([glibc] + [int(n) for n in re.findall(rb"\0GLIBC_2\.(\d+)", data)])
            libstdcxx = max([libstdcxx] + [int(n) for n in re.findall(rb"\0GLIBCXX_3\.4\.(\d+)", data)])
    if libstdcxx >= min(GLIBC_OF_LIBSTDCXX):
        if libstdcxx not in GLIBC_OF_LIBSTDCXX:
            raise SystemExit("make_wheel: GLIBCXX_3.4.%d is not in GLIBC_OF_LIBSTDCXX" % libstdcxx)
        glibc = max(glibc, GLIBC_OF_LIBSTDCXX[libstdcxx])
    # The older name of 2.17 is the one that pip before 20.3 knows, Ubuntu 20.04's among them.
    old = "manylinux2014_%s." % machine if glibc == 17 else ""
    return old + "manylinux_2_%d_%s" % (glibc, machine)


def write_zip(files, info, path):
    """The files with their RECORD, dated 1980: the same bytes every time."""
    record = ""
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files = files + [(info + "RECORD", (record + info + "RECORD,,\n").encode())]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            executable = name.startswith("openrknn/bin/") or ".so" in os.path.basename(name)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, data)
    return path


def wheel_text(pure, platform):
    tags = "".join("Tag: py3-none-%s\n" % one for one in platform.split("."))
    return WHEEL.format(pure=pure, tags=tags).encode()


def description():
    """The METADATA file of openrknn."""
    readme = read(os.path.join(ROOT, "README.md")).decode()
    return METADATA.format(version=version(), readme=readme).encode()


def alias_description(name):
    return ALIAS_METADATA.format(name=name, alias_version=ALIAS_VERSION, version=version()).encode()


def metadata_files():
    """What importlib.metadata reads where a system's package manager installs the packages."""
    yield "openrknn-%s.dist-info/METADATA" % version(), description()
    for name in ALIASES:
        yield "%s-%s.dist-info/METADATA" % (name.replace("-", "_"), ALIAS_VERSION), alias_description(name)


def write_wheel(files, folder, platform, notices=None):
    name = "openrknn-%s" % version()
    info = name + ".dist-info/"
    files = list(files) + [
        (info + "METADATA", description()),
        (info + "WHEEL", wheel_text("false", platform)),
        (info + "entry_points.txt", ENTRY_POINTS.encode()),
        (info + "LICENSE", read(os.path.join(ROOT, "LICENSE"))),
        (info + "top_level.txt", "\n".join(PACKAGES).encode() + b"\n"),
    ]
    if notices:
        files.append((info + "THIRD_PARTY_NOTICES", read(os.path.join(notices, "THIRD_PARTY_NOTICES"))))
        files.append((info + "sboms/openrknn.spdx.json", read(os.path.join(notices, "openrknn-%s.spdx.json" % version()))))
    return write_zip(files, info, os.path.join(folder, "%s-py3-none-%s.whl" % (name, platform)))


def write_alias(name, folder):
    """A wheel that is a name, a version and a requirement."""
    stem = "%s-%s" % (name.replace("-", "_"), ALIAS_VERSION)
    info = stem + ".dist-info/"
    files = [(info + "METADATA", alias_description(name)), (info + "WHEEL", wheel_text("true", "any"))]
    return write_zip(files, info, os.path.join(folder, stem + "-py3-none-any.whl"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", help="libraries as they were built, with what they need beside them")
    parser.add_argument("--portable", help="libraries for old systems")
    parser.add_argument("--notices")
    parser.add_argument("--share", help="manual pages and completion (packaging/command_line.py)")
    parser.add_argument("--output", required=True)
    parser.add_argument("--machine", default=os.uname().machine)
    parser.add_argument("--sysroot", help="where libraries for another machine are")
    args = parser.parse_args()
    if (args.build is None) == (args.portable is None):
        parser.error("one of --build and --portable is needed")
    native = portable_files(args.portable) if args.portable else native_files(args.build, args.sysroot)
    files = list(package_files()) + list(native) + list(share_files(args.share))
    for old in glob.glob(os.path.join(args.output, "openrknn-*-py3-none-*linux_*%s.whl" % args.machine)):
        os.remove(old)
    print(write_wheel(files, args.output, platform_tag(files, args.machine), args.notices))
    for name in ALIASES:
        print(write_alias(name, args.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
