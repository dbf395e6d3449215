# SPDX-License-Identifier: Apache-2.0
"""from rknnlite.api import RKNNLite"""
from .rknn_lite import RKNNLite

__all__ = ["RKNNLite"]
