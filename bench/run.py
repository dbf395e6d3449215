#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of whole networks: every model through the C API and, where they are installed, through ONNX Runtime and
OpenVINO, in interleaved rounds of one run.

    run.py --build build/release --work build/bench [--models a,b] [--threads 1,2] [--kinds qdq,own,fp16] [--rounds N]
           [--isa avx2] [--more [NAMES]] [--all]

Prints a table and writes results.json below --work. Kinds: qdq, all engines load the same QDQ file; own, our quantizer's
asymmetric model against that QDQ file in the others; fp16, ours in fp16 against the others' float32.
--isa holds us (RKNN_KERNEL) and OpenVINO (ONEDNN_MAX_CPU_ISA) to an instruction set; ONNX Runtime cannot be limited. Without
it both use the best this CPU has and, with --all, qdq and fp16 are measured once more held to AVX2 where that is not it.
--more measures the networks of networks.py too, those of --kinds: fp16 against ONNX Runtime's float32, and of some the same
QDQ file in both.
RK_BENCH_PYTHON names a python with onnxruntime and openvino (default: bench-venv beside --build's parent, see
`make bench-peers`), RK_VENDOR_PYTHON one with the vendor's toolkit, whose conversions --all measures beside ours.
RK_BENCH_REALTIME=1 measures under real-time priority, where neighbors disturb little (needs the right to).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import conversion
import networks

HERE = os.path.dirname(os.path.abspath(__file__))
ONNX_OF = {"qdq": "qdq", "own": "qdq", "fp16": "float"}  # what ONNX Runtime runs beside each kind
INPUT_UNIT = ["--mean", "0,0,0", "--std", "255,255,255"]  # bytes of a picture as 0 to 1

PEERS = {"ort": ("onnxruntime", "ort_peer.py"), "openvino": ("openvino", "openvino_peer.py")}
ISAS = {"avx2": "AVX2", "avx512": "AVX512_CORE", "avx512vnni": "AVX512_CORE_VNNI"}  # ours: oneDNN's


