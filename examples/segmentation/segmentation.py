# SPDX-License-Identifier: Apache-2.0
"""segmentation.py --model MODEL.rknn|.onnx [--img PICTURE] [--write MASK.npy]: the class of every pixel."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

SIZE = 128
CLASSES = ('background', 'circle', 'square', 'triangle')


def in_picture(best, scale, x_pad, y_pad, shape):
    """One class per pixel of the picture: the cell that holds the pixel's center."""
    def cells(count, pad, most, stride):
        place = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * np.float32(scale) + np.float32(pad)
        return np.minimum(place.astype(int) // stride, most - 1)
    rows = cells(shape[0], y_pad, best.shape[0], SIZE // best.shape[0])
    columns = cells(shape[1], x_pad, best.shape[1], SIZE // best.shape[1])
    return best[rows][:, columns]


if __name__ == '__main__':
    args = zoo.arguments(os.path.join(HERE, 'test', '0.ppm'), write='class of every pixel, .npy')
    picture = zoo.read_image(args.img)
    boxed, scale, x_pad, y_pad = zoo.letterbox(picture, SIZE, SIZE)
    rknn = zoo.start(args, [[0, 0, 0]], [[255, 255, 255]], os.path.join(HERE, 'dataset.txt'), boxed)
    scores = rknn.inference(inputs=[boxed[np.newaxis]], data_format=['nhwc'])[0]
    mask = in_picture(scores[0].argmax(axis=0).astype('uint8'), scale, x_pad, y_pad, picture.shape)
    print('class        pixels  share')
    print('-' * 28)
    for index, name in enumerate(CLASSES):
        count = int((mask == index).sum())
        print('%-10s %8d  %.4f' % (name, count, count / mask.size))
    if args.write:
        np.save(args.write, mask)
    rknn.release()
