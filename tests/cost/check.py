#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py CHECK_BINARY: unpacks the compiler's tables of ../shared and runs cost_check on them.

RK_COST_TABLES names a folder of further tables, made by make_tables.py.
"""
import os
import subprocess
import sys
import tarfile
import tempfile

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/assets/vendor-oracle/tables.tar.xz")


def main():
    if not os.path.exists(ARCHIVE):
        sys.exit("%s is missing: there is nothing to compare the cost model with" % os.path.normpath(ARCHIVE))
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(work)
        result = subprocess.run([sys.argv[1], os.path.join(work, "tables")]).returncode
    further = os.environ.get("RK_COST_TABLES")
    if not further:
        print("SKIP networks that were not fitted: RK_COST_TABLES names no folder of make_tables.py")
        return result
    return subprocess.run([sys.argv[1], further, "not fitted:"]).returncode or result


if __name__ == "__main__":
    sys.exit(main())