def best_isa():
    """The best of ISAS that this CPU can execute, or an empty string."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = set(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        flags = set()
    needs = {"avx512vnni": {"avx512_vnni", "avx512vbmi", "avx512bw"}, "avx512": {"avx512f", "avx512bw", "avx512vl"},
             "avx2": {"avx2", "fma", "f16c"}}
    return next((isa for isa, needed in needs.items() if needed <= flags), "")


def find_peer_python(build, module):
    """A python that has the module, or None."""
    candidates = [os.environ.get("RK_BENCH_PYTHON"),
                  os.path.join(os.path.dirname(os.path.abspath(build)), "bench-venv/bin/python"), sys.executable]
    for python in candidates:
        if python and shutil.which(python) and subprocess.run(
                [python, "-c", f"import {module}, numpy"], capture_output=True).returncode == 0:
            return python
    return None


class Engine:
    """A process that answers rounds."""

    def __init__(self, command, threads, extra=None):
        env = dict(os.environ, RKNN_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads), **(extra or {}))
        cpus = sorted(os.sched_getaffinity(0))

        def prepare():
            os.sched_setaffinity(0, cpus[-threads:])
            if os.environ.get("RK_BENCH_REALTIME") == "1":
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))

        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=prepare)
        self.ready = self.process.stdout.readline().split()
        if not self.ready:
            raise SystemExit(f"bench: {' '.join(command)} does not start")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def prepare_models(build, work, models, kinds):
    """ONNX files by bench/models.py, .rknn files by the rknn command; kept between runs."""
    folder = os.path.join(work, "models")
    onnx = [os.path.join(folder, f"{m}.{k}.onnx") for m in models for k in ("float", "qdq")]
    if not all(map(os.path.exists, onnx)):
        subprocess.run([sys.executable, os.path.join(HERE, "models.py"), folder], check=True)
    made = {}
    for model in models:
        for kind in kinds:
            out = os.path.join(folder, f"{model}.{kind}.rknn")
            if not is_current(out, build):
                convert(build, folder, model, kind, out)
            made[model, kind] = out
    return folder, made


def is_current(out, build):
    """Made by the rknn command as it is now."""
    return os.path.exists(out) and os.path.getmtime(out) > os.path.getmtime(os.path.join(build, "tools/rknn/rknn"))


def convert(build, folder, model, kind, out):
    source = os.path.join(folder, f"{model}.{ONNX_OF[kind] if kind == 'qdq' else 'float'}.onnx")
    command = [os.path.join(build, "tools/rknn/rknn"), "convert", source, "-t", "rk3588", "-o", out, *INPUT_UNIT]
    command += ["--float"] if kind == "fp16" else ["--dataset", write_dataset(folder, model)]
    print("bench:", " ".join(command), flush=True)
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed:\n{result.stdout}{result.stderr}")


def write_dataset(folder, model):
    """One random picture, as .npy, and the list that names it."""
    import numpy as np
    import onnx
    graph = onnx.load(os.path.join(folder, f"{model}.float.onnx"), load_external_data=False).graph
    n, c, h, w = (d.dim_value for d in graph.input[0].type.tensor_type.shape.dim)
    name = f"noise_{n}x{h}x{w}"
    picture = np.random.default_rng(3).integers(0, 256, (n, h, w, c), dtype=np.uint8)
    np.save(os.path.join(folder, name + ".npy"), picture)
    path = os.path.join(folder, name + ".txt")
    with open(path, "w") as file:
        file.write(name + ".npy\n")
    return path


def parse_perf(text):
    """Per operator type: microseconds and multiply-accumulates."""
    rows = {}
    for word in text.split():
        kind, us, macs = word.rsplit(":", 2)
        rows[kind] = {"us": float(us), "macs": float(macs)}
    return rows


def median(values):
    return statistics.median(values) if values else None


def measure(args, isa, pythons, folder, made, model, kind, threads):
    """One line of the table."""
    limits = {"RKNN_KERNEL": isa, "ONEDNN_MAX_CPU_ISA": ISAS[isa]} if isa else {}
    ours = Engine([os.path.join(args.build, "bench/network"), made[model, kind]], threads, limits)
    peers = {name: Engine([python, os.path.join(HERE, PEERS[name][1]),
                           os.path.join(folder, f"{model}.{ONNX_OF[kind]}.onnx"), str(threads)], threads, limits)
             for name, python in pythons.items()}
    # Our quantizer's model takes turns with ours of the QDQ file, too.
    twin = Engine([os.path.join(args.build, "bench/network"), made[model, "qdq"]], threads, limits) \
        if kind == "own" and (model, "qdq") in made else None
    general, zero, peaks, perfs, twins = [], [], [], [], []
    others = {name: [] for name in peers}
    for number in range(args.rounds):
        pair = [(ours, general), (twin, twins)] if twin else [(ours, general)]
        for engine, times in pair if number % 2 == 0 else reversed(pair):  # none is always the first
            times.append(float(engine.ask(f"round {args.ms} general")))
        for name, peer in peers.items():
            time.sleep(0.02)
            others[name].append(float(peer.ask(f"round {args.ms}")))
            time.sleep(0.05)  # its workers spin for a while after a run
        zero.append(float(ours.ask(f"round {args.ms} zero")))
        perfs.append(parse_perf(ours.ask(f"perf {args.ms}")))
        peaks.append([float(v) for v in ours.ask("peak").split()])
    for engine in [ours, *peers.values(), *([twin] if twin else [])]:
        engine.close()
    perf = sorted(perfs, key=lambda p: sum(r["us"] for r in p.values()))[len(perfs) // 2]
    peak = median([p[1 if kind == "fp16" else 0] for p in peaks]) * threads
    macs = sum(r["macs"] for r in perf.values())
    conv = [r for t, r in perf.items() if t.startswith("Conv")]
    conv_ms = sum(r["us"] for r in conv) / 1000
    conv_macs = sum(r["macs"] for r in conv)
    init = [float(v) for v in ours.ready[1:]]
    return {
        "model": model, "kind": kind, "threads": threads, "isa": isa or best_isa(), "general_ms": median(general), "zero_copy_ms": median(zero),
        **{f"{name}_ms": median(others.get(name)) for name in PEERS},
        **{key: median([o / g for o, g in zip(others.get(name, []), general)])
           for name, key in (("ort", "ratio"), ("openvino", "openvino_ratio"))},
        "qdq_ratio": median([g / t for g, t in zip(general, twins)]),
        "peak_gmacs": peak, "macs": macs,
        "peak_share": macs / (median(general) * 1e6) / peak if peak else None,
        "conv_ms": conv_ms, "conv_peak_share": conv_macs / (conv_ms * 1e6) / peak if peak and conv_ms else None,
        "other_us": {t: r["us"] for t, r in perf.items() if not t.startswith("Conv")},
        "init_ms": init[0], "weight_bytes": init[1], "internal_bytes": init[2], "rss_bytes": init[3] * 1024,
        "dup_bytes": init[4] * 1024,
    }


def scaling(args):
    """Milliseconds per GMAC of one thread over batches and picture sizes of one network."""
    points = []
    for batch, size in [(b, 224) for b in (1, 2, 4, 8)] + [(1, s) for s in (160, 320, 640, 1280)]:
        folder = os.path.join(args.work, f"scaling_{batch}_{size}")
        model = "resnet18"
        if not os.path.exists(os.path.join(folder, f"{model}.float.onnx")):
            subprocess.run([sys.executable, os.path.join(HERE, "models.py"), folder, "--only", model, "--size", str(size),
                            "--batch", str(batch)], check=True)
        out = os.path.join(folder, f"{model}.own.rknn")
        if not is_current(out, args.build):
            convert(args.build, folder, model, "own", out)
        points.append((batch, size, Engine([os.path.join(args.build, "bench/network"), out], 1)))
    times = {}
    for _ in range(args.rounds):
        for batch, size, engine in points:
            times.setdefault((batch, size), []).append(float(engine.ask(f"round {args.ms} general")))
    rows = []
    for batch, size, engine in points:
        macs = sum(r["macs"] for r in parse_perf(engine.ask("perf 1")).values())
        engine.close()
        rows.append({"batch": batch, "size": size, "ms_per_gmac": median(times[batch, size]) / (macs * 1e-9)})
        print(f"resnet18 int8, batch {batch}, {size}x{size}: {rows[-1]['ms_per_gmac']:.2f} ms per GMAC", flush=True)
    return rows


def same_bytes(args, made):
    """Checksums of integer networks over threads, kernel variants, core masks and the program's rounding mode."""
    sums = {}
    for (model, kind), path in made.items():
        if kind != "own" or model not in ("mobilenet_v2", "resnet18"):
            continue
        of_model = sums[model] = {}
        for threads, kernel in ((1, ""), (2, ""), (1, "generic"), (2, "avx2"), (2, "cascadelake")):
            env = {"RKNN_KERNEL": kernel} if kernel else {}
            engine = Engine([os.path.join(args.build, "bench/network"), path], threads, env)
            for mask, mode in ((1, 0),) if kernel == "generic" else ((1, 0), (3, 0), (7, 0), (0, 1)):
                of_model[f"{threads} threads, {kernel or 'best'}, mask {mask}, rounding {mode}"] = \
                    engine.ask(f"bytes {mask} {mode}")
            engine.close()
    return sums


