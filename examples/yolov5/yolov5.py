# SPDX-License-Identifier: Apache-2.0
"""yolov5.py --model MODEL.rknn|.onnx [--img PICTURE]: letterbox, run, decode with anchors, suppress, table."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

OBJ_THRESH, NMS_THRESH = 0.25, 0.45
CLASSES = ('circle', 'triangle', 'square', 'pentagon', 'star', 'cross', 'heart', 'arrow')
ANCHORS = ((16, 24, 34), (48, 66, 90), (120, 156, 204))  # sides in pixels, per head


def decode(outputs, size):
    """(boxes, scores, classes) of all heads, before suppression."""
    boxes, scores, classes = [], [], []
    for head, anchors in zip(outputs, ANCHORS):
        cells = head.shape[-1]
        stride = size // cells
        p = 1 / (1 + np.exp(-head.astype('float64').reshape(len(anchors), 5 + len(CLASSES), cells, cells)))
        ys, xs = np.mgrid[0:cells, 0:cells]
        side = np.array(anchors, 'float64').reshape(-1, 1, 1)
        x, y = (2 * p[:, 0] - 0.5 + xs) * stride, (2 * p[:, 1] - 0.5 + ys) * stride
        w, h = (2 * p[:, 2]) ** 2 * side, (2 * p[:, 3]) ** 2 * side
        score = p[:, 4] * p[:, 5:].max(axis=1)
        keep = score > OBJ_THRESH
        boxes.append(np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1)[keep])
        scores.append(score[keep])
        classes.append(p[:, 5:].argmax(axis=1)[keep])
    return np.concatenate(boxes), np.concatenate(scores), np.concatenate(classes)


if __name__ == '__main__':
    args = zoo.arguments(os.path.join(HERE, '..', 'signs', 'test', '000.jpg'))
    picture = zoo.read_image(args.img)
    size = 320
    boxed, scale, x_pad, y_pad = zoo.letterbox(picture, size, size)
    rknn = zoo.start(args, [[0, 0, 0]], [[255, 255, 255]], os.path.join(HERE, '..', 'signs', 'dataset.txt'), boxed)
    outputs = rknn.inference(inputs=[boxed[np.newaxis]], data_format=['nhwc'])
    boxes, scores, classes = decode(outputs, size)
    keep = zoo.suppress(boxes, scores, classes, NMS_THRESH)
    boxes = zoo.in_picture(boxes[keep], scale, x_pad, y_pad, picture.shape)
    zoo.print_table(CLASSES, boxes, scores[keep], classes[keep])
    zoo.show(args, picture, boxes)
    rknn.release()
