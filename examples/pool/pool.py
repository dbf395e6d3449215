# SPDX-License-Identifier: Apache-2.0
"""pool.py --model MODEL.rknn [--img PICTURE] [--threads N] [--frames N]: several contexts of one model over threads.

Frames are handed out in order and results come back in order; every result must equal that of a single context.
"""
import os
import queue
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo
from rknnlite.api import RKNNLite

SIDE = 320
CORES = (RKNNLite.NPU_CORE_0, RKNNLite.NPU_CORE_1, RKNNLite.NPU_CORE_2)


class Pool:
    """Contexts that wait for work; submit() returns a future."""

    def __init__(self, model, threads):
        self.free = queue.Queue()
        self.workers = ThreadPoolExecutor(threads)
        self.contexts = []
        for i in range(threads):
            context = RKNNLite()
            zoo.check('Load RKNN model', context.load_rknn(model))
            zoo.check('Init runtime', context.init_runtime(core_mask=CORES[i % len(CORES)]))
            self.contexts.append(context)
            self.free.put(context)

    def _run(self, frame):
        context = self.free.get()
        try:
            return context.inference(inputs=[frame[np.newaxis]])
        finally:
            self.free.put(context)

    def submit(self, frame):
        return self.workers.submit(self._run, frame)

    def release(self):
        self.workers.shutdown()
        for context in self.contexts:
            context.release()


def run(model, frames, threads):
    """(results in order, frames a second)."""
    pool = Pool(model, threads)
    start = time.time()
    results = [future.result() for future in [pool.submit(frame) for frame in frames]]
    seconds = time.time() - start
    pool.release()
    return results, len(frames) / seconds


if __name__ == '__main__':
    args = zoo.arguments(os.path.join(HERE, '..', 'segmentation', 'test', '0.ppm'), threads='contexts (3)', frames='frames (12)')
    threads, count = int(args.threads or 3), int(args.frames or 12)
    boxed = zoo.letterbox(zoo.read_image(args.img), SIDE, SIDE)[0]
    frames = [np.roll(boxed, -k, axis=0) for k in range(count)]
    alone, alone_fps = run(args.model, frames, 1)
    together, together_fps = run(args.model, frames, threads)
    same = sum(all(np.array_equal(a, b) for a, b in zip(x, y)) for x, y in zip(alone, together))
    print('one context: %.1f fps; %d contexts: %.1f fps; %d of %d results equal' % (alone_fps, threads, together_fps, same, count))
    sys.exit(0 if same == count else 1)
