# SPDX-License-Identifier: Apache-2.0
"""A YOLOv5-style detector with three heads, as int8: decoding and suppression in numpy.

The picture is drawn here; cv2.imread and cv2.cvtColor(..., cv2.COLOR_BGR2RGB) give the same kind of array.
"""
import os

import models
import numpy as np
from rknn.api import RKNN

OBJ_THRESH = 0.25
NMS_THRESH = 0.45
IMG_SIZE = 320
CLASSES = ('circle', 'triangle', 'square', 'pentagon', 'star', 'cross', 'heart', 'arrow')
ANCHORS = ((16, 24, 34), (48, 66, 90), (120, 156, 204))  # side lengths in pixels, per head


def draw_picture():
    """RGB picture and the boxes (x1, y1, x2, y2) of its objects by class."""
    ys, xs = np.mgrid[0:IMG_SIZE, 0:IMG_SIZE].astype('float32')
    waves = np.stack([np.sin(xs / a) * np.cos(ys / b) for a, b in ((31, 47), (23, 61), (53, 29))], -1)
    picture = 0.5 + 0.12 * waves + 0.02 * np.random.RandomState(0).randn(IMG_SIZE, IMG_SIZE, 3)
    circle = (xs - 90) ** 2 + (ys - 100) ** 2 < 45 ** 2
    square = (np.abs(xs - 230) < 40) & (np.abs(ys - 90) < 40)
    triangle = (ys < 285) & (ys - 200 > 1.7 * np.abs(xs - 160))
    for mask, color in ((circle, (0.9, 0.15, 0.1)), (square, (0.1, 0.2, 0.95)), (triangle, (0.05, 0.8, 0.2))):
        picture[mask] = color
    boxes = {'circle': (45, 55, 135, 145), 'square': (190, 50, 270, 130), 'triangle': (110, 200, 210, 285)}
    return (np.clip(picture, 0, 1) * 255).astype('uint8'), boxes


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def process(head, anchors):
    """Boxes (x1, y1, x2, y2), classes and scores of one head."""
    cells = head.shape[-1]
    stride = IMG_SIZE // cells
    head = sigmoid(head.reshape(len(anchors), 5 + len(CLASSES), cells, cells))
    ys, xs = np.mgrid[0:cells, 0:cells]
    sides = np.array(anchors, 'float32').reshape(-1, 1, 1)
    x, y = (2 * head[:, 0] - 0.5 + xs) * stride, (2 * head[:, 1] - 0.5 + ys) * stride
    w, h = (2 * head[:, 2]) ** 2 * sides, (2 * head[:, 3]) ** 2 * sides
    boxes = np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1)
    scores = head[:, 4] * head[:, 5:].max(axis=1)
    keep = scores > OBJ_THRESH
    return boxes[keep], head[:, 5:].argmax(axis=1)[keep], scores[keep]


def overlap(box, boxes):
    """Intersection over union of a box and several."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    inside = np.prod(np.maximum(high - low, 0), axis=1)
    return inside / (np.prod(box[2:] - box[:2]) + np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) - inside)


def post_process(outputs):
    found = [process(head, anchors) for head, anchors in zip(outputs, ANCHORS)]
    boxes, classes, scores = (np.concatenate(parts) for parts in zip(*found))
    result = []
    for c in sorted(set(classes)):
        mine = np.where(classes == c)[0]
        mine = mine[np.argsort(scores[mine])[::-1]]
        while len(mine):
            result.append((CLASSES[c], scores[mine[0]], boxes[mine[0]]))
            mine = mine[1:][overlap(boxes[mine[0]], boxes[mine[1:]]) < NMS_THRESH]
    return result


if __name__ == '__main__':
    rknn = RKNN()
    print('--> Config model')
    rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform='rk3588')
    print('done')

    print('--> Loading model')
    models.check('Load model', rknn.load_onnx(model=os.path.join(models.SIGNS, 'signs.onnx'),
                                              outputs=['head8', 'head16', 'head32']))
    print('done')

    print('--> Building model')
    models.check('Build model', rknn.build(do_quantization=True, dataset=os.path.join(models.SIGNS, 'dataset.txt')))
    print('done')

    print('--> Export rknn model')
    models.check('Export rknn model', rknn.export_rknn(os.path.join(models.output_folder(), 'signs.rknn')))
    print('done')

    print('--> Init runtime environment')
    models.check('Init runtime environment', rknn.init_runtime())
    print('done')

    print('--> Running model')
    picture, objects = draw_picture()
    outputs = rknn.inference(inputs=[np.expand_dims(picture, 0)], data_format=['nhwc'])
    detections = post_process(outputs)
    print('{:^12} {:^6} {}'.format('class', 'score', 'xmin, ymin, xmax, ymax'))
    for name, score, box in detections:
        print('{:^12} {:^6.2f} {}'.format(name, score, [int(v) for v in box]))
    rknn.release()

    found = [name for name, _, box in detections
             if name in objects and overlap(np.array(objects[name]), box[np.newaxis])[0] > 0.7]
    exit(0 if sorted(found) == sorted(objects) and len(detections) == len(objects) else 1)
