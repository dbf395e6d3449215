# SPDX-License-Identifier: Apache-2.0
"""Hybrid quantization, first half: writes digits.model, digits.data and digits.quantization.cfg."""
import os

import models
from rknn.api import RKNN

if __name__ == '__main__':
    os.chdir(models.output_folder())
    rknn = RKNN()
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3588')

    print('--> Loading model')
    models.check('Load model', rknn.load_onnx(model=models.DIGITS_ONNX))
    print('done')

    print('--> hybrid_quantization_step1')
    ret = rknn.hybrid_quantization_step1(dataset=models.DIGITS_DATASET, proposal=True)
    models.check('hybrid_quantization_step1', ret)
    print('done')
    rknn.release()
    missing = [name for name in ('digits.model', 'digits.data', 'digits.quantization.cfg') if not os.path.exists(name)]
    exit(1 if missing else 0)
