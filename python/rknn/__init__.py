# SPDX-License-Identifier: Apache-2.0
"""Convert models to .rknn files and run them on the simulated chip: from rknn.api import RKNN."""
from openrknn import __version__  # noqa: F401
