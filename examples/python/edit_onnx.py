# SPDX-License-Identifier: Apache-2.0
"""Other shapes at the inputs and outputs of an ONNX model, and back again."""
import os

import models
import numpy as np
from rknn.api import RKNN
from rknn.utils import onnx_edit


def run(path, dataset, array):
    rknn = RKNN()
    rknn.config(target_platform='rk3588')
    models.check('Load model', rknn.load_onnx(model=path))
    models.check('Build model', rknn.build(do_quantization=True, dataset=dataset))
    models.check('Init runtime environment', rknn.init_runtime())
    outputs = rknn.inference(inputs=[array], data_format=['nchw'])
    rknn.release()
    return outputs[0]


if __name__ == '__main__':
    folder = models.output_folder()
    pictures, labels = models.pictures()
    with open(os.path.join(folder, 'edit.txt'), 'w') as dataset:
        for i in range(8):
            array = (pictures[i].transpose(2, 0, 1)[np.newaxis].astype('float32') - 127.5) / 64
            np.save(os.path.join(folder, 'edit%d.npy' % i), array)
            dataset.write('edit%d.npy\n' % i)
    array = np.load(os.path.join(folder, 'edit0.npy'))
    edited, back = os.path.join(folder, 'edited.onnx'), os.path.join(folder, 'edited_back.onnx')

    models.check('Edit model', onnx_edit(model=models.DIGITS_ONNX, export_path=edited,
                                         inputs_transform={'image': 'a,b,ch,d[c=4]->a,d,h,bc'},
                                         outputs_transform={'logits': 'a,bc[b=2]->a,c,1,b'},
                                         dataset=os.path.join(folder, 'edit.txt')))
    models.check('Edit model', onnx_edit(model=edited, export_path=back,
                                         inputs_transform={'image': 'a,d,h,bc[b=1,c=4]->a,b,ch,d'},
                                         outputs_transform={'logits': 'a,c,1,b->a,bc'},
                                         dataset=os.path.join(folder, 'dataset_for_edited.txt')))

    wanted = run(models.DIGITS_ONNX, os.path.join(folder, 'edit.txt'), array)
    turned = array.reshape(1, 1, 4, 7, 28).transpose(0, 4, 3, 1, 2).reshape(1, 28, 7, 4)
    found = run(edited, os.path.join(folder, 'dataset_for_edited.txt'), turned)
    print(wanted.shape, '->', found.shape)
    same = np.array_equal(found, wanted.reshape(1, 2, 5).transpose(0, 2, 1).reshape(1, 5, 1, 2))
    print('the edited model gives the same numbers: %s' % same)
    returned = run(back, os.path.join(folder, 'dataset_for_edited_back.txt'), array)
    print('edited back, too: %s' % np.array_equal(returned, wanted))
    exit(0 if same and np.array_equal(returned, wanted) else 1)
