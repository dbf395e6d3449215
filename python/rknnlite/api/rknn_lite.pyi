# SPDX-License-Identifier: Apache-2.0
from os import PathLike
from typing import Any, List, Optional, Sequence, Union

import numpy as np

_Path = Union[str, PathLike]

class RKNNLite:
    NPU_CORE_AUTO: int
    NPU_CORE_0: int
    NPU_CORE_1: int
    NPU_CORE_2: int
    NPU_CORE_0_1: int
    NPU_CORE_0_1_2: int
    NPU_CORE_ALL: int

    def __init__(self, verbose: bool = ..., verbose_file: Optional[_Path] = ...) -> None: ...
    def load_rknn(self, path: _Path) -> int: ...
    def init_runtime(self, core_mask: int = ..., **kwargs: Any) -> int: ...
    def inference(self, inputs: Union[np.ndarray, Sequence[np.ndarray]],
                  data_format: Union[None, str, Sequence[str]] = ...,
                  inputs_pass_through: Optional[Sequence[int]] = ...) -> Optional[List[np.ndarray]]: ...
    def get_sdk_version(self) -> Optional[str]: ...
    def list_support_target_platform(self, rknn_model: Optional[_Path] = ...) -> Optional[List[str]]: ...
    def release(self) -> None: ...
