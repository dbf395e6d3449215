# SPDX-License-Identifier: Apache-2.0
"""The class RKNNLite, over librknnrt.so. Failures are logged and returned (-1, None); the process is never ended."""
import os
import traceback
from collections import OrderedDict

from openrknn import platforms

from .rknn_log import RKNNLog
from .rknn_runtime import RKNN_FLAG_COLLECT_PERF_MASK, RKNNRuntime


class RKNNLite(object):
    """Runs an .rknn model: load_rknn, init_runtime, inference, release. Also a context manager, which releases."""

    NPU_CORE_AUTO = 0
    NPU_CORE_0 = 1
    NPU_CORE_1 = 2
    NPU_CORE_2 = 4
    NPU_CORE_0_1 = 3
    NPU_CORE_0_1_2 = 7
    NPU_CORE_ALL = 0xffff

    def __init__(self, verbose=False, verbose_file=None):
        """verbose: the library's own log, with times by layer, on standard error and in verbose_file."""
        self.verbose = bool(verbose)
        self.rknn_log = RKNNLog(self.verbose, verbose_file)
        self.rknn_data = None
        self.rknn_runtime = None
        if self.verbose:
            os.environ.setdefault("RKNN_LOG_LEVEL", "4")  # the library's per-layer table
            if verbose_file:
                os.environ["RKNN_LOG_FILE"] = os.path.abspath(verbose_file)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.release()

    def _repr_html_(self):
        """What a notebook shows of the object."""
        from openrknn import display
        if self.rknn_runtime is None:
            return display.model_table("RKNNLite", "no model" if self.rknn_data is None else "not running yet", None)
        sides = {"inputs": self.rknn_runtime.input_attrs, "outputs": self.rknn_runtime.output_attrs}
        return display.model_table("RKNNLite", "ready for inference", {
            side: [{"name": attr.name.decode("utf-8", "replace"), "dims": attr.dims[:attr.n_dims]} for attr in attrs]
            for side, attrs in sides.items()})

    def _failed(self, what, error):
        self.rknn_log.e("Catch exception when %s!" % what)
        self.rknn_log.e(str(error))
        for line in traceback.format_exc().rstrip().split("\n"):
            self.rknn_log.d(line)

    def load_rknn(self, path):
        """Reads a model file. 0, or -1 when it cannot be read.

        Example:
            lite.load_rknn('model.rknn')
        """
        try:
            with open(path, "rb") as file:
                data = file.read()
        except (OSError, TypeError) as error:
            self.rknn_log.e("Invalid RKNN model path: %s (%s)" % (path, error))
            return -1
        self._stop()
        self.rknn_data = data
        return 0

    def list_devices(self):
        """Prints the boards that are connected and returns them as two lists: adb, ntb.

        Example:
            lite.list_devices()
        """
        print("*" * 25)
        print("no devices: the model runs in this process")
        print("*" * 25)
        return [], []

    def init_runtime(self, target=None, device_id=None, async_mode=False, core_mask=NPU_CORE_AUTO):
        """Makes the model ready to run, on the cores of core_mask (NPU_CORE_*). 0, or -1 on failure.

        Example:
            lite.init_runtime(core_mask=RKNNLite.NPU_CORE_0)
        """
        for name, value in (("target", target), ("device_id", device_id), ("async_mode", async_mode)):
            if value:
                self.rknn_log.w("%s has no effect here" % name)
        if self.rknn_data is None:
            self.rknn_log.e("Model is not loaded yet, this interface should be called after load_rknn!")
            return -1
        self._stop()
        try:
            runtime = RKNNRuntime(self.rknn_data, RKNN_FLAG_COLLECT_PERF_MASK if self.verbose else 0)
            if core_mask != RKNNLite.NPU_CORE_AUTO:
                runtime.set_core_mask(core_mask)
        except Exception as error:
            self._failed("init runtime", error)
            return -1
        self.rknn_runtime = runtime
        return 0

    def inference(self, inputs, data_type=None, data_format=None, inputs_pass_through=None, get_frame_id=False):
        """Runs the model on one array per input and returns its outputs as a list of arrays, or None on failure.

        data_type: numpy types the arrays are converted to, one or one per input; default: the arrays' own.
        data_format: 'nhwc' or 'nchw', one or one per input; default: by the array's shape, nhwc first.
        inputs_pass_through: 1 for an input that already has the model's own type and layout.
        get_frame_id: the number of the frame is appended to the list.

        Example:
            outputs = lite.inference(inputs=[picture[None]])  # picture: height x width x 3, uint8
        """
        if self.rknn_runtime is None:
            self.rknn_log.e("Runtime environment is not inited, please call init_runtime first!")
            return None
        try:
            self.rknn_runtime.warn = self.rknn_log.w
            self.rknn_runtime.set_inputs(inputs if isinstance(inputs, (list, tuple)) else [inputs], data_format,
                                         inputs_pass_through, data_type)
            self.rknn_runtime.run()
            outputs = self.rknn_runtime.get_outputs()
            return outputs + [self.rknn_runtime.frame_id] if get_frame_id else outputs
        except Exception as error:
            self._failed("run inference", error)
            return None

    def get_sdk_version(self):
        """Prints and returns the versions of the runtime library and the driver; None before init_runtime.

        Example:
            lite.get_sdk_version()
        """
        if self.rknn_runtime is None:
            self.rknn_log.e("Runtime environment is not inited, please call init_runtime first!")
            return None
        version = self.rknn_runtime.get_sdk_version()
        rule = "=" * 46
        text = "%s\nRKNN VERSION:\n  API: %s\n  DRV: %s\n%s\n" % (
            rule, version.api_version.decode(), version.drv_version.decode(), rule)
        print(text)
        return text

    def list_support_target_platform(self, rknn_model=None):
        """Prints and returns which chips run a model file: an OrderedDict of filled_target_platform (what the file
        says) and support_target_platform (all that take it). Without a file: all chips. None if it cannot be read.

        Example:
            lite.list_support_target_platform(rknn_model='model.rknn')
        """
        filled = None
        if rknn_model is not None:
            try:
                filled = platforms.filled_platforms(rknn_model)
            except (OSError, ValueError) as error:
                self.rknn_log.e(str(error))
                return None
        supported = platforms.supported_platforms(filled)
        platforms.print_platforms(filled, supported)
        return OrderedDict([("filled_target_platform", filled), ("support_target_platform", supported)])

    def _stop(self):
        if self.rknn_runtime is not None:
            self.rknn_runtime.release()
        self.rknn_runtime = None

    def release(self):
        """Frees the model and everything that init_runtime made.

        Example:
            lite.release()  # or: with RKNNLite() as lite: ...
        """
        self._stop()
        self.rknn_data = None
