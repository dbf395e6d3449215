# SPDX-License-Identifier: Apache-2.0
"""A model that takes four pictures at a time, made from a network that takes one."""
import os

import models
import numpy as np
from rknn.api import RKNN


def convert(**options):
    rknn = RKNN()
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3588')
    models.check('Load model', rknn.load_onnx(model=models.DIGITS_ONNX))
    models.check('Build model', rknn.build(do_quantization=True, dataset=models.DIGITS_DATASET, **options))
    models.check('Init runtime environment', rknn.init_runtime())
    return rknn


if __name__ == '__main__':
    pictures, labels = models.pictures()
    single = convert()
    batch = convert(rknn_batch_size=4)
    models.check('Export rknn model', batch.export_rknn(os.path.join(models.output_folder(), 'digits_batch4.rknn')))
    outputs = batch.inference(inputs=[np.concatenate([pictures[i:i + 1] for i in range(4)])])[0]
    print('shape', outputs.shape, 'digits', np.argmax(outputs, axis=1), 'labels', labels[:4])
    one_by_one = np.concatenate([single.inference(inputs=[pictures[i:i + 1]])[0] for i in range(4)])
    exit(0 if outputs.tobytes() == one_by_one.tobytes() else 1)
