# SPDX-License-Identifier: Apache-2.0
"""Run .rknn files as on the board: from rknnlite.api import RKNNLite."""
