#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A demo for boards (demo_caller.cpp) on a PC: compiled by the line of docs/vendor-demos.md, run, beside the simulator's classes.

    demo_check.py --build build/release --work FOLDER
"""
import argparse
import os
import re
import sys

import numpy as np

import common
from common import SOURCE, figure, run

EXAMPLES = os.path.join(SOURCE, "examples")


def compile_line():
    """The guide's g++ line; paths in it are relative to the tree."""
    with open(os.path.join(SOURCE, "docs", "vendor-demos.md")) as file:
        lines = [line.strip() for line in file if line.startswith("    g++ ")]
    if len(lines) != 1 or "demo_caller.cpp" not in lines[0]:
        sys.exit("docs/vendor-demos.md has not one line that compiles demo_caller.cpp")
    return lines[0].split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    common.need_assets()
    common.use_build(args.build)
    build, work = os.path.abspath(args.build), os.path.abspath(args.work)
    os.makedirs(work, exist_ok=True)
    sys.path.insert(0, os.path.join(EXAMPLES, "utils"))
    import zoo
    program = os.path.join(work, "demo_pc")
    words = [word.replace("build/release", build, 1) for word in compile_line()]
    words[words.index("-o") + 1] = program
    code, text = run(words, cwd=SOURCE)
    ok = figure("demo for boards: compiled by the guide's line", "exit %d, %d warnings" % (code, text.count("warning:")), "exit 0, 0", code == 0 and "warning:" not in text)
    if not ok:
        print(text[-2000:])
        return 1
    golden, model = common.Golden("tflite/mobilenet_v2_qat_int8"), os.path.join(work, "mobilenet.rknn")
    rknn = zoo.RKNN()
    rknn.config(mean_values=[[123.675, 116.28, 103.53]], std_values=[[58.395, 57.12, 57.375]], target_platform="rk3588", custom_string="demo")
    done = rknn.load_tflite(model=golden.files[0], input_is_nchw=True) == 0 and rknn.build(do_quantization=False) == 0
    if not done or rknn.export_rknn(model) != 0 or rknn.init_runtime() != 0:
        sys.exit("MobileNet could not be converted")
    good = tried = 0
    libraries = ":".join(os.path.join(build, folder) for folder in ("src/capi", "src/rga"))
    for case, _, outputs in golden.cases:
        raw = np.load(os.path.join(common.ASSETS, "goldens", golden.name, case, "raw_0.npy"))[0]
        large = np.kron(raw, np.ones((2, 2, 1), np.uint8))[:, 20:420]
        for picture in (raw, large):
            path = os.path.join(work, "picture.ppm")
            with open(path, "wb") as file:
                file.write(b"P6\n%d %d\n255\n" % (picture.shape[1], picture.shape[0]) + np.ascontiguousarray(picture).tobytes())
            code, text = run([program, model, path], env=dict(os.environ, LD_LIBRARY_PATH=libraries, RKNN_TARGET="rk3588", RKNN_VALIDATE="1"))
            found = [(int(b), float(a)) for a, b in re.findall(r"^ *(-?[\d.]+) - (\d+)$", text, re.M)]
            small = zoo.resize(picture, raw.shape[1], raw.shape[0])
            scores = rknn.inference(inputs=[small[np.newaxis]], data_format=["nhwc"])[0].ravel()
            same = len(found) == 5 and all(abs(scores[index] - score) < 1e-4 for index, score in found) and found[0][0] == int(np.argmax(scores))
            right = picture is large or (bool(found) and found[0][0] == int(np.argmax(outputs[0][1])))
            tried += 1
            good += code == 0 and same and right and "RKNN_VALIDATE" not in text
            if code != 0 or not same or not right or "RKNN_VALIDATE" in text:
                print(text[-1500:], np.argsort(-scores)[:5])
    rknn.release()
    return 0 if figure("demo for boards: five best classes as the simulator's, the best as TensorFlow Lite's", "%d of %d pictures" % (good, tried),
                       "all", good == tried > 0) else 1


if __name__ == "__main__":
    sys.exit(main())
