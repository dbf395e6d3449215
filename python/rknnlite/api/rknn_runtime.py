# SPDX-License-Identifier: Apache-2.0
"""librknnrt.so through ctypes: the structures of rknn_api.h and one loaded model.

Programs reach into this module and into `RKNNLite.rknn_runtime`, so the names here stay. ctypes releases the
interpreter lock during every call.
"""
import ctypes

import numpy as np

from openrknn import load_library

RKNN_MAX_DIMS = 16
RKNN_MAX_NAME_LEN = 256
RKNN_MAX_DYNAMIC_SHAPE_NUM = 512

RKNN_QUERY_IN_OUT_NUM = 0
RKNN_QUERY_INPUT_ATTR = 1
RKNN_QUERY_OUTPUT_ATTR = 2
RKNN_QUERY_SDK_VERSION = 5
RKNN_QUERY_INPUT_DYNAMIC_RANGE = 13
RKNN_QUERY_CURRENT_INPUT_ATTR = 14
RKNN_QUERY_CURRENT_OUTPUT_ATTR = 15
RKNN_FLAG_COLLECT_PERF_MASK = 0x8

RKNN_TENSOR_NCHW, RKNN_TENSOR_NHWC, RKNN_TENSOR_NC1HWC2, RKNN_TENSOR_UNDEFINED = range(4)

# By rknn_tensor_type; int4 and bfloat16 have no numpy type.
NUMPY_OF = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool")
TYPE_OF = {np.dtype(name): number for number, name in enumerate(NUMPY_OF)}
# Fed as the nearest type that the interface has.
FED_AS = {np.dtype("float64"): np.dtype("float32"), np.dtype("uint64"): np.dtype("int64")}

ERRORS = {-1: "RKNN_ERR_FAIL", -2: "RKNN_ERR_TIMEOUT", -3: "RKNN_ERR_DEVICE_UNAVAILABLE", -4: "RKNN_ERR_MALLOC_FAIL",
          -5: "RKNN_ERR_PARAM_INVALID", -6: "RKNN_ERR_MODEL_INVALID", -7: "RKNN_ERR_CTX_INVALID",
          -8: "RKNN_ERR_INPUT_INVALID", -9: "RKNN_ERR_OUTPUT_INVALID", -10: "RKNN_ERR_DEVICE_UNMATCH",
          -11: "RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL", -12: "RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION",
          -13: "RKNN_ERR_TARGET_PLATFORM_UNMATCH"}


class RKNNInputOutputNum(ctypes.Structure):
    _fields_ = [("n_input", ctypes.c_uint32), ("n_output", ctypes.c_uint32)]


class RKNNTensorAttr(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("n_dims", ctypes.c_uint32), ("dims", ctypes.c_uint32 * RKNN_MAX_DIMS),
                ("name", ctypes.c_char * RKNN_MAX_NAME_LEN), ("n_elems", ctypes.c_uint32), ("size", ctypes.c_uint32),
                ("fmt", ctypes.c_int), ("type", ctypes.c_int), ("qnt_type", ctypes.c_int), ("fl", ctypes.c_int8),
                ("zp", ctypes.c_int32), ("scale", ctypes.c_float), ("w_stride", ctypes.c_uint32),
                ("size_with_stride", ctypes.c_uint32), ("pass_through", ctypes.c_uint8), ("h_stride", ctypes.c_uint32)]


class RKNNInput(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("buf", ctypes.c_void_p), ("size", ctypes.c_uint32),
                ("pass_through", ctypes.c_uint8), ("type", ctypes.c_int), ("fmt", ctypes.c_int)]


class RKNNOutput(ctypes.Structure):
    _fields_ = [("want_float", ctypes.c_uint8), ("is_prealloc", ctypes.c_uint8), ("index", ctypes.c_uint32),
                ("buf", ctypes.c_void_p), ("size", ctypes.c_uint32)]


