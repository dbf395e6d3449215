# SPDX-License-Identifier: Apache-2.0
"""Two inputs, a picture and a vector: means for each, calibration data as .npy, two arrays for inference.

A .npy array has the model's own order (NCHW), also in the dataset; inference takes NHWC unless it is told otherwise.
"""
import os

import models
import numpy as np
from rknn.api import RKNN

if __name__ == '__main__':
    folder = models.output_folder()
    model = models.two_inputs(os.path.join(folder, 'two_inputs.onnx'))
    random = np.random.RandomState(1)
    with open(os.path.join(folder, 'two_inputs.txt'), 'w') as dataset:
        for i in range(8):
            np.save(os.path.join(folder, 'picture%d.npy' % i), random.randint(0, 256, (1, 3, 32, 32)).astype('float32'))
            np.save(os.path.join(folder, 'numbers%d.npy' % i), random.randn(1, 8).astype('float32'))
            dataset.write('picture%d.npy numbers%d.npy\n' % (i, i))

    results = []
    for quantize in (False, True):
        rknn = RKNN()
        rknn.config(mean_values=[[128, 128, 128], [0]], std_values=[[128, 128, 128], [1]], target_platform='rk3588')
        models.check('Load model', rknn.load_onnx(model=model))
        models.check('Build model', rknn.build(do_quantization=quantize,
                                               dataset=os.path.join(folder, 'two_inputs.txt')))
        models.check('Init runtime environment', rknn.init_runtime())
        picture = np.load(os.path.join(folder, 'picture3.npy'))
        numbers = np.load(os.path.join(folder, 'numbers3.npy'))
        nchw = rknn.inference(inputs=[picture, numbers], data_format=['nchw', 'nchw'])
        nhwc = rknn.inference(inputs=[picture.transpose(0, 2, 3, 1), numbers])
        if nchw is None or nhwc is None or nchw[0].tobytes() != nhwc[0].tobytes():
            print('The order of the axes makes a difference!')
            exit(1)
        print('int8   ' if quantize else 'float16', np.round(nchw[0], 3))
        results.append(nchw[0])
        rknn.release()
    exit(0 if np.abs(results[0] - results[1]).max() < 0.1 * np.abs(results[0]).max() else 1)
