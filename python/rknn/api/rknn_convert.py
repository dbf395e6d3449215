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


def _load(rknn, models):
    load = models["load"]
    inputs, sizes, outputs = load["inputs"], load["input_size_list"], load["outputs"]

    paths = models["paths"]
    if models["platform"] == "onnx":
        return rknn.load_onnx(paths[0], inputs=inputs, input_size_list=sizes, outputs=outputs)
    if models["platform"] == "tensorflow":
        return rknn.load_tensorflow(paths[0], inputs, sizes, outputs)
    if models["platform"] == "pytorch":
        return rknn.load_pytorch(paths[0], sizes)
    return getattr(rknn, "load_" + models["platform"])(*paths)


def convert(args):
    rknn = RKNN(verbose=args.verbose)
    try:
        models, ok = rknn._call("read_yml", {"path": args.config})
        if not ok:
            return 1
        if args.platform:
            models["config"]["target_platform"] = args.platform
        rknn.config(**models["config"])
        if _load(rknn, models) != 0:
            return 1
        build = models["build"]
        if rknn.build(do_quantization=build["do_quantization"], dataset=build["dataset"]) != 0:
            return 1
        os.makedirs(args.output, exist_ok=True)
        path = os.path.join(args.output, "%s.rknn" % (models["name"] or "model"))
        if rknn.export_rknn(path) != 0:
            return 1
        print(path)
        # -d asks for a board, of the chip that -t or the yml file names.
        target = models["config"].get("target_platform") if args.device is not None else None
        if args.accuracy and rknn.accuracy_analysis(args.accuracy.split(), target=target,
                                                    device_id=args.device or None) != 0:
            return 1
        if args.evaluate:
            if rknn.init_runtime(target=target or args.platform, device_id=args.device or None, perf_debug=True, eval_mem=True):
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
