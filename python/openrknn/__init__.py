# SPDX-License-Identifier: Apache-2.0
"""OpenRKNN: what the packages rknn and rknnlite share. Users import those, not this one.

Runs on Python 3.7 as well, because rknnlite does.
"""
import ctypes
import os

__version__ = "0.1.0"

_HERE = os.path.dirname(os.path.abspath(__file__))


def load_library(name):
    """The shared library `name`: from OPENRKNN_LIBRARY_DIR (folders joined with ':'), from this package, from the system."""
    folders = [f for f in os.environ.get("OPENRKNN_LIBRARY_DIR", "").split(os.pathsep) if f]
    for folder in folders + [os.path.join(_HERE, "lib")]:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL(name)


def main():
    """The `rknn` command: hands over to the program in this package, else to the system's."""
    import sys
    program = os.path.join(_HERE, "bin", "rknn")
    if os.path.exists(program):
        os.execv(program, ["rknn"] + sys.argv[1:])
    try:
        os.execvp("rknn", ["rknn"] + sys.argv[1:])
    except FileNotFoundError:
        sys.exit("rknn: there is no rknn program; install the wheel openrknn or the Debian package openrknn-tools")
