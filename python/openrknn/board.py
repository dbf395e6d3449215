# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program as if this machine were a board: `python -m openrknn.board rk3588 program.py arguments`.

Programs such as ultralytics, immich and frigate read /proc/device-tree/compatible to learn the chip they are on. Here
that file shows the chip named, and RKNN_TARGET makes the runtime library behave as that chip. Only this process is
changed, and what it starts with multiprocessing's fork.
"""
import builtins
import io
import os
import runpy
import shutil
import sys

COMPATIBLE = "/proc/device-tree/compatible"
_FILES = (COMPATIBLE, "/sys/firmware/devicetree/base/compatible")


def compatible_text(chip):
    """What a board's device tree says: texts that end with a zero each, the chip's own last."""
    return "rockchip,%s-evb\0rockchip,%s\0" % (chip, chip)


def _is_compatible(path):
    try:
        return os.fspath(path) in _FILES
    except TypeError:
        return False


def pretend(chip):
    """From now on open(), os.stat() and what is built on them find a device tree of this chip."""
    from .platforms import supported_platforms
    known = [name.lower() for name in supported_platforms()]
    if chip.lower() not in known:
        raise ValueError("Invalid chip '%s', expect in %s!" % (chip, known))
    chip = chip.lower()
    os.environ["RKNN_TARGET"] = chip
    text = compatible_text(chip)
    real_open, real_stat = builtins.open, os.stat

    def open_file(file, mode="r", *args, **kwargs):
        if not isinstance(file, int) and _is_compatible(file):
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)
        return real_open(file, mode, *args, **kwargs)

    def stat_file(path, *args, **kwargs):
        return real_stat(__file__ if not isinstance(path, int) and _is_compatible(path) else path, *args, **kwargs)

    builtins.open = io.open = open_file
    os.stat = stat_file


def main(arguments):
    if len(arguments) < 2:
        sys.stderr.write("usage: python -m openrknn.board CHIP PROGRAM [ARGUMENTS]\n")
        return 2
    try:
        pretend(arguments[0])
    except ValueError as error:
        sys.stderr.write("%s\n" % error)
        return 2
    program = arguments[1]
    if not os.path.exists(program):
        program = shutil.which(program)
    if program is None:
        sys.stderr.write("cannot find the program '%s': neither a file nor in PATH\n" % arguments[1])
        return 2
    sys.argv = arguments[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    runpy.run_path(program, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
