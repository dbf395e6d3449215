# SPDX-License-Identifier: Apache-2.0
"""convert.py MODEL.onnx CHIP [i8|fp] [OUT.rknn]: an embedding network for faces; the bundled one is faces.onnx."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

if __name__ == '__main__':
    zoo.convert_main(lambda rknn, path: rknn.load_onnx(model=path), [[127.5] * 3], [[127.5] * 3],
                     os.path.join(HERE, 'dataset.txt'))