def more(args, pythons):
    """The networks of networks.py beside ONNX Runtime, one thread: all as fp16 against float32, some from their QDQ files."""
    folder = os.path.join(args.work, "more")
    names = list(networks.NETWORKS) if args.all or args.more == "all" else args.more.split(",")
    engines, rows = {n: p for n, p in pythons.items() if n == "ort"}, []
    for kind in [k for k in ("fp16", "qdq") if k in args.kinds.split(",")]:
        for name in [n for n in names if kind == "fp16" or n in networks.QDQ]:
            source, out = (os.path.join(folder, f"{name}.{end}") for end in (f"{ONNX_OF[kind]}.onnx", f"{kind}.rknn"))
            if not os.path.exists(source):
                subprocess.run([sys.executable, os.path.join(HERE, "networks.py"), folder, "--only", name], check=True)
            if not is_current(out, args.build):
                # --float: nothing is quantized beyond what the file has.
                command = [os.path.join(args.build, "tools/rknn/rknn"), "convert", source, "-t", "rk3588", "-o", out, "--float"]
                command += INPUT_UNIT if kind == "qdq" and networks.NETWORKS[name][0][1] == 3 else []
                result = subprocess.run(command, capture_output=True, text=True)
                if result.returncode != 0:
                    raise SystemExit(f"bench: {' '.join(command)} failed:\n{result.stdout}{result.stderr}")
            rows.append(measure(args, args.isa, engines, folder, {(name, kind): out}, name, kind, 1))
            show(rows[-1])
    return rows


