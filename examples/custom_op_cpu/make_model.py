# SPDX-License-Identifier: Apache-2.0
"""Makes the networks of the custom-operator examples: make_model.py FOLDER

custom.onnx    Conv -> cstSoftmax -> cstPair (two inputs, two outputs), converted with Python classes for both operators
standard.onnx  the same with Softmax, Add and Sub
leaky.onnx     Conv -> cstLeaky, for the GPU example; leaky_standard.onnx with LeakyRelu
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rknn.api import RKNN
from rknn.api.custom_op import get_node_attr

SHAPE = [1, 6, 8, 10]


class cstSoftmax:
    op_type = 'cstSoftmax'

    def shape_infer(self, node, in_shapes, in_dtypes):
        return in_shapes.copy(), in_dtypes.copy()

    def compute(self, node, inputs):
        axis = get_node_attr(node, 'axis')
        e = np.exp(inputs[0] - np.max(inputs[0], axis=axis, keepdims=True))
        return [e / np.sum(e, axis=axis, keepdims=True)]


class cstPair:
    op_type = 'cstPair'

    def shape_infer(self, node, in_shapes, in_dtypes):
        return [in_shapes[0], in_shapes[0]], [in_dtypes[0], in_dtypes[0]]

    def compute(self, node, inputs):
        return [inputs[0] + inputs[1], inputs[0] - inputs[1]]


class cstLeaky:
    op_type = 'cstLeaky'

    def shape_infer(self, node, in_shapes, in_dtypes):
        return in_shapes.copy(), in_dtypes.copy()

    def compute(self, node, inputs):
        return [np.where(inputs[0] >= 0, inputs[0], inputs[0] * get_node_attr(node, 'alpha'))]


def save(path, nodes, outputs):
    random = np.random.default_rng(7)
    weight = numpy_helper.from_array((random.standard_normal([6, 6, 1, 1]) * 0.5).astype(np.float32), 'weight')
    conv = helper.make_node('Conv', ['x', 'weight'], ['features'], name='conv', kernel_shape=[1, 1])
    graph = helper.make_graph(
        [conv] + nodes, 'example', [helper.make_tensor_value_info('x', TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in outputs], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13), helper.make_opsetid('own', 1)],
                                ir_version=8), path)


def convert(path, custom_ops):
    rknn = RKNN()
    steps = [rknn.config(target_platform='rk3588')]
    steps += [rknn.reg_custom_op(op) for op in custom_ops]
    steps += [rknn.load_onnx(model=path), rknn.build(do_quantization=False), rknn.export_rknn(path[:-5] + '.rknn')]
    rknn.release()
    if any(steps):
        sys.exit('conversion of %s failed' % path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    own = {'domain': 'own'}
    networks = {
        'custom': ([helper.make_node('cstSoftmax', ['features'], ['share'], name='share', axis=1, **own),
                    helper.make_node('cstPair', ['share', 'features'], ['sum', 'difference'], name='pair', **own)],
                   ['sum', 'difference'], [cstSoftmax, cstPair]),
        'standard': ([helper.make_node('Softmax', ['features'], ['share'], name='share', axis=1),
                      helper.make_node('Add', ['share', 'features'], ['sum'], name='add'),
                      helper.make_node('Sub', ['share', 'features'], ['difference'], name='sub')],
                     ['sum', 'difference'], []),
        'leaky': ([helper.make_node('cstLeaky', ['features'], ['y'], name='leaky', alpha=0.125, **own)], ['y'],
                  [cstLeaky]),
        'leaky_standard': ([helper.make_node('LeakyRelu', ['features'], ['y'], name='leaky', alpha=0.125)], ['y'], []),
    }
    for name, (nodes, outputs, classes) in networks.items():
        path = os.path.join(folder, name + '.onnx')
        save(path, nodes, outputs)
        convert(path, [one() for one in classes])
    print('made', ', '.join(sorted(networks)))


if __name__ == '__main__':
    main()
