#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The template of examples/ci in a clean root: it passes, and fails for each planted mistake.

    ci_check.py --build build/release --work FOLDER

The root holds /usr and /etc of this machine (read only), OpenRKNN's headers and two libraries, and the template; nothing of the
project's tree or environment is seen there.
"""
import argparse
import os
import shutil
import sys

import common
from common import SOURCE, figure, run

TEMPLATE = os.path.join(SOURCE, "examples", "ci")
# (what, line of the application, what it becomes, what the test says)
MISTAKES = [
    ("a buffer without the rows' padding, rows of 28 bytes", "row_ = in.w_stride > kSide ? in.w_stride : kSide;", "row_ = kSide; in.size_with_stride = 0;",
     ("misuses the API", "returned an error", "results differ")),
    ("pixels of 0 to 255 bound as int8", "in.type = RKNN_TENSOR_UINT8;", "in.type = RKNN_TENSOR_INT8;",
     ("misuses the API", "results differ")),
    ("memory that is never destroyed", "if (input_ != nullptr) rknn_destroy_mem(context_, input_);", "",
     ("misuses the API",)),
    ("a failing rknn_run that is not looked at", 'if (!check("rknn_run", rknn_run(context_, nullptr))) return false;', "rknn_run(context_, nullptr);",
     ("did not notice",)),
]
ENTER = r"""
set -eu
root=$1 template=$2 prefix=$3
mkdir -p "$root/usr" "$root/etc" "$root/tmp" "$root/proc" "$root/dev" "$root/test" "$root/opt/openrknn"
for name in bin lib lib64 sbin; do [ ! -e "/usr/$name" ] || ln -sfn "usr/$name" "$root/$name"; done
for name in usr etc; do mount --rbind "/$name" "$root/$name"; mount -o remount,bind,ro "$root/$name" 2>/dev/null || :; done
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$template" "$root/test"
mount --bind "$prefix" "$root/opt/openrknn"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp /test/test.sh /opt/openrknn
"""


def in_clean_root(work, template, prefix):
    root = os.path.join(work, "root")
    os.makedirs(root, exist_ok=True)
    words = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    return run(words + ["sh", "-c", ENTER, "sh", root, template, prefix])


def make_prefix(build, work):
    prefix = os.path.join(work, "prefix")
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.copytree(os.path.join(SOURCE, "include"), os.path.join(prefix, "include"))
    os.makedirs(os.path.join(prefix, "lib"))
    for library in ("src/capi/librknnrt.so", "src/standins/libopenrknn_board.so"):
        shutil.copy(os.path.join(build, library), os.path.join(prefix, "lib"))
    return prefix


def make_template(work, name, model):
    folder = os.path.join(work, name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("build", "*.rknn", "build-cmake.log"))
    shutil.copy(model, os.path.join(folder, "model", "digits.rknn"))
    return folder


def convert(work):
    from rknn.api import RKNN
    path = os.path.join(work, "digits.rknn")
    digits = os.path.join(SOURCE, "examples", "digits")
    with RKNN() as rknn:
        rknn.config(mean_values=[[127.5]], std_values=[[64]], target_platform="rk3588")
        ok = rknn.load_onnx(os.path.join(digits, "digits.onnx")) == 0
        ok = ok and rknn.build(do_quantization=True, dataset=os.path.join(digits, "calib.txt")) == 0
        if not ok or rknn.export_rknn(path) != 0:
            sys.exit("the digits network could not be converted")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    common.use_build(args.build)
    work = os.path.abspath(args.work)
    os.makedirs(work, exist_ok=True)
    model, prefix = convert(work), make_prefix(os.path.abspath(args.build), work)
    code, text = in_clean_root(work, make_template(work, "template", model), prefix)
    if code != 0:
        print(text[-3000:])
    ok = figure("CI template in a clean root", "passed" if code == 0 else "returned %d" % code, "passes", code == 0 and text.endswith("passed\n"))
    caught = 0
    for what, line, instead, answers in MISTAKES:
        folder = make_template(work, "mistake", model)
        path = os.path.join(folder, "app", "digits.cpp")
        source = open(path).read()
        if source.count(line) != 1:
            sys.exit("the application has not one line '%s'" % line)
        with open(path, "w") as file:
            file.write(source.replace(line, instead))
        code, text = in_clean_root(work, folder, prefix)
        told = text.splitlines()[-1] if text else ""
        hit = code != 0 and any(answer in told for answer in answers)
        caught += hit
        print("%s: %s" % (what, told))
        if not hit:
            print(text[-1500:])
    ok &= figure("CI template: planted mistakes that fail it", "%d of %d" % (caught, len(MISTAKES)), "all, at least 3", caught == len(MISTAKES))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