def show(row):
    def percent(value):
        return f"{value * 100:5.1f} %" if value else "     - "

    ort = f"{row['ort_ms']:8.2f} {row['ratio']:5.2f}x" if row["ort_ms"] else "       -      -"
    ort += f" {row['openvino_ms']:8.2f} {row['openvino_ratio']:5.2f}x" if row["openvino_ms"] else "        -      -"
    print(f"{row['model']:15} {row['kind']:5} {row['threads']:2} {row['general_ms']:8.2f} {row['zero_copy_ms']:8.2f} {ort} "
          f"{percent(row['peak_share'])} {row['conv_ms']:8.2f} {percent(row['conv_peak_share'])} {row['init_ms']:7.0f}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default="mobilenet_v2,resnet18,resnet50,yolov5s_relu")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--kinds", default="qdq,own,fp16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ms", type=int, default=150, help="length of one round of one engine")
    parser.add_argument("--isa", default="", help=f"hold the engines to one of {', '.join(ISAS)}")
    parser.add_argument("--more", nargs="?", const="all", default="", help="networks of networks.py, all or by name")
    parser.add_argument("--all", action="store_true", help="these, scaling over batch and size, and equal bytes, too")
    args = parser.parse_args()
    models, kinds = [m for m in args.models.split(",") if m], args.kinds.split(",")
    if args.isa and args.isa not in ISAS:
        raise SystemExit(f"bench: --isa is one of {', '.join(ISAS)}")
    pythons = {name: find_peer_python(args.build, module) for name, (module, _) in PEERS.items()}
    for name in [n for n, python in pythons.items() if python is None]:
        print(f"bench: no python with {PEERS[name][0]}. `make bench-peers` installs it, or set RK_BENCH_PYTHON")
        del pythons[name]
    if args.isa:
        print(f"bench: held to {args.isa}; ONNX Runtime cannot be and uses what the CPU has")
    os.makedirs(args.work, exist_ok=True)
    folder, made = prepare_models(args.build, args.work, models, kinds)
    threads = [int(t) for t in args.threads.split(",") if int(t) <= len(os.sched_getaffinity(0))]
    rows = []
    for isa in [args.isa] + (["avx2"] if args.all and not args.isa and best_isa().startswith("avx512") else []):
        print(f"held to {isa}:" if isa else f"best instructions of this CPU ({best_isa() or 'no AVX2'}):")
        print("model           kind  th  general zero-cpy      ort  ratio openvino  ratio    peak  conv ms conv/pk    init  (ms)")
        for kind in [k for k in kinds if k != "own" or isa == args.isa]:
            for model in models:
                for count in threads:
                    rows.append(measure(args, isa, pythons, folder, made, model, kind, count))
                    show(rows[-1])
    results = {"machine": os.uname().machine, "cpu": best_isa(), "ort": "ort" in pythons, "openvino": "openvino" in pythons,
               "rows": rows}
    if args.all or args.more:
        results["more"] = more(args, pythons)
    if args.all:
        results["scaling"] = scaling(args)
        results["conversion"] = [conversion.measure(args.build, args.work, name) for name in conversion.NETWORKS]
        results["bytes"] = same_bytes(args, made)
    with open(os.path.join(args.work, "results.json"), "w") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
