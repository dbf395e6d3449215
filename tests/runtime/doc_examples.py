#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C programs of a page as strict C99 and runs each on a model:

    doc_examples.py PAGE COMPILER INCLUDE LIBRARY MODELS [FLAG ...]

A program starts with a comment that names its file; dynamic.c runs on dynamic.rknn, the others on picture.rknn.
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    page, compiler, include, library, models, *flags = sys.argv[1:]
    with open(page) as f:
        programs = re.findall(r"^```c\n(/\* (\w+\.c):.*?)^```", f.read(), re.S | re.M)
    assert len(programs) >= 3, f"{page} has {len(programs)} programs"
    folder = os.path.dirname(library)
    with tempfile.TemporaryDirectory() as work:
        for text, name in programs:
            source, program = os.path.join(work, name), os.path.join(work, name[:-2])
            with open(source, "w") as f:
                f.write(text)
            subprocess.run([compiler, "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", *flags, "-I", include,
                            source, "-o", program, library, f"-Wl,-rpath,{folder}"], check=True)
            model = "dynamic.rknn" if name == "dynamic.c" else "picture.rknn"
            subprocess.run([program, os.path.join(models, model)], check=True)
            print(f"{name}: compiled and run")


main()
