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
import sys

import numpy as np

import common
from common import SOURCE, figure, run

EXAMPLES = os.path.join(SOURCE, "examples")
ROW = re.compile(r"^(\w+) +([\d.]+) \[ *(-?\d+), *(-?\d+), *(-?\d+), *(-?\d+)\]$")


def script(folder, name, *words, env=None):
    code, text = run([sys.executable, os.path.join(EXAMPLES, folder, name), *words], env=dict(os.environ, **(env or {})))
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


def check_tracking(build, work, kinds):
    ok, text = True, []
    for kind in kinds:
        rows = [line.split() for line in program(build, "tracking", os.path.join(work, "signs_%s.rknn" % kind), "60").splitlines()]
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
        text.append("%s: %d ids, %d rows, %d in place" % (kind, len(ids), len(rows), inside))
    return figure("tracking: ids stable over 60 frames, one object hidden for 6", "; ".join(text), "3 ids of one class each", ok)


def check_pool(build, work, kinds):
    picture = os.path.join(work, "scene0.ppm")
    texts = [program(build, "pool", os.path.join(work, "signs_%s.rknn" % kind), picture, "3", "12").strip() for kind in kinds]
    return figure("pool: 3 contexts over threads, results as of one", "; ".join(t.split("; ")[-1] for t in texts), "12 of 12",
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


def check_face(build, work):
    golden = common.Golden("onnx/ultraface_rfb320_nopost")
    sys.path.insert(0, os.path.join(EXAMPLES, "face"))
    sys.path.insert(0, os.path.join(EXAMPLES, "utils"))
    import face
    import zoo
    pictures, dataset = [], []
    for case, _, outputs in golden.cases:
        folder = os.path.join(common.ASSETS, "goldens", golden.name, case)
        spec = [c for c in golden.spec["cases"] if c["dir"] == case][0]["inputs"][0]
        raw = np.load(os.path.join(folder, spec["raw"]))[0]
        path = os.path.join(work, "face_%s.ppm" % case)
        save_ppm(path, raw)
        large = os.path.join(work, "face_%s_large.ppm" % case)
        save_ppm(large, np.pad(np.kron(raw, np.ones((2, 2, 1), np.uint8)), ((30, 50), (0, 0), (0, 0)), mode="edge"))
        array = os.path.join(work, "face_%s.npy" % case)
        np.save(array, raw.transpose(2, 0, 1)[np.newaxis].astype("float32"))
        dataset.append(array)
        boxes, scores = face.decode(*[array for _, array in outputs])
        keep = zoo.suppress(boxes, scores, np.zeros(len(scores)), face.OVERLAP)
        truth = sorted(("face", float(s), *[int(v) for v in np.clip(b, 0, [320, 240, 320, 240])]) for b, s in zip(boxes[keep], scores[keep]))
        pictures.append((path, large, truth))
    listing = os.path.join(work, "faces.txt")
    with open(listing, "w") as file:
        file.write("\n".join(dataset) + "\n")
    good = tried = other = faces = 0
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
            if kind == "fp":
                cpp = table(program(build, "face", model, path))
                faces += len(truth)
                other += same_boxes(cpp, truth)
                if not same_boxes(cpp, truth):
                    print("face fp", path, cpp, truth)
    ok = figure("face (SSD): C++ and numpy within 1 px and 0.01, i8+fp", "%d of %d pictures" % (good, tried), "all", good == tried)
    return ok & figure("face (SSD): float16 program and another engine's outputs", "%d of %d pictures, %d faces" % (other, len(pictures), faces),
                       "all", other == len(pictures) and faces > 0)


def check_vad(build, work):
    golden = common.Golden("onnx/silero_vad_16k_op15")
    model = os.path.join(work, "vad.rknn")
    script("vad", "convert.py", golden.files[0], "rk3588", "fp", model)
    sound = os.path.join(common.ASSETS, "audio", "yes_1000ms.wav")
    speech = lambda text: np.array([float(v) for v in re.findall(r"speech ([\d.]+)", text)])
    cpp, python = speech(program(build, "vad", model, sound)), speech(script("vad", "vad.py", "--model", model, "--img", sound))
    ok = figure("vad: C++ and Python over a second of speech, state fed back",
                "%d steps, largest difference %.4f, highest %.2f" % (len(cpp), np.abs(cpp - python).max(), cpp.max()), "31 steps, 0.001, 0.5",
                len(cpp) == len(python) == 31 and np.abs(cpp - python).max() <= 0.001 and cpp.max() > 0.5)
    from rknn.api import RKNN
    worst = 0
    with RKNN() as rknn:
        assert rknn.load_rknn(model) == 0 and rknn.init_runtime() == 0
        for _, inputs, outputs in golden.cases:
            values = dict(inputs)
            probability, _ = rknn.inference(inputs=[values["input"], values["state"]])
            worst = max(worst, abs(float(probability.ravel()[0]) - float(dict(outputs)["output"].ravel()[0])))
    return ok & figure("vad: float16 and another engine, %d windows" % len(golden.cases), "%.4f" % worst, "0.01", worst <= 0.01)


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
    checks = [lambda: check_yolov5(build, work, kinds), lambda: check_tracking(build, work, kinds), lambda: check_pool(build, work, kinds)]
    if not args.quick:
        common.need_assets()
        checks += [lambda: check_classification(build, work, kinds), lambda: check_face(build, work), lambda: check_vad(build, work)]
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