class RKNNInputRange(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("shape_number", ctypes.c_uint32), ("fmt", ctypes.c_int),
                ("name", ctypes.c_char * RKNN_MAX_NAME_LEN),
                ("dyn_range", (ctypes.c_uint32 * RKNN_MAX_DIMS) * RKNN_MAX_DYNAMIC_SHAPE_NUM),
                ("n_dims", ctypes.c_uint32)]


class RKNNOutputExtend(ctypes.Structure):
    _fields_ = [("frame_id", ctypes.c_uint64)]


class RKNNSdkVersion(ctypes.Structure):
    _fields_ = [("api_version", ctypes.c_char * 256), ("drv_version", ctypes.c_char * 256)]


rknn_context = ctypes.c_uint32 if ctypes.sizeof(ctypes.c_void_p) == 4 else ctypes.c_uint64


def _load():
    lib = load_library("librknnrt.so")
    for name, arguments in (
            ("rknn_init", [ctypes.POINTER(rknn_context), ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                           ctypes.c_void_p]),
            ("rknn_destroy", [rknn_context]),
            ("rknn_query", [rknn_context, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32]),
            ("rknn_inputs_set", [rknn_context, ctypes.c_uint32, ctypes.c_void_p]),
            ("rknn_run", [rknn_context, ctypes.c_void_p]),
            ("rknn_outputs_get", [rknn_context, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]),
            ("rknn_outputs_release", [rknn_context, ctypes.c_uint32, ctypes.c_void_p]),
            ("rknn_set_input_shapes", [rknn_context, ctypes.c_uint32, ctypes.c_void_p]),
            ("rknn_set_core_mask", [rknn_context, ctypes.c_int])):
        function = getattr(lib, name)
        function.restype = ctypes.c_int
        function.argtypes = arguments
    return lib


def check(ret, what):
    if ret != 0:
        raise Exception("%s failed. error code: %s" % (what, ERRORS.get(ret, ret)))


