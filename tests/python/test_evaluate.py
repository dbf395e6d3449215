# SPDX-License-Identifier: Apache-2.0
"""openrknn.evaluate: known figures, and the same ones however the work is split."""
import concurrent.futures
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import unittest

import numpy as np

import models
from openrknn.evaluate import CocoMap, TopK, evaluate

WITH_SERVER = "OPENRKNN_SERVER" in os.environ
# A cluster takes half a minute to come and go: `make check-server` asks for it.
WITH_DASK = "RK_NEED_DASK" in os.environ


class Metrics(unittest.TestCase):
    def test_top_k_counts_labels_among_the_best(self):
        metric = TopK([2, 0, 1], k=(1, 2))
        kept = [metric.reduce([np.array([[0.1, 0.2, 0.7]])]), metric.reduce([np.array([[0.3, 0.6, 0.1]])]),
                metric.reduce([np.array([[0.5, 0.0, 0.5]])])]
        self.assertEqual(kept, [[2, 1], [1, 0], [0, 2]])
        self.assertEqual(metric.figures(kept), {"top1": 1 / 3, "top2": 2 / 3})
        with self.assertRaisesRegex(ValueError, "2 samples, 3 labels"):
            metric.figures(kept[:2])

    def coco(self, rows):
        truth = {"images": [{"id": 7, "file_name": "a"}, {"id": 9, "file_name": "b"}], "categories": [{"id": 1}, {"id": 2}],
                 "annotations": [{"image_id": 7, "category_id": 1, "bbox": [0, 0, 10, 10]},
                                 {"image_id": 9, "category_id": 1, "bbox": [5, 5, 10, 10]}]}
        metric = CocoMap(truth, lambda outputs: outputs)
        return metric.figures([metric.reduce(r) for r in rows])

    def test_mean_average_precision_of_cases_worked_by_hand(self):
        exact = self.coco([[(1, 0.9, 0, 0, 10, 10)], [(1, 0.8, 5, 5, 10, 10)]])
        self.assertEqual(exact, {"mAP": 1.0, "mAP50": 1.0})
        # One of two found: precision 1 up to recall 0.5, that is at 51 of the 101 points.
        half = self.coco([[(1, 0.9, 0, 0, 10, 10)], []])
        self.assertAlmostEqual(half["mAP50"], 51 / 101)
        # A wrong box above both: precision 1/2 up to recall 1/2, then 2/3, which counts from the start.
        above = self.coco([[(1, 0.9, 0, 0, 10, 10), (1, 0.95, 80, 80, 5, 5)], [(1, 0.8, 5, 5, 10, 10)]])
        self.assertAlmostEqual(above["mAP50"], 2 / 3)
        # Overlap 8*10 / (200 - 80) = 2/3: right at 0.5, 0.55, 0.6, 0.65 of ten.
        near = self.coco([[(1, 0.9, 2, 0, 10, 10)], [(1, 0.8, 7, 5, 10, 10)]])
        self.assertAlmostEqual(near["mAP"], 0.4)
        # The same object twice: the second one is wrong, but comes last.
        self.assertEqual(self.coco([[(1, 0.9, 0, 0, 10, 10), (1, 0.1, 0, 0, 10, 10)],
                                    [(1, 0.8, 5, 5, 10, 10)]])["mAP50"], 1.0)


class Split(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.model = os.path.join(cls.folder, "digits.rknn")
        rknn = models.digits()
        assert rknn.export_rknn(cls.model) == 0
        rknn.release()
        pictures, labels = models.digit_pictures()
        cls.samples = [p[None] for p in pictures[:200]]
        cls.metric = TopK(labels[:200])
        cls.want = evaluate(cls.model, cls.samples, cls.metric)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_one_process_is_right_about_the_bundled_digits(self):
        self.assertGreater(self.want["top1"], 0.9)
        self.assertEqual(self.want["samples"], 200)
        self.assertEqual(evaluate(self.model, self.samples, self.metric, samples_at_once=7), self.want)

    def test_an_executor_gives_the_same_figures(self):
        # A forked child would have the libraries without their threads.
        fresh = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=fresh) as pool:
            self.assertEqual(evaluate(self.model, self.samples, self.metric, client=pool), self.want)

    @unittest.skipUnless(WITH_SERVER, "rknn_server is not built")
    def test_two_devices_give_the_same_figures_even_when_one_dies(self):
        from servers import Server
        with Server() as one, Server() as two:
            devices = [one.address, two.address]
            self.assertEqual(evaluate(self.model, self.samples, self.metric, devices=devices), self.want)
            seen = []

            def load(sample):
                seen.append(1)
                if len(seen) == 60:
                    one.end(signal.SIGKILL)
                return [sample]
            with models.captured() as (_, err):
                self.assertEqual(evaluate(self.model, self.samples, self.metric, devices=devices, load=load), self.want)
            self.assertIn("device '%s' is left out" % one.address, err.getvalue())
            with models.captured(), self.assertRaisesRegex(RuntimeError, "no device is left"):
                two.end(signal.SIGKILL)
                evaluate(self.model, self.samples, self.metric, devices=devices)

    @unittest.skipUnless(WITH_DASK, "RK_NEED_DASK is not set: needs the Debian package python3-distributed")
    def test_dask_gives_the_same_figures_even_when_a_worker_dies(self):
        import distributed
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                self.assertEqual(evaluate(self.model, self.samples, self.metric, client=client), self.want)
                victim = next(iter(client.run(os.getpid).values()))
                timer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
                timer.start()
                self.assertEqual(evaluate(self.model, self.samples, self.metric, client=client, samples_at_once=2), self.want)
                timer.join()


if __name__ == "__main__":
    unittest.main()
