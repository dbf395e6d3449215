# SPDX-License-Identifier: Apache-2.0
from .rknn_lite import RKNNLite as RKNNLite
