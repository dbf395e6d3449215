#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""openrknn.evaluate on one process, two devices and Dask with two workers, and with one of them killed half way. Prints
FIGURE lines. The environment names server and toolkit, as for tests/python.
"""
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import models  # noqa: E402
from openrknn.evaluate import TopK, evaluate  # noqa: E402
from servers import Server  # noqa: E402

SAMPLES = 200


def figure(name, value, bar, ok):
    print("FIGURE %s | %s | %s | %s" % (name, value, bar, "ok" if ok else "SHORT"), flush=True)
    return ok


class KilledHalfWay:
    """Loads a sample; the worker that gets the middle one first is killed, once."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, sample):
        index, picture = sample
        if index == SAMPLES // 2 and not os.path.exists(self.mark):
            with open(self.mark, "w") as file:
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return [picture]


def text(figures):
    return ", ".join("%s %.6f" % pair for pair in sorted(figures.items()) if pair[0] != "samples")


def main():
    import distributed
    good = True
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "digits.rknn")
        rknn = models.digits()
        assert rknn.export_rknn(model) == 0
        rknn.release()
        pictures, labels = models.digit_pictures()
        assert len(pictures) >= SAMPLES, len(pictures)
        samples = [(i, picture[None]) for i, picture in enumerate(pictures[:SAMPLES])]
        metric = TopK(labels[:SAMPLES])
        load = KilledHalfWay(os.devnull)  # which exists: nobody is killed
        want = evaluate(model, samples, metric, load=load)
        good &= figure("evaluate: one process, %d samples" % want["samples"], text(want), "top1 > 0.9", want["top1"] > 0.9)

        def same(name, got):
            return figure("evaluate: " + name, text(got), "equal", got == want)
        with Server() as one, Server() as two:
            devices = [one.address, two.address]
            good &= same("two devices", evaluate(model, samples, metric, load=load, devices=devices))

            def kill_one(sample):
                if sample[0] == SAMPLES // 2:
                    one.end(signal.SIGKILL)
                return [sample[1]]
            with models.captured():  # the error of the device that is left out
                left = evaluate(model, samples, metric, load=kill_one, devices=devices)
            good &= same("two devices, one killed half way", left)
            good &= figure("evaluate: the killed device is dead", one.process.poll() is not None, "True",
                           one.process.poll() is not None)
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                good &= same("Dask with two workers", evaluate(model, samples, metric, load=load, client=client))
                before = set(client.run(os.getpid).values())
                mark = os.path.join(folder, "killed")
                good &= same("Dask with two workers, one killed half way",
                             evaluate(model, samples, metric, load=KilledHalfWay(mark), client=client))
                with open(mark) as file:
                    killed = int(file.read())
                good &= figure("evaluate: the killed worker was one of Dask's", killed in before, "True", killed in before)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
