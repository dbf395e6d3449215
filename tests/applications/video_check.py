#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Zero-copy video in C++ and Rust: copies counted from outside, both ways compared, fall-back, streams, growth.

    video_check.py --build build/release --work FOLDER [--quick]

A preloaded library counts what memcpy and memmove move (copy_counter.c); two runs of different length give the bytes of one frame,
two sizes of frame say how often the frame was copied.
--quick: one stream, no growth, no Rust.
"""
import argparse
import os
import re
import resource
import shutil
import subprocess
import sys

import common
from common import SOURCE, figure, run

EXAMPLES = os.path.join(SOURCE, "examples")
LINE = re.compile(r"^(zero-copy|copying): (\d+) streams, (\d+) frames, ([\d.]+) fps, ([\d.]+) copies per frame, (\d+) bytes, "
                  r"CPU (\d+) %, (\d+) boxes(?:, sum (\w+))?", re.M)
SIZES = {"1080p": (1920, 1080), "4K": (3840, 2160)}


def parse(text):
    """{way: (streams, frames, fps, copies, bytes, cpu, boxes, sum)}."""
    return {m[0]: (int(m[1]), int(m[2]), float(m[3]), float(m[4]), int(m[5]), int(m[6]), int(m[7]), m[8]) for m in LINE.findall(text)}


def start(command, env=None, descriptors=None):
    limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))) if descriptors else None
    code, text = run(command, env=dict(os.environ, **(env or {})), preexec_fn=limit)
    if code != 0:
        raise RuntimeError("%s returned %d:\n%s" % (" ".join(command), code, text[-1500:]))
    return text


def convert(work, side):
    from rknn.api import RKNN
    path = os.path.join(work, "signs_%d.rknn" % side)
    with RKNN(verbose=False) as rknn:
        rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform="rk3588")
        ok = rknn.load_onnx(os.path.join(EXAMPLES, "signs", "signs.onnx"), inputs=["images"], input_size_list=[[1, 3, side, side]]) == 0
        ok = ok and rknn.build(do_quantization=True, dataset=os.path.join(EXAMPLES, "signs", "dataset.txt")) == 0
        if not ok or rknn.export_rknn(path) != 0:
            raise RuntimeError("the detector could not be converted for %d x %d" % (side, side))
    return path


def build_counter(work):
    path = os.path.join(work, "libcopy_counter.so")
    code, text = run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", os.path.join(SOURCE, "tests/applications/copy_counter.c"), "-o", path])
    if code != 0:
        raise RuntimeError("copy_counter.c does not compile:\n" + text)
    return path


def bytes_per_frame(command, counter, work):
    """What one more frame moves through memcpy and memmove."""
    counts = []
    for frames in (4, 12):
        report = os.path.join(work, "copies.txt")
        start(command + ["--frames", str(frames)], env={"LD_PRELOAD": counter, "COPY_COUNTS": report})
        counts.append(int(open(report).read().split()[0]))
    return (counts[1] - counts[0]) / 8


def check_counted(name, commands, counter, work):
    """`commands` are {pixels of a frame: command}, for two sizes. What grows with the frame's size is copies of the frame; the rest is
    what the network's layers move, whatever they are fed with."""
    (small, first), (large, second) = sorted(commands.items())
    found, inside = {}, {}
    for mode in ("zero", "copy"):
        less, more = (bytes_per_frame(command + ["--mode", mode], counter, work) for command in (first, second))
        found[mode] = (more - less) / ((large - small) * 1.5)
        inside[mode] = less - found[mode] * small * 1.5
    return figure("video %s: copies of the frame, counted outside by memcpy and memmove" % name,
                  "zero-copy %.4f, copying %.3f (layers: %.0f and %.0f kB)" % (found["zero"], found["copy"], inside["zero"] / 1e3, inside["copy"] / 1e3),
                  "below 0.01, 1", abs(found["zero"]) < 0.01 and abs(found["copy"] - 1) < 0.02)


def sized(program, model):
    return {w * h: [program, model, "--size", "%dx%d" % (w, h)] for w, h in ((1920, 1080), (1280, 720))}


def check_streams(program, model, language, counts):
    ok = True
    for name, (width, height) in SIZES.items():
        for streams in counts:
            frames = 8 if name == "1080p" else 4
            found = parse(start([program, model, "--size", "%dx%d" % (width, height), "--streams", str(streams), "--frames", str(frames)],
                                env={"RKNN_VALIDATE": "1", "RKNN_STRICT": "1"}))
            zero, copy = found["zero-copy"], found["copying"]
            good = zero[3] == 0 and zero[4] == 0 and copy[3] == 4 and zero[6:] == copy[6:] and zero[6] == 3 * streams * frames
            ok &= figure("video %s %s, %d stream%s: fps, copies per frame, CPU" % (language, name, streams, "s" * (streams > 1)),
                         "zero-copy %.1f, %.2f, %d %%; copying %.1f, %.2f, %d %%; %d boxes" % (*zero[2:4], zero[5], *copy[2:4], copy[5], zero[6]),
                         "0 copies, the same 3 boxes a frame", good)
    return ok


