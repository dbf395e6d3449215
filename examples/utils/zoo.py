# SPDX-License-Identifier: Apache-2.0
"""What the Python examples share: the model zoo's command lines, pictures, letterbox, boxes. numpy is all it needs.

Pictures are .ppm or .npy; others are read with cv2 or PIL where one of them is installed.
"""
import argparse
import os
import sys
import tempfile

import numpy as np

from rknn.api import RKNN


def check(what, code):
    if code != 0:
        print('%s failed!' % what)
        sys.exit(1)


def build_hybrid(rknn, dataset, float16):
    """int8 but for the tensors of `float16`: the two steps of hybrid quantization, with the .cfg edited between them."""
    dataset, here = os.path.abspath(dataset), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # step 1 writes its files where it is called
        try:
            check('Hybrid quantization, step 1', rknn.hybrid_quantization_step1(dataset=dataset))
            files = {os.path.splitext(name)[1]: name for name in os.listdir('.')}
            with open(files['.cfg']) as file:
                text = file.read()
            with open(files['.cfg'], 'w') as file:
                file.write(text.replace('custom_quantize_layers: {}', 'custom_quantize_layers:\n' + '\n'.join(
                    '    %s: float16' % name for name in float16)))
            return rknn.hybrid_quantization_step2(files['.model'], files['.data'], files['.cfg'])
        finally:
            os.chdir(here)


def convert_main(load, mean, std, dataset, float16=(), **config):
    """convert.py MODEL CHIP [i8|fp] [OUT]; load(rknn, path) calls a load_... method, `float16` are tensors that i8 keeps in
    float16, `config` is more for config()."""
    if len(sys.argv) < 3:
        print('Usage: %s MODEL CHIP [i8|fp] [OUT.rknn]' % sys.argv[0])
        sys.exit(2)
    model, chip = sys.argv[1:3]
    kind = sys.argv[3] if len(sys.argv) > 3 else 'i8'
    if kind not in ('i8', 'fp'):
        print('ERROR: Invalid model type: %s' % kind)
        sys.exit(2)
    out = sys.argv[4] if len(sys.argv) > 4 else os.path.splitext(model)[0] + '.rknn'
    rknn = RKNN()
    rknn.config(mean_values=mean, std_values=std, target_platform=chip, **config)
    check('Load model', load(rknn, model))
    if kind == 'i8' and float16:
        check('Build model', build_hybrid(rknn, dataset, float16))
    else:
        check('Build model', rknn.build(do_quantization=kind == 'i8', dataset=dataset if kind == 'i8' else None))
    check('Export rknn model', rknn.export_rknn(out))
    rknn.release()


