#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""damage.py damaged_pt [COUNT]: runs it on copies of the .pt files beside this script."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory() as folder:
    for name in os.listdir(HERE):
        if name.endswith(".pt"):
            shutil.copy(os.path.join(HERE, name), folder)
    sys.exit(subprocess.run([os.path.abspath(sys.argv[1]), folder] + sys.argv[2:]).returncode)