def boxes(text):
    rows = re.findall(r"^(\w+) +([\d.]+) \[ *(\d+), *(\d+), *(\d+), *(\d+)\]", text, re.M)
    return {row[0]: (float(row[1]), *[int(v) for v in row[2:]]) for row in rows}


def overlap(a, b):
    w, h = (max(0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return w * h / (area(a) + area(b) - w * h)


def expected_boxes(width, height, t):
    """Where draw_scene puts the shapes of stream 0."""
    step, r = t % 120, height // 6
    cx, cy = width // 4 + step * width // 480, height // 4
    sx, sy = width * 3 // 4 - step * width // 480, height // 3
    tx, ty, tall = width // 2, height * 3 // 5, height // 3
    return {"circle": (cx - r, cy - r, cx + r, cy + r), "square": (sx - r, sy - r, sx + r, sy + r),
            "triangle": (tx - tall * 10 // 17, ty, tx + tall * 10 // 17, ty + tall)}


def check_boxes(program, model):
    found = boxes(start([program, model, "--frames", "31", "--mode", "zero", "--table"]))
    truth = expected_boxes(1920, 1080, 30)
    worst = min([overlap(found[name][1:], box) for name, box in truth.items() if name in found] or [0])
    return figure("video: boxes of frame 30 and where the source drew them, overlap", "%s, %.2f at least" % (sorted(found), worst), "3 shapes, 0.7",
                  set(found) == set(truth) and worst >= 0.7), found


def check_fallback(program, model, name, sums):
    """Failing steps of zero-copy are named, and the boxes stay the same."""
    tried = [("rknn_set_io_mem fails", {"RKNN_FAULT": "rknn_set_io_mem=-1"}, None, "input is copied: ", 3),
             ("rknn_create_mem fails", {"RKNN_FAULT": "rknn_create_mem=-4"}, None, "input is copied: ", 3),
             # Enough descriptors for the libraries and the NPU's memory; the frames' memory is the last to be asked for.
             ("no descriptor for frames", {}, "frames", "frames are copied: memfd_create: Too many open files", 1)]
    good, told = 0, []
    for title, env, limit, reason, copies in tried:
        limits = range(8, 40) if limit else (None,)
        hit = False
        for descriptors in limits:
            try:
                text = start([program, model, "--frames", "8", "--mode", "zero"], env=env, descriptors=descriptors)
            except RuntimeError:
                continue  # too few even to start
            if reason not in text:
                continue
            found = parse(text)["zero-copy"]
            hit = found[3] == copies and found[6] == sums[0] and found[7] == sums[1]
            told.append("%s: %.0f copies" % (title, found[3]))
            break
        good += hit
        if not hit:
            print("%s %s: no fall-back" % (name, title))
    return figure("video %s: fall-back to copying with its reason, same boxes" % name, "%d of %d (%s)" % (good, len(tried), "; ".join(told)), "all",
                  good == len(tried))


def check_file(program, model, counter, work):
    video, small = os.path.join(work, "scene.mp4"), os.path.join(work, "small.mp4")
    start([program, "--make", video, "--size", "1280x720", "--frames", "20"])
    start([program, "--make", small, "--size", "640x360", "--frames", "20"])
    found = parse(start([program, model, "--file", video, "--frames", "45", "--streams", "2"]))
    zero, copy = found["zero-copy"], found["copying"]
    ok = figure("video from a file (MPEG-4, 2 streams, read 2 times): copies per frame",
                "zero-copy %.2f at %.1f fps; copying %.2f at %.1f fps; %d boxes" % (zero[3], zero[2], copy[3], copy[2], zero[6]),
                "0, the same 3 boxes a frame", zero[3] == 0 and zero[6:] == copy[6:] and zero[6] == 3 * 90)
    return ok & check_counted("from a file", {1280 * 720: [program, model, "--file", video], 640 * 360: [program, model, "--file", small]}, counter, work)


def check_growth(program, name, work, frames=100000):
    model = convert(work, 64)
    text = start([program, model, "--size", "160x90", "--streams", "4", "--frames", str(frames // 4), "--mode", "zero", "--growth"])
    marks = [(int(kb), int(fds)) for kb, fds in re.findall(r"after \d+ frames: (\d+) kB, (\d+) descriptors", text)]
    found = parse(text)["zero-copy"]
    grown = marks[1][0] - marks[0][0] if len(marks) == 2 else 10**9
    return figure("video %s: memory and descriptors over %d frames, 4 streams" % (name, found[1]),
                  "%d kB and %d descriptors more than after a tenth, %.2f copies" % (grown, marks[1][1] - marks[0][1], found[3]),
                  "at most 1024 kB, 0, 0", found[1] == frames and grown <= 1024 and marks[0][1] == marks[1][1] and found[3] == 0)


def check_rust(build, model, counter, work, cpp_boxes):
    cargo = shutil.which("cargo")
    if cargo is None:
        print("cargo is missing: apt-get install cargo")
        return figure("video in Rust: builds with stable cargo", "cargo is missing", "builds", False)
    libraries = os.path.join(build, "src/capi") + ":" + os.path.join(build, "src/rga")
    env = dict(os.environ, RKNN_LIB_DIR=libraries, LD_LIBRARY_PATH=libraries, CARGO_TARGET_DIR=os.path.join(work, "rust"), CARGO_NET_OFFLINE="true",
               RUSTFLAGS="-D warnings")
    folder = os.path.join(EXAMPLES, "video_rust")
    for words in (["build", "--release", "--locked"], ["test", "--release", "--locked"]):
        code, text = run([cargo, *words], cwd=folder, env=env)
        if code != 0:
            print(text[-3000:])
            return figure("video in Rust: builds with stable cargo", "cargo %s returned %d" % (words[0], code), "builds, tests pass", False)
    version = subprocess.run([cargo, "--version"], stdout=subprocess.PIPE, text=True).stdout.split()[1]
    passed = sum(int(n) for n in re.findall(r"(\d+) passed", text))
    program = os.path.join(work, "rust", "release", "rknn_video")
    ok = figure("video in Rust: builds with stable cargo, its tests pass", "cargo %s, %d tests" % (version, passed), "builds, 2", passed >= 2)
    text = start([program, model, "--frames", "31", "--table", "--mode", "zero"], env={"RKNN_VALIDATE": "1", "RKNN_STRICT": "1"})
    found, rust_boxes = parse(text)["zero-copy"], boxes(text)
    same = set(rust_boxes) == set(cpp_boxes) and all(
        abs(rust_boxes[n][0] - cpp_boxes[n][0]) <= 0.01 and max(abs(a - b) for a, b in zip(rust_boxes[n][1:], cpp_boxes[n][1:])) <= 1 for n in cpp_boxes)
    ok &= figure("video in Rust: boxes of 31 frames and those of the C++ program", "%d boxes, frame 30 %s" % (found[6], "alike" if same else "differs"),
                 "93, within 1 px and 0.01", found[6] == 93 and same and "RKNN_VALIDATE" not in text)
    ok &= check_streams(program, model, "in Rust", (1, 4))
    ok &= check_growth(program, "in Rust", work)
    ok &= check_counted("in Rust", sized(program, model), counter, work)
    video = os.path.join(work, "scene.y4m")
    width, height = 640, 360
    with open(video, "wb") as file:  # a gray ground, no shapes
        file.write(b"YUV4MPEG2 W%d H%d F30:1 C420jpeg\n" % (width, height))
        for _ in range(3):
            file.write(b"FRAME\n" + bytes([120]) * (width * height) + bytes([128]) * (width * height // 2))
    zero = parse(start([program, model, "--file", video, "--frames", "7", "--mode", "zero"]))["zero-copy"]
    ok &= figure("video in Rust from a .y4m file: copies per frame", "%.2f, %d frames, %d boxes" % (zero[3], zero[1], zero[6]), "0, 7, 0",
                 zero[3] == 0 and zero[1] == 7 and zero[6] == 0)
    sums = parse(start([program, model, "--frames", "8", "--mode", "zero"]))["zero-copy"]
    return ok & check_fallback(program, model, "in Rust", (sums[6], sums[7]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    common.use_build(args.build)
    build, work = os.path.abspath(args.build), os.path.abspath(args.work)
    os.makedirs(work, exist_ok=True)
    program = os.path.join(build, "examples", "rknn_video_demo")
    if not os.path.exists(program):
        sys.exit("missing: %s; install libavformat-dev and libavcodec-dev and build again" % program)
    try:
        model, counter = convert(work, 320), build_counter(work)
        ok = check_streams(program, model, "in C++", (1,) if args.quick else (1, 2, 3, 4))
        good, cpp_boxes = check_boxes(program, model)
        ok &= good & check_counted("in C++", sized(program, model), counter, work)
        sums = parse(start([program, model, "--frames", "8", "--mode", "zero"]))["zero-copy"]
        ok &= check_fallback(program, model, "in C++", (sums[6], sums[7]))
        ok &= check_file(program, model, counter, work)
        if not args.quick:
            ok &= check_growth(program, "in C++", work)
            ok &= check_rust(build, model, counter, work, cpp_boxes)
    except RuntimeError as error:
        print(error)
        ok = figure("video: a program failed", str(error).splitlines()[0], "none", False)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
