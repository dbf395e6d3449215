# SPDX-License-Identifier: Apache-2.0
"""tracking.py --model MODEL.rknn [--frames N]: objects keep their number from frame to frame.

Prints "frame id class score xmin ymin xmax ymax" for everything that is followed.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
sys.path.insert(0, os.path.join(HERE, '..', 'yolov5'))
import yolov5
import zoo

SIDE, SCORE, SAME_OBJECT, PATIENCE, SURE = 320, 0.4, 0.2, 12, 3


def draw_frame(t):
    """Three shapes that pass each other; the square is hidden in frames 30 to 35."""
    ys, xs = np.mgrid[0:SIDE, 0:SIDE].astype('float32')
    picture = np.stack([0.5 + 0.12 * np.sin(xs / a) * np.cos(ys / b) for a, b in ((31, 47), (23, 61), (53, 29))], -1)
    picture[(ys < 300) & (ys - 215 > 1.7 * np.abs(xs - (100 + 2 * t)))] = (0.05, 0.8, 0.2)
    if not 30 <= t < 36:
        picture[(np.abs(xs - (260 - 3 * t)) < 35) & (np.abs(ys - 155) < 35)] = (0.1, 0.2, 0.95)
    picture[(xs - (60 + 3 * t)) ** 2 + (ys - 65) ** 2 < 36 * 36] = (0.9, 0.15, 0.1)
    return (picture * 255).astype('uint8')


def overlap(a, b):
    both = np.prod(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0))
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)


class Tracker:
    def __init__(self):
        self.tracks, self.next = [], 1

    def update(self, boxes, scores, classes):
        """Best pairs of a track, moved on by its speed, and a box of its class first; what is left begins a track."""
        for track in self.tracks:
            track['box'] = track['box'] + np.tile(track['speed'], 2)
            track['unseen'] += 1
        pairs = sorted(((overlap(track['box'], box), i, k) for i, track in enumerate(self.tracks)
                        for k, box in enumerate(boxes) if track['class'] == classes[k]), reverse=True)
        taken = set()
        for same, i, k in pairs:
            track = self.tracks[i]
            if same <= SAME_OBJECT or track['unseen'] == 0 or k in taken:
                continue
            moved = (boxes[k][:2] + boxes[k][2:] - track['box'][:2] - track['box'][2:]) / 2
            track.update(box=boxes[k], score=scores[k], unseen=0, seen=track['seen'] + 1, speed=track['speed'] + 0.3 * moved)
            taken.add(k)
        for k, box in enumerate(boxes):
            if k not in taken:
                self.tracks.append({'id': self.next, 'box': box, 'class': classes[k], 'score': scores[k], 'unseen': 0, 'seen': 1,
                                    'speed': np.zeros(2)})
                self.next += 1
        self.tracks = [track for track in self.tracks if track['unseen'] <= PATIENCE]


if __name__ == '__main__':
    args = zoo.arguments(None, frames='frames to draw (60)')
    rknn = zoo.start(args)
    tracker = Tracker()
    for t in range(int(args.frames or 60)):
        boxes, scores, classes = yolov5.decode(rknn.inference(inputs=[draw_frame(t)[np.newaxis]], data_format=['nhwc']), SIDE)
        keep = [i for i in zoo.suppress(boxes, scores, classes, yolov5.NMS_THRESH) if scores[i] > SCORE]
        tracker.update(boxes[keep], scores[keep], classes[keep])
        for track in tracker.tracks:
            if track['unseen'] == 0 and track['seen'] >= SURE:
                print('%d %d %s %.3f %.1f %.1f %.1f %.1f' % (t, track['id'], yolov5.CLASSES[track['class']], track['score'], *track['box']))
    rknn.release()