class RKNNRuntime(object):
    """One model on librknnrt.so. Failures raise Exception with the name of the error code."""

    def __init__(self, model, flags=0):
        self.context = 0
        self.lib = _load()
        self._shapes_are_set = False
        self._batch_was_added = False
        self.frame_id = 0  # of the outputs fetched last
        self.warn = lambda text: None
        self.is_dynamic_shape = False
        self.shape_sets = []  # per set, the shapes of all inputs as the library has them (pictures NHWC)
        context = rknn_context(0)
        buffer = ctypes.create_string_buffer(model, len(model))
        check(self.lib.rknn_init(ctypes.byref(context), buffer, len(model), flags, None), "RKNN init")
        self.context = context.value
        self.n_input, self.n_output = self.get_in_out_num()
        self.input_attrs = [self.get_tensor_attr(i) for i in range(self.n_input)]
        self.output_attrs = [self.get_tensor_attr(i, True) for i in range(self.n_output)]
        if b"static_shape" not in model:  # asking a static model is an error that the library logs
            self._read_shape_sets()

    def _read_shape_sets(self):
        ranges = []
        for i in range(self.n_input):
            found = RKNNInputRange(index=i)
            ret = self.lib.rknn_query(self.context, RKNN_QUERY_INPUT_DYNAMIC_RANGE, ctypes.byref(found),
                                      ctypes.sizeof(found))
            if ret != 0 or found.shape_number == 0:
                return
            ranges.append([tuple(found.dyn_range[k][:found.n_dims]) for k in range(found.shape_number)])
        self.is_dynamic_shape = bool(ranges)
        self.shape_sets = list(zip(*ranges))

    def _choose_shapes(self, inputs, data_format):
        """Tells the library which set of shapes the arrays belong to, when it is another one than before."""
        current = tuple(tuple(attr.dims[:attr.n_dims]) for attr in self.input_attrs)
        for shapes in [current] + self.shape_sets:
            if not all(self._fits(attr, array, shape, wanted) for attr, array, shape, wanted
                       in zip(self.input_attrs, inputs, shapes, data_format)):
                continue
            if shapes == current and self._shapes_are_set:
                return
            for attr, shape in zip(self.input_attrs, shapes):
                attr.n_dims = len(shape)
                attr.dims[:len(shape)] = shape
            attrs = (RKNNTensorAttr * self.n_input)(*self.input_attrs)
            check(self.lib.rknn_set_input_shapes(self.context, self.n_input, attrs), "RKNN set input shapes")
            self._shapes_are_set = True
            self.input_attrs = [self._query(RKNN_QUERY_CURRENT_INPUT_ATTR, RKNNTensorAttr(index=i))
                                for i in range(self.n_input)]
            self.output_attrs = [self._query(RKNN_QUERY_CURRENT_OUTPUT_ATTR, RKNNTensorAttr(index=i))
                                 for i in range(self.n_output)]
            return
        raise ValueError("The inputs have shapes %s, the model takes one of %s!"
                         % ([array.shape for array in inputs], [list(shapes) for shapes in self.shape_sets]))

    @staticmethod
    def _fits(attr, array, shape, data_format):
        wanted = (data_format or "").lower()
        if attr.fmt != RKNN_TENSOR_NHWC or len(shape) != 4:
            return array.shape == shape
        nchw = (shape[0], shape[3], shape[1], shape[2])
        return (wanted != "nchw" and array.shape == shape) or (wanted != "nhwc" and array.shape == nchw)

    def _query(self, command, structure):
        check(self.lib.rknn_query(self.context, command, ctypes.byref(structure), ctypes.sizeof(structure)),
              "RKNN query")
        return structure

    def get_in_out_num(self):
        counts = self._query(RKNN_QUERY_IN_OUT_NUM, RKNNInputOutputNum())
        return counts.n_input, counts.n_output

    def get_tensor_attr(self, index, is_output=False):
        attr = RKNNTensorAttr(index=index)
        return self._query(RKNN_QUERY_OUTPUT_ATTR if is_output else RKNN_QUERY_INPUT_ATTR, attr)

    def get_sdk_version(self):
        return self._query(RKNN_QUERY_SDK_VERSION, RKNNSdkVersion())

    def set_core_mask(self, core_mask):
        check(self.lib.rknn_set_core_mask(self.context, core_mask), "RKNN set core mask")

    def _format(self, i, array, data_format):
        """The format and dtype an input is given in. Pictures are NHWC unless only NCHW fits the array's shape."""
        attr = self.input_attrs[i]
        dims = tuple(attr.dims[:attr.n_dims])
        if attr.fmt != RKNN_TENSOR_NHWC:
            if array.size != attr.n_elems:
                raise ValueError("The input[%d] has shape %s, the model wants %s!" % (i, array.shape, dims))
            return RKNN_TENSOR_UNDEFINED
        if array.ndim != 4:
            raise ValueError("The input[%d] need 4dims input, but %ddims input buffer feed: the model wants %s"
                             % (i, array.ndim, dims))
        nchw = (dims[0], dims[3], dims[1], dims[2])
        wanted = (data_format or "").lower()
        if wanted not in ("", "nhwc", "nchw"):
            raise ValueError("Invalid data_format '%s', expect in ['nhwc', 'nchw']!" % data_format)
        if wanted != "nchw" and array.shape == dims:
            return RKNN_TENSOR_NHWC
        if wanted != "nhwc" and array.shape == nchw:
            return RKNN_TENSOR_NCHW
        raise ValueError("The input[%d] has shape %s, the model wants %s (nhwc) or %s (nchw)!"
                         % (i, array.shape, dims, nchw))

    def _with_batch(self, i, array):
        """A picture without its batch axis (HWC or CHW) as the batch of one it must mean, with a warning."""
        attr = self.input_attrs[i]
        dims = tuple(attr.dims[:attr.n_dims])
        if array.ndim != 3 or len(dims) != 4 or dims[0] != 1 or self.is_dynamic_shape:
            return array
        if array.shape not in (dims[1:], (dims[3], dims[1], dims[2])):
            return array
        if not self._batch_was_added:
            self.warn("The input[%d] need 4dims input, but 3dims input buffer feed: a batch of 1 is assumed." % i)
        self._batch_was_added = True
        return array[np.newaxis]

    @staticmethod
    def _one_per_input(name, given, count):
        given = [given] * count if given is None or isinstance(given, (str, type, np.dtype)) else list(given)
        if len(given) != count:
            raise ValueError("%s has %d entries for %d input(s)!" % (name, len(given), count))
        return given

    def set_inputs(self, inputs, data_format=None, inputs_pass_through=None, data_type=None):
        if len(inputs) != self.n_input:
            raise ValueError("The inputs have %d array(s), the model has %d input(s)!" % (len(inputs), self.n_input))
        data_format = self._one_per_input("data_format", data_format, len(inputs))
        data_type = self._one_per_input("data_type", data_type, len(inputs))
        pass_through = list(inputs_pass_through or [0] * len(inputs))
        if len(pass_through) != len(inputs):
            raise ValueError("inputs_pass_through has %d entries for %d input(s)!" % (len(pass_through), len(inputs)))
        for i, name in enumerate(data_type):
            try:
                known = name is None or np.dtype(name) in TYPE_OF
            except TypeError:
                known = False
            if not known:
                raise ValueError("Invalid data_type '%s' of input[%d], expect in %s!" % (name, i, list(NUMPY_OF)))
        inputs = [np.asarray(array, dtype=name) for array, name in zip(inputs, data_type)]
        inputs = [array if pass_through[i] else self._with_batch(i, array) for i, array in enumerate(inputs)]
        if self.is_dynamic_shape:
            self._choose_shapes(inputs, data_format)
        slots = (RKNNInput * self.n_input)()
        keep = []
        for i, array in enumerate(inputs):
            native = array.dtype.newbyteorder("=")
            array = np.asarray(array, dtype=FED_AS.get(native, native), order="C")
            if array.dtype not in TYPE_OF:
                raise ValueError("The input[%d] has dtype '%s', expect in %s!" % (i, array.dtype, list(NUMPY_OF)))
            keep.append(array)
            slots[i].index = i
            slots[i].buf = array.ctypes.data
            slots[i].size = array.nbytes
            slots[i].type = TYPE_OF[array.dtype]
            slots[i].pass_through = 1 if pass_through[i] else 0
            slots[i].fmt = RKNN_TENSOR_UNDEFINED if pass_through[i] else self._format(i, array, data_format[i])
        check(self.lib.rknn_inputs_set(self.context, self.n_input, slots), "RKNN set inputs")

    def run(self):
        check(self.lib.rknn_run(self.context, None), "RKNN run")

    def get_outputs(self):
        """float32 for everything that stands for real numbers; integers and bool are kept."""
        outputs = []
        slots = (RKNNOutput * self.n_output)()
        for i, attr in enumerate(self.output_attrs):
            real = attr.qnt_type != 0 or NUMPY_OF[attr.type].startswith("float")
            array = np.empty(tuple(attr.dims[:attr.n_dims]), "float32" if real else NUMPY_OF[attr.type])
            slots[i].want_float = 1 if real else 0
            slots[i].is_prealloc = 1
            slots[i].index = i
            slots[i].buf = array.ctypes.data
            slots[i].size = array.nbytes
            outputs.append(array)
        extend = RKNNOutputExtend()
        check(self.lib.rknn_outputs_get(self.context, self.n_output, slots, ctypes.byref(extend)), "RKNN get outputs")
        self.frame_id = extend.frame_id
        return outputs

    def release(self):
        if self.context:
            self.lib.rknn_destroy(self.context)
        self.context = 0

    __del__ = release
