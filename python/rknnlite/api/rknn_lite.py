# SPDX-License-Identifier: Apache-2.0
"""The class RKNNLite, over librknnrt.so. Failures are logged and returned (-1, None); the process is never ended."""
import os
import traceback

from . import platforms
from .rknn_log import RKNNLog
from .rknn_runtime import RKNN_FLAG_COLLECT_PERF_MASK, RKNNRuntime


class RKNNLite(object):
    NPU_CORE_AUTO = 0
    NPU_CORE_0 = 1
    NPU_CORE_1 = 2
    NPU_CORE_2 = 4
    NPU_CORE_0_1 = 3
    NPU_CORE_0_1_2 = 7
    NPU_CORE_ALL = 0xffff

    def __init__(self, verbose=False, verbose_file=None):
        self.verbose = bool(verbose)
        self.rknn_log = RKNNLog(self.verbose, verbose_file)
        self.rknn_data = None
        self.rknn_runtime = None
        if self.verbose:
            os.environ.setdefault("RKNN_LOG_LEVEL", "4")  # the library's per-layer table

    def _failed(self, what):
        self.rknn_log.e("Catch exception when %s!" % what)
        for line in traceback.format_exc().rstrip().split("\n"):
            self.rknn_log.e(line)

    def load_rknn(self, path):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except (OSError, TypeError) as error:
            self.rknn_log.e("Invalid RKNN model path: %s (%s)" % (path, error))
            return -1
        self._stop()
        self.rknn_data = data
        return 0

    def init_runtime(self, core_mask=NPU_CORE_AUTO, **kwargs):
        for name in kwargs:
            if name not in ("target", "device_id", "async_mode"):
                raise TypeError("init_runtime() got an unexpected keyword argument '%s'" % name)
            if kwargs[name]:
                self.rknn_log.w("%s has no effect here" % name)
        if self.rknn_data is None:
            self.rknn_log.e("Model is not loaded yet, this interface should be called after load_rknn!")
            return -1
        self._stop()
        try:
            runtime = RKNNRuntime(self.rknn_data, RKNN_FLAG_COLLECT_PERF_MASK if self.verbose else 0)
            if core_mask != RKNNLite.NPU_CORE_AUTO:
                runtime.set_core_mask(core_mask)
        except Exception:
            self._failed("init runtime")
            return -1
        self.rknn_runtime = runtime
        return 0

    def inference(self, inputs, data_format=None, inputs_pass_through=None):
        if self.rknn_runtime is None:
            self.rknn_log.e("Runtime environment is not inited, please call init_runtime first!")
            return None
        try:
            self.rknn_runtime.set_inputs(inputs if isinstance(inputs, (list, tuple)) else [inputs], data_format,
                                         inputs_pass_through)
            self.rknn_runtime.run()
            return self.rknn_runtime.get_outputs()
        except Exception:
            self._failed("run inference")
            return None

    def get_sdk_version(self):
        if self.rknn_runtime is None:
            self.rknn_log.e("Runtime environment is not inited, please call init_runtime first!")
            return None
        version = self.rknn_runtime.get_sdk_version()
        rule = "=" * 46
        text = "%s\nRKNN VERSION:\n  API: %s\n  DRV: rknn_driver: %s\n%s\n" % (
            rule, version.api_version.decode(), version.drv_version.decode(), rule)
        print(text)
        return text

    def list_support_target_platform(self, rknn_model=None):
        filled = None
        if rknn_model is not None:
            try:
                filled = platforms.filled_platforms(rknn_model)
            except (OSError, ValueError) as error:
                self.rknn_log.e(str(error))
                return None
        supported = platforms.supported_platforms(filled)
        print("*" * 50)
        if filled is not None:
            print("Target platforms filled in RKNN model:         %s" % filled)
            print("Target platforms supported by this RKNN model: %s" % supported)
        else:
            print("Target platforms supported: %s" % supported)
        print("*" * 50)
        return supported

    def _stop(self):
        if self.rknn_runtime is not None:
            self.rknn_runtime.release()
        self.rknn_runtime = None

    def release(self):
        self._stop()
        self.rknn_data = None
