# SPDX-License-Identifier: Apache-2.0
"""from rknn.api import RKNN"""
from . import help_text, native
from .rknn import RKNN

try:
    help_text.complete(RKNN, native.option_table())
except OSError:  # without the library there is nothing to tell of; making an RKNN says what is missing
    help_text.complete(RKNN, {})

__all__ = ["RKNN"]
