#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the results of bench/run.py --all against the bars and prints a FIGURE line for each.

    judge.py results.json

Without ONNX Runtime in the run only the peak shares and what needs no peer are judged, and a SKIP line says so. Beside the
bar of each ratio stands the share of the CPU's peak it amounts to: above 90 % it is out of reach of direct convolutions.
"""
import json
import sys

NAMES = ("mobilenet_v2", "resnet18", "resnet50", "yolov5s_relu")
RATIOS = {"qdq": (1.6, 1.25, 1.1, 1.5), "own": (1.4, 1.2, 1.05, 1.4), "fp16": (1.5, 1.0, 1.0, 1.0)}
MORE_THREADS = 0.9  # of a ratio's bar
SHARES = {"qdq": {"mobilenet_v2": 0.33, "resnet50": 0.68, "yolov5s_relu": 0.72},
          "own": {"mobilenet_v2": 0.28, "resnet50": 0.63, "yolov5s_relu": 0.66}}


def figure(name, value, bar, ok):
    print(f"FIGURE {name} | {value} | {bar} | {'ok' if ok else 'SHORT'}")


def needed_share(row, bar):
    """What share of the measured peak a complete inference at that ratio to ONNX Runtime would be."""
    return row["macs"] / (row["ort_ms"] / bar * 1e6) / row["peak_gmacs"] if row["peak_gmacs"] else 0


def judge_row(row, peer):
    name, kind, threads = row["model"], row["kind"], row["threads"]
    label = f"{name} {kind}, {threads} threads" if threads > 1 else f"{name} {kind}, 1 thread"
    if peer:
        bar = RATIOS[kind][NAMES.index(name)] * (1 if threads == 1 else MORE_THREADS)
        figure(f"{label}: speed over ONNX Runtime", f"{row['ratio']:.2f}x ({row['general_ms']:.2f} against "
               f"{row['ort_ms']:.2f} ms)", f">= {bar:.2f}x = {needed_share(row, bar) * 100:.0f} % of the peak", row["ratio"] >= bar)
    share = SHARES.get(kind, {}).get(name)
    if share and threads == 1 and row["conv_peak_share"]:
        figure(f"{label}: convolutions, share of the int8 peak", f"{row['conv_peak_share'] * 100:.1f} %",
               f">= {share * 100:.0f} %", row["conv_peak_share"] >= share)


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
    if not results["peer"]:
        print("SKIP speed over ONNX Runtime: it is not installed; make bench-peers or RK_BENCH_PYTHON")
    for row in results["rows"]:
        judge_row(row, results["peer"])
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
