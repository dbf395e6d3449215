# SPDX-License-Identifier: Apache-2.0
"""face.py --model MODEL.rknn --img PICTURE: an SSD-style detector (UltraFace): priors, variances, suppression, table."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

WIDTH, HEIGHT = 320, 240
SCORE, OVERLAP = 0.6, 0.35
SCALES = ((8, (10, 16, 24)), (16, (32, 48)), (32, (64, 96)), (64, (128, 192, 256)))


def priors():
    """(center x, center y, side) in pixels, in the order of the network's outputs."""
    out = []
    for stride, sides in SCALES:
        ys, xs, ks = np.meshgrid(np.arange(-(-HEIGHT // stride)), np.arange(-(-WIDTH // stride)), sides, indexing='ij')
        out.append(np.stack([(xs + 0.5) * stride, (ys + 0.5) * stride, ks], -1).reshape(-1, 3))
    return np.concatenate(out)


def decode(scores, boxes):
    p = priors()
    boxes = boxes.reshape(-1, 4).astype('float64')
    center = p[:, :2] + boxes[:, :2] * 0.1 * p[:, 2:]
    half = p[:, 2:] * np.exp(boxes[:, 2:] * 0.2) / 2
    score = scores.reshape(-1, 2)[:, 1]
    keep = score > SCORE
    return np.concatenate([center - half, center + half], 1)[keep], score[keep]


if __name__ == '__main__':
    args = zoo.arguments(None)
    rknn = zoo.start(args)
    picture = zoo.read_image(args.img)
    boxed, scale, x_pad, y_pad = zoo.letterbox(picture, WIDTH, HEIGHT, 127)
    scores, boxes = rknn.inference(inputs=[boxed[np.newaxis]], data_format=['nhwc'])
    boxes, scores = decode(scores, boxes)
    classes = np.zeros(len(scores), int)
    keep = zoo.suppress(boxes, scores, classes, OVERLAP)
    boxes = zoo.in_picture(boxes[keep], scale, x_pad, y_pad, picture.shape)
    zoo.print_table(('face',), boxes, scores[keep], classes[keep])
    zoo.show(args, picture, boxes)
    rknn.release()
