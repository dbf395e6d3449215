# SPDX-License-Identifier: Apache-2.0
"""One model for pictures of three sizes; calibration uses the largest."""
import os

import models
import numpy as np
from rknn.api import RKNN
from rknnlite.api import RKNNLite

SIZES = [32, 64, 48]


def convert(model, dataset, sizes):
    rknn = RKNN()
    rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform='rk3588',
                dynamic_input=[[[1, 3, size, size]] for size in sizes])
    models.check('Load model', rknn.load_onnx(model=model))
    models.check('Build model', rknn.build(do_quantization=True, dataset=dataset))
    return rknn


if __name__ == '__main__':
    folder = models.output_folder()
    model = models.any_size(os.path.join(folder, 'any_size.onnx'))
    random = np.random.RandomState(2)
    largest = max(SIZES)
    with open(os.path.join(folder, 'any_size.txt'), 'w') as dataset:
        for i in range(4):
            np.save(os.path.join(folder, 'any_size%d.npy' % i),
                    random.randint(0, 256, (1, 3, largest, largest)).astype('float32'))
            dataset.write('any_size%d.npy\n' % i)
    rknn = convert(model, os.path.join(folder, 'any_size.txt'), SIZES)
    path = os.path.join(folder, 'any_size.rknn')
    models.check('Export rknn model', rknn.export_rknn(path))
    models.check('Init runtime environment', rknn.init_runtime())
    lite = RKNNLite()
    if lite.load_rknn(path) != 0 or lite.init_runtime() != 0:
        exit(1)

    # The same parameters serve every size, so one size alone gives the same bytes.
    for size in SIZES:
        picture = random.randint(0, 256, (1, size, size, 3)).astype('uint8')
        outputs = rknn.inference(inputs=[picture])
        print('%d x %d -> %s' % (size, size, outputs[0].shape))
        if outputs[0].shape != (1, 4, size // 2, size // 2):
            exit(1)
        if lite.inference(inputs=[picture])[0].tobytes() != outputs[0].tobytes():
            print('RKNNLite gives other bytes!')
            exit(1)
    print('a size that is not in the list:', rknn.inference(inputs=[np.zeros((1, 40, 40, 3), 'uint8')]))
    rknn.release()
    lite.release()
