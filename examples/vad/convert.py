# SPDX-License-Identifier: Apache-2.0
"""convert.py MODEL.onnx CHIP [i8|fp] [OUT.rknn]: Silero VAD for 16 kHz; the sampling rate becomes a constant.

DATASET names the calibration list, which vad.py --dataset writes."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'utils'))
import zoo

# What 8 bits spoil: sound of 16 bits, a state whose halves differ tenfold in size and that is fed back again and again, and the
# magnitudes of a spectrum. The other convolutions are int8.
FLOAT16 = ['input', 'state', 'stateN', 'output', '/model/encoder/0/reparam_conv/Conv_row', '/model/encoder/0/activation/Relu',
           '/model/encoder/1/activation/Relu']


def load(rknn, path):
    return rknn.load_onnx(model=path, inputs=['input', 'state', 'sr'], input_size_list=[[1, 576], [2, 1, 128], []],
                          input_initial_val=[None, None, np.array(16000, np.int64)])


if __name__ == '__main__':
    zoo.convert_main(load, None, None, os.environ.get('DATASET', 'dataset.txt'), float16=FLOAT16, quantized_algorithm='kl_divergence')
