#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real networks and single layers of every format but ONNX against the numbers of other engines.

    check.py --binary frontend_run --shared ../shared [--formats tflite,darknet,...] [--work folder]

For each model: the float evaluator within the golden's tolerance, a float16 .rknn through the C API, an int8 .rknn that
is calibrated on the model's own inputs. Models that arrive in int8 keep their scales. Single layers run on the float
evaluator. exceptions.txt lists what may fail, with reasons; an entry that passes is an error. Prints FIGURE lines for
tests/check.py, and exits 1 when data is missing or anything unlisted fails.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = ("tflite", "darknet", "caffe", "tensorflow", "torchscript")
WORD = {"torchscript": "pytorch"}  # of the load_... call
NHWC = ("tflite", "tensorflow")
# Networks that exist in several formats: the ONNX model that the others were made from.
SAME_NETWORKS = {"ultraface_rfb320": "ultraface_rfb320_simplified", "digits": "digits", "fastestdet": "fastestdet"}
SAME_TOLERANCE = 1e-4  # of the peak
# A file for each call to be given by mistake.
MIX_UPS = {"onnx": "digits", "tflite": "hello_world_float", "tensorflow": "digits", "caffe": "lenet_mnist",
           "darknet": "yolo_fastest_1.0", "torchscript": "digits"}
# Files whose pictures are NCHW although their format's are NHWC.
NCHW_MODELS = ("mobilenet_v2_qat_int8",)
NCHW_LAYERS = ("conv_pool_nchw", "conv2d_backprop_input_asymmetric_pads_nchw", "max_pool2d_asymmetric_pads_nchw")
EMPTY_WEIGHTS = {"darknet": b"\0\0\0\0\2\0\0\0\0\0\0\0" + bytes(8), "caffe": b"\x0a\x04none\xa2\x06\x06\x0a\x04none"}
# Models that keep tensors between calls: their inputs with these (name and shape; zeros before the first call), a number
# per argument that is none. The golden's arrays have one call per element of the first axis. Indices count arrays.
SEQUENCES = {"torchscript/silero_vad": {
    "inputs": "x,sr,_state,_context", "shape": ["1,512", "", "2,1,128", "1,64"], "value": "1=16000",
    "zeros": [(2, 1, 128), (1, 64)], "state": ["1=2", "2=1"]}}
# Top-1 classes, for the evaluator and the .rknn alike.
CLASSES = {"tflite/mobilenet_v2_qat_int8/img_dog_224x224": 155,
           "tflite/mobilenet_v2_qat_int8/img_space_shuttle_224": 812}
LAYER_TOLERANCE = 2e-3  # of max(1, peak): what the arrays were verified to
LOOSE_LAYERS = ("fp16_", "uint8_")  # 2e-2: the arrays come from another precision


def load_golden(shared):
    sys.path.insert(0, os.path.join(shared, "assets"))
    import load_golden as module
    return module


def read_exceptions():
    listed = {}
    for line in open(os.path.join(HERE, "exceptions.txt")):
        line = line.split("#")[0].strip()
        if line:
            name, reason = line.split(":", 1)
            listed[name.strip()] = reason.strip()
    return listed


def cosine(a, b):
    a, b = np.float64(a).ravel(), np.float64(b).ravel()
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return 1.0 if norm == 0 and np.allclose(a, b) else float(a @ b / norm) if norm else 0.0


