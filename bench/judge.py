#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the results of bench/run.py --all against the bars and prints a FIGURE line for each.

    judge.py results.json

Bars belong to an instruction set. Those of one that this CPU cannot execute are counted by a SKIP line and not judged;
likewise ratios to an engine that was not in the run. Beside the bar of each ratio stands the share of the CPU's peak it
amounts to: above 90 % it is out of reach of direct convolutions.
"""
import json
import sys

NAMES = ("mobilenet_v2", "resnet18", "resnet50", "yolov5s_relu")
ENGINES = {"ort": ("ONNX Runtime", "ort_ms", "ratio"), "openvino": ("OpenVINO", "openvino_ms", "openvino_ratio")}
# Speed over an engine, per network; on more than one thread this part of it.
RATIOS = {"avx2": {("qdq", "openvino"): (1.0, 1.0, 1.0, 1.0), ("fp16", "openvino"): (1.0, 1.0, 1.0, 1.0)},
          "avx512vnni": {("qdq", "openvino"): (1.35, 1.14, 1.04, 1.15), ("qdq", "ort"): (1.6, 1.3, 1.12, 1.28),
                         ("fp16", "openvino"): (1.15, 1.0, 1.0, 1.0), ("fp16", "ort"): (1.25, 1.03, 1.03, 1.03)}}
MORE_THREADS = {"avx2": 1.0, "avx512vnni": 0.95}
# Of the peak of exact int8 products, convolution steps of qdq.
SHARES = {"avx2": {"resnet18": 0.75, "resnet50": 0.75, "yolov5s_relu": 0.75},
          "avx512vnni": {"mobilenet_v2": 0.33, "resnet50": 0.68, "yolov5s_relu": 0.72}}
MORE = 1.0  # the networks of networks.py over ONNX Runtime: as fp16 over its float32, from a QDQ file over the same file
CONVERSION = {"time": 0.5, "memory": 4.0}  # of an int8 build: over the vendor's toolkit, over the ONNX file
# Our quantizer's model over the QDQ file. Asymmetric weights need 15.4 % more dot products in MobileNetV2, 0.4 to 1.7 % in the
# others (docs/performance.md).
OWN_SLOWER = {"mobilenet_v2": 1.12, "others": 1.06}


def figure(name, value, bar, ok):
    print(f"FIGURE {name} | {value} | {bar} | {'ok' if ok else 'SHORT'}")


def label(row):
    threads = f"{row['threads']} threads" if row["threads"] > 1 else "1 thread"
    return f"{row['isa']}: {row['model']} {row['kind']}, {threads}"


def judge_row(row, engines):
    isa, name = row["isa"], row["model"]
    for (kind, engine), bars in RATIOS.get(isa, {}).items():
        title, ms, ratio = ENGINES[engine]
        if kind != row["kind"] or engine not in engines:
            continue
        bar = bars[NAMES.index(name)] * (1 if row["threads"] == 1 else MORE_THREADS[isa])
        needed = row["macs"] / (row[ms] / bar * 1e6) / row["peak_gmacs"] if row["peak_gmacs"] else 0
        figure(f"{label(row)}: speed over {title}", f"{row[ratio]:.2f}x ({row['general_ms']:.2f} against {row[ms]:.2f} ms)",
               f">= {bar:.2f}x = {needed * 100:.0f} % of the peak", row[ratio] >= bar)
    share = SHARES.get(isa, {}).get(name)
    if share and row["kind"] == "qdq" and row["conv_peak_share"]:
        figure(f"{label(row)}: convolutions, share of the int8 peak", f"{row['conv_peak_share'] * 100:.1f} %",
               f">= {share * 100:.0f} %", row["conv_peak_share"] >= share)


def judge_own(rows):
    """Ours beside ours of the QDQ file, whose rounds took turns."""
    for row in [r for r in rows if r["isa"] == "avx512vnni" and r["qdq_ratio"]]:
        bar = OWN_SLOWER.get(row["model"], OWN_SLOWER["others"])
        figure(f"{label(row)}: time over the QDQ file's", f"{row['qdq_ratio']:.3f}", f"<= {bar}", row["qdq_ratio"] <= bar)


def tell_skipped(results, engines):
    for engine in [e for e in ENGINES if e not in engines]:
        print(f"SKIP speed over {ENGINES[engine][0]}: it is not installed; make bench-peers or RK_BENCH_PYTHON")
    measured = {row["isa"] for row in results["rows"]}
    left = 0
    for isa in [i for i in RATIOS if i not in measured]:
        count = sum(len(bars) for bars in RATIOS[isa].values()) * len({r["threads"] for r in results["rows"]})
        count += len(SHARES[isa]) * len({r["threads"] for r in results["rows"]})
        print(f"SKIP {isa}: not on this CPU ({results['cpu'] or 'no AVX2'}), its {count} bars are not judged here")
        left += count
    print(f"COUNT {left} bars of other instruction sets not judged on this CPU")


def judge_more(rows, engines):
    title, ms, ratio = ENGINES["ort"]
    for row in rows if "ort" in engines else []:
        figure(f"{label(row)}: speed over {title}", f"{row[ratio]:.2f}x ({row['general_ms']:.2f} against {row[ms]:.2f} ms)",
               f">= {MORE:.2f}x", row[ratio] >= MORE)


def judge_conversion(rows):
    for row in rows:
        ours, title = row["ours"], f"{row['model']} int8 build"
        if "vendor" in row:
            ratio = ours["s"] / row["vendor"]["s"]
            figure(f"{title}: time over the vendor's toolkit", f"{ratio:.2f} ({ours['s']:.1f} against {row['vendor']['s']:.1f} s)",
                   f"<= {CONVERSION['time']}", ratio <= CONVERSION["time"])
        else:
            print(f"SKIP {title}: time over the vendor's toolkit: it is not installed; RK_VENDOR_PYTHON names a python that has it")
        share = ours["peak_bytes"] / row["onnx_bytes"]
        figure(f"{title}: peak memory over the ONNX file", f"{share:.2f} ({ours['peak_bytes'] / 1e6:.0f} MB)",
               f"<= {CONVERSION['memory']:.1f}", share <= CONVERSION["memory"])


def judge_memory(row):
    mega = 1e6
    figure("resnet50 int8: rknn_init", f"{row['init_ms']:.0f} ms", "<= 150 ms", row["init_ms"] <= 150)
    limit = 2.2 * row["weight_bytes"] + row["internal_bytes"]
    figure("resnet50 int8: resident memory after init", f"{row['rss_bytes'] / mega:.1f} MB",
           f"<= {limit / mega:.1f} MB (2.2 x weights + internal)", row["rss_bytes"] <= limit)
    limit = 2 * row["internal_bytes"]
    figure("resnet50 int8: memory of a duplicated context", f"{row['dup_bytes'] / mega:.1f} MB",
           f"<= {limit / mega:.1f} MB (2 x internal)", row["dup_bytes"] <= limit)


def main():
    with open(sys.argv[1]) as file:
        results = json.load(file)
    engines = [e for e in ENGINES if results[e]]
    tell_skipped(results, engines)
    for row in results["rows"]:
        judge_row(row, engines)
    judge_own(results["rows"])
    judge_more(results.get("more", []), engines)
    judge_conversion(results.get("conversion", []))
    for row in results["rows"]:
        if (row["model"], row["kind"], row["threads"]) == ("resnet50", "own", 1):
            judge_memory(row)
    best = min(point["ms_per_gmac"] for point in results["scaling"])
    for point in results["scaling"]:
        ratio = point["ms_per_gmac"] / best
        figure(f"resnet18 int8, batch {point['batch']}, {point['size']}x{point['size']}: time per MAC over the best point",
               f"{ratio:.2f}", "<= 1.25", ratio <= 1.25)
    for model, sums in results["bytes"].items():
        figure(f"{model} int8: outputs over threads, kernel variants, core masks and rounding modes",
               f"{len(set(sums.values()))} different of {len(sums)}", "1", len(set(sums.values())) == 1)


if __name__ == "__main__":
    main()
