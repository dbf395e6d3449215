# SPDX-License-Identifier: Apache-2.0
"""Change the shapes of an ONNX model's inputs and outputs by formulas such as 'a,b,c->a,1,c,b'."""


def onnx_edit(model, export_path, inputs_transform={}, outputs_transform={}, dataset=None):
    """0, or -1 with the reason in the log. A formula or name that is wrong raises ValueError."""
    from ..api import native
    from ..api.rknn_log import LEVELS, make_logger
    logger = make_logger("rknn.utils")

    def log(level, text):
        logger.log(LEVELS[level], "%s", text, extra={"method": "onnx_edit"})

    toolkit = native.Toolkit(1, log, lambda stage, done, total: None)
    try:
        toolkit.call("onnx_edit", {"model": model, "export_path": export_path, "inputs_transform": inputs_transform,
                                   "outputs_transform": outputs_transform, "dataset": dataset})
    except native.ToolkitError as error:
        if error.code == native.INVALID_ARGUMENT:
            raise ValueError(str(error)) from None
        log(0, str(error))
        return -1
    finally:
        toolkit.close()
    return 0
