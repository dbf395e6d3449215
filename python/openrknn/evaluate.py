# SPDX-License-Identifier: Apache-2.0
"""Judges a .rknn model over a data set: in this process, on devices behind rknn_server, or on a cluster of the caller's.

    from openrknn.evaluate import TopK, evaluate
    print(evaluate("model.rknn", pictures, TopK(labels)))                              # this machine
    print(evaluate("model.rknn", pictures, TopK(labels), devices=["lab", "10.0.0.6"]))  # two boards
    print(evaluate("model.rknn", pictures, TopK(labels), client=dask_client))           # Dask, Ray or an executor

Work is split by samples and every sample is judged once, wherever it runs: the figures do not depend on the split.
"""
import json
import os
import queue
import sys
import threading

import numpy as np

__all__ = ["CocoMap", "TopK", "evaluate", "load_sample"]

_SAMPLES_AT_ONCE = 16
_RETRIES = 5  # of a piece of work whose worker dies


def load_sample(sample):
    """One sample as a list of arrays with a batch dimension: an array, an .npy file, or a picture (needs Pillow)."""
    if isinstance(sample, (list, tuple)):
        return [load_sample(part)[0] for part in sample]
    if isinstance(sample, np.ndarray):
        return [sample]
    path = os.fspath(sample)
    if path.endswith(".npy"):
        return [np.load(path)]
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("'%s' is a picture: install Pillow, or give evaluate(load=...)" % path) from None
    with Image.open(path) as picture:
        return [np.asarray(picture.convert("RGB"))[None]]


class TopK:
    """Share of samples whose label is among the k largest elements of the first output."""

    def __init__(self, labels, k=(1, 5)):
        self.labels = [int(label) for label in labels]
        self.k = tuple(k)

    def reduce(self, outputs):
        """What is kept of a sample: its best classes, best first. Ties go to the lower class."""
        scores = np.ravel(outputs[0])
        return [int(c) for c in np.argsort(-scores, kind="stable")[:max(self.k)]]

    def figures(self, kept):
        if len(kept) != len(self.labels):
            raise ValueError("%d samples, %d labels: give one label per sample" % (len(kept), len(self.labels)))
        return {"top%d" % k: sum(label in best[:k] for best, label in zip(kept, self.labels)) / max(len(kept), 1)
                for k in self.k}


def _overlaps(box, others):
    """Intersection over union of one box [x, y, width, height] with many."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[:2] + box[2:4], others[:, :2] + others[:, 2:4])
    inside = np.prod(np.clip(high - low, 0, None), axis=1)
    union = box[2] * box[3] + others[:, 2] * others[:, 3] - inside
    return np.where(union > 0, inside / np.maximum(union, 1e-12), 0)


class CocoMap:
    """COCO's mean average precision: 101 points, overlaps 0.5 to 0.95, boxes [x, y, width, height].

    `annotations` is a COCO file or its dictionary; sample i is images[i]. `detect(outputs)` gives, for one sample, rows of
    (category id, score, x, y, width, height) in the picture's own pixels.
    """
    OVERLAPS = np.linspace(0.5, 0.95, 10)
    MOST_PER_PICTURE = 100

    def __init__(self, annotations, detect):
        if not isinstance(annotations, dict):
            with open(annotations) as file:
                annotations = json.load(file)
        self.annotations, self.detect = annotations, detect

    def samples(self, folder):
        return [os.path.join(folder, image["file_name"]) for image in self.annotations["images"]]

    def reduce(self, outputs):
        rows = [[float(x) for x in row] for row in self.detect(outputs)]
        return sorted(rows, key=lambda row: -row[1])[:self.MOST_PER_PICTURE]

    def _precision(self, category, overlap, kept):
        images = {image["id"]: i for i, image in enumerate(self.annotations["images"])}
        truth = {}
        for box in self.annotations["annotations"]:
            if box["category_id"] == category and not box.get("iscrowd"):
                truth.setdefault(images[box["image_id"]], []).append(box["bbox"])
        total = sum(map(len, truth.values()))
        if total == 0:
            return None
        found = [(row[1], i, row[2:6]) for i, rows in enumerate(kept) for row in rows if row[0] == category]
        found.sort(key=lambda f: -f[0])
        taken = {i: np.zeros(len(boxes), bool) for i, boxes in truth.items()}
        hits = np.zeros(len(found))
        for n, (_, i, box) in enumerate(found):
            if i not in truth:
                continue
            shared = _overlaps(np.asarray(box, float), np.asarray(truth[i], float))
            shared[taken[i]] = -1
            best = int(np.argmax(shared))
            if shared[best] >= overlap:
                taken[i][best] = True
                hits[n] = 1
        right = np.cumsum(hits)
        recall = right / total
        precision = right / np.arange(1, len(found) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        at = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
        return float(np.mean([precision[i] if i < len(precision) else 0.0 for i in at]))

    def figures(self, kept):
        if len(kept) != len(self.annotations["images"]):
            raise ValueError("%d samples, %d images in the annotations" % (len(kept), len(self.annotations["images"])))
        rows = []
        for category in sorted(c["id"] for c in self.annotations["categories"]):
            values = [self._precision(category, overlap, kept) for overlap in self.OVERLAPS]
            if values[0] is not None:
                rows.append(values)
        table = np.asarray(rows) if rows else np.zeros((1, len(self.OVERLAPS)))
        return {"mAP": float(table.mean()), "mAP50": float(table[:, 0].mean())}


class _Runner:
    """A loaded model, here or on a device."""

    def __init__(self, model, target=None, device=None):
        from rknn.api import RKNN
        self.rknn = RKNN()
        if self.rknn.load_rknn(model) != 0 or self.rknn.init_runtime(target=target, device_id=device) != 0:
            self.close()
            raise RuntimeError("the model cannot be run%s" % (" on device '%s'" % device if device else ""))

    def judge(self, metric, load, samples):
        kept = []
        for sample in samples:
            outputs = self.rknn.inference(load(sample))
            if outputs is None:
                raise RuntimeError("inference failed; the log says why")
            kept.append(metric.reduce(outputs))
        return kept

    def close(self):
        self.rknn.release()


_worker = {}  # one loaded model per process of a cluster


def _judge_piece(model, metric, load, samples):
    """A piece of work on a worker, which has this package and can read the samples. `model` is the file's bytes."""
    import hashlib
    import tempfile
    key = hashlib.sha256(model).hexdigest()
    if key not in _worker:
        for runner in _worker.values():
            runner.close()
        _worker.clear()
        with tempfile.NamedTemporaryFile(suffix=".rknn") as file:
            file.write(model)
            file.flush()
            _worker[key] = _Runner(file.name)
    return _worker[key].judge(metric, load, samples)


