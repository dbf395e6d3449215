# SPDX-License-Identifier: Apache-2.0
from .rknn import RKNN as RKNN
