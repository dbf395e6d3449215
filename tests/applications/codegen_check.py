#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""codegen for models of the assets: each project is built, run, and must agree with the simulator.

    codegen_check.py --build build/release --work FOLDER [--only NAME ...] [--arm64 FOLDER_OF_LIBRKNNRT]

float16 programs must also agree with the golden of another engine. --arm64: three are cross-built and run under qemu-user.
"""
import argparse
import os
import shutil
import sys

import numpy as np

import common
from common import Golden, cosine, figure, run

# (model, quantized): the network's own quantization counts as such.
MODELS = [
    ("onnx/digits", True), ("onnx/digits_qat_qdq", False), ("onnx/fastestdet", True), ("onnx/fastestdet", False),
    ("onnx/ort_mnist", True), ("onnx/rk_concat_block", False), ("onnx/silero_vad_16k_op15", False),
    ("onnx/ultraface_rfb320", False), ("onnx/ultraface_rfb320_nopost", True), ("onnx/ultraface_rfb320_simplified", True),
    ("onnx/vittracker", False), ("onnx/yunet_n_320", True), ("onnx/ort_conv_qdq_s8s8_perchannel", False),
    ("tflite/face_detection_short_range", False), ("tflite/face_landmark", False), ("tflite/hello_world_float", False),
    ("tflite/micro_speech_int8", False), ("tflite/mobilenet_v2_qat_int8", False), ("tflite/person_detect_int8", False),
    ("tflite/ultraface_rfb320", True), ("caffe/mtcnn_pnet", False), ("caffe/mtcnn_rnet", True),
    ("caffe/ultraface_rfb320", True), ("darknet/yolo_fastest_1.1", True),
]
ARM64 = ("onnx/digits", "caffe/mtcnn_pnet", "onnx/silero_vad_16k_op15")


def nchw(array, golden):
    """Arrays for the toolkit are in NCHW also where the framework is NHWC."""
    if array.ndim == 4 and golden.format in ("tflite", "tensorflow") and golden.spec.get("layout", "NHWC") == "NHWC":
        return np.ascontiguousarray(array.transpose(0, 3, 1, 2))
    return array


def save_inputs(golden, folder):
    """Paths of the first case's arrays, and a dataset of all cases."""
    first, lines = None, []
    for case, inputs, _ in golden.cases:
        files = []
        for i, (_, array) in enumerate(inputs):
            files.append(os.path.join(folder, "%s_%d.npy" % (case, i)))
            np.save(files[-1], nchw(array, golden))
        first = first or files
        lines.append(" ".join(files))
    dataset = os.path.join(folder, "dataset.txt")
    with open(dataset, "w") as file:
        file.write("\n".join(lines) + "\n")
    return first, dataset


def generate(name, quantized, work):
    """(folder of the project, None) or (None, what failed)."""
    from rknn.api import RKNN
    golden = Golden(name)
    word = name.replace("/", "_").replace(".", "_") + ("_i8" if quantized else "_fp")
    folder = os.path.join(work, word)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    inputs, dataset = save_inputs(golden, folder)
    with RKNN() as rknn:
        rknn.config(target_platform="rk3588")
        if golden.load(rknn) != 0:
            return None, "load"
        if rknn.build(do_quantization=quantized, dataset=dataset if quantized else None) != 0:
            return None, "build"
        if rknn.export_rknn(os.path.join(folder, word + ".rknn")) != 0:
            return None, "export_rknn"
        project = os.path.join(folder, word)
        if rknn.codegen(project, inputs=inputs, overwrite=True) != 0:
            return None, "codegen"
    return project, None


def build_and_run(project, arch, library, extra=(), prefix=()):
    """(problem or None, the program's text)."""
    code, text = run([os.path.join(project, "build-linux.sh"), "-a", arch, "-l", library])
    if code != 0:
        return "the build failed:\n" + text[-2000:], ""
    if "warning:" in text:
        return "the build warns:\n" + text[-2000:], text
    binary = os.path.join(project, "install", "linux_" + arch, os.path.basename(project))
    code, text = run(list(prefix) + [binary, "--loops", "2", *extra], env=dict(os.environ, RKNN_VALIDATE="1", RKNN_STRICT="1"))
    if code != 0:
        return "the program returned %d:\n%s" % (code, text[-2000:]), text
    if "agrees with the simulator" not in text.splitlines()[-1] and "\nagrees with the simulator" not in text:
        return "it does not say that it agrees", text
    for call in ("rknn_init", "rknn_query", "rknn_create_mem", "rknn_set_io_mem", "rknn_run"):
        if not any(line.startswith(call + " ") for line in text.splitlines()):
            return "no time of " + call, text
    if "RKNN_VALIDATE" in text:
        return "the program misuses the API:\n" + text[-2000:], text
    return None, text


def against_golden(project, golden):
    """Worst cosine of the outputs and another engine's."""
    saved = os.path.join(project, "outputs")
    worst = 1.0
    expected = [array for _, array in golden.cases[0][2]]
    found = [np.load(os.path.join(saved, "output_%d.npy" % i)) for i in range(len(expected))]
    for want in expected:
        same_size = [array for array in found if array.size == want.size]
        forms = []
        for array in same_size:  # outputs of engines come in other orders and layouts
            forms.append(array)
            if array.ndim == 4:
                forms.append(array.transpose(0, 2, 3, 1))
        worst = min(worst, max([cosine(form, want) for form in forms] or [0.0]))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--arm64", help="folder of an arm64 librknnrt.so")
    args = parser.parse_args()
    common.need_assets()
    common.use_build(args.build)
    work = os.path.abspath(args.work)
    library = os.path.join(os.path.abspath(args.build), "src/capi")
    agree, tried, golden_bad, golden_count, arm64_agree = set(), 0, [], 0, []
    for name, quantized in MODELS:
        if args.only and name not in args.only:
            continue
        tried += 1
        project, problem = generate(name, quantized, work)
        if problem is None:
            saved = os.path.join(project, "outputs")
            os.makedirs(saved, exist_ok=True)
            problem, text = build_and_run(project, "x86_64", library, ["--save", saved])
        print("%s %s: %s" % (name, "int8" if quantized else "float16", problem or "agrees"), flush=True)
        if problem is not None:
            continue
        agree.add((name, quantized))
        golden = Golden(name)
        if not quantized and not golden.model.endswith(("int8", "qdq")) and "qdq" not in golden.model:
            golden_count += 1
            worst = against_golden(project, golden)
            print("  cosine with the golden %.6f" % worst)
            if worst < 0.999:
                golden_bad.append("%s %.4f" % (name, worst))
        if args.arm64 and name in ARM64:
            problem, text = build_and_run(project, "aarch64", args.arm64, prefix=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])
            print("  arm64: %s" % (problem or "agrees"), flush=True)
            if problem is None:
                arm64_agree.append(name)
    models = len({name for name, _ in agree})
    ok = figure("codegen: programs built, run and agreeing with the simulator", "%d of %d (%d models)" % (len(agree), tried, models),
                "all, 20 models", len(agree) == tried and (bool(args.only) or models >= 20))
    ok &= figure("codegen: float16 programs, cosine with another engine", "%d of %d" % (golden_count - len(golden_bad), golden_count),
                 "all at 0.999 or more", not golden_bad)
    if args.arm64:
        ok &= figure("codegen: cross-built for arm64, run under qemu-user", "%d agree" % len(arm64_agree), "3", len(arm64_agree) == 3)
    if golden_bad:
        print("\n".join(golden_bad))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
