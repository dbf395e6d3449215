#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links the build's libraries and the rknn command once more, for old systems.

    portable_link.py --build build/release --static FOLDER --glibc FOLDER --output FOLDER [--machine aarch64 --sysroot FOLDER]

The link lines are the build's own (ninja tells them). Other people's libraries come as archives (static_libraries.sh,
and Debian's where they are position-independent), libstdc++ too, and the C library is an old one (old_glibc.sh, with
old_glibc.c for what it lacks). Nothing is compiled anew but that file. archives.txt in the output names what was linked in.
"""
import argparse
import glob
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SHIM = os.path.join(HERE, "old_glibc.c")
TARGETS = ("src/capi/librknnrt.so", "src/capi/librknnmrt.so", "src/rga/librga.so", "src/standins/libmpimmz.so",
           "src/standins/libopenrknn_board.so", "src/toolkit/librknn_toolkit.so", "server/librknn_remote.so",
           "server/rknn_server", "tools/rknn/rknn")
# What gRPC's archive needs; abseil's are many and found by their names.
GRPC = ("grpc++", "grpc++_reflection", "grpc", "gpr", "upb", "address_sorting", "re2", "ssl", "crypto")
OWN = ("protobuf", "protobuf-lite", "jpeg", "png", "png16", "z", "yaml-cpp", "cares")


def wrapped():
    with open(SHIM) as file:
        text = file.read()
    names = re.findall(r"^OLD\(\w+, (\w+),", text, re.M) + re.findall(r"^\w+ __wrap_(\w+)\(", text, re.M)
    return sorted(set(names))


def link_line(build, target):
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, stdout=subprocess.PIPE, text=True)
    line = out.stdout.strip().splitlines()[-1]
    return [word.replace('\\$', '$') for word in shlex.split(line.split("&&")[1])]


def archive(name, args, system):
    """The archive of a library, ours before Debian's."""
    for path in (os.path.join(args.static, "lib", "lib%s.a" % name), os.path.join(system, "lib%s.a" % name)):
        if os.path.exists(path):
            return path
    raise SystemExit("portable_link: there is no archive of %s" % name)


def portable(words, args, system, shim, built):
    """The words of a link line with archives for shared libraries."""
    out, grpc = [], False
    for word in words:
        name = re.match(r".*/lib([^/]+?)\.so[.\d]*$", word)
        if word.startswith("-") or not name or "-o" == (out[-1] if out else ""):
            out.append(word)
        elif os.path.basename(word) in built:
            out.append(built[os.path.basename(word)])
        elif name.group(1) in OWN:
            out.append(archive({"png": "png16"}.get(name.group(1), name.group(1)), args, system))
        elif name.group(1) in GRPC or name.group(1).startswith("absl_"):
            grpc = True
        else:
            raise SystemExit("portable_link: it is not known how to link %s into a wheel" % word)
    if grpc:
        out += ["-Wl,--start-group"] + [archive(name, args, system) for name in GRPC + ("z", "cares")]
        out += sorted(glob.glob(os.path.join(args.static, "lib", "libabsl_*.a"))) + ["-Wl,--end-group"]
    return out + [shim, "-static-libstdc++", "--sysroot=" + args.glibc] + [
        flag + os.path.join(args.glibc, place, args.machine + "-linux-gnu") for place in ("usr/lib", "lib")
        for flag in ("-L", "-B")] + ["-Wl,-s", "-pthread", "-ldl", "-lrt", "-lm",
                  "-Wl,--as-needed"] + ["-Wl,--wrap=" + name for name in wrapped()]


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "static", "glibc", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--machine", default=os.uname().machine)
    parser.add_argument("--sysroot", default="/", help="where Debian's archives for the machine are")
    args = parser.parse_args()
    args.build, args.static, args.glibc, args.output = map(os.path.abspath, (args.build, args.static, args.glibc,
                                                                             args.output))
    system = os.path.join(args.sysroot, "usr", "lib", args.machine + "-linux-gnu")
    os.makedirs(args.output, exist_ok=True)
    compiler = link_line(args.build, TARGETS[0])[0]
    shim = os.path.join(args.output, "old_glibc.o")
    subprocess.run([re.sub(r"(g|c)\+\+", "gcc", compiler), "-O2", "-fPIC", "-Wall", "-Werror", "-fvisibility=hidden",
                    "-c", SHIM, "-o", shim], check=True)
    built, archives = {}, set()
    for target in TARGETS:
        if subprocess.run(["ninja", "-C", args.build, "-t", "query", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:
            continue  # a build without gRPC
        words = link_line(args.build, target)
        output = os.path.join(args.output, os.path.basename(target))
        words[words.index("-o") + 1] = output
        words = portable(words, args, system, shim, built)
        subprocess.run(words, check=True, cwd=args.build)
        archives.update(os.path.basename(word)[3:-2] for word in words if word.startswith("/") and word.endswith(".a"))
        built[os.path.basename(target)] = output
        print(output)
    os.remove(shim)
    # Boost is headers only: what rknn view uses of it is in the command.
    with open(os.path.join(args.output, "archives.txt"), "w") as file:
        file.write("".join(name + "\n" for name in sorted(archives | {"boost", "stdc++"})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
