#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_tables.py OUT [seen | CHIP_DTYPE_NETWORK ...]: tables of the vendor's compiler for networks of networks/*.txt and families.py.

Runs in a Python that has rknn-toolkit2 2.3.2 and onnx 1.16.1. Tables that exist are kept. RK_COST_TABLES=OUT makes
`make check-cost` compare them as networks that no rule was found on.
"""
import os
import re
import sys
import tempfile

import numpy as np

import families
import networks

# None of these was looked at while rules were made.
FRESH = ["rk3588_int8_xception", "rk3562_int8_xception", "rk3588_int8_preact-resnet", "rk3576_int8_preact-resnet",
         "rk3588_int8_aggregation", "rk3566_int8_aggregation", "rk3588_int8_pyramid-detector",
         "rk3566_int8_pyramid-detector", "rk3588_int8_hourglass", "rk3576_int8_hourglass", "rk3588_int8_street-scene",
         "rk3562_int8_street-scene", "rk3588_int8_csp-leaky", "rv1106_int8_csp-leaky", "rk3588_fp16_enlarger",
         "rk3562_int8_enlarger", "rk3588_int8_landmarks", "rv1126b_int8_landmarks", "rk3588_int8_two-paths",
         "rk3576_int8_two-paths"]
# Rules were repaired on these.
SEEN = ["rk3588_int8_regnet", "rk3576_int8_regnet", "rk3588_int8_hrnet", "rk3566_int8_hrnet", "rk3562_int8_mnasnet",
        "rk3588_fp16_mnasnet", "rk3588_int8_tiny-yolo", "rk3576_int8_tiny-yolo", "rk3588_int8_fast-scnn",
        "rk3562_int8_fast-scnn", "rk3588_int8_pose-baseline", "rk3566_int8_pose-baseline", "rk3576_int8_repvgg",
        "rv1106_int8_repvgg", "rk3588_int8_fsrcnn", "rk3562_int8_fsrcnn", "rk3588_int8_keyword",
        "rv1106_int8_keyword", "rk3588_fp16_plate-reader", "rk3566_int8_plate-reader", "rk3588_int8_squeezenet",
        "rk3566_int8_squeezenet", "rk3562_fp16_squeezenet", "rk3588_int8_shufflenet", "rk3588_fp16_shufflenet",
        "rk3576_int8_shufflenet", "rk3588_int8_mobilenetv3", "rk3576_int8_mobilenetv3", "rk3566_fp16_mobilenetv3",
        "rk3588_fp16_unet", "rk3562_int8_unet", "rk3576_int8_unet", "rk3588_int8_vgg11", "rv1106_int8_vgg11",
        "rk3566_int8_vgg11", "rk3588_int8_densenet", "rk3562_int8_densenet", "rk3576_fp16_densenet",
        "rk3576_int8_efficientnet-lite", "rv1103b_int8_efficientnet-lite", "rk3562_int8_efficientnet-lite",
        "rk3588_int8_ghostnet", "rk3566_int8_ghostnet", "rk3588_int8_espcn", "rk3576_int8_espcn",
        "rk3588_fp16_googlenet", "rk3566_int8_googlenet", "rv1126b_int8_googlenet",
        "rk3588_int8_darknet19", "rk3566_int8_darknet19", "rk3588_int8_linknet", "rk3562_int8_linknet",
        "rk3588_int8_ssd-mobilenet", "rk3576_int8_ssd-mobilenet", "rk3588_int8_convmixer", "rk3566_fp16_convmixer",
        "rk3588_int8_srresnet", "rk3566_int8_srresnet", "rk3588_fp16_ocr-lines", "rv1106_int8_ocr-lines",
        "rk3588_int8_center-net", "rk3562_int8_center-net", "rk3588_int8_resnext", "rk3576_int8_resnext",
        "rk3588_int8_gaze", "rv1126b_int8_gaze", "rk3576_fp16_se-resnet", "rk3562_int8_se-resnet"]


def write(name, path):
    (families if name in families.FAMILIES else networks).write(name, path)


def compile_network(chip, dtype, name, folder):
    from rknn.api import RKNN
    model, data, listed = (os.path.join(folder, file) for file in ("model.onnx", "data.npy", "dataset.txt"))
    write(name, model)
    if name in families.FAMILIES:
        shape = families.shape_of(name)
    else:
        size = int(networks.variants()[name][0].get("size", 640))
        shape = (1, 3, size, size)
    np.save(data, np.random.RandomState(1).normal(0, 1, shape).astype("float32"))
    with open(listed, "w") as file:
        file.write(data + "\n")
    rknn = RKNN(verbose=True)
    rknn.config(target_platform=chip)
    return rknn.load_onnx(model) or rknn.build(do_quantization=dtype == "int8", dataset=listed)


def table_of(log):
    """Log lines without level and time, from the first table's title on."""
    lines = [re.sub(r"^D RKNN: \[[0-9:.]+\] ?", "", line) for line in log if line.startswith("D RKNN")]
    first = next((i for i, line in enumerate(lines) if "Network Layer Information Table" in line), len(lines))
    return lines[max(0, first - 1):]


def main():
    out = os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    for table in SEEN if sys.argv[2:] == ["seen"] else sys.argv[2:] or FRESH:
        path = os.path.join(out, table + ".txt")
        if os.path.exists(path):
            continue
        with tempfile.TemporaryDirectory() as folder:
            log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT)
            saved = os.dup(1), os.dup(2)
            os.dup2(log, 1), os.dup2(log, 2)
            os.chdir(folder)  # the toolkit leaves check files in the current folder
            try:
                result = compile_network(*table.split("_", 2), folder)
            finally:
                sys.stdout.flush()
                os.dup2(saved[0], 1), os.dup2(saved[1], 2)
                os.chdir(out)
            with open(os.path.join(folder, "log"), errors="replace") as file:
                lines = table_of(file)
        print("%s: %s" % (table, "made" if lines and result == 0 else "failed"), flush=True)
        if lines and result == 0:
            with open(path, "w") as file:
                file.writelines(lines)


if __name__ == "__main__":
    main()
