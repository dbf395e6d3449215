# SPDX-License-Identifier: Apache-2.0
from typing import Dict, Optional

def onnx_edit(model: str, export_path: str, inputs_transform: Dict[str, str] = ...,
              outputs_transform: Dict[str, str] = ..., dataset: Optional[str] = ...) -> int: ...