def arguments(picture, **more):
    """--model --target --img ..., as the zoo's scripts have them; `more` are options of one script with their help."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--model', required=True, help='.rknn file; where a script says so also .onnx')
    parser.add_argument('--target', help='chip; without it the simulator')
    parser.add_argument('--img', default=picture)
    parser.add_argument('--npu_device_test', action='store_true', help='run on the board of --target')
    parser.add_argument('--accuracy_analysis', action='store_true', help='every layer against the float model; --model must be .onnx')
    parser.add_argument('--eval_perf', action='store_true')
    parser.add_argument('--eval_memory', action='store_true')
    parser.add_argument('--img_show', action='store_true', help='needs cv2')
    for name, text in more.items():
        parser.add_argument('--' + name, help=text)
    return parser.parse_args()


def start(args, mean=None, std=None, dataset=None, picture=None):
    """An RKNN that is ready to run. With a mean an .onnx file is converted first, as int8; `picture` is then what
    --accuracy_analysis looks at."""
    rknn = RKNN()
    if mean is not None and args.model.endswith('.onnx'):
        rknn.config(mean_values=mean, std_values=std, target_platform=args.target or 'rk3588')
        check('Load model', rknn.load_onnx(model=args.model))
        check('Build model', rknn.build(do_quantization=True, dataset=dataset))
        if args.accuracy_analysis:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'picture.npy')
                np.save(path, picture.transpose(2, 0, 1)[np.newaxis].astype('float32'))
                check('Accuracy analysis', rknn.accuracy_analysis(inputs=[path], target=args.target if args.npu_device_test else None))
    elif args.accuracy_analysis:
        sys.exit('--accuracy_analysis compares with the float model: --model must be an .onnx file, and the script one that converts')
    else:
        check('Load RKNN model', rknn.load_rknn(args.model))
    check('Init runtime', rknn.init_runtime(target=args.target if args.npu_device_test else None,
                                            perf_debug=args.eval_perf, eval_mem=args.eval_memory))
    if args.eval_perf:
        rknn.eval_perf()
    if args.eval_memory:
        rknn.eval_memory()
    return rknn


def read_image(path):
    """RGB, (height, width, 3) of uint8."""
    if path.endswith('.npy'):
        return np.load(path)
    if path.endswith('.ppm'):
        with open(path, 'rb') as file:
            kind, size, limit = file.readline(), file.readline(), file.readline()
            if kind.strip() != b'P6' or limit.strip() != b'255':
                sys.exit("'%s' is not a binary PPM file of 8 bits" % path)
            width, height = map(int, size.split())
            return np.frombuffer(file.read(), np.uint8).reshape(height, width, 3)
    try:
        import cv2
        return cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    except ImportError:
        pass
    try:
        from PIL import Image
        return np.asarray(Image.open(path).convert('RGB'))
    except ImportError:
        sys.exit("'%s': give .ppm or .npy, or install opencv-python or pillow" % path)


def resize(picture, width, height):
    """Linear, as librga does it: 11 bits for places and weights, rounded half up."""
    rows, columns = picture.shape[:2]
    if (columns, rows) == (width, height):
        return picture

    def places(source, target):
        at = np.clip((2 * np.arange(target, dtype=np.int64) + 1) * source * 1024 // target - 1024, 0, (source - 1) * 2048)
        return at >> 11, np.minimum((at >> 11) + 1, source - 1), at & 2047
    picture = picture.astype(np.int64)
    x0, x1, u = places(columns, width)
    y0, y1, v = places(rows, height)
    wide = picture[:, x0] * (2048 - u)[:, None] + picture[:, x1] * u[:, None]
    tall = wide[y0] * (2048 - v)[:, None, None] + wide[y1] * v[:, None, None]
    return ((tall + (1 << 21)) >> 22).astype(np.uint8)


def letterbox(picture, width, height, color=114):
    """(picture in the wanted size, scale, x_pad, y_pad)."""
    rows, columns = picture.shape[:2]
    scale = min(np.float32(width) / np.float32(columns), np.float32(height) / np.float32(rows))
    w, h = (max(1, min(most, int(np.floor(side * scale + np.float32(0.5))))) for side, most in ((columns, width), (rows, height)))
    x, y = (width - w) // 2, (height - h) // 2
    out = np.full((height, width, 3), color, np.uint8)
    out[y:y + h, x:x + w] = resize(picture, w, h)
    return out, float(scale), x, y


def suppress(boxes, scores, classes, limit):
    """Indices that stay, best first."""
    kept = []
    for i in np.argsort(-scores, kind='stable'):
        low = np.maximum(boxes[kept, :2], boxes[i, :2])
        high = np.minimum(boxes[kept, 2:], boxes[i, 2:])
        both = np.prod(np.maximum(high - low, 0), axis=1)
        area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
        overlap = both / (area[kept] + area[i] - both)
        if not np.any((overlap > limit) & (classes[kept] == classes[i])):
            kept.append(i)
    return kept


def print_table(names, boxes, scores, classes):
    print('class   score  xmin, ymin, xmax, ymax')
    print('-' * 49)
    for box, score, cls in zip(boxes, scores, classes):
        print('%-7s %.3f [%4d, %4d, %4d, %4d]' % (names[int(cls)], score, *[int(v) for v in box]))


def in_picture(boxes, scale, x_pad, y_pad, shape):
    """From the letterbox back to the picture."""
    boxes = (boxes - [x_pad, y_pad, x_pad, y_pad]) / scale
    return np.clip(boxes, 0, [shape[1], shape[0], shape[1], shape[0]])


def show(args, picture, boxes):
    if args.img_show:
        import cv2
        drawn = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
        for box in boxes:
            cv2.rectangle(drawn, tuple(int(v) for v in box[:2]), tuple(int(v) for v in box[2:]), (0, 0, 255), 2)
        cv2.imshow('result', drawn)
        cv2.waitKey(0)
