#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples as a user starts them, in C++ and Python, as int8 and float16, against each other and other engines.

    examples_check.py --build build/release --work FOLDER [--quick]

C++ programs and Python scripts share no decoding; where there is a golden of another engine, the float16 program is compared
with that decoded here. --quick: what the bundled models allow, int8 only.
"""
import argparse
import os
import re
import struct
import sys
import zlib

import numpy as np

import common
from common import SOURCE, figure, run

EXAMPLES = os.path.join(SOURCE, "examples")
ROW = re.compile(r"^(\w+) +([\d.]+) \[ *(-?\d+), *(-?\d+), *(-?\d+), *(-?\d+)\]$")


def script(folder, name, *words, env=None, cwd=None):
    code, text = run([sys.executable, os.path.join(EXAMPLES, folder, name), *words], env=dict(os.environ, **(env or {})), cwd=cwd)
    if code != 0:
        raise RuntimeError("%s/%s returned %d:\n%s" % (folder, name, code, text[-1500:]))
    return text


def program(build, name, *words, env=None):
    code, text = run([os.path.join(build, "examples", "rknn_%s_demo" % name), *words], env=dict(os.environ, **(env or {})))
    if code != 0:
        raise RuntimeError("rknn_%s_demo returned %d:\n%s" % (name, code, text[-1500:]))
    return text


def table(text):
    """Rows (class, score, 4 sides), sorted."""
    rows = [ROW.match(line.strip()) for line in text.splitlines()]
    return sorted((r.group(1), float(r.group(2)), *[int(v) for v in r.groups()[2:]]) for r in rows if r)


def same_boxes(a, b):
    """Every box has one of the same class within 1 pixel and 0.01."""
    b = list(b)
    for row in a:
        match = [o for o in b if o[0] == row[0] and abs(o[1] - row[1]) <= 0.01 and max(abs(x - y) for x, y in zip(o[2:], row[2:])) <= 1]
        if not match:
            return False
        b.remove(match[0])
    return not b


def overlap(a, b):
    """Of two boxes (left, top, right, bottom): shared area by joint area."""
    wide, tall = (max(0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return wide * tall / max(1, area(a) + area(b) - wide * tall)


def save_ppm(path, picture):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (picture.shape[1], picture.shape[0]) + np.ascontiguousarray(picture).tobytes())


def scene(width, height, seed):
    """Shapes on a wavy background; not the size of the network, so that the letterbox has bars."""
    random = np.random.RandomState(seed)
    ys, xs = np.mgrid[0:height, 0:width].astype("float32")
    waves = np.stack([np.sin(xs / a) * np.cos(ys / b) for a, b in ((46, 70), (34, 91), (80, 43))], -1)
    picture = 0.5 + 0.12 * waves + 0.02 * random.randn(height, width, 3)
    cx, cy, r = width * (0.2 + 0.05 * seed), height * 0.3, height * 0.15
    picture[(xs - cx) ** 2 + (ys - cy) ** 2 < r * r] = (0.9, 0.15, 0.1)
    sx, sy, s = width * 0.75, height * (0.3 + 0.03 * seed), height * 0.13
    picture[(np.abs(xs - sx) < s) & (np.abs(ys - sy) < s)] = (0.1, 0.2, 0.95)
    top = height * 0.6
    picture[(ys < top + height * 0.28) & (ys - top > 1.7 * np.abs(xs - width * 0.45))] = (0.05, 0.8, 0.2)
    return (np.clip(picture, 0, 1) * 255).astype("uint8")


def check_yolov5(build, work, kinds):
    good, tried, found = 0, 0, 0
    for kind in kinds:
        model = os.path.join(work, "signs_%s.rknn" % kind)
        script("yolov5", "convert.py", os.path.join(EXAMPLES, "signs", "signs.onnx"), "rk3588", kind, model)
        for seed, (width, height) in enumerate(((480, 360), (250, 410), (320, 320))):
            picture = os.path.join(work, "scene%d.ppm" % seed)
            save_ppm(picture, scene(width, height, seed))
            strict = {"RKNN_STRICT": "1", "RKNN_VALIDATE": "1"}
            general = program(build, "yolov5", model, picture, env=strict)
            zero_copy = program(build, "yolov5", model, picture, "--zero_copy", env=strict)
            python = table(script("yolov5", "yolov5.py", "--model", model, "--img", picture))
            tried += 1
            found += len(python)
            ok = len(python) >= 3 and same_boxes(table(general), python) and table(general) == table(zero_copy) \
                and "RKNN_VALIDATE" not in general + zero_copy
            good += ok
            if not ok:
                print("yolov5 %s scene %d:\n%s\n%s\n%s" % (kind, seed, general, zero_copy, python))
    return figure("yolov5: C++ (copying, zero-copy) and numpy within 1 px and 0.01, %s" % "+".join(kinds),
                  "%d of %d pictures, %d boxes" % (good, tried, found), "all", good == tried)


def check_yolov5_golden(build, work):
    """The float16 program and OpenCV's heads for the same picture, decoded in numpy."""
    sys.path[:0] = [os.path.join(EXAMPLES, "yolov5"), os.path.join(EXAMPLES, "utils")]
    import yolov5
    import zoo
    heads = [np.load(os.path.join(EXAMPLES, "signs", "golden", "000_head%d.npy" % stride)) for stride in (8, 16, 32)]
    boxes, scores, classes = yolov5.decode([head.reshape(1, 39, 320 // s, 320 // s) for head, s in zip(heads, (8, 16, 32))], 320)
    keep = zoo.suppress(boxes, scores, classes, yolov5.NMS_THRESH)
    truth = sorted((yolov5.CLASSES[c], float(s), *[int(v) for v in np.clip(b, 0, 320)]) for b, s, c in zip(boxes[keep], scores[keep], classes[keep]))
    found = table(program(build, "yolov5", os.path.join(work, "signs_fp.rknn"), os.path.join(EXAMPLES, "signs", "test", "000.jpg")))
    ok = len(truth) >= 2 and same_boxes(found, truth)
    if not ok:
        print(found, truth)
    return figure("yolov5: float16 program and another engine's heads", "%d boxes, %d expected" % (len(found), len(truth)), "within 1 px and 0.01", ok)


def check_options(work):
    """The model zoo's options: what each prints, and the same boxes as without them."""
    picture = os.path.join(work, "scene0.ppm")
    text = script("yolov5", "yolov5.py", "--model", os.path.join(EXAMPLES, "signs", "signs.onnx"), "--target", "rk3588", "--img", picture,
                  "--accuracy_analysis", "--eval_perf", "--eval_memory", cwd=work)
    told = [word for word in ("simulator_error", "Total Operator Elapsed Per Frame Time", "Total Memory: ") if word in text]
    plain = table(script("yolov5", "yolov5.py", "--model", os.path.join(work, "signs_i8.rknn"), "--img", picture))
    return figure("model zoo's options: --accuracy_analysis --eval_perf --eval_memory", "%d of 3 reports, %d boxes" % (len(told), len(plain)),
                  "3, boxes as without them", len(told) == 3 and len(plain) >= 3 and table(text) == plain)


def check_tracking(build, work, kinds):
    ok, text = True, []
    for way, kind in [(way, kind) for way in ("C++", "Python") for kind in kinds]:
        model = os.path.join(work, "signs_%s.rknn" % kind)
        lines = program(build, "tracking", model, "60") if way == "C++" else script("tracking", "tracking.py", "--model", model)
        rows = [line.split() for line in lines.splitlines() if re.match(r"^\d+ \d+ \w+ ", line)]
        ids = {}
        inside = 0
        for frame, number, cls, _, left, top, right, bottom in rows:
            ids.setdefault(number, set()).add(cls)
            t = int(frame)  # where the source draws it
            x, y = {"circle": (60 + 3 * t, 65), "square": (260 - 3 * t, 155), "triangle": (100 + 2 * t, 257)}.get(cls, (-1e3, 0))
            inside += abs((float(left) + float(right)) / 2 - x) < 8 and abs((float(top) + float(bottom)) / 2 - y) < 12
        # 60 frames, two to be sure of an object, six in which the square is hidden.
        stable = len(ids) == 3 and {c for classes in ids.values() for c in classes} == {"circle", "square", "triangle"} \
            and all(len(classes) == 1 for classes in ids.values()) and len(rows) >= 3 * 58 - 6 - 3 and inside >= 0.98 * len(rows)
        ok &= stable
        text.append("%s %s: %d ids, %d rows, %d in place" % (way, kind, len(ids), len(rows), inside))
    return figure("tracking: ids stable over 60 frames, one object hidden for 6", "; ".join(text), "3 ids of one class each", ok)


def check_pool(build, work, kinds):
    picture = os.path.join(work, "scene0.ppm")
    models = [os.path.join(work, "signs_%s.rknn" % kind) for kind in kinds]
    texts = [program(build, "pool", model, picture, "3", "12").strip() for model in models]
    texts += [script("pool", "pool.py", "--model", model, "--img", picture, "--threads", "3", "--frames", "12").strip() for model in models]
    return figure("pool: 3 contexts over threads in C++ and Python, results as of one", "; ".join(t.split("; ")[-1] for t in texts), "12 of 12",
                  all("12 of 12 results equal" in t for t in texts))


def top5(text):
    return [(int(a), float(b)) for a, b in re.findall(r"\[(\d+)\] score=([\d.]+)", text)]


def check_classification(build, work, kinds):
    images = np.load(os.path.join(EXAMPLES, "digits", "test_images.npy"))[:4]
    good = tried = 0
    for kind in kinds:
        model = os.path.join(work, "digits_%s.rknn" % kind)
        for i, image in enumerate(images):
            picture, array = os.path.join(work, "digit.ppm"), os.path.join(work, "digit.npy")
            save_ppm(picture, np.repeat(image, 3, axis=2))
            np.save(array, image)
            if kind == kinds[0] or i == 0:
                python = top5(script("classification", "mobilenet.py", "--dtype", kind, "--target", "rk3588", "--img", array, "--out", model))
                cpp = top5(program(build, "mobilenet", model, picture))
                tried += 1
                ok = len(cpp) == 5 and cpp[0][0] == python[0][0] and all(abs(dict(python).get(c, 0) - s) < 0.01 for c, s in cpp[:2])
                good += ok
                if not ok:
                    print(cpp, python)
    return figure("classification: C++ and Python, best class and scores within 0.01", "%d of %d" % (good, tried), "all", good == tried)


def check_mobilenet(build, work):
    """The real network, with its own quantization, on its two pictures; classes as TensorFlow Lite gives them."""
    golden = common.Golden("tflite/mobilenet_v2_qat_int8")
    model, right, tried, text = os.path.join(work, "mobilenet.rknn"), 0, 0, []
    for case, inputs, outputs in golden.cases:
        picture = os.path.join(work, "mobilenet_%s.ppm" % case)
        save_ppm(picture, np.load(os.path.join(common.ASSETS, "goldens", golden.name, case, "raw_0.npy"))[0])
        if not tried:
            script("classification", "mobilenet.py", "--model", golden.files[0], "--dtype", "fp", "--target", "rk3588", "--img", picture, "--out", model,
                   "--nchw", "--img_mean", "123.675,116.28,103.53", "--img_std", "58.395,57.12,57.375")
        found, expected = top5(program(build, "mobilenet", model, picture)), int(np.argmax(outputs[0][1]))
        tried += 1
        right += bool(found) and found[0][0] == expected
        text.append("%s (%d)" % (found[0][0] if found else None, expected))
    return figure("MobileNet v2 in int8: best class and TensorFlow Lite's", "; ".join(text), "equal", right == tried > 1)


def check_dynamic_shape(build, work, kinds):
    """Each size against numpy, and the largest against the detector for that size alone."""
    good = tried = 0
    for kind in kinds:
        model = os.path.join(work, "dynamic_%s.rknn" % kind)
        script("dynamic_shape", "convert.py", os.path.join(EXAMPLES, "signs", "signs.onnx"), "rk3588", kind, model)
        for picture in [os.path.join(work, "scene%d.ppm" % i) for i in (0, 1)]:
            parts = [re.split(r"^(\d+) x \d+$", text, flags=re.M)[1:] for text in (
                program(build, "dynamic_shape", model, picture), script("dynamic_shape", "dynamic_shape.py", "--model", model, "--img", picture))]
            cpp, python = ({size: table(rows) for size, rows in zip(part[::2], part[1::2])} for part in parts)
            alone = table(program(build, "yolov5", os.path.join(work, "signs_%s.rknn" % kind), picture))
            ok = sorted(cpp) == ["192", "256", "320"] and all(same_boxes(cpp[size], python.get(size, [])) for size in cpp) \
                and len(cpp["192"]) >= 2 and same_boxes(cpp["320"], alone)
            tried += 1
            good += ok
            if not ok:
                print(kind, picture, cpp, python, alone)
    return figure("dynamic shapes: 3 sizes, C++ and numpy, the largest as the model of one size, %s" % "+".join(kinds), "%d of %d pictures" % (good, tried), "all",
                  good == tried)


COLORS = {(0, 0, 0): 0, (255, 64, 64): 1, (64, 64, 255): 2, (64, 255, 64): 3}


def read_mask(path):
    with open(path, "rb") as file:
        file.readline()
        width, height = map(int, file.readline().split())
        file.readline()
        pixels = np.frombuffer(file.read(), np.uint8).reshape(height, width, 3).astype(int)
    key = pixels @ [65536, 256, 1]
    mask = np.full(key.shape, 255, np.uint8)
    for (r, g, b), index in COLORS.items():
        mask[key == r * 65536 + g * 256 + b] = index
    return mask


def check_segmentation(build, work, kinds):
    folder = os.path.join(EXAMPLES, "segmentation")
    good = tried = sure = wrong_sure = 0
    agree = {}
    for kind in kinds:
        model = os.path.join(work, "shapes_%s.rknn" % kind)
        script("segmentation", "convert.py", os.path.join(folder, "shapes.onnx"), "rk3588", kind, model)
        same = []
        for n in range(3):
            picture = os.path.join(folder, "test", "%d.ppm" % n)
            with open(picture, "rb") as file:
                raw = np.frombuffer(file.read()[-128 * 128 * 3:], np.uint8).reshape(128, 128, 3)
            wide = os.path.join(work, "wide%d.ppm" % n)
            save_ppm(wide, np.kron(raw, np.ones((2, 2, 1), np.uint8))[20:197])
            for path in (picture, wide):
                out, array = os.path.join(work, "mask.ppm"), os.path.join(work, "mask.npy")
                cpp = program(build, "segmentation", model, path, "--write", out)
                python = script("segmentation", "segmentation.py", "--model", model, "--img", path, "--write", array)
                mask, other = read_mask(out), np.load(array)
                rows = lambda text: [line for line in text.splitlines() if re.match(r"^\w+ +\d+  [\d.]+$", line)]
                tried += 1
                good += np.array_equal(mask, other) and rows(cpp) == rows(python) and len(rows(cpp)) == 4
                if path == picture:
                    truth = np.load(os.path.join(folder, "golden", "%d.npy" % n))
                    clear = np.unpackbits(np.load(os.path.join(folder, "golden", "%d_sure.npy" % n)))[:truth.size].reshape(truth.shape).astype(bool)
                    same.append((mask[::2, ::2] == truth).mean())
                    if kind == "fp":
                        sure += int(clear.sum())
                        wrong_sure += int((mask[::2, ::2] != truth)[clear].sum())
        agree[kind] = min(same)
    ok = figure("segmentation: C++ and numpy, every pixel, %s" % "+".join(kinds), "%d of %d pictures" % (good, tried), "all", good == tried)
    if "fp" in kinds:
        ok &= figure("segmentation: float16 program and ONNX Runtime, cells whose classes differ clearly", "%d of %d wrong" % (wrong_sure, sure), "0",
                     wrong_sure == 0 and sure > 10000)
    return ok & figure("segmentation: cells as ONNX Runtime's", ", ".join("%s %.4f" % pair for pair in agree.items()), "i8 0.97, fp 0.995",
                       all(value >= (0.995 if kind == "fp" else 0.97) for kind, value in agree.items()))


def read_plain_png(path):
    """RGB of 8 bits whose rows are not filtered, as train.py writes them."""
    data = open(path, "rb").read()
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * 3)[:, 1:].reshape(height, width, 3)


def face_calibration(work, folder):
    """A list for the detector: photographs, and drawn persons that no test shows, in two sizes."""
    lines = open(os.path.join(work, "faces.txt")).read().split()
    for i in range(24):
        face = read_plain_png(os.path.join(folder, "calibration", "%02d.png" % (i // 2)))
        face = np.clip(face * (0.8, 1.15)[i // 2 % 2], 0, 255).astype("uint8")
        large = np.kron(face, np.ones((2 + i % 2, 2 + i % 2, 1), np.uint8))
        canvas = np.full((240, 320, 3), 127, np.uint8)
        canvas[20:20 + large.shape[0], 60:60 + large.shape[1]] = large
        lines.append(os.path.join(work, "face_large_%d.npy" % i))
        np.save(lines[-1], canvas.transpose(2, 0, 1)[np.newaxis].astype("float32"))
    listing = os.path.join(work, "faces_all.txt")
    with open(listing, "w") as file:
        file.write("\n".join(lines) + "\n")
    return listing


def check_face_compare(build, work):
    """After check_face, whose calibration data it adds to."""
    folder = os.path.join(EXAMPLES, "face_compare")
    network = common.Golden("onnx/ultraface_rfb320_nopost").files[0]
    listing = face_calibration(work, folder)
    pairs = [(p, a, p, b) for p in range(4) for a, b in ((0, 1), (0, 2))] + [(p, 0, q, 1) for p in range(4) for q in range(p)]
    right = tried = same = compared = 0
    worst = 0.0
    for kind in ("i8", "fp"):
        model, detector = os.path.join(work, "faces_%s.rknn" % kind), os.path.join(work, "face_all_%s.rknn" % kind)
        script("face", "convert.py", network, "rk3588", kind, detector, env={"DATASET": listing})
        script("face_compare", "convert.py", os.path.join(folder, "faces.onnx"), "rk3588", kind, model)
        for i, (p, a, q, b) in enumerate(pairs):
            pictures = [os.path.join(folder, "test", "%d_%d.ppm" % pair) for pair in ((p, a), (q, b))]
            cpp = program(build, "face_compare", detector, model, *pictures)
            tried += 1
            right += ("the same person" in cpp) == (p == q)
            if ("the same person" in cpp) != (p == q):
                print(kind, pictures, cpp)
            if i % 4 == 0:
                python = script("face_compare", "face_compare.py", "--detector", detector, "--model", model, "--img", pictures[0], "--other", pictures[1])
                values = [float(re.search(r"similarity (-?[\d.]+)", text).group(1)) for text in (cpp, python)]
                places = [re.findall(r"\[ *(\d+), *(\d+), *(\d+), *(\d+)\]", text) for text in (cpp, python)]
                near = max(abs(int(x) - int(y)) for m, n in zip(*places) for x, y in zip(m, n))
                compared += 1
                worst = max(worst, abs(values[0] - values[1]))
                same += abs(values[0] - values[1]) <= 0.01 and near <= 1
    ok = figure("face comparison: C++ and numpy, similarity within 0.01, boxes within 1 px", "%d of %d, %.4f at most" % (same, compared, worst), "all",
                same == compared > 0)
    return ok & figure("face comparison: same and other persons told apart, i8+fp", "%d of %d pairs" % (right, tried), "all", right == tried)


def check_face(build, work):
    golden = common.Golden("onnx/ultraface_rfb320_nopost")
    sys.path.insert(0, os.path.join(EXAMPLES, "face"))
    sys.path.insert(0, os.path.join(EXAMPLES, "utils"))
    import face
    import zoo
    pictures, images = [], os.path.join(common.ASSETS, "images")
    dataset = [os.path.join(images, name) for name in ("faces/2.jpg", "faces/13.jpg", "face_test.jpg", "bus.jpg")]  # none is judged below
    dataset += sorted(os.path.join(images, "coco", name) for name in os.listdir(os.path.join(images, "coco")))
    for case, _, outputs in golden.cases:
        folder = os.path.join(common.ASSETS, "goldens", golden.name, case)
        spec = [c for c in golden.spec["cases"] if c["dir"] == case][0]["inputs"][0]
        raw = np.load(os.path.join(folder, spec["raw"]))[0]
        path = os.path.join(work, "face_%s.ppm" % case)
        save_ppm(path, raw)
        large = os.path.join(work, "face_%s_large.ppm" % case)
        save_ppm(large, np.pad(np.kron(raw, np.ones((2, 2, 1), np.uint8)), ((30, 50), (0, 0), (0, 0)), mode="edge"))
        boxes, scores = face.decode(*[array for _, array in outputs])
        keep = zoo.suppress(boxes, scores, np.zeros(len(scores)), face.OVERLAP)
        truth = sorted(("face", float(s), *[int(v) for v in np.clip(b, 0, [320, 240, 320, 240])]) for b, s in zip(boxes[keep], scores[keep]))
        pictures.append((path, large, truth))
    listing = os.path.join(work, "faces.txt")
    with open(listing, "w") as file:
        file.write("\n".join(dataset) + "\n")
    good = tried = other = faces = again = extra = 0
    for kind in ("i8", "fp"):
        model = os.path.join(work, "face_%s.rknn" % kind)
        script("face", "convert.py", golden.files[0], "rk3588", kind, model, env={"DATASET": listing})
        for path, large, truth in pictures:
            for picture in (path, large):
                cpp, python = table(program(build, "face", model, picture)), table(script("face", "face.py", "--model", model, "--img", picture))
                tried += 1
                good += bool(cpp) and same_boxes(cpp, python)
                if not same_boxes(cpp, python):
                    print("face", kind, picture, cpp, python)
            cpp = table(program(build, "face", model, path))
            if kind == "i8":
                matched = [max([overlap(row[2:], box[2:]) for box in cpp] or [0]) > 0.5 for row in truth]
                again += sum(matched)
                extra += len(cpp) - sum(matched)
            else:
                faces += len(truth)
                other += same_boxes(cpp, truth)
                if not same_boxes(cpp, truth):
                    print("face fp", path, cpp, truth)
    ok = figure("face (SSD): C++ and numpy within 1 px and 0.01, i8+fp", "%d of %d pictures" % (good, tried), "all", good == tried)
    ok &= figure("face (SSD): int8 program, faces that another engine finds in float", "%d of %d, %d more" % (again, faces, extra),
                 "95 of 100 again, 5 of 100 more", again >= 0.95 * faces and extra <= 0.05 * faces)
    return ok & figure("face (SSD): float16 program and another engine's outputs", "%d of %d pictures, %d faces" % (other, len(pictures), faces),
                       "all", other == len(pictures) and faces > 0)


def check_vad(build, work):
    """int8 is calibrated on generated sound and judged on a recording and on another generated sound."""
    golden = common.Golden("onnx/silero_vad_16k_op15")
    recording, generated, other = os.path.join(common.ASSETS, "audio", "yes_1000ms.wav"), os.path.join(work, "speech.wav"), os.path.join(work, "other.wav")
    speech = lambda text: np.array([float(v) for v in re.findall(r"speech ([\d.]+)", text)])
    float16, listing = os.path.join(work, "vad_fp.rknn"), os.path.join(work, "vad.txt")
    script("vad", "convert.py", golden.files[0], "rk3588", "fp", float16)
    script("vad", "make_sound.py", generated)
    script("vad", "make_sound.py", other, "8", "77")
    script("vad", "vad.py", "--model", float16, "--img", generated, "--dataset", listing)
    from rknn.api import RKNN
    ok, found, worst = True, {}, {}
    for kind in ("i8", "fp"):
        model = os.path.join(work, "vad_%s.rknn" % kind)
        if kind == "i8":
            script("vad", "convert.py", golden.files[0], "rk3588", kind, model, env={"DATASET": listing})
        cpp, python = speech(program(build, "vad", model, recording)), speech(script("vad", "vad.py", "--model", model, "--img", recording))
        found[kind] = [cpp, speech(program(build, "vad", model, other))]
        ok &= figure("vad %s: C++ and Python over a second of speech, state fed back" % kind,
                     "%d steps, largest difference %.4f, highest %.2f" % (len(cpp), np.abs(cpp - python).max(), cpp.max()), "31 steps, 0.001, 0.5",
                     len(cpp) == len(python) == 31 and np.abs(cpp - python).max() <= 0.001 and cpp.max() > 0.5)
        with RKNN() as rknn:
            assert rknn.load_rknn(model) == 0 and rknn.init_runtime() == 0
            for _, inputs, outputs in golden.cases:
                values = dict(inputs)
                probability, _ = rknn.inference(inputs=[values["input"], values["state"]])
                worst[kind] = max(worst.get(kind, 0), abs(float(probability.ravel()[0]) - float(dict(outputs)["output"].ravel()[0])))
    for name, a, b, least in zip(("a recording", "other generated sound"), found["i8"], found["fp"], (31, 245)):
        alike = (a > 0.5) == (b > 0.5)
        sure = np.abs(b - 0.5) > 0.2
        ok &= figure("vad: steps of %s that int8 and float16 judge alike" % name,
                     "%d of %d, of the sure ones %d of %d" % (alike.sum(), len(a), (alike & sure).sum(), sure.sum()), "%d, all sure ones" % least,
                     alike.sum() >= least and alike[sure].all() and 0 < (b > 0.5).sum() < len(b))
    return ok & figure("vad: another engine's speech, %d windows, largest difference" % len(golden.cases), "i8 %.4f, fp %.4f" % (worst["i8"], worst["fp"]),
                       "0.05, 0.01", worst["i8"] <= 0.05 and worst["fp"] <= 0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    common.use_build(args.build)
    build, work = os.path.abspath(args.build), os.path.abspath(args.work)
    os.makedirs(work, exist_ok=True)
    kinds = ("i8",) if args.quick else ("i8", "fp")
    checks = [lambda: check_yolov5(build, work, kinds), lambda: check_tracking(build, work, kinds), lambda: check_pool(build, work, kinds),
              lambda: check_segmentation(build, work, kinds)]
    if not args.quick:
        common.need_assets()
        checks += [lambda: check_yolov5_golden(build, work), lambda: check_options(work), lambda: check_dynamic_shape(build, work, kinds),
                   lambda: check_classification(build, work, kinds), lambda: check_mobilenet(build, work),
                   lambda: check_face(build, work), lambda: check_face_compare(build, work), lambda: check_vad(build, work)]
    ok = True
    for check in checks:
        try:
            ok &= check()
        except RuntimeError as error:
            print(error)
            ok = figure("examples: a program failed", str(error).splitlines()[0], "none", False)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
