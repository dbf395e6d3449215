#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""boards.py RKNN: `rknn cost` beside the vendor compiler's memory totals, the published frame rates and the guide's sample."""
import csv
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile

import onnx

import families
import networks

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.normpath(os.path.join(HERE, "../../../shared"))
ASSETS = os.path.join(SHARED, "assets")
CHIPS = ["rk3566", "rk3562", "rk3588", "rk3576"]
ONNX = {"digits": "models/onnx/digits/digits.onnx", "signs": "signs/signs.onnx",
        "fastestdet": "models/onnx/fastestdet/FastestDet.onnx", "ort_mnist": "models/onnx/ort_mnist/mnist.onnx",
        "ort_conv_qdq_s8s8_perchannel": "models/onnx/ort_conv_qdq_s8s8_perchannel/conv_qdq_s8s8_perchannel.onnx",
        "rk_concat_block": "models/onnx/rk_concat_block/concat_block.onnx",
        "ultraface_rfb320": "models/onnx/ultraface_rfb320/version-RFB-320.onnx",
        "ultraface_rfb320_nopost": "models/onnx/ultraface_rfb320_nopost/version-RFB-320_without_postprocessing.onnx",
        "ultraface_rfb320_simplified": "models/onnx/ultraface_rfb320_simplified/version-RFB-320_simplified.onnx",
        "vittracker": "models/onnx/vittracker/vitTracker.onnx", "yunet_n_320": "models/onnx/yunet_n_320/yunet_n_320_320.onnx"}
BENCH = ["mobilenet_v2", "resnet18", "resnet50", "yolov5s_relu"]
# Published, but which network it is cannot be told from its name and shape.
UNKNOWN = {"clip_images"}

short = 0


def figure(name, value, bar, ok):
    global short
    short += not ok
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def quantile(values, share):
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    for rank, i in enumerate(order):
        result[i] = float(rank)
    return result


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / sum((x - mean) ** 2 for x in a)


def cost(rknn, model, chips, *options):
    command = [rknn, "cost", model, "-t", ",".join(chips), "--csv", *options]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), result.stderr[-400:]))
    return list(csv.DictReader(result.stdout.splitlines()))


def with_batch_of_one(path, folder):
    """The model itself, or a copy of one whose batch is not fixed."""
    model = onnx.load(path)
    shapes = [(value, value.type.tensor_type.shape.dim) for value in model.graph.input]
    free = [value for value, dims in shapes if dims and dims[0].dim_param]  # scalars have none
    for value in free:
        value.type.tensor_type.shape.dim[0].dim_value = 1
    if not free:
        return path
    copy = os.path.join(folder, os.path.basename(path))
    onnx.save(model, copy)
    return copy


def check_memory(rknn, tables, models, words=""):
    """Totals of every table whose network is at hand."""
    wanted = {}
    for name in sorted(name for name in os.listdir(tables) if name.endswith(".txt")):
        chip, dtype, model = name[:-4].split("_", 2)
        text = open(os.path.join(tables, name), errors="replace").read()
        totals = dict(re.findall(r"Total (Internal|Weight) Memory Size: ([\d.]+)KB", text))
        if not totals:
            print("SKIP %s: the vendor's compiler printed no totals (int8 on a chip without it)" % name)
        elif model not in models:
            print("SKIP %s: the network is not at hand" % name)
        else:
            wanted.setdefault((model, dtype), []).append((chip, float(totals["Internal"]), float(totals["Weight"])))
    errors = {"internal": [], "weight": []}
    off = {"internal": [], "weight": []}
    for (model, dtype), rows in wanted.items():
        found = cost(rknn, models[model], [row[0] for row in rows], *(["--float"] if dtype == "fp16" else []))
        for (chip, internal, weight), ours in zip(rows, found):
            for kind, bar, theirs in (("internal", 0.03, internal), ("weight", 0.01, weight)):
                error = int(ours[kind + "_bytes"]) / 1024 / theirs - 1
                errors[kind].append(abs(error))
                if abs(error) > bar:
                    off[kind].append("%s %s %s %+.1f %%" % (chip, dtype, model, 100 * error))
    for kind, bar in (("internal", 0.03), ("weight", 0.01)):
        every = errors[kind]
        within = len(every) - len(off[kind])
        figure("%s%s memory within %.0f %% of the compiler's" % (words, kind, 100 * bar),
               "%d of %d networks%s" % (within, len(every), "".join("; " + text for text in off[kind])), "all",
               within == len(every))
        figure("%s%s memory, median error" % (words, kind), "%.2f %%" % (100 * median(every)),
               "0 %" if kind == "internal" else "<= 1 %", median(every) <= (0.00005 if kind == "internal" else 0.01))


def published():
    rates = {}
    with open(os.path.join(SHARED, "spec/board-performance.csv")) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["fps"]:
                for chip in row["chip"].lower().split("/"):
                    rates.setdefault((row["model"], chip), float(row["fps"]))
    return rates


