# SPDX-License-Identifier: Apache-2.0
"""What quantization costs, layer by layer."""
import os

import models
from rknn.api import RKNN

if __name__ == '__main__':
    folder = os.path.join(models.output_folder(), "snapshot")
    rknn = RKNN()
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3588')

    print('--> Loading model')
    models.check('Load model', rknn.load_onnx(model=models.DIGITS_ONNX))
    print('--> Building model')
    models.check('Build model', rknn.build(do_quantization=True, dataset=models.DIGITS_DATASET))

    print('--> Accuracy analysis')
    models.check('Accuracy analysis', rknn.accuracy_analysis(inputs=[models.DIGIT_PNG], output_dir=folder))
    print('done')
    rknn.release()

    with open(os.path.join(folder, 'error_analysis.txt')) as file:
        text = file.read()
    complete = all(os.path.isdir(os.path.join(folder, name)) for name in ('golden', 'simulator'))
    exit(0 if complete and 'simulator_error' in text and '[Input] image' in text else 1)
