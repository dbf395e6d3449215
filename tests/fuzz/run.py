#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing with libFuzzer, and the seeds for it.

    run.py seeds --replay FUZZ_REPLAY --corpus FOLDER            files that cover every operator, made of the stored cases
    run.py fuzz --programs FOLDER --corpus FOLDER --seconds N    every target for its share of N seconds of processor time,
                [--jobs K] [--seed S]                             K of them side by side; what they try depends on S
    run.py frontends --programs FOLDER --corpus FOLDER --each N  the model formats with their seeds, N seconds each
    run.py replay --replay FUZZ_REPLAY --corpus FOLDER           every file of the corpus once (for coverage)

The cases of src/ops/*/*_test.cpp are graphs in text form, so they are seeds as they stand and, compiled, as .rknn files.
A finding is left beside the corpus, in findings/; its place is tests/fuzz/bad once it is understood.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Share of the time: what reads files of strangers and runs them gets most.
SHARES = {"rknn": 3, "info": 2, "lift": 1, "program": 4, "onnx": 4, "tflite": 2, "tensorflow": 2, "darknet": 1,
          "caffe": 2, "torchscript": 2, "graph_text": 2, "json": 1, "bson": 1, "npy": 1, "picture": 2, "hybrid": 1,
          "options": 1, "formula": 1, "capi": 3}
FRONTENDS = ("tflite", "tensorflow", "darknet", "caffe", "torchscript")
SEED = 20261115  # of libFuzzer's first round
LIMIT_SECONDS = 20
MAX_BYTES = 65536  # of one input
LARGE_BYTES = 2 << 20  # of one that is replayed only
LIMIT_MEGABYTES = 2560  # the budget's base, 1 GiB beyond it, and what ASan adds


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def cases():
    """(operator file, number, graph text) of every case that is not about an error."""
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "ops", "*", "*_test.cpp"))):
        with open(path) as file:
            text = file.read()
        name = os.path.basename(path)[:-len("_test.cpp")]
        for number, body in enumerate(re.findall(r'R"\((.*?)\)"', text, re.S)):
            graph = graph_of(body)
            if graph:
                yield name, number, graph


def graph_of(case):
    statements, outputs = [], []
    for line in case.strip().splitlines():
        line = line.strip()
        if re.match(r"(input|const|expect|error|%)", line) or not statements:
            statements.append(line)
        else:
            statements[-1] += " " + line
    body = []
    for statement in statements:
        if statement.startswith("error"):
            return None
        if statement.startswith("input"):
            body.append(statement.split(" =")[0])
        elif statement.startswith("expect"):
            outputs.append(re.search(r"%([^:]+):", statement).group(1))
        else:
            body.append(statement)
    if not outputs:
        return None
    return 'graph "case" {\n' + "\n".join(body + ["output %" + name for name in outputs]) + "\n}\n"


def tiny_models(fmt):
    """(name, its files as one input) of tests/frontends/<format>/cases.bin; pack.py describes the form."""
    with open(os.path.join(ROOT, "tests", "frontends", fmt, "cases.bin"), "rb") as file:
        data = file.read()
    at = 0

    def number(form="<I"):
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, data, at - struct.calcsize(form))[0]

    def text():
        nonlocal at
        size = number()
        at += size
        return data[at - size:at]

    def dims():
        nonlocal at
        count = number()
        at += 8 * count

    for _ in range(number()):
        name, _ = text().decode(), text()
        files = [text() for _ in range(number())]
        for _ in range(number()):
            dims()
        number("<B")
        for _ in range(2):
            for _ in range(number()):
                number("<B")
                dims()
                text()
        number("<d")
        for _ in range(3):
            text()
        yield name, files[0] if len(files) == 1 else struct.pack("<I", len(files[0])) + files[0] + files[1]


def seed_folder(corpus, target, size):
    return os.path.join(corpus, target if size <= MAX_BYTES else "large_" + target)


def make_shared_seeds(corpus):
    """The standard's node tests, files of the vendor's converter, layers and networks, where ../shared has them."""
    assets = os.path.join(ROOT, "..", "shared", "assets")
    for target, ending in (("onnx", ".onnx"), ("tensorflow", ".pb"), ("tflite", ".tflite")):
        for path in glob.glob(os.path.join(assets, "*", target, "**", "*" + ending), recursive=True):
            if os.path.getsize(path) <= LARGE_BYTES:
                with open(path, "rb") as file:
                    write(seed_folder(corpus, target, os.path.getsize(path)),
                          os.path.relpath(path, assets).replace("/", "_"), file.read())
    for archive, ending, target in (("onnx-node-tests.tar.xz", "model.onnx", "onnx"),
                                    (os.path.join("vendor-oracle", "files.tar.xz"), ".rknn", "rknn")):
        path, count = os.path.join(assets, archive), 0
        if not os.path.exists(path):
            continue
        with tarfile.open(path) as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(ending) and member.size <= LARGE_BYTES:
                    write(seed_folder(corpus, target, member.size), member.name.replace("/", "_"),
                          tar.extractfile(member).read())
                    count += 1
        print("seeds: %d files of %s" % (count, archive))


def make_frontend_seeds(corpus):
    for fmt in FRONTENDS:
        for name, data in tiny_models(fmt):
            write(os.path.join(corpus, fmt), name, data)


def make_seeds(replay, corpus):
    compiled, operators = 0, set()
    for name, number, graph in cases():
        stem = "%s_%d" % (name, number)
        write(os.path.join(corpus, "graph_text"), stem, graph.encode())
        text = os.path.join(corpus, "graph_text", stem)
        target = os.path.join(corpus, "program", stem)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        done = subprocess.run([replay, "--rknn", text, target], stderr=subprocess.DEVNULL).returncode == 0
        compiled += done
        if done:
            operators.add(name)
    for path in glob.glob(os.path.join(corpus, "program", "*_0")) + glob.glob(os.path.join(HERE, "bad", "*.rknn")):
        os.makedirs(os.path.join(corpus, "rknn"), exist_ok=True)
        shutil.copy(path, os.path.join(corpus, "rknn"))
    models = glob.glob(os.path.join(ROOT, "examples", "**", "*.onnx"), recursive=True)
    models += glob.glob(os.path.join(ROOT, "tests", "**", "*.onnx"), recursive=True)
    for path in models:
        if os.path.getsize(path) < 300000:
            with open(path, "rb") as file:
                write(os.path.join(corpus, "onnx"), os.path.relpath(path, ROOT).replace("/", "_"), file.read())
    make_frontend_seeds(corpus)
    make_shared_seeds(corpus)
    for target in ("info", "lift"):
        shutil.copytree(os.path.join(corpus, "rknn"), os.path.join(corpus, target), dirs_exist_ok=True)
    for path in glob.glob(os.path.join(ROOT, "src", "media", "testdata", "*")):
        with open(path, "rb") as file:
            data = file.read()
        write(os.path.join(corpus, "npy" if path.endswith(".npy") else "picture"), os.path.basename(path), data)
    with open(os.path.join(HERE, "bad", "hybrid_means_object.data"), "rb") as file:
        data = file.read()
    write(os.path.join(corpus, "hybrid"), "data", data)
    write(os.path.join(corpus, "json"), "data", data)
    write(os.path.join(corpus, "npy"), "two", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
          .ljust(127) + b"\n" + b"\0" * 8)
    write(os.path.join(corpus, "options"), "config", b"\x00" + b'{"target_platform": "rk3588", "mean_values": [[1, 2, 3]], '
          b'"std_values": [[1, 2, 3]], "quantized_dtype": "w8a8", "dynamic_input": [[[1, 3, 4, 4]]]}')
    write(os.path.join(corpus, "formula"), "transpose", b"a,b,c,d->a,c,d,b")
    write(os.path.join(corpus, "bson"), "empty", b"\x05\0\0\0\0")
    write(os.path.join(corpus, "capi"), "flow", bytes([0, 0, 0, 0, 4, 0, 0, 24, 3, 1, 0, 0, 1, 5, 0, 0, 0, 1, 6, 0, 1, 0, 9, 0]))
    print("seeds: %d graphs, %d of %d operators compiled to .rknn files (%d)" %
          (len(os.listdir(os.path.join(corpus, "graph_text"))), len(operators),
           len(glob.glob(os.path.join(ROOT, "src", "ops", "*", "*_test.cpp"))), compiled))


def run_measured(command, limit=None):
    """(exit code, what it printed, seconds of processor time); `limit`: of those."""
    def bounded():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bounded if limit else None)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, out.read().decode(errors="replace"), usage.ru_utime + usage.ru_stime


def is_hang(program, path):
    """libFuzzer looks at the clock; on a busy machine that says little, so the input runs alone and is judged by its
    processor time."""
    _, _, used = run_measured([program, path, "-timeout=0", "-rss_limit_mb=%d" % LIMIT_MEGABYTES], LIMIT_SECONDS + 5)
    if used >= LIMIT_SECONDS:
        return True
    os.unlink(path)
    return False


def fuzz_one(program, folder, findings, time, seed):
    """(inputs, seconds of processor time, what libFuzzer said of a finding or None)."""
    runs, used, rounds = 0, 0.0, 0
    prefix = os.path.join(findings, os.path.basename(program)[len("fuzz_"):] + "-")
    while used < time:
        code, text, spent = run_measured(
            [program, folder, "-max_total_time=%d" % max(1, round(time - used)), "-timeout=%d" % (5 * LIMIT_SECONDS),
             "-report_slow_units=%d" % LIMIT_SECONDS, "-rss_limit_mb=%d" % LIMIT_MEGABYTES, "-artifact_prefix=" + prefix,
             "-print_final_stats=1", "-seed=%d" % (seed + rounds), "-max_len=%d" % MAX_BYTES])
        rounds += 1
        used += spent
        found = re.search(r"number_of_executed_units: (\d+)", text)
        runs += int(found.group(1)) if found else 0
        slow = glob.glob(glob.escape(prefix) + "slow-unit-*") + glob.glob(glob.escape(prefix) + "timeout-*")
        if any([is_hang(program, path) for path in slow]):
            return runs, used, text
        timed_out = code != 0 and "ERROR: libFuzzer: timeout" in text
        if (code != 0 and not timed_out) or not found:
            return runs, used, text
    return runs, used, None


def fuzz_target(programs, corpus, findings, target, time, seed):
    """(target, seconds of processor time, inputs, what libFuzzer said of a finding or None, whether it was built)."""
    program, folder = os.path.join(programs, "fuzz_" + target), os.path.join(corpus, target)
    if not os.path.exists(program):
        return target, 0.0, 0, None, False
    os.makedirs(folder, exist_ok=True)
    runs, used, said = fuzz_one(program, folder, findings, time, seed)
    return target, used, runs, said, True


def fuzz(programs, corpus, seconds, jobs=1, seed=SEED):
    """`seconds` of processor time by target, the longest first."""
    findings = os.path.join(os.path.dirname(os.path.abspath(corpus)), "findings")
    os.makedirs(findings, exist_ok=True)
    bad, total, inputs = 0, 0.0, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(fuzz_target, programs, corpus, findings, target, time, seed)
                   for target, time in sorted(seconds.items(), key=lambda item: -item[1])]
        for done in concurrent.futures.as_completed(waiting):
            target, used, runs, said, built = done.result()
            if not built:
                print("FIGURE fuzzing %s | not built | 0 findings | SHORT" % target)
                bad += 1
                continue
            total, inputs = total + used, inputs + runs
            bad += said is not None
            print("FIGURE fuzzing %s, %d s of processor time: crashes, hangs over %d s, too much memory | %s | 0 | %s" %
                  (target, used, LIMIT_SECONDS, "0 of %d" % runs if said is None else "found: see " + findings,
                   "ok" if said is None else "SHORT"), flush=True)
            if said is not None:
                print("\n".join(said.splitlines()[-30:]))
    print("fuzzing: %.2f hours of processor time, %d inputs, %d targets with findings" % (total / 3600, inputs, bad), flush=True)
    return 1 if bad else 0


def replay_all(replay, corpus):
    for target in SHARES:
        folders = [os.path.join(corpus, prefix + target) for prefix in ("", "large_")]
        folders = [folder for folder in folders if os.path.isdir(folder)]
        if folders:
            subprocess.run([replay, target] + folders, check=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("seeds", "fuzz", "frontends", "replay"))
    parser.add_argument("--replay")
    parser.add_argument("--programs")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--seconds", type=int, default=240)
    parser.add_argument("--each", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    if args.action == "seeds":
        make_seeds(args.replay, args.corpus)
        return 0
    if args.action == "replay":
        return replay_all(args.replay, args.corpus)
    if args.action == "frontends":
        make_frontend_seeds(args.corpus)
        return fuzz(args.programs, args.corpus, dict.fromkeys(FRONTENDS, args.each), args.jobs, args.seed)
    total = sum(SHARES.values())
    return fuzz(args.programs, args.corpus,
                {target: max(5, int(args.seconds * share / total)) for target, share in SHARES.items()}, args.jobs, args.seed)


if __name__ == "__main__":
    sys.exit(main())
