# SPDX-License-Identifier: Apache-2.0
"""Which chips a .rknn file is for. The runtime library has no query for it, so the file's JSON trailer is read."""
import json
import os
import struct

# Chips that take each other's files.
FAMILIES = (("RK3562",), ("RK3566", "RK3568"), ("RK3576",), ("RK3588", "RK3588S"), ("RV1106", "RV1103"),
            ("RV1106B", "RV1103B"), ("RV1126B",), ("RK2118",))


def filled_platforms(path):
    """target_platform of the file's trailer; ValueError when there is none."""
    with open(path, "rb") as file:
        head = file.read(24)
        if len(head) < 24 or head[:4] != b"RKNN":
            raise ValueError("'%s' is not an .rknn file" % path)
        version, size = struct.unpack_from("<QQ", head, 8)
        trailer = (0x40 if version & 0xff > 1 else 0x18) + size
        total = os.path.getsize(path)
        if trailer + 8 > total:
            raise ValueError("'%s' is cut short" % path)
        file.seek(trailer)
        length = struct.unpack("<Q", file.read(8))[0]
        if trailer + 8 + length > total:
            raise ValueError("'%s' is cut short" % path)
        try:
            platforms = json.loads(file.read(length).decode("utf-8"))["target_platform"]
        except (UnicodeDecodeError, ValueError, KeyError, TypeError):
            raise ValueError("'%s' does not say what chip it is for" % path)
        if not isinstance(platforms, list):
            raise ValueError("'%s' does not say what chip it is for" % path)
        return [str(name) for name in platforms]


def supported_platforms(filled=None):
    """Every chip that takes a file for the chips `filled`; all chips for None."""
    names = None if filled is None else [name.upper() for name in filled]
    return [chip for family in FAMILIES if names is None or any(n in family for n in names) for chip in family]


def print_platforms(filled, supported):
    """The vendor's block; without a file one line per family, whose chips take each other's files."""
    print("*" * 50)
    if filled is None:
        print("Target platforms supported:")
        for family in FAMILIES:
            print("  %s" % list(family))
    else:
        print("Target platforms filled in RKNN model:         %s" % filled)
        print("Target platforms supported by this RKNN model: %s" % supported)
    print("*" * 50)
