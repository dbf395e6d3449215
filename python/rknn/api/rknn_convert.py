# SPDX-License-Identifier: Apache-2.0
"""python -m rknn.api.rknn_convert: a conversion as a yml file describes it."""
import argparse
import os
import sys

from .rknn import RKNN


def _parser():
    parser = argparse.ArgumentParser(prog="rknn_convert", description="Convert the model of a yml file to .rknn")
    parser.add_argument("-i", dest="config", required=True, metavar="FILE.yml", help="model and options")
    parser.add_argument("-o", dest="output", default=".", metavar="DIR", help="folder to write to")
    parser.add_argument("-t", dest="platform", metavar="PLATFORM", help="target_platform")
    parser.add_argument("-e", dest="evaluate", action="store_true", help="evaluate time and memory")
    parser.add_argument("-a", dest="accuracy", metavar='"x1.jpg x2.jpg"', help="accuracy analysis with these inputs")
    parser.add_argument("-v", dest="verbose", action="store_true", help="say more")
    parser.add_argument("-d", dest="device", nargs="?", const="", metavar="ID", help="use a board")
    return parser


def _load(rknn, models, beside):
    subgraphs = models.get("subgraphs") or {}
    sizes = [[int(n) for n in str(text).split(",")] for text in subgraphs.get("input_size_list") or []] or None
    inputs, outputs = subgraphs.get("inputs"), subgraphs.get("outputs")
    platform = models.get("platform", "onnx")
    if platform == "onnx":
        return rknn.load_onnx(beside("model_file_path"), inputs=inputs, input_size_list=sizes, outputs=outputs)
    if platform == "caffe":
        return rknn.load_caffe(beside("prototxt_file_path"), beside("caffemodel_file_path"))
    if platform == "darknet":
        return rknn.load_darknet(beside("darknet_cfg_path"), beside("darknet_weights_path"))
    if platform == "tensorflow":
        return rknn.load_tensorflow(beside("model_file_path"), inputs, sizes, outputs)
    if platform == "tflite":
        return rknn.load_tflite(beside("model_file_path"))
    if platform == "pytorch":
        return rknn.load_pytorch(beside("model_file_path"), sizes)
    raise ValueError("Invalid platform '%s', expect in ['tensorflow', 'tflite', 'caffe', 'onnx', 'pytorch', 'darknet']!"
                     % platform)


def convert(args):
    rknn = RKNN(verbose=args.verbose)
    try:
        document, ok = rknn._call("read_yml", {"path": args.config})
        if not ok:
            return 1
        models = document.get("models") if isinstance(document, dict) else None
        if not models:
            raise ValueError("'%s': the top key 'models' is missing" % args.config)
        folder = os.path.dirname(args.config)

        def beside(key):
            if not models.get(key):
                raise ValueError("'%s': models.%s is missing" % (args.config, key))
            return os.path.join(folder, models[key])

        configs = dict(models.get("configs") or {})
        if args.platform:
            configs["target_platform"] = args.platform
        rknn.config(**configs)
        quantize = bool(models.get("quantize", False))
        if _load(rknn, models, beside) != 0:
            return 1
        if rknn.build(do_quantization=quantize, dataset=beside("dataset") if quantize else None) != 0:
            return 1
        os.makedirs(args.output, exist_ok=True)
        path = os.path.join(args.output, "%s.rknn" % models.get("name", "model"))
        if rknn.export_rknn(path) != 0:
            return 1
        print(path)
        target = args.platform if args.device is not None else None
        if args.accuracy and rknn.accuracy_analysis(args.accuracy.split(), target=target,
                                                    device_id=args.device or None) != 0:
            return 1
        if args.evaluate:
            if rknn.init_runtime(target=args.platform, device_id=args.device or None, perf_debug=True, eval_mem=True):
                return 1
            rknn.eval_perf()
            rknn.eval_memory()
        return 0
    finally:
        rknn.release()


def main(argv=None):
    try:
        return convert(_parser().parse_args(argv))
    except (TypeError, ValueError) as error:
        print("rknn_convert: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
