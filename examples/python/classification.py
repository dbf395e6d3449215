# SPDX-License-Identifier: Apache-2.0
"""Digits, as int8: convert, run, show the five best classes, and run the exported file as on a board."""
import os

import models
import numpy as np
from rknn.api import RKNN
from rknnlite.api import RKNNLite


def show_outputs(outputs):
    scores = np.exp(outputs[0][0] - outputs[0][0].max())
    scores /= scores.sum()
    print("-----TOP 5-----")
    for index in np.argsort(scores)[::-1][:5]:
        print("[%d]: %.4f" % (index, scores[index]))


if __name__ == '__main__':
    path = os.path.join(models.output_folder(), "digits.rknn")

    # Create RKNN object
    rknn = RKNN()

    # Pre-process config
    print('--> Config model')
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3566')
    print('done')

    # Load model
    print('--> Loading model')
    ret = rknn.load_onnx(model=models.DIGITS_ONNX)
    if ret != 0:
        print('Load model failed!')
        exit(ret)
    print('done')

    # Build model
    print('--> Building model')
    ret = rknn.build(do_quantization=True, dataset=models.DIGITS_DATASET)
    if ret != 0:
        print('Build model failed!')
        exit(ret)
    print('done')

    # Export rknn model
    print('--> Export rknn model')
    ret = rknn.export_rknn(path)
    if ret != 0:
        print('Export rknn model failed!')
        exit(ret)
    print('done')

    # Init runtime environment
    print('--> Init runtime environment')
    ret = rknn.init_runtime()
    if ret != 0:
        print('Init runtime environment failed!')
        exit(ret)
    print('done')

    # Inference
    print('--> Running model')
    pictures, labels = models.pictures()
    outputs = rknn.inference(inputs=[pictures[:1]], data_format=['nhwc'])
    show_outputs(outputs)
    right = sum(int(np.argmax(rknn.inference(inputs=[p[np.newaxis]])[0])) == label
                for p, label in zip(pictures[:200], labels))
    print('%d of 200 pictures are recognized' % right)
    print('done')
    rknn.release()

    # The same on the board's interface
    lite = RKNNLite()
    if lite.load_rknn(path) != 0 or lite.init_runtime() != 0:
        exit(1)
    same = lite.inference(inputs=[pictures[:1]])[0].tobytes() == outputs[0].tobytes()
    print('RKNNLite gives the same bytes: %s' % same)
    lite.release()
    exit(0 if same and right >= 180 else 1)
