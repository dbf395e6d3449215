# SPDX-License-Identifier: Apache-2.0
"""A conversion as a yml file describes it, with times and memory: python -m rknn.api.rknn_convert."""
import os
import subprocess
import sys

import models

if __name__ == '__main__':
    folder = models.output_folder()
    ret = subprocess.call([sys.executable, '-m', 'rknn.api.rknn_convert', '-i', os.path.join(models.HERE, 'digits.yml'),
                           '-o', folder, '-t', 'rk3588', '-e', '-a', models.DIGIT_PNG], cwd=folder)
    models.check('Conversion', ret)
    exit(0 if os.path.exists(os.path.join(folder, 'digits_yml.rknn')) else 1)
