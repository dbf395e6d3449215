# SPDX-License-Identifier: Apache-2.0
"""ctypes over librknn_toolkit.so (rknn_toolkit_c.h). ctypes releases the interpreter lock during every call."""
import ctypes
import itertools
import json
import signal
import threading
import weakref

import numpy as np

from openrknn import load_library

OK, INVALID_ARGUMENT, UNSUPPORTED, CANCELLED, FAILED = range(5)

# Element types by their ONNX numbers.
NUMPY_OF = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
            10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}
NUMBER_OF = {np.dtype(name): number for number, name in NUMPY_OF.items()}


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size_bytes", ctypes.c_uint64), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)


class _Callbacks(ctypes.Structure):
    _fields_ = [("user", ctypes.c_void_p), ("log", _LOG), ("progress", _PROGRESS)]


_INFER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Array), ctypes.c_uint32,
                          ctypes.c_uint32)
_COMPUTE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Array), ctypes.c_uint32,
                            ctypes.POINTER(_Array), ctypes.c_uint32)


class _CustomOp(ctypes.Structure):
    _fields_ = [("op_type", ctypes.c_char_p), ("user", ctypes.c_void_p), ("infer", _INFER), ("compute", _COMPUTE)]


# Two callbacks for the process; `user` says which object they are for. A callback per object would keep it alive.
_live = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


@_LOG
def _on_log(user, level, text):
    toolkit = _live.get(user)
    if toolkit is not None:
        toolkit.on_log(level, text.decode("utf-8", "replace"))


@_PROGRESS
def _on_progress(user, stage, done, total):
    toolkit = _live.get(user)
    return 0 if toolkit is None else int(toolkit.progressed(stage.decode(), done, total))


# Operators by their number, as long as the object that they were registered with is not closed.
_operators = {}
_raised = threading.local()  # what is not a failure of an operator but meant for the caller: KeyboardInterrupt


def _answering(user, work):
    """Runs `work` of an operator; what it raises becomes the reason of the failure."""
    try:
        text = work(_operators[user])
    except Exception as error:
        library().rknn_toolkit_answer(("%s: %s" % (type(error).__name__, error)).encode("utf-8", "replace"))
        return 1
    except BaseException as error:  # ctypes would print and drop it
        _raised.error = error
        return 1
    library().rknn_toolkit_answer(text)
    return 0


@_INFER
def _on_infer(user, node, inputs, input_count, output_count):
    def work(operator):
        slots = inputs[:input_count]
        return operator.infer(json.loads(node), [slot.shape[:slot.rank] if slot.dtype else None for slot in slots],
                              [np.dtype(NUMPY_OF[slot.dtype]) if slot.dtype else None for slot in slots], output_count)
    return _answering(user, work)


@_COMPUTE
def _on_compute(user, node, inputs, input_count, outputs, output_count):
    return _answering(user, lambda operator: operator.compute(
        json.loads(node), [np.copy(_view(slot)) if slot.dtype else None for slot in inputs[:input_count]],
        [_view(slot) for slot in outputs[:output_count]]))


def _view(slot):
    """The array that a slot describes, in place."""
    buffer = (ctypes.c_char * slot.size_bytes).from_address(slot.data) if slot.size_bytes else b""
    return np.frombuffer(buffer, NUMPY_OF[slot.dtype]).reshape(slot.shape[:slot.rank])


def _load():
    lib = load_library("librknn_toolkit.so")
    arrays = ctypes.POINTER(_Array)
    for name, result, arguments in (
            ("version", ctypes.c_char_p, []),
            ("create", ctypes.c_void_p, [ctypes.POINTER(_Callbacks), ctypes.c_int32]),
            ("destroy", None, [ctypes.c_void_p]),
            ("call", ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, arrays, ctypes.c_uint32]),
            ("inference", ctypes.c_int32,
             [ctypes.c_void_p, ctypes.c_char_p, arrays, ctypes.c_uint32, arrays, ctypes.c_uint32]),
            ("reg_custom_op", ctypes.c_int32, [ctypes.c_void_p, ctypes.POINTER(_CustomOp)]),
            ("answer", None, [ctypes.c_char_p]),
            ("result", ctypes.c_char_p, []),
            ("error", ctypes.c_char_p, [])):
        function = getattr(lib, "rknn_toolkit_" + name)
        function.restype = result
        function.argtypes = arguments
    return lib


_lib = None
_lib_lock = threading.Lock()


def library():
    global _lib
    with _lib_lock:
        if _lib is None:
            _lib = _load()
        return _lib


def version():
    return library().rknn_toolkit_version().decode()


