# SPDX-License-Identifier: Apache-2.0
"""from rknn.api import RKNN"""
from .rknn import RKNN

__all__ = ["RKNN"]
