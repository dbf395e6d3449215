# SPDX-License-Identifier: Apache-2.0
"""What quantisation costs, layer by layer."""
import os

import models
from rknn.api import RKNN

if __name__ == '__main__':
    folder = os.path.join(models.output_folder(), "snapshot")
    rknn = RKNN()
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3588')

    print('--> Loading model')
    ret = rknn.load_onnx(model=models.DIGITS_ONNX)
    if ret != 0:
        print('Load model failed!')
        exit(ret)
    print('--> Building model')
    ret = rknn.build(do_quantization=True, dataset=models.DIGITS_DATASET)
    if ret != 0:
        print('Build model failed!')
        exit(ret)

    print('--> Accuracy analysis')
    ret = rknn.accuracy_analysis(inputs=[os.path.join(models.DIGITS, 'calib_png', '000.png')], output_dir=folder)
    if ret != 0:
        print('Accuracy analysis failed!')
        exit(ret)
    print('done')
    rknn.release()

    with open(os.path.join(folder, 'error_analysis.txt')) as file:
        text = file.read()
    complete = all(os.path.isdir(os.path.join(folder, name)) for name in ('golden', 'simulator'))
    exit(0 if complete and 'simulator_error' in text and '[Input] image' in text else 1)
