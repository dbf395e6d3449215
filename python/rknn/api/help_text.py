# SPDX-License-Identifier: Apache-2.0
"""What help(RKNN.method) tells beside the method's own words: every option with its default and accepted values, from
the library's option table, and an example."""
import inspect
import textwrap

# Methods and the part of the table that their parameters are rows of.
TABLES = {"config": "config", "load_onnx": "load", "load_pytorch": "load", "load_tensorflow": "load",
          "build": "build", "hybrid_quantization_step1": "hybrid_quantization_step1"}

EXAMPLES = {
    "config": "rknn.config(mean_values=[[0, 0, 0]], std_values=[[255, 255, 255]], target_platform='rk3588')",
    "reg_custom_op": "rknn.reg_custom_op(MyOperator())  # before load_onnx; MyOperator as in docs/python.md",
    "load_onnx": "rknn.load_onnx(model='yolov5s.onnx', inputs=['images'], input_size_list=[[1, 3, 640, 640]])",
    "load_caffe": "rknn.load_caffe(model='deploy.prototxt', blobs='net.caffemodel')",
    "load_tensorflow": "rknn.load_tensorflow(tf_pb='frozen.pb', inputs=['input'], input_size_list=[[1, 224, 224, 3]], "
                       "outputs=['logits'])",
    "load_tflite": "rknn.load_tflite(model='mobilenet.tflite')",
    "load_darknet": "rknn.load_darknet(model='yolov3.cfg', weight='yolov3.weights')",
    "load_pytorch": "rknn.load_pytorch(model='resnet18.pt', input_size_list=[[1, 3, 224, 224]])",
    "load_rknn": "rknn.load_rknn('model.rknn')",
    "build": "rknn.build(do_quantization=True, dataset='dataset.txt')  # a picture or .npy file a line",
    "hybrid_quantization_step1": "rknn.hybrid_quantization_step1(dataset='dataset.txt', proposal=True)",
    "hybrid_quantization_step2": "rknn.hybrid_quantization_step2(model_input='net.model', data_input='net.data', "
                                 "model_quantization_cfg='net.quantization.cfg')",
    "export_rknn": "rknn.export_rknn('model.rknn')",
    "init_runtime": "rknn.init_runtime()  # the simulator; target='rk3588', device_id='192.168.1.7' for a board",
    "inference": "outputs = rknn.inference(inputs=[picture[None]])  # picture: height x width x 3, uint8",
    "eval_perf": "rknn.eval_perf()  # after init_runtime(perf_debug=True)",
    "eval_memory": "rknn.eval_memory()['total_memory']  # after init_runtime(eval_mem=True)",
    "get_sdk_version": "rknn.get_sdk_version()",
    "list_devices": "rknn.list_devices()",
    "list_support_target_platform": "rknn.list_support_target_platform(rknn_model='model.rknn')",
    "accuracy_analysis": "rknn.accuracy_analysis(inputs=['dog.jpg'], output_dir='./snapshot')",
    "codegen": "rknn.codegen('./rknn_app_demo', inputs=['dog.jpg'])",
    "export_encrypted_rknn_model": "rknn.export_encrypted_rknn_model('model.rknn', 'model.crypt.rknn', 1)",
    "optimize_onnx": "rknn.optimize_onnx(model='model.onnx', optimized_path='optimized.onnx')",
    "clear_op_cache": "rknn.clear_op_cache()",
    "release": "rknn.release()  # or: with RKNN() as rknn: ...",
}


def _parameters(rows, method):
    """The rows of the table that are parameters of the method, as text."""
    known = inspect.signature(method).parameters
    lines = []
    for row in rows:
        if row["name"] not in known:
            continue
        default = known[row["name"]].default
        text = "%s (%s): %s" % (row["name"], "required" if default is inspect.Parameter.empty else "default %r" % (default,),
                                row["doc"])
        if row["accepted"]:
            text += "; accepted: " + ", ".join(str(value) for value in row["accepted"])
        if not row["has_effect"]:
            text += "; taken, but without effect here"
        lines.append(textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="      "))
    return lines


def complete(cls, table):
    """Adds parameters and examples to the texts of a class's methods. `table`: {method of the library: rows}."""
    for name, example in EXAMPLES.items():
        method = getattr(cls, name)
        text = inspect.cleandoc(method.__doc__ or "")
        rows = _parameters(table.get(TABLES.get(name), ()), method)
        if rows:
            text += "\n\nParameters:\n" + "\n".join(rows)
        method.__doc__ = text + "\n\nExample:\n    " + example
