# SPDX-License-Identifier: Apache-2.0
"""convert.py MODEL.onnx CHIP fp [OUT.rknn]: Silero VAD for 16 kHz; the sampling rate becomes a constant."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'utils'))
import zoo


def load(rknn, path):
    return rknn.load_onnx(model=path, inputs=['input', 'state', 'sr'], input_size_list=[[1, 576], [2, 1, 128], []],
                          input_initial_val=[None, None, np.array(16000, np.int64)])


if __name__ == '__main__':
    zoo.convert_main(load, None, None, os.environ.get('DATASET', 'dataset.txt'))
