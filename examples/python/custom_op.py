# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own in Python: cstSoftmax, which ONNX does not have, and an own version of the standard Relu.

They run while the model is built, calibrated, analysed and simulated. On a board, and in RKNNLite, the application
registers their C code with rknn_register_custom_ops.
"""
import os

import models
import numpy as np
from rknn.api import RKNN
from rknn.api.custom_op import get_node_attr


class cstSoftmax:
    op_type = 'cstSoftmax'

    def shape_infer(self, node, in_shapes, in_dtypes):
        out_shapes = in_shapes.copy()
        out_dtypes = in_dtypes.copy()
        return out_shapes, out_dtypes

    def compute(self, node, inputs):
        x = inputs[0]
        axis = get_node_attr(node, 'axis')
        x_max = np.max(x, axis=axis, keepdims=True)
        tmp = np.exp(x - x_max)
        s = np.sum(tmp, axis=axis, keepdims=True)
        return [tmp / s]


class LeakyInsteadOfRelu:
    op_type = 'Relu'
    calls = 0

    def shape_infer(self, node, in_shapes, in_dtypes):
        return in_shapes, in_dtypes

    def compute(self, node, inputs):
        LeakyInsteadOfRelu.calls += 1
        return [np.where(inputs[0] > 0, inputs[0], inputs[0] * 0.125)]


def run(path, custom_ops, picture):
    # Create RKNN object
    rknn = RKNN()
    rknn.config(mean_values=models.MEAN, std_values=models.STD, target_platform='rk3566')
    for custom_op in custom_ops:
        print('--> Register %s op' % custom_op.op_type)
        models.check('Register %s op' % custom_op.op_type, rknn.reg_custom_op(custom_op))
    models.check('Load model', rknn.load_onnx(model=path))
    models.check('Build model', rknn.build(do_quantization=True, dataset=models.DIGITS_DATASET))
    models.check('Export rknn model', rknn.export_rknn(os.path.splitext(path)[0] + '.rknn'))
    models.check('Init runtime environment', rknn.init_runtime())
    outputs = rknn.inference(inputs=[picture])
    models.check('Accuracy analysis', rknn.accuracy_analysis(inputs=[models.DIGIT_PNG], output_dir=None))
    rknn.release()
    return outputs[0]


if __name__ == '__main__':
    folder = models.output_folder()
    pictures, labels = models.pictures()
    picture = pictures[:1]

    standard = run(models.digits_with(os.path.join(folder, 'softmax.onnx'), 'Softmax', axis=1), [], picture)
    own = run(models.digits_with(os.path.join(folder, 'cst_softmax.onnx'), 'cstSoftmax', axis=1), [cstSoftmax()],
              picture)
    print('Softmax ', np.round(standard, 3))
    print('cstSoftmax', np.round(own, 3))

    leaky = run(models.digits_with_own(os.path.join(folder, 'leaky.onnx'), 'Relu', 'LeakyRelu', alpha=0.125), [],
                picture)
    replaced = run(models.digits_with_own(os.path.join(folder, 'relu.onnx'), 'Relu', 'Relu'), [LeakyInsteadOfRelu],
                   picture)
    print('LeakyRelu   ', np.round(leaky, 2))
    print('own Relu    ', np.round(replaced, 2))

    cosine = float(np.sum(leaky * replaced) / np.linalg.norm(leaky) / np.linalg.norm(replaced))
    print('cosine %.5f, compute() was called %d times' % (cosine, LeakyInsteadOfRelu.calls))
    good = np.allclose(own, standard, atol=0.01) and cosine > 0.99 and LeakyInsteadOfRelu.calls > 0
    exit(0 if good else 1)