def fitting(array):
    """The array itself when its bytes can be read in place, else a copy that can."""
    array = np.asarray(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in NUMBER_OF:
        raise ValueError("arrays of dtype '%s' cannot be used; expect in %s!" % (array.dtype, sorted(NUMPY_OF.values())))
    return np.asarray(array, order="C")


def _describe(arrays):
    """(ctypes array, what must stay alive while it is used). The arrays have to be fitting()."""
    out = (_Array * max(len(arrays), 1))()
    shapes = []
    for slot, array in zip(out, arrays):
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        shapes.append(shape)
        slot.data = array.ctypes.data
        slot.size_bytes = array.nbytes
        slot.shape = shape
        slot.rank = array.ndim
        slot.dtype = NUMBER_OF[array.dtype]
    return out, shapes


def _plain(value):
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ValueError("a value of type %s cannot be an option" % type(value).__name__)


class ToolkitError(Exception):
    def __init__(self, code, text):
        Exception.__init__(self, text)
        self.code = code


class Toolkit:
    """One rknn_toolkit object. on_log(level, text) and on_progress(stage, done, total) are called during calls."""

    def __init__(self, log_level, on_log, on_progress):
        self.on_log = on_log
        self._on_progress = on_progress
        self._lock = threading.RLock()
        self._interrupted = False
        self._handle = None  # for close(), should loading fail
        self._operator_numbers = []
        number = next(_numbers)
        _live[number] = self
        callbacks = _Callbacks(number, _on_log, _on_progress)
        self._lib = library()
        self._handle = self._lib.rknn_toolkit_create(ctypes.byref(callbacks), log_level)
        if not self._handle:
            raise MemoryError("no memory for the toolkit")

    def close(self):
        with self._lock:
            if self._handle:
                self._lib.rknn_toolkit_destroy(self._handle)
            self._handle = None
            for number in self._operator_numbers:
                _operators.pop(number, None)

    __del__ = close

    def progressed(self, stage, done, total):
        self._on_progress(stage, done, total)
        return self._interrupted

    def _check(self, code):
        error, _raised.error = getattr(_raised, "error", None), None
        if error is not None:
            raise error
        if code == OK:
            return json.loads(self._lib.rknn_toolkit_result())
        raise ToolkitError(code, self._lib.rknn_toolkit_error().decode("utf-8", "replace"))

    def call(self, method, options, arrays=()):
        text = json.dumps(options, default=_plain, allow_nan=False).encode()
        slots, keep = _describe(arrays)
        with self._lock:
            if not self._handle:
                raise ToolkitError(FAILED, "the object was released")
            code = self._lib.rknn_toolkit_call(self._handle, method.encode(), text, slots, len(arrays))
            del keep
            return self._check(code)

    def reg_custom_op(self, op_type, operator):
        """operator: None, or an object with infer(node, shapes, dtypes, output_count) -> JSON bytes and
        compute(node, inputs, outputs) -> bytes, which fills the outputs."""
        number = next(_numbers)
        with self._lock:
            if not self._handle:
                raise ToolkitError(FAILED, "the object was released")
            described = _CustomOp(op_type.encode(), number)
            if operator is not None:
                described.infer, described.compute = _on_infer, _on_compute
                _operators[number] = operator
                self._operator_numbers.append(number)
            self._check(self._lib.rknn_toolkit_reg_custom_op(self._handle, ctypes.byref(described)))

    def interruptible_call(self, method, options):
        """call(), but Ctrl-C makes the next progress report end it; then KeyboardInterrupt is raised.

        An exception inside a callback would be lost, so the handler only leaves a note.
        """
        if (threading.current_thread() is not threading.main_thread()
                or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
            return self.call(method, options)

        def note(_signal, _frame):
            self._interrupted = True

        signal.signal(signal.SIGINT, note)
        try:
            return self.call(method, options)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self._interrupted:
                self._interrupted = False
                raise KeyboardInterrupt

    def inference(self, options, inputs, outputs):
        text = json.dumps(options, default=_plain, allow_nan=False).encode()
        from_slots, keep_from = _describe(inputs)
        to_slots, keep_to = _describe(outputs)
        with self._lock:
            if not self._handle:
                raise ToolkitError(FAILED, "the object was released")
            code = self._lib.rknn_toolkit_inference(self._handle, text, from_slots, len(inputs), to_slots, len(outputs))
            del keep_from, keep_to
            self._check(code)


def option_table():
    """Every option of config, load_*, build and hybrid_quantization_step1: {part: [row as a dict]}."""
    toolkit = Toolkit(0, lambda level, text: None, lambda stage, done, total: None)
    try:
        return toolkit.call("options", {})
    finally:
        toolkit.close()
