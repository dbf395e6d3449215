#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an int8 conversion takes, beside the vendor's toolkit: time and peak memory of loading, quantizing with 20 samples and
writing the file, each in a process of its own, one after the other.

    conversion.py --build build/release --work build/bench [--only resnet50]

RK_VENDOR_PYTHON names a python with rknn-toolkit2; without it only our own figures are taken. `bench/run.py --all` measures
the same. Needs numpy and onnx.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = 20
# The script that makes the network, and what the conversion is told about its input.
NETWORKS = {"resnet50": ("models.py", True), "bert_base": ("networks.py", False)}
VENDOR = """
import sys
from rknn.api import RKNN
source, dataset, out, pictures = sys.argv[1:]
rknn = RKNN()
settings = dict(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]]) if pictures == '1' else {}
if rknn.config(target_platform='rk3588', **settings) != 0 or rknn.load_onnx(model=source) != 0 \\
        or rknn.build(do_quantization=True, dataset=dataset) != 0 or rknn.export_rknn(out) != 0:
    sys.exit(1)
"""


def vendor_python():
    """A python with the vendor's toolkit, or None."""
    python = os.environ.get("RK_VENDOR_PYTHON")
    found = python and subprocess.run([python, "-c", "import rknn.api"], capture_output=True).returncode == 0
    return python if found else None


def prepare(folder, name):
    """The ONNX file and the list of its samples; both are kept between runs."""
    import numpy as np
    import onnx
    source = os.path.join(folder, f"{name}.float.onnx")
    script, pictures = NETWORKS[name]
    if not os.path.exists(source):
        subprocess.run([sys.executable, os.path.join(HERE, script), folder, "--only", name], check=True)
    shape = [d.dim_value for d in onnx.load(source, load_external_data=False).graph.input[0].type.tensor_type.shape.dim]
    random, lines = np.random.default_rng(4), []
    for i in range(SAMPLES):
        lines.append(os.path.join(os.path.abspath(folder), f"{name}_sample_{i}.{'png' if pictures else 'npy'}"))
        if pictures:
            write_png(lines[-1], random.integers(0, 256, (*shape[2:], 3), dtype=np.uint8))
        else:
            np.save(lines[-1], random.normal(size=shape).astype(np.float32))
    dataset = os.path.join(folder, f"{name}_samples.txt")
    with open(dataset, "w") as file:
        file.write("\n".join(lines) + "\n")
    return source, dataset, pictures


def write_png(path, picture):
    """[h, w, 3] of bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def run(command):
    """Seconds, seconds of the processor and peak bytes of a process and its children."""
    start = time.perf_counter()
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return {"s": time.perf_counter() - start, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


def measure(build, work, name):
    folder = os.path.join(work, "conversion")
    source, dataset, pictures = prepare(folder, name)
    ours = [os.path.join(build, "tools/rknn/rknn"), "convert", source, "-t", "rk3588", "--dataset", dataset, "-o",
            os.path.join(folder, f"{name}.ours.rknn")]
    row = {"model": name, "onnx_bytes": os.path.getsize(source),
           "ours": run(ours + (["--mean", "0,0,0", "--std", "255,255,255"] if pictures else []))}
    python = vendor_python()
    if python:
        row["vendor"] = run([python, "-c", VENDOR, source, dataset, os.path.join(folder, f"{name}.vendor.rknn"),
                             "1" if pictures else "0"])
    show(row)
    return row


def show(row):
    for side in [s for s in ("ours", "vendor") if s in row]:
        figures = row[side]
        print(f"{row['model']} int8 conversion, {SAMPLES} samples, {side}: {figures['s']:.1f} s ({figures['cpu_s']:.1f} s of the "
              f"processor), peak {figures['peak_bytes'] / 1e6:.0f} MB = {figures['peak_bytes'] / row['onnx_bytes']:.2f} x the file",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", choices=NETWORKS)
    args = parser.parse_args()
    rows = [measure(args.build, args.work, name) for name in NETWORKS if args.only in (None, name)]
    with open(os.path.join(args.work, "conversion.json"), "w") as file:
        json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
