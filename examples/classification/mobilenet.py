# SPDX-License-Identifier: Apache-2.0
"""mobilenet.py --model MODEL.onnx|.tflite [--target CHIP] [--dtype i8|fp] [--img PICTURE] ...: convert and classify in one.

Without --img_mean and --img_std the picture goes in as the bundled digits network wants it.
"""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
import zoo

DIGITS = os.path.join(HERE, '..', 'digits')

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--model', default=os.path.join(DIGITS, 'digits.onnx'))
    parser.add_argument('--target', default='rk3566')
    parser.add_argument('--dtype', default='i8', choices=('i8', 'fp'))
    parser.add_argument('--img')
    parser.add_argument('--nchw', action='store_true', help='the input of the .tflite model has its channels first')
    parser.add_argument('--img_mean', default='127.5')
    parser.add_argument('--img_std', default='64')
    parser.add_argument('--dataset', default=os.path.join(DIGITS, 'calib.txt'))
    parser.add_argument('--out', help='.rknn file to write')
    parser.add_argument('--npu_device_test', action='store_true')
    parser.add_argument('--accuracy_analysis', action='store_true')
    parser.add_argument('--eval_perf', action='store_true')
    parser.add_argument('--eval_memory', action='store_true')
    args = parser.parse_args()

    rknn = zoo.RKNN()
    rknn.config(mean_values=[[float(v) for v in args.img_mean.split(',')]],
                std_values=[[float(v) for v in args.img_std.split(',')]], target_platform=args.target)
    if args.model.endswith('.tflite'):
        zoo.check('Load model', rknn.load_tflite(model=args.model, input_is_nchw=args.nchw))
    else:
        zoo.check('Load model', rknn.load_onnx(model=args.model))
    zoo.check('Build model', rknn.build(do_quantization=args.dtype == 'i8', dataset=args.dataset if args.dtype == 'i8' else None))
    if args.out:
        zoo.check('Export rknn model', rknn.export_rknn(args.out))
    zoo.check('Init runtime', rknn.init_runtime(target=args.target if args.npu_device_test else None,
                                                perf_debug=args.eval_perf, eval_mem=args.eval_memory))
    picture = zoo.read_image(args.img)[np.newaxis] if args.img else np.load(os.path.join(DIGITS, 'test_images.npy'))[:1]
    scores = rknn.inference(inputs=[picture], data_format=['nhwc'])[0].reshape(-1).astype('float64')
    scores = np.exp(scores - scores.max())
    print('-----TOP 5-----')
    for index in np.argsort(-scores, kind='stable')[:5]:
        print('[%d] score=%.6f' % (index, scores[index] / scores.sum()))
    if args.accuracy_analysis:
        np.save('accuracy_input.npy', picture.transpose(0, 3, 1, 2))
        zoo.check('Accuracy analysis', rknn.accuracy_analysis(inputs=['accuracy_input.npy'],
                                                              target=args.target if args.npu_device_test else None))
    if args.eval_perf:
        rknn.eval_perf()
    if args.eval_memory:
        rknn.eval_memory()
    rknn.release()
