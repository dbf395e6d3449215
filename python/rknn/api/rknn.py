# SPDX-License-Identifier: Apache-2.0
"""The class RKNN: the vendor's methods, parameters, defaults and returns over the toolkit library.

Nothing is computed here: arguments become JSON, failures become what the vendor's scripts expect (config raises
ValueError, inference returns None, everything else -1), and the process is never ended.
"""
import os
import sys
from collections import OrderedDict

import numpy as np

from openrknn import platforms

from . import native
from .arguments import named_arguments
from .rknn_log import LEVELS, make_logger

_SIZE_FORM = "one list per input, as in input_size_list=[[1, 3, 224, 224]]"
_PICTURES_AND_ARRAYS = (".jpg", ".jpeg", ".png", ".bmp", ".npy")


class RKNN:
    """Converts, quantizes, judges and simulates one model: config, load_*, build, export_rknn, init_runtime, inference.

    Also a context manager: `with RKNN() as rknn:` releases at the end.
    """

    NPU_CORE_AUTO = 0
    NPU_CORE_0 = 1
    NPU_CORE_1 = 2
    NPU_CORE_2 = 4
    NPU_CORE_0_1 = 3
    NPU_CORE_0_1_2 = 7
    NPU_CORE_ALL = 0xffff

    def __init__(self, verbose=False, verbose_file=None):
        self.verbose = bool(verbose)
        self.verbose_file = verbose_file
        self._logger = make_logger("rknn.api", self.verbose, verbose_file)
        self._method = "__init__"
        self._outputs = None
        self._frame = 0
        self._released = False
        self._dynamic = False  # the outputs' shapes follow the inputs'
        self._described_model = None  # what init_runtime answered
        self._toolkit = native.Toolkit(3 if self.verbose else 1, self._on_log, self._on_progress)
        self._log(2, "__init__", "rknn-toolkit2 version: " + native.version())

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.release()

    def _repr_html_(self):
        """What a notebook shows of the object: how far it is, and the inputs and outputs once they are known."""
        from openrknn import display
        stage = "released" if self._released else "ready for inference" if self._described_model else "not running yet"
        return display.model_table("RKNN", stage, self._described_model)

    # Logging and failures -------------------------------------------------------------------------------------------

    def _log(self, level, method, text):
        self._logger.log(LEVELS[level], "%s", text, extra={"method": method})

    def _on_log(self, level, text):
        self._log(level, self._method, text)

    def _on_progress(self, stage, done, total):
        # A terminal, or a notebook, which writes a line anew after \r as a terminal does.
        if done and sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
            width = 40
            filled = width * done // total
            sys.stderr.write("\rI %s: |%s%s| %d/%d%s" % (stage, "#" * filled, " " * (width - filled), done, total,
                                                        "\n" if done == total else ""))
            sys.stderr.flush()

    def _call(self, method, options, arrays=(), interruptible=False, wrong=None):
        """(result, True), or (None, False) when the call failed; the reason is in the log then.

        `wrong` names an argument that only the model tells to be wrong: ValueError then.
        """
        self._method = method
        try:
            if interruptible:
                return self._toolkit.interruptible_call(method, options), True
            return self._toolkit.call(method, options, arrays), True
        except (native.ToolkitError, ValueError) as error:
            text = str(error)
            if wrong and isinstance(error, native.ToolkitError) and ": %s " % wrong in ": " + text:
                raise ValueError("%s; give %s" % (text, _SIZE_FORM)) from None
            # The line begins with the method's name already.
            self._log(0, method, text[len(method) + 2:] if text.startswith(method + ": ") else text)
            return None, False

    def _fail(self, method, text):
        self._log(0, method, text)
        return -1

    def _check_file(self, method, name, path):
        if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):
            return True
        self._log(0, method, "%s '%s' cannot be read" % (name, path))
        return False

    # Options and models ---------------------------------------------------------------------------------------------

    # The vendor's positional order (2.3.2), then what 2.5.0 adds, then our own; docs/options.md says what each does.
    def config(self, mean_values=None, std_values=None, quantized_dtype='w8a8', quantized_algorithm='normal',
               quantized_method='channel', quantized_hybrid_level=0, target_platform=None, quant_img_RGB2BGR=False,
               float_dtype='float16', optimization_level=3, custom_string=None, remove_weight=False,
               compress_weight=False, inputs_yuv_fmt=None, single_core_mode=False, dynamic_input=None,
               model_pruning=False, op_target=None, quantize_weight=False, remove_reshape=False, sparse_infer=False,
               enable_flash_attention=False, auto_hybrid_cos_thresh=0.98, auto_hybrid_euc_thresh=None, *,
               mini_rknn=False, memory_plan_strategy='BestFit', compute_order='WidthFirst',
               compiler_control_file=None, what_if=False, **kwargs):
        """Says how to convert: normalization (mean_values, std_values), quantization, target_platform and so on.

        Raises ValueError with the accepted values where one is wrong; returns 0. docs/options.md explains each.
        """
        options = dict(locals())
        del options["self"]
        options.update(options.pop("kwargs"))
        if isinstance(inputs_yuv_fmt, (list, tuple)):  # [None, False] asks for nothing
            options["inputs_yuv_fmt"] = [f for f in inputs_yuv_fmt if f] or None
        self._method = "config"
        try:
            self._toolkit.call("config", options)
        except native.ToolkitError as error:
            raise ValueError(str(error)) from None
        return 0

    @named_arguments()
    def reg_custom_op(self, custom_op):
        """Makes an operator of your own known, before load_onnx; see docs/python.md. 0, or -1 on failure."""
        from .custom_op import checked
        self._method = "reg_custom_op"
        op_type, operator = checked(custom_op)
        try:
            self._toolkit.reg_custom_op(op_type, operator)
        except native.ToolkitError as error:
            return self._fail("reg_custom_op", str(error))
        return 0

    @named_arguments()
    def load_onnx(self, model, inputs=None, input_size_list=None, input_initial_val=None, outputs=None):
        """Reads an ONNX model, cut at `inputs` and `outputs` where they are given. 0, or -1 on failure.

        input_size_list gives the shape of each input, input_initial_val arrays for inputs that become constants.
        """
        arrays, given = self._initial_values(input_initial_val)
        return self._load("load_onnx", {"model": model}, arrays, inputs=inputs, input_size_list=input_size_list,
                          outputs=outputs, input_initial_val=given)

    @staticmethod
    def _initial_values(values):
        """(the arrays, per input whether there is one)"""
        arrays = [None if v is None else native.fitting(v) for v in values or []]
        return [v for v in arrays if v is not None], [None if v is None else True for v in arrays] or None

    def _load(self, method, files, arrays=(), wrong=None, **options):
        """`files` by the names of the call's arguments; 0 or -1."""
        for name, path in files.items():
            if not self._check_file(method, name, path):
                return -1
        options.update((name, os.fspath(path)) for name, path in files.items())
        _, ok = self._call(method, options, arrays, wrong=wrong)
        if ok:
            self._on_progress("Loading", 1, 1)
        return 0 if ok else -1

    @staticmethod
    def _check_sizes(method, sizes, inputs=None):
        """input_size_list must be one list of numbers per input."""
        if not isinstance(sizes, (list, tuple)) or not all(isinstance(s, (list, tuple)) for s in sizes):
            raise ValueError("%s: input_size_list is %r; give %s" % (method, sizes, _SIZE_FORM))
        if inputs is not None and len(inputs) != len(sizes):
            raise ValueError("%s: input_size_list has %d entries, inputs has %d (%s); give %s"
                             % (method, len(sizes), len(inputs), ", ".join(map(str, inputs)), _SIZE_FORM))

    @named_arguments()
    def load_caffe(self, model, blobs=None, input_name=None):
        """Reads a Caffe model: .prototxt and .caffemodel. 0, or -1 on failure."""
        if blobs is None:
            return self._fail("load_caffe", "blobs is not given: the path of a .caffemodel file")
        return self._load("load_caffe", {"model": model, "blobs": blobs}, inputs=input_name)

    @named_arguments()
    def load_tensorflow(self, tf_pb, inputs, input_size_list, outputs, input_is_nchw=False):
        """Reads a frozen TensorFlow graph. 0, or -1 on failure."""
        inputs = [inputs] if isinstance(inputs, str) else inputs
        self._check_sizes("load_tensorflow", input_size_list, inputs)
        return self._load("load_tensorflow", {"tf_pb": tf_pb}, inputs=inputs, input_size_list=input_size_list,
                          outputs=outputs, input_is_nchw=input_is_nchw)

    @named_arguments()
    def load_tflite(self, model, input_is_nchw=False):
        """Reads a TensorFlow Lite model. 0, or -1 on failure."""
        return self._load("load_tflite", {"model": model}, input_is_nchw=input_is_nchw)

    @named_arguments()
    def load_darknet(self, model, weight):
        """Reads a Darknet model: .cfg and .weights. 0, or -1 on failure."""
        return self._load("load_darknet", {"model": model, "weight": weight})

    @named_arguments()
    def load_pytorch(self, model, input_size_list, *, inputs=None, input_initial_val=None, outputs=None):
        """Reads a TorchScript model. 0, or -1 on failure.

        inputs, input_initial_val and outputs are as in load_onnx, and our own. A number that forward() takes has its
        value in input_initial_val and the shape [] in input_size_list. inputs may name tensors that the module keeps
        between calls: they become inputs, and their next values outputs (NAME_next).
        """
        self._check_sizes("load_pytorch", input_size_list, inputs)
        arrays, given = self._initial_values(input_initial_val)
        return self._load("load_pytorch", {"model": model}, arrays, wrong="input_size_list",
                          input_size_list=input_size_list, inputs=inputs, outputs=outputs, input_initial_val=given)

    @named_arguments()
    def load_rknn(self, path):
        """Reads a finished .rknn file, for init_runtime. 0, or -1 on failure."""
        _, ok = self._call("load_rknn", {"path": path})
        return 0 if ok else -1

    @named_arguments(aliases={"auto_hybrid_quant": "auto_hybrid"})
    def build(self, do_quantization=True, dataset=None, rknn_batch_size=None, auto_hybrid=False):
        """Converts the loaded model for the chip. 0, or -1 on failure.

        do_quantization: to int8 (or config's quantized_dtype), with ranges from the pictures or arrays that the text
        file `dataset` lists; otherwise float16. rknn_batch_size: pictures per run. auto_hybrid: layers that lose too
        much stay in float16.
        """
        _, ok = self._call("build", {"do_quantization": do_quantization, "dataset": dataset,
                                     "rknn_batch_size": rknn_batch_size, "auto_hybrid": auto_hybrid},
                           interruptible=True)
        return 0 if ok else -1

    @named_arguments(aliases={"proposal_data_size": "proposal_dataset_size"})
    def hybrid_quantization_step1(self, dataset='dataset.txt', rknn_batch_size=None, proposal=False,
                                  proposal_dataset_size=1, custom_hybrid=None):
        """Calibrates and writes NAME.model, NAME.data and NAME.quantization.cfg, to be edited before step 2.

        proposal: fills in the layers that gain most from float16. 0, or -1 on failure.
        """
        _, ok = self._call("hybrid_quantization_step1",
                           {"dataset": dataset, "rknn_batch_size": rknn_batch_size, "proposal": proposal,
                            "proposal_dataset_size": proposal_dataset_size, "custom_hybrid": custom_hybrid},
                           interruptible=True)
        return 0 if ok else -1

    @named_arguments()
    def hybrid_quantization_step2(self, model_input, data_input, model_quantization_cfg):
        """Builds from the three files of step 1, the .cfg as edited. 0, or -1 on failure."""
        _, ok = self._call("hybrid_quantization_step2",
                           {"model_input": model_input, "data_input": data_input,
                            "model_quantization_cfg": model_quantization_cfg}, interruptible=True)
        return 0 if ok else -1

    def export_rknn(self, export_path, **kwargs):
        """Writes the built model to a .rknn file. 0, or -1 on failure.

        cpp_gen_cfg=True also writes a C++ project, as codegen does, into rknn_<name>_demo beside the file. for_board=True,
        which the vendor's call does not have, adds register lists (docs/on-a-board.md).
        """
        generate = kwargs.pop("cpp_gen_cfg", False)
        for_board = bool(kwargs.pop("for_board", False))
        for name in kwargs:
            self._log(1, "export_rknn", "%s has no effect in this version" % name)
        options = {"export_path": export_path}
        if for_board:
            options["for_board"] = True
        _, ok = self._call("export_rknn", options)
        if ok and generate:
            folder, name = os.path.split(os.path.abspath(export_path))
            return self.codegen(os.path.join(folder, "rknn_%s_demo" % os.path.splitext(name)[0]), overwrite=True)
        return 0 if ok else -1

    export = export_rknn

    # Running --------------------------------------------------------------------------------------------------------

    @named_arguments(ignored=("target_sub_class",))
    def init_runtime(self, target=None, device_id=None, perf_debug=False, eval_mem=False, async_mode=False,
                     core_mask=NPU_CORE_AUTO, fallback_prior_device='cpu'):
        """Makes the model ready for inference: on the simulator or, with target, on a board of that chip behind an
        rknn_server (docs/remote.md) or, where no device is known, on the simulated board.

        device_id: an address (IP, IP:PORT) or a name that list_devices prints; needed where there are several.
        perf_debug: times by layer for eval_perf; eval_mem: for eval_memory. 0, or -1 on failure.
        """
        options = dict(locals())
        del options["self"]
        self._outputs = self._described_model = None
        result, ok = self._call("init_runtime", options)
        if not ok:
            return -1
        self._outputs = self._described(result["outputs"])
        self._dynamic = result["dynamic"]
        self._described_model = result
        return 0

    @staticmethod
    def _described(outputs):
        return [(tuple(o["dims"]), native.NUMPY_OF[o["result_dtype"]]) for o in outputs]

    @named_arguments()
    def inference(self, inputs, data_format=None, inputs_pass_through=None, get_frame_id=False):
        """Runs the model on one array per input and returns its outputs as a list of arrays, or None on failure.

        data_format: 'nhwc' (default) or 'nchw', one or one per input. inputs_pass_through: 1 for an input that already
        has the model's own type and layout. get_frame_id: the number of the frame is appended to the list.
        """
        self._method = "inference"
        if self._outputs is None:
            self._log(0, "inference", "the object was released" if self._released else "call init_runtime() first")
            return None
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        try:
            arrays = [native.fitting(array) for array in inputs]
            if self._dynamic:
                shapes = {"shapes": [array.shape for array in arrays], "data_format": data_format}
                self._outputs = self._described(self._toolkit.call("choose_shapes", shapes))
            outputs = [np.empty(shape, dtype) for shape, dtype in self._outputs]
            self._toolkit.inference({"data_format": data_format, "inputs_pass_through": inputs_pass_through}, arrays,
                                    outputs)
        except (native.ToolkitError, TypeError, ValueError) as error:
            self._log(0, "inference", str(error))
            return None
        self._frame += 1
        return outputs + [self._frame] if get_frame_id else outputs

    @named_arguments()
    def eval_perf(self, is_print=True, fix_freq=True, *, shape=None):
        """Returns (and prints) how long a run takes, by layer after init_runtime(perf_debug=True).

        shape: of a model with dynamic_input, the set of shapes to report for, one per input as in dynamic_input (one
        shape is enough for one input); None: the largest set.
        """
        options = {"is_print": is_print, "fix_freq": fix_freq}
        if shape is not None:
            shapes = [shape] if len(shape) and isinstance(shape[0], int) else shape
            options["shape"] = [[int(extent) for extent in one] for one in shapes]
        text, ok = self._call("eval_perf", options)
        if ok and is_print:
            print(text)
        return text

    @named_arguments()
    def eval_memory(self, is_print=True):
        """Returns (and prints) what a run needs, in bytes; after init_runtime(eval_mem=True)."""
        result, ok = self._call("eval_memory", {"is_print": is_print})
        if not ok:
            return None
        text = result.pop("text")
        if is_print:
            print(text)
        return result

    def get_sdk_version(self):
        """Returns and prints the versions of the interface, the server and the runtime."""
        text, ok = self._call("get_sdk_version", {})
        if ok:
            print(text)
        return text

    def list_devices(self):
        """Prints the devices that answer (RKNN_DEVICES, `rknn device add`) and returns two lists: devices, [].

        The second is the vendor's list of boards in NTB mode, which does not exist here.
        """
        devices, ok = self._call("list_devices", {})
        devices = devices if ok else []
        print("*" * 25)
        print("all device(s) with adb mode:")
        print(",".join(devices))
        print("*" * 25)
        return devices, []

    @named_arguments()
    def list_support_target_platform(self, rknn_model=None):
        """Prints and returns which chips run a model file: an OrderedDict of filled_target_platform (what the file says)
        and support_target_platform (all that take it). Without a file: all chips. None if it cannot be read.
        """
        result, ok = self._call("list_support_target_platform", {"rknn_model": rknn_model})
        if not ok:
            return None
        filled = result["filled"] if rknn_model is not None else None
        platforms.print_platforms(filled, result["supported"])
        return OrderedDict([("filled_target_platform", filled), ("support_target_platform", result["supported"])])

    @named_arguments()
    def accuracy_analysis(self, inputs, output_dir='./snapshot', target=None, device_id=None):
        """Compares every layer with the float model on one set of input files; prints and writes a report.

        target, device_id: also as that board (or the simulated one) computes it.
        output_dir gets error_analysis.txt, report.html and the tensors. 0, or -1 on failure.
        """
        inputs = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        for path in inputs:
            if not self._check_file("accuracy_analysis", "input", path):
                return -1
        result, ok = self._call("accuracy_analysis",
                                {"inputs": [os.fspath(path) for path in inputs], "output_dir": output_dir,
                                 "target": target, "device_id": device_id,
                                 "color": sys.stdout is not None and sys.stdout.isatty()}, interruptible=True)
        if not ok:
            return -1
        print(result["text"])
        return 0

    @named_arguments()
    def codegen(self, output_path, inputs=None, overwrite=False):
        """Writes a C++ project that runs the exported model. After export_rknn. 0, or -1 on failure.

        inputs: a picture or .npy file per input; the program then compares its outputs with the simulator's.
        A folder that exists is left as it is unless overwrite is True.
        """
        inputs = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs or [])
        for path in inputs:
            if not str(path).lower().endswith(_PICTURES_AND_ARRAYS):
                raise ValueError("Invalid input '%s' of codegen, expect in %s!" % (path, list(_PICTURES_AND_ARRAYS)))
            if not self._check_file("codegen", "input", path):
                return -1
        _, ok = self._call("codegen", {"output_path": output_path, "inputs": [os.fspath(path) for path in inputs],
                                       "overwrite": bool(overwrite)})
        return 0 if ok else -1

    @named_arguments()
    def export_encrypted_rknn_model(self, input_model, output_model=None, crypt_level=1):
        """Writes an encrypted copy of a .rknn file, by default <stem>.crypt.rknn beside it. It loads like a plain one.

        crypt_level 1 to 3 is what each guess at the key costs. The key is the passphrase in RKNN_MODEL_PASSPHRASE or
        the file that RKNN_MODEL_KEY_FILE names, here and where the model is loaded; without either it is one that
        every copy of this library has. 0, or -1 on failure.
        """
        if crypt_level not in (1, 2, 3):
            raise ValueError("Invalid crypt_level %r, expect in [1, 2, 3]!" % (crypt_level,))
        if not self._check_file("export_encrypted_rknn_model", "input_model", input_model):
            return -1
        _, ok = self._call("export_encrypted_rknn_model", {"input_model": input_model, "output_model": output_model,
                                                            "crypt_level": crypt_level})
        return 0 if ok else -1

    @named_arguments()
    def optimize_onnx(self, model, optimized_path=None, passes_enable=None, inputs_for_dump=None):
        """Writes the graph as the passes for the chip leave it, as ONNX: for looking at. After config."""
        if not self._check_file("optimize_onnx", "model", model):
            return -1
        if inputs_for_dump:
            self._log(1, "optimize_onnx", "inputs_for_dump has no effect: accuracy_analysis writes every tensor")
        _, ok = self._call("optimize_onnx", {"model": model, "optimized_path": optimized_path,
                                             "passes_enable": passes_enable})
        return 0 if ok else -1

    def clear_op_cache(self):
        """Of streaming operators, which keep state between runs: none here does, so there is nothing to clear."""

    def release(self):
        """Frees the model and everything made of it."""
        self._outputs = None
        self._released = True
        self._toolkit.close()
