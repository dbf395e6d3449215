#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the libraries and programs of a wheel ask of the system: every symbol version and every library by name.

    symbols.py WHEEL...

Reads the ELF files themselves (.gnu.version_r and .dynamic; 64-bit, little-endian). The bar is what the wheel's name
promises: manylinux_2_17 means no GLIBC version above 2.17, no libstdc++ at all, and no library but those every Linux has.
"""
import os
import re
import struct
import sys
import zipfile

SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
SHT_DYNAMIC, SHT_GNU_VERNEED = 6, 0x6FFFFFFE
DT_NEEDED = 1


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


def sections(data):
    """[(type, offset, size, linked section)]"""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    start, size, count = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HH", data, 0x3A)
    return [struct.unpack_from("<4xI16xQQI", data, start + i * size) for i in range(count)]


def needs(data):
    """(libraries by name, {(library, version)})"""
    found = sections(data)
    libraries, versions = [], set()
    for kind, offset, size, link in found:
        strings = found[link][1] if link < len(found) else 0
        if kind == SHT_DYNAMIC:
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<qQ", data, at)
                if tag == DT_NEEDED:
                    libraries.append(text(data, strings + value))
        if kind == SHT_GNU_VERNEED:
            at = offset
            while True:
                _, count, file, entry, following = struct.unpack_from("<HHIII", data, at)
                library, inner = text(data, strings + file), at + entry
                for _ in range(count):
                    _, _, _, name, after = struct.unpack_from("<IHHII", data, inner)
                    versions.add((library, text(data, strings + name)))
                    inner += after
                if following == 0:
                    break
                at += following
    return libraries, versions


def judge(path, own=()):
    """(number of ELF files, newest GLIBC as text, [what is wrong])"""
    promised = max(int(n) for n in re.findall(r"manylinux_2_(\d+)", os.path.basename(path)) or [0])
    count, newest, wrong = 0, 0, []
    with zipfile.ZipFile(path) as wheel:
        inside = {os.path.basename(name) for name in wheel.namelist()}
        for name in wheel.namelist():
            data = wheel.read(name)
            if not data.startswith(b"\x7fELF"):
                continue
            count += 1
            libraries, versions = needs(data)
            wrong += ["%s needs %s" % (name, lib) for lib in libraries if lib not in SYSTEM and lib not in inside]
            for library, version in versions:
                glibc = re.match(r"GLIBC_2\.(\d+)", version)
                if glibc:
                    newest = max(newest, int(glibc.group(1)))
                    if int(glibc.group(1)) > promised:
                        wrong.append("%s needs %s of %s" % (name, version, library))
                elif version.startswith(("GLIBCXX", "CXXABI", "GLIBC_")):
                    wrong.append("%s needs %s of %s" % (name, version, library))
    return count, "2.%d" % newest, wrong


def main():
    short = 0
    for path in sys.argv[1:]:
        count, newest, wrong = judge(path)
        promised = re.search(r"manylinux_(2)_(\d+)", path)
        ok = count >= 4 and not wrong and promised is not None and int(promised.group(2)) <= 31
        short += not ok
        for line in wrong[:20]:
            print(line)
        print("FIGURE %s: newest GLIBC of %d files, others | %s, %d | <= 2.31 (Debian 11, Ubuntu 20.04), 0 | %s" % (
            os.path.basename(path).rsplit("_", 1)[0].split("-")[0] + " for " + re.search(r"(x86_64|aarch64)\.whl", path).group(1),
            count, newest, len(wrong), "ok" if ok else "SHORT"))
    return 1 if short or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
