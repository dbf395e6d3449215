# SPDX-License-Identifier: Apache-2.0
"""Hybrid quantization, second half: keeps one layer in float16 and builds from the files of hybrid_step1.py."""
import os
import re

import models
import numpy as np
from rknn.api import RKNN

if __name__ == '__main__':
    os.chdir(models.output_folder())

    # What one does in an editor: name the tensors that stay float16.
    with open('digits.quantization.cfg') as file:
        text = file.read()
    tensors = re.findall(r'^ {4}(\S.*):$', text, re.MULTILINE)
    kept = tensors[-2]
    print('kept in float16:', kept)
    text = re.sub(r'custom_quantize_layers:.*?(?=^quantize_parameters:)',
                  'custom_quantize_layers:\n    %s: float16\n' % kept, text, flags=re.MULTILINE | re.DOTALL)
    with open('digits.quantization.cfg', 'w') as file:
        file.write(text)

    rknn = RKNN()
    print('--> hybrid_quantization_step2')
    ret = rknn.hybrid_quantization_step2(model_input='./digits.model', data_input='./digits.data',
                                         model_quantization_cfg='./digits.quantization.cfg')
    models.check('hybrid_quantization_step2', ret)
    print('done')
    models.check('Export rknn model', rknn.export_rknn('digits_hybrid.rknn'))
    print('--> Accuracy analysis')
    models.check('Accuracy analysis', rknn.accuracy_analysis(inputs=[models.DIGIT_PNG], output_dir=None))
    models.check('Init runtime environment', rknn.init_runtime())
    pictures, labels = models.pictures()
    right = sum(int(np.argmax(rknn.inference(inputs=[p[np.newaxis]])[0])) == label
                for p, label in zip(pictures[:100], labels))
    print('%d of 100 pictures are recognized' % right)
    rknn.release()
    exit(0 if right >= 90 else 1)