class Runner:
    """Gathers jobs for one process of the binary."""

    def __init__(self, binary, work):
        # Datasets name their arrays by full path: relative names would count from the dataset.
        self.binary, self.work, self.text, self.names = binary, os.path.abspath(work), [], {}
        os.makedirs(self.work, exist_ok=True)

    def save(self, name, array):
        path = os.path.join(self.work, name.replace("/", "_") + ".npy")
        np.save(path, np.ascontiguousarray(array).reshape(np.shape(array)))
        return path

    def add(self, name, mode, fmt, files, arrays, **more):
        out = os.path.join(self.work, name.replace("/", "_") + "." + mode + ".out")
        lines = ["name %s|%s" % (name, mode), "mode " + mode, "format " + WORD.get(fmt, fmt), "out " + out]
        lines += ["file " + os.path.abspath(f) for f in files]
        lines += ["input " + path for path in arrays]
        for key, value in more.items():
            for one in value if isinstance(value, list) else [value]:
                lines.append("%s %s" % (key, one))
        self.text.append("\n".join(lines))
        return out

    def run(self):
        """{(name, mode): (message or None, outputs' prefix)}, operators by name."""
        jobs = os.path.join(self.work, "jobs.txt")
        with open(jobs, "w") as out:
            out.write("\n\n".join(self.text) + "\n")
        result = subprocess.run([self.binary, jobs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                env=dict(os.environ, RKNN_LOG_LEVEL="0"))
        verdicts, operators, current = {}, {}, None
        for line in result.stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word == "OPS":
                name, *counts = rest.split(" ")
                operators[name.split("|")[0]] = dict(c.split("=") for c in counts)
            elif word == "OUTPUTS":
                name, *names = rest.split("\t")
                self.names[name.split("|")[0]] = names
            elif word in ("OK", "FAIL") and "|" in rest:
                name, _, message = rest.partition(": ") if word == "FAIL" else (rest, "", "")
                current = tuple(name.split("|"))
                verdicts[current] = None if word == "OK" else message
            elif current is not None and verdicts[current]:
                verdicts[current] += "\n" + line
        if result.returncode != 0:
            verdicts[("runner", "exit")] = "the runner ended with %d" % result.returncode
        return verdicts, operators


def outputs_of(prefix):
    found = []
    while os.path.exists("%s%d.npy" % (prefix, len(found))):
        found.append(np.load("%s%d.npy" % (prefix, len(found))))
    return found


def to_graph(array, fmt, nchw=False):
    return array.transpose(0, 3, 1, 2) if fmt in NHWC and array.ndim == 4 and not nchw else array


class Check:
    def __init__(self, args):
        self.shared = os.path.join(args.shared, "assets")
        self.golden = load_golden(args.shared)
        self.args, self.exceptions, self.used = args, read_exceptions(), set()
        self.failures, self.figures, self.counts = [], 0, {}

    def figure(self, name, value, bar, ok):
        self.figures += 1
        print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)

    def verdict(self, name, problem):
        """Counts a problem unless it is listed; True when there is none."""
        if problem is None:
            if name in self.exceptions:
                self.failures.append("%s is listed in exceptions.txt, but passes" % name)
            return True
        if name in self.exceptions:
            self.used.add(name)
        else:
            self.failures.append("%s: %s" % (name, problem))
        return False

    def models(self, fmt):
        folder = os.path.join(self.shared, "goldens", fmt)
        names = sorted(os.listdir(folder))
        runner = Runner(self.args.binary, os.path.join(self.args.work, fmt))
        plans = []
        for model in names:
            plans += self.plan_model(runner, fmt, model, os.path.join(folder, model))
        verdicts, operators = runner.run()
        worst, self.classes = {"float": 0.0, "fp16": 1.0, "int8": 1.0}, []
        counts = {kind: [0, 0, 0] for kind in ("float", "fp16", "int8", "steps", "npu")}  # good, listed, all
        shares = {}
        for plan in plans:
            self.match_outputs(plan, runner.names.get(plan["name"], []))
            self.judge(plan, verdicts, worst, counts, shares)
        for kind, text in (("float", "float evaluator within tolerance"), ("fp16", "float16 .rknn, cosine >= 0.9995"),
                           ("int8", "int8 .rknn by calibration runs"),
                           ("steps", "int8 models on the evaluator: 1 step, 99 % equal"),
                           ("npu", "int8 models as .rknn: top-1, cosine >= 0.99, mean <= 2 steps")):
            good, listed, total = counts[kind]
            if total:
                self.figure("%s: %s" % (fmt, text), "%d of %d" % (good, total), "all but %d listed" % listed,
                            good + listed == total)
        self.counts[fmt] = "%d models" % len(names)
        if counts["float"][2]:
            self.figure("%s: largest float difference over its tolerance" % fmt, "%.3f" % worst["float"], "1",
                        worst["float"] <= 1)
        if counts["fp16"][2]:
            self.figure("%s: worst float16 cosine" % fmt, "%.6f" % worst["fp16"], "0.9995", worst["fp16"] >= 0.9995)
        if self.classes:
            self.figure("%s: top-1 classes of MobileNetV2-QAT, evaluator and .rknn" % fmt,
                        ", ".join(str(found) for found, _ in self.classes),
                        ", ".join(str(right) for _, right in self.classes), all(a == b for a, b in self.classes))
        for name, text in sorted(shares.items()):
            print("   %s: %s" % (name, text))
        left = sum(int(ops.get("Transpose", 0)) for ops in operators.values())
        print("   %s: %d Transpose nodes in the graphs of %d models" % (fmt, left, len(operators)))

    @staticmethod
    def match_outputs(plan, names):
        """Engines list outputs in orders of their own: the golden's are put in ours, by name."""
        golden = dict(zip((o["name"] for o in plan["spec"]["outputs"]), plan["golden"]))
        if len(names) == len(golden) and all(name in golden for name in names):
            plan["golden"] = [golden[name] for name in names]

    def plan_model(self, runner, fmt, model, folder, only=None):
        spec = json.load(open(os.path.join(folder, "golden.json")))
        files = [os.path.join(self.shared, f) for f in spec["model"]]
        integer = spec["tolerance"].get("kind") == "integer"
        nchw = model in NCHW_MODELS
        more = {"nchw": "1"} if nchw else {}
        if fmt == "tensorflow":
            more["inputs"] = ",".join(i["name"] for i in spec["inputs"])
            more["outputs"] = ",".join(o["name"] for o in spec["outputs"])
            more["shape"] = [",".join(map(str, i["shape"])) for i in spec["inputs"]]
        if fmt == "torchscript":
            more["shape"] = [",".join(map(str, i["shape"])) for i in spec["inputs"]]
        sequence = SEQUENCES.get("%s/%s" % (fmt, model))
        if sequence:
            more = {key: value for key, value in sequence.items() if key != "zeros"}
        plans, dataset = [], os.path.join(runner.work, model + ".txt")
        with open(dataset, "w") as listing:
            for case, inputs, outputs in self.golden.cases(folder):
                name = "%s/%s/%s" % (fmt, model, case)
                arrays = []
                for i, (_, array) in enumerate(inputs):
                    if integer:
                        q = spec["quantisation"]["inputs"][i]
                        array = (array.astype(np.float32) - np.float32(q["zero_point"])) * np.float32(q["scale"])
                    arrays.append(runner.save("%s_in%d" % (name, i), to_graph(array, fmt, nchw)))
                samples = os.path.join(runner.work, name.replace("/", "_") + "_sample") if sequence else ""
                if sequence:
                    arrays += [runner.save("%s_zeros%d" % (name, i), np.zeros(shape, np.float32))
                               for i, shape in enumerate(sequence["zeros"])]
                    with open(samples + ".txt", "w") as calls:
                        for run in range(len(inputs[0][1])):
                            calls.write(" ".join("%s%d_%d.npy" % (samples, run, i) for i in range(len(arrays))) + "\n")
                listing.write(" ".join(arrays) + "\n")
                modes = only or (("graph", "own") if integer else ("graph", "fp16", "int8"))
                own = {"int8": {"dataset": samples + ".txt" if sequence else dataset},
                       "graph": {"samples": samples} if sequence else {}}
                outs = {mode: runner.add(name, mode, fmt, files, arrays, **dict(more, **own.get(mode, {})))
                        for mode in modes}
                plans.append({"name": name, "model": "%s/%s" % (fmt, model), "modes": outs, "golden": [o for _, o in outputs],
                              "spec": spec})
        return plans

    def judge(self, plan, verdicts, worst, counts, shares):
        tolerance = plan["spec"]["tolerance"]
        for mode, prefix in plan["modes"].items():
            problem = verdicts.get((plan["name"], mode), "no verdict: the runner ended early")
            found = outputs_of(prefix) if problem is None else []
            if problem is None and len(found) != len(plan["golden"]):
                problem = "%d outputs, expected %d" % (len(found), len(plan["golden"]))
            kind = {"graph": "float", "own": "npu"}.get(mode, mode)
            if tolerance.get("kind") == "integer" and mode == "graph":
                kind = "steps"
            if problem is None:
                problem = getattr(self, "judge_" + kind)(plan, found, worst, shares)
                if plan["name"] in CLASSES:
                    self.classes.append((int(found[0].argmax()), CLASSES[plan["name"]]))
            job = "%s %s" % (plan["name"], mode)
            counts[kind][2] += 1
            counts[kind][0] += self.verdict(job, problem)
            counts[kind][1] += problem is not None and job in self.exceptions

    def judge_float(self, plan, found, worst, shares):
        tolerance = plan["spec"]["tolerance"]
        for a, b in zip(found, plan["golden"]):
            if a.size != b.size:
                return "shape %s, expected %s" % (a.shape, b.shape)
            peak = float(np.abs(b).max()) if b.size else 0
            over = tolerance.get("atol_over_peak", 2e-4)
            allowed = max(tolerance.get("atol", 1e-5), over * peak)
            off = float(np.abs(a.reshape(b.shape).astype(np.float64) - b).max())
            worst["float"] = max(worst["float"], off / allowed)
            if not off <= allowed:
                return "off by %.3g, allowed %.3g" % (off, allowed)
        return None

    def judge_fp16(self, plan, found, worst, shares):
        for a, b in zip(found, plan["golden"]):
            value = cosine(a, b)
            worst["fp16"] = min(worst["fp16"], value)
            if not value >= 0.9995:
                return "cosine %.6f" % value
        return None

    def judge_int8(self, plan, found, worst, shares):
        shares[plan["name"] + " int8"] = "cosine " + ", ".join("%.4f" % cosine(a, b)
                                                              for a, b in zip(found, plan["golden"]))
        return None if all(np.isfinite(a).all() for a in found) else "not finite"

    def steps(self, plan, found):
        for i, (a, b) in enumerate(zip(found, plan["golden"])):
            q = plan["spec"]["quantisation"]["outputs"][i]
            yield np.rint(a.ravel() / q["scale"]) + q["zero_point"], b.ravel().astype(np.float64), q

    def judge_steps(self, plan, found, worst, shares):
        for a, b, _ in self.steps(plan, found):
            off = np.abs(a - b)
            shares[plan["name"] + " evaluator"] = "%.2f %% equal, at most %d steps off" % (100 * (off == 0).mean(),
                                                                                        off.max())
            if off.max() > 1 or (off == 0).mean() < 0.99:
                return shares[plan["name"] + " evaluator"]
        return None

    def judge_npu(self, plan, found, worst, shares):
        for a, b, q in self.steps(plan, found):
            off = np.abs(a - b)
            real = (b - q["zero_point"]) * q["scale"]
            value = cosine((a - q["zero_point"]) * q["scale"], real)
            same = a.size == 1 or int(a.argmax()) == int(b.argmax()) or a[int(b.argmax())] == a.max()
            text = "%.2f %% equal, mean %.3f steps, cosine %.5f, top-1 %d (golden %d)" % (
                100 * (off == 0).mean(), off.mean(), value, a.argmax(), b.argmax())
            shares[plan["name"] + " .rknn"] = text
            if not same or value < 0.99 or off.mean() > 2:
                return text
        return None

    def layers(self, fmt):
        folder = os.path.join(self.shared, "layers", fmt)
        if not os.path.isdir(folder):
            return
        index = json.load(open(os.path.join(folder, "index.json")))
        runner = Runner(self.args.binary, os.path.join(self.args.work, fmt + "_layers"))
        plans = []
        for case in index["cases"]:
            here = os.path.join(folder, case["name"])
            files = [os.path.join(here, f) for f in case["files"]]
            if fmt in EMPTY_WEIGHTS and len(files) == 1:
                files.append(os.path.join(runner.work, "empty" + {"darknet": ".weights"}.get(fmt, ".caffemodel")))
                open(files[1], "wb").write(EMPTY_WEIGHTS[fmt])
            inputs, golden, more = [], [], {}
            nchw = fmt == "tensorflow" and case["name"] in NCHW_LAYERS
            if nchw:
                more["nchw"] = "1"
            for i, name in enumerate(case["inputs"]):
                array = np.load(os.path.join(here, name))
                # TensorFlow's arrays are stored channels first, as the graph wants them.
                # (So are TFLite's, whatever index.json says.)
                inputs.append(runner.save("%s_in%d" % (case["name"], i), array))
                more.setdefault("shape", []).append(",".join(map(str, array.shape if nchw else self.file_shape(array, fmt))))
            for name in case["outputs"]:
                array = np.load(os.path.join(here, name))
                if fmt in NHWC and array.ndim in (4, 5) and not nchw:
                    array = np.moveaxis(array, 1, -1)
                golden.append(array)
            note = case["note"] if isinstance(case["note"], dict) else {}
            if fmt == "tensorflow":
                more["inputs"], more["outputs"] = ",".join(note["placeholders"]), ",".join(note["outputs"])
            if fmt in ("tflite",):
                more.pop("shape")
            plans.append((case["name"], runner.add(case["name"], "graph", fmt, files, inputs, **more), golden))
        verdicts, _ = runner.run()
        good = 0
        for name, prefix, golden in plans:
            problem = verdicts.get((name, "graph"), "no verdict: the runner ended early")
            if problem is None:
                problem = self.judge_layer(name, outputs_of(prefix), golden)
            good += self.verdict("%s/layers/%s" % (fmt, name), problem)
        self.counts[fmt] += ", %d of %d layers" % (good, len(plans))
        excused = sum(e.startswith(fmt + "/layers/") for e in self.exceptions)
        self.figure("%s: single layers on the float evaluator" % fmt, "%d of %d" % (good, len(plans)), "all but %d listed"
                    % excused, good + excused == len(plans))
        self.figure("%s: listed exceptions" % fmt, "%d of %d" % (excused, len(plans)), "3 %",
                    excused <= 0.03 * len(plans))

    def same_networks(self, formats):
        """A network gives the same numbers whatever format it comes in."""
        runner = Runner(self.args.binary, os.path.join(self.args.work, "same"))
        plans = {}
        for network, base in SAME_NETWORKS.items():
            for fmt in ("onnx",) + formats:
                folder = os.path.join(self.shared, "goldens", fmt, base if fmt == "onnx" else network)
                if os.path.isdir(folder):
                    plans[network, fmt] = self.plan_model(runner, fmt, os.path.basename(folder), folder, ("graph",))
        verdicts, _ = runner.run()
        found = {}
        for (network, fmt), cases in plans.items():
            for plan in cases:
                problem = verdicts.get((plan["name"], "graph"), "no verdict: the runner ended early")
                outputs = outputs_of(plan["modes"]["graph"]) if problem is None else []
                if problem:
                    self.failures.append("%s for comparison: %s" % (plan["name"], problem))
                # Sizes tell the outputs apart; formats list them in orders of their own.
                found[network, fmt, plan["name"].split("/")[-1]] = sorted(outputs, key=lambda o: o.size)
        for network in SAME_NETWORKS:
            others = sorted({fmt for name, fmt, _ in found if name == network and fmt != "onnx"})
            worst, cases = 0.0, 0
            for (name, fmt, case), outputs in found.items():
                base = found.get((network, "onnx", case))
                if name != network or fmt == "onnx" or base is None:
                    continue
                cases += 1
                if [o.size for o in outputs] != [o.size for o in base]:
                    worst = float("inf")
                    continue
                for a, b in zip(outputs, base):
                    worst = max(worst, float(np.abs(np.float64(a).ravel() - b.ravel()).max() / np.abs(b).max()))
            if others:
                self.figure("%s from ONNX and %s, %d cases: largest difference over peak" % (network, ", ".join(others), cases),
                            "%.1e" % worst, "%.0e" % SAME_TOLERANCE, cases > 0 and worst <= SAME_TOLERANCE)

    def mix_ups(self, formats):
        """A file given to another format's call: the message names the right one."""
        runner = Runner(self.args.binary, os.path.join(self.args.work, "mix_ups"))
        formats = tuple(dict.fromkeys(("onnx",) + formats))
        for fmt in formats:
            spec = json.load(open(os.path.join(self.shared, "goldens", fmt, MIX_UPS[fmt], "golden.json")))
            files = [os.path.join(self.shared, f) for f in spec["model"]]
            for call in formats:
                given = (files + files)[:2] if call in EMPTY_WEIGHTS else files[:1]
                if call != fmt:
                    runner.add("%s/%s" % (fmt, call), "graph", call, given, [])
        verdicts, _ = runner.run()
        good = 0
        for (name, _), message in verdicts.items():
            right = "use load_" + WORD.get(name.split("/")[0], name.split("/")[0])
            if message and right in message:
                good += 1
            else:
                self.failures.append("mix-up %s: %s" % (name, message))
        total = len(formats) * (len(formats) - 1)
        self.figure("files given to another format's call: the message names the right call", "%d of %d" % (good, total),
                    "all", good == total)

    @staticmethod
    def file_shape(array, fmt):
        if fmt == "tensorflow" and array.ndim in (4, 5):
            return np.moveaxis(array, 1, -1).shape
        return array.shape

    @staticmethod
    def judge_layer(name, found, golden):
        if len(found) != len(golden):
            return "%d outputs, expected %d" % (len(found), len(golden))
        for a, b in zip(found, golden):
            if a.size != b.size:
                return "shape %s, expected %s" % (a.shape, b.shape)
            allowed = (2e-2 if name.startswith(LOOSE_LAYERS) else LAYER_TOLERANCE) * max(1, float(np.abs(b).max()))
            off = float(np.abs(a.reshape(b.shape).astype(np.float64) - b).max()) if b.size else 0
            if not off <= allowed:
                return "off by %.3g, allowed %.3g" % (off, allowed)
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--work", default="build/check-frontends")
    parser.add_argument("--formats", default=",".join(FORMATS))
    args = parser.parse_args()
    args.work = os.path.abspath(args.work)  # data sets name their files from where they lie
    if not os.path.isdir(os.path.join(args.shared, "assets", "models")):
        print("missing: %s/assets, the models and goldens to check with" % args.shared)
        return 1
    check = Check(args)
    for fmt in args.formats.split(","):
        check.models(fmt)
        check.layers(fmt)
    check.same_networks(tuple(args.formats.split(",")))
    check.mix_ups(tuple(args.formats.split(",")))
    for failure in check.failures:
        print("FAILED " + failure)
    for fmt, text in check.counts.items():
        print("COUNT %s: %s" % (fmt, text))
    print("%d figures, %d failures, %d exceptions" % (check.figures, len(check.failures), len(check.exceptions)))
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