class _Progress:
    def __init__(self, total, wanted):
        self.total, self.done, self.lock = total, 0, threading.Lock()
        self.shown = wanted and sys.stderr is not None and sys.stderr.isatty()

    def add(self, count):
        with self.lock:
            self.done += count
            if self.shown:
                filled = 40 * self.done // max(self.total, 1)
                sys.stderr.write("\rEvaluating |%s%s| %d/%d%s" % ("#" * filled, " " * (40 - filled), self.done, self.total,
                                                                "\n" if self.done == self.total else ""))
                sys.stderr.flush()


def _on_devices(model, metric, load, target, devices, pieces, progress):
    """One thread per device. A device that fails hands its piece back and is left out; the last one's failure is raised."""
    work = queue.Queue()
    for piece in pieces:
        work.put(piece)
    results, failures, errors, lock = {}, [], [], threading.Lock()

    def serve(device):
        runner = None
        while True:
            try:
                start, samples = work.get_nowait()
            except queue.Empty:
                break
            try:
                runner = runner or _Runner(model, target, device)
                kept = runner.judge(metric, load, samples)
            except RuntimeError as error:
                work.put((start, samples))
                with lock:
                    failures.append("device '%s' is left out: %s" % (device, error))
                break
            except BaseException as error:  # of load() or the metric: the caller's to see
                with lock:
                    errors.append(error)
                break
            with lock:
                results[start] = kept
            progress.add(len(samples))
        if runner is not None:
            runner.close()

    # A device that ended early may leave work to others that have ended already: those that still live take it.
    living = list(devices)
    while living and not work.empty():
        failed = len(failures)
        threads = [threading.Thread(target=serve, args=(device,)) for device in living]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        for text in failures[failed:]:
            sys.stderr.write("W evaluate: %s\n" % text)
        living = [d for d in living if not any("'%s' is left out" % d in text for text in failures)]
    if not work.empty():
        raise RuntimeError("no device is left: %s" % "; ".join(failures))
    return results


def _on_cluster(model, metric, load, client, pieces, progress):
    """Dask's Client, the module ray, or an executor of concurrent.futures. They notice workers that die."""
    with open(model, "rb") as file:
        data = file.read()
    results = {}
    if hasattr(client, "remote") and hasattr(client, "get"):  # Ray
        run = client.remote(max_retries=_RETRIES)(_judge_piece)
        data = client.put(data)
        waiting = [(start, len(samples), run.remote(data, metric, load, samples)) for start, samples in pieces]
        for start, count, future in waiting:
            results[start] = client.get(future)
            progress.add(count)
        return results
    options = {}
    if hasattr(client, "scatter"):  # Dask: the file goes to every worker once
        data = client.scatter(data, broadcast=True)
        options = {"retries": _RETRIES, "pure": False}
    waiting = [(start, len(samples), client.submit(_judge_piece, data, metric, load, samples, **options))
               for start, samples in pieces]
    for start, count, future in waiting:
        results[start] = future.result()
        progress.add(count)
    return results


def evaluate(model, samples, metric, *, load=load_sample, target=None, devices=None, client=None,
             samples_at_once=_SAMPLES_AT_ONCE, progress=True):
    """The figures of `metric` (TopK, CocoMap) for a .rknn file over the samples, as a dictionary.

    load(sample) gives the model's inputs as arrays. devices: ids as init_runtime takes them; a device that fails is left
    out and its samples go to the others. client: a Dask Client, the module ray or an executor; its workers need this
    package and must be able to read the samples. Neither: this process.
    """
    if devices and client:
        raise ValueError("evaluate: give devices or client, not both")
    if samples_at_once < 1:
        raise ValueError("evaluate: samples_at_once is %r, expect at least 1" % (samples_at_once,))
    samples = list(samples)
    pieces = [(i, samples[i:i + samples_at_once]) for i in range(0, len(samples), samples_at_once)]
    shown = _Progress(len(samples), progress)
    if client is not None:
        results = _on_cluster(model, metric, load, client, pieces, shown)
    elif devices:
        results = _on_devices(model, metric, load, target, devices, pieces, shown)
    else:
        runner = _Runner(model, target)
        try:
            results = {}
            for start, piece in pieces:
                results[start] = runner.judge(metric, load, piece)
                shown.add(len(piece))
        finally:
            runner.close()
    kept = [one for start in sorted(results) for one in results[start]]
    return dict(metric.figures(kept), samples=len(kept))
