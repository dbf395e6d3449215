# SPDX-License-Identifier: Apache-2.0
"""convert.py MODEL.onnx CHIP [i8|fp] [OUT.rknn]: the segmentation network; the bundled one is shapes.onnx."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

if __name__ == '__main__':
    zoo.convert_main(lambda rknn, path: rknn.load_onnx(model=path), [[0, 0, 0]], [[255, 255, 255]],
                     os.path.join(HERE, 'dataset.txt'))
