# SPDX-License-Identifier: Apache-2.0
"""Change the shapes of an ONNX model's inputs and outputs by formulas such as 'a,b,c->a,1,c,b'."""
import os


def onnx_edit(model, export_path, inputs_transform={}, outputs_transform={}, dataset=None):
    from ..api.rknn_log import LEVELS, make_logger
    logger = make_logger("rknn.utils")

    def failed(text):
        logger.log(LEVELS[0], "%s", text, extra={"method": "onnx_edit"})
        return -1

    for name, transform in (("inputs_transform", inputs_transform), ("outputs_transform", outputs_transform)):
        for tensor, formula in transform.items():
            if "->" not in formula:
                raise ValueError("Invalid %s of '%s': '%s', expect a formula like 'a,b,c->a,1,c,b'!"
                                 % (name, tensor, formula))
    for name, path in (("model", model), ("dataset", dataset)):
        if path is not None and not os.path.isfile(path):
            return failed("%s '%s' is no file that can be read" % (name, path))
    return failed("editing ONNX models is not offered by this version")
