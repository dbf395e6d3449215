# SPDX-License-Identifier: Apache-2.0
"""dynamic_shape.py --model MODEL.rknn --img PICTURE: the picture in each size that the model knows; the shape follows the array."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'utils'), os.path.join(HERE, '..', 'yolov5')]
import convert
import yolov5
import zoo
from rknnlite.api import RKNNLite

if __name__ == '__main__':
    args = zoo.arguments(None)
    picture = zoo.read_image(args.img)
    rknn = RKNNLite()
    zoo.check('Load RKNN model', rknn.load_rknn(args.model))
    zoo.check('Init runtime', rknn.init_runtime())
    for size in convert.SIZES:
        boxed, scale, x_pad, y_pad = zoo.letterbox(picture, size, size)
        boxes, scores, classes = yolov5.decode(rknn.inference(inputs=[boxed[np.newaxis]]), size)
        keep = zoo.suppress(boxes, scores, classes, yolov5.NMS_THRESH)
        print('%d x %d' % (size, size))
        zoo.print_table(yolov5.CLASSES, zoo.in_picture(boxes[keep], scale, x_pad, y_pad, picture.shape), scores[keep], classes[keep])
    rknn.release()
