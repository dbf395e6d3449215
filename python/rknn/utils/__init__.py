# SPDX-License-Identifier: Apache-2.0
"""from rknn.utils import onnx_edit"""
from .onnx_edit import onnx_edit

__all__ = ["onnx_edit"]
