#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The quantized digit classifier on all 200 pictures, and a model that asks for more than shapes.

    check.py --binary frontend_run --shared ../shared --work folder

torch's own logits (qnnpack) are the reference: the golden allows 2 steps of the last scale, and argmax must be equal on 98 %
of the pictures. Prints FIGURE lines for tests/check.py.
"""
import argparse
import os
import subprocess
import sys

import numpy as np

STEP = 0.3903631567955017  # scale of the last quantized tensor
short = 0


def figure(name, value, bar, ok):
    global short
    short += not ok
    print("FIGURE torchscript: %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)


def run(args, name, model, mode, shape, array):
    path = os.path.join(args.work, name)
    np.save(path + "_in.npy", array)
    job = ["name " + name, "format pytorch", "file " + model, "input " + path + "_in.npy", "out " + path + "_out",
           "mode " + mode, "shape " + shape]
    with open(path + ".txt", "w") as out:
        out.write("\n".join(job) + "\n\n")
    text = subprocess.run([args.binary, path + ".txt"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=dict(os.environ, RKNN_LOG_LEVEL="0")).stdout
    found = path + "_out0.npy"
    return text, np.load(found) if text.startswith("OK") else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    args.work = os.path.abspath(args.work)
    os.makedirs(args.work, exist_ok=True)
    assets = os.path.join(os.path.abspath(args.shared), "assets")
    digits = os.path.join(assets, "datasets", "digits")
    if not os.path.isdir(digits):
        print("missing: %s" % digits)
        return 1
    pictures = np.load(os.path.join(digits, "test_images.npy")).astype(np.float32)
    pictures = ((pictures - np.float32(127.5)) / np.float32(64)).transpose(0, 3, 1, 2)
    labels = np.load(os.path.join(digits, "test_labels.npy"))
    golden = np.load(os.path.join(digits, "test_logits_digits_qat_int8.npy")).reshape(len(labels), 10)
    models = os.path.join(assets, "models", "torchscript")
    model = os.path.join(models, "digits_qat_int8", "digits_qat_int8.pt")
    shape = "%d,1,28,28" % len(labels)
    for mode, title in (("graph", "evaluator"), ("own", ".rknn")):
        text, logits = run(args, "digits_" + mode, model, mode, shape, pictures)
        if logits is None:
            figure("digits_qat_int8 on the %s" % title, text.strip()[:200], "runs", False)
            continue
        logits = logits.reshape(len(labels), 10)
        steps = np.abs(logits - golden).max() / STEP
        equal = float((logits.argmax(1) == golden.argmax(1)).mean())
        right = float((logits.argmax(1) == labels).mean())
        figure("digits_qat_int8 on the %s, steps from torch's logits" % title, "%.2f" % steps, "2", steps <= 2.001)
        figure("digits_qat_int8 on the %s, same class as torch" % title, "%.3f" % equal, "0.98", equal >= 0.98)
        figure("digits_qat_int8 on the %s, accuracy" % title, "%.3f" % right, "0.90", right >= 0.9)
    text, logits = run(args, "silero", os.path.join(models, "silero_vad", "silero_vad.jit"), "graph", "1,512",
                       np.zeros((1, 512), np.float32))
    refused = logits is None and "forward() takes 'sr' of type int" in text
    figure("silero_vad without a value for its integer argument is refused", "by name" if refused else text.strip()[:200], "by name",
           refused)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