def check_rates(rknn, folder):
    rates = published()
    rows = {chip: [] for chip in CHIPS}
    for name, (variant, _) in networks.variants().items():
        if name in UNKNOWN:
            continue
        path = os.path.join(folder, name + ".onnx")
        networks.write(name, path)
        for ours in cost(rknn, path, CHIPS, *(["--float"] if variant.get("dtype") == "float" else [])):
            rate = rates.get((variant["fps"], ours["chip"]))
            if rate:
                rows[ours["chip"]].append((name, variant["use"], float(ours["fps"]), rate))
        os.remove(path)
    for chip, found in rows.items():
        for name, use, ours, theirs in found:
            figure("%s %s" % (chip, name), "predicted %.1f, published %.1f frames per second, %+.0f %%" %
                   (ours, theirs, 100 * (ours / theirs - 1)), "listed (%s)" % use, True)
        errors = [abs(ours / theirs - 1) for _, use, ours, theirs in found if use == "judge"]
        figure("%s frame rates of %d networks that were not fitted, median error" % (chip, len(errors)),
               "%.1f %%" % (100 * median(errors)), "<= 10 %", median(errors) <= 0.10)
        figure("%s the same, 90th percentile" % chip, "%.1f %%" % (100 * quantile(errors, 0.9)), "<= 25 %",
               quantile(errors, 0.9) <= 0.25)
        order = spearman([row[2] for row in found], [row[3] for row in found])
        figure("%s order of %d networks by speed, Spearman" % (chip, len(found)), "%.3f" % order, ">= 0.97", order >= 0.97)


def check_further(rknn, folder):
    """Totals of networks that no rule was found on; make_tables.py makes their tables with the vendor's toolkit."""
    tables = os.environ.get("RK_COST_TABLES")
    if not tables:
        print("SKIP networks that were not fitted: RK_COST_TABLES names no folder of make_tables.py")
        return
    models = {}
    for name in {file[:-4].split("_", 2)[2] for file in os.listdir(tables) if file.endswith(".txt")}:
        models[name] = os.path.join(folder, name + ".onnx")
        (families if name in families.FAMILIES else networks).write(name, models[name])
    print("not fitted: %d tables of %s" % (len(os.listdir(tables)), ", ".join(sorted(models))))
    check_memory(rknn, tables, models, "not fitted: ")


def check_guide(rknn, folder):
    """The guide's MobileNetV2 on RK3588: 57 rows with input and output, 10563 KB, 3.53 and 1.53 MiB."""
    path = os.path.join(folder, "mobilenet.onnx")
    networks.write("mobilenetv2-12", path)
    total = cost(rknn, path, ["rk3588"])[0]
    text = subprocess.run([rknn, "cost", path, "-t", "rk3588", "--layers"], stdout=subprocess.PIPE, text=True).stdout
    layers = list(csv.DictReader(text.splitlines()))
    types = [row["type"] for row in layers]
    figure("guide's MobileNetV2: rows", "%d" % (len(layers) + 2), "57", len(layers) + 2 == 57)
    for kind, count in (("ConvClip", 35), ("ConvAdd", 10)):
        figure("guide's MobileNetV2: %s" % kind, "%d" % types.count(kind), "%d" % count, types.count(kind) == count)
    read = sum(int(row["read_bytes"]) for row in layers) / 1024
    figure("guide's MobileNetV2: KB read", "%.0f" % read, "10563 within 0.1 %", abs(read / 10563 - 1) <= 0.001)
    for kind, mib in (("weight", 3.53), ("internal", 1.53)):
        ours = int(total[kind + "_bytes"]) / 1048576
        figure("guide's MobileNetV2: MiB of %s memory" % kind, "%.2f" % ours, "%.2f" % mib, abs(ours - mib) <= 0.005 + 0.01 * mib)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost(rknn, path, CHIPS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figure("rknn cost of MobileNetV2 on four chips, processor time", "%.2f s" % seconds, "<= 1 s", seconds <= 1)


def check_cores(rknn, models):
    """The guide warns that several cores may slow small networks down, and help large ones."""
    for model, slower in (("digits", True), ("resnet50", False)):
        one, three = (float(cost(rknn, models[model], ["rk3588"], "--cores", n)[0]["us"]) for n in ("1", "3"))
        figure("%s on three cores" % model, "%.0f us, on one %.0f us" % (three, one), "slower" if slower else "faster",
               (three > one) == slower)


def main():
    rknn = sys.argv[1]
    archive = os.path.join(ASSETS, "vendor-oracle/tables.tar.xz")
    if not os.path.exists(archive):
        sys.exit("%s is missing: there is nothing to compare with" % archive)
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(archive) as tables:
            tables.extractall(work)
        models = {name: with_batch_of_one(os.path.join(ASSETS, path), work) for name, path in ONNX.items()}
        subprocess.run([sys.executable, os.path.join(HERE, "../../bench/models.py"), work], check=True)
        models.update({name: os.path.join(work, name + ".float.onnx") for name in BENCH})
        for name in ("yolov8n", "yolov8s", "yolov8m", "yolo11n"):
            models[name] = os.path.join(work, name + ".onnx")
            networks.write(name, models[name], sums="none")  # as the tables' networks end
        check_memory(rknn, os.path.join(work, "tables"), models)
        check_further(rknn, work)
        check_guide(rknn, work)
        check_cores(rknn, models)
        check_rates(rknn, work)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
