# SPDX-License-Identifier: Apache-2.0
"""Networks of many families, small and with random weights: what the cost model is judged by after its rules were made."""
import numpy as np
from onnx import TensorProto, helper

import networks
from networks import Net, Value


class RandomNet(Net):
    """Weights as training starts with them, so that calibration sees features of a natural spread."""

    def floats(self, *dims):
        name = self.fresh("weight")
        spread = (2 / max(1, np.prod(dims[1:]))) ** 0.5 if len(dims) > 1 else 0.1
        data = np.random.default_rng(self.count).normal(0, spread, dims).astype(np.float32)
        self.constants.append(helper.make_tensor(name, TensorProto.FLOAT, dims, data.tobytes(), raw=True))
        return name

    def norm(self, x):
        scale, bias, mean = (self.floats(x.c) for _ in range(3))
        variance = self.fresh("weight")
        self.constants.append(helper.make_tensor(variance, TensorProto.FLOAT, [x.c], [1.0] * x.c))
        return Value(self.op("BatchNormalization", [x.name, scale, bias, mean, variance]), x.c, x.h, x.w)

    def unary(self, kind, x, **attributes):
        return Value(self.op(kind, [x.name], **attributes), x.c, x.h, x.w)

    def product(self, a, b):
        return Value(self.op("Mul", [a.name, b.name]), a.c, a.h, a.w)

    def deconv(self, x, c, k, s, pad, act=None, group=1):
        name = self.op("ConvTranspose", [x.name, self.floats(x.c, c // group, k, k), self.floats(c)], kernel_shape=[k, k],
                       strides=[s, s], pads=[pad] * 4, group=group)
        return self.activate(Value(name, c, (x.h - 1) * s + k - 2 * pad, (x.w - 1) * s + k - 2 * pad), act)

    def shuffle(self, x, groups):
        """Channels of `groups` interleaved, as torchvision writes it."""
        y = self.shaped(x.name, [1, groups, x.c // groups, x.h, x.w])
        y = self.op("Transpose", [y], perm=[0, 2, 1, 3, 4])
        return Value(self.shaped(y, [1, x.c, x.h, x.w]), x.c, x.h, x.w)

    def prelu(self, x):
        return Value(self.op("PRelu", [x.name, self.floats(x.c, 1, 1)]), x.c, x.h, x.w)

    def dense(self, x, c, act="none"):
        flat = self.shaped(x.name, [1, x.c * x.h * x.w])
        y = self.op("Gemm", [flat, self.floats(c, x.c * x.h * x.w), self.floats(c)], transB=1)
        return self.activate(Value(y, c, 1, 1), act)

    def squeeze_excite(self, x, hidden, gate="HardSigmoid"):
        s = self.conv(self.conv(self.mean(x), hidden, act="relu"), x.c, act="none")
        s = self.unary(gate, s, **({"alpha": 1 / 6} if gate == "HardSigmoid" else {}))
        return self.product(x, s)


def squeezenet(n, x):
    def fire(y, s, e):
        y = n.conv(y, s)
        return n.cat([n.conv(y, e), n.conv(y, e, 3)])
    x = n.pool(n.conv(x, 64, 3, 2, pad=0), 3, 2, pad=0)
    for s, e in ((16, 64), (16, 64), (0, 0), (32, 128), (32, 128), (0, 0), (48, 192), (48, 192), (64, 256), (64, 256)):
        x = fire(x, s, e) if s else n.pool(x, 3, 2, pad=0)
    networks.classifier(n, x)


def shufflenet(n, x):
    x = n.pool(n.conv(x, 24, 3, 2), 3, 2)
    for c, repeats in ((116, 4), (232, 8), (464, 4)):
        half = c // 2
        a = n.conv(n.conv(x, x.c, 3, 2, g=x.c, act="none"), half)
        b = n.conv(n.conv(n.conv(x, half), half, 3, 2, g=half, act="none"), half)
        x = n.shuffle(n.cat([a, b]), 2)
        for _ in range(repeats - 1):
            a, b = n.split(x, [half, half])
            b = n.conv(n.conv(n.conv(b, half), half, 3, g=half, act="none"), half)
            x = n.shuffle(n.cat([a, b]), 2)
    networks.classifier(n, n.conv(x, 1024))


def mobilenet_v3(n, x):
    def act(y, swish):
        return n.product(y, n.unary("HardSigmoid", y, alpha=1 / 6)) if swish else n.activate(y, "relu")
    x = act(n.conv(x, 16, 3, 2, act="none"), True)
    for k, hidden, c, se, swish, s in ((3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2),
                                       (5, 240, 40, 1, 1, 1), (5, 240, 40, 1, 1, 1), (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1),
                                       (5, 288, 96, 1, 1, 2), (5, 576, 96, 1, 1, 1), (5, 576, 96, 1, 1, 1)):
        y = act(n.conv(x, hidden, act="none"), swish) if hidden != x.c else x
        y = act(n.conv(y, hidden, k, s, g=hidden, act="none"), swish)
        if se:
            y = n.squeeze_excite(y, max(8, hidden // 4 // 8 * 8))
        y = n.conv(y, c, act="none")
        x = n.add(x, y) if s == 1 and x.c == c else y
    x = n.mean(act(n.conv(x, 576, act="none"), True))
    n.output(n.dense(act(n.dense(x, 1024), True), 1000).name, 1, 1000)


def unet(n, x):
    kept = []
    for c in (32, 64, 128, 256):
        x = n.conv(n.conv(x, c, 3), c, 3)
        kept.append(x)
        x = n.pool(x, 2, 2, pad=0)
    x = n.conv(n.conv(x, 512, 3), 512, 3)
    for skip in kept[::-1]:
        x = n.cat([n.transposed(x, skip.c), skip])
        x = n.conv(n.conv(x, skip.c, 3), skip.c, 3)
    n.output(n.conv(x, 2, act="none"))


def vgg11(n, x):
    for c, repeats in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
        for _ in range(repeats):
            x = n.conv(x, c, 3)
        x = n.pool(x, 2, 2, pad=0)
    n.output(n.dense(n.dense(n.dense(x, 1024, "relu"), 1024, "relu"), 100).name, 1, 100)


def densenet(n, x):
    x = n.pool(n.conv(x, 64, 7, 2), 3, 2, pad=1)
    for block, repeats in enumerate((4, 6, 8, 6)):
        for _ in range(repeats):
            y = n.conv(n.activate(n.norm(x)), 128)
            x = n.cat([x, n.conv(y, 32, 3, act="none")])
        if block != 3:
            x = n.pool(n.conv(n.activate(n.norm(x)), x.c // 2, act="none"), 2, 2, "AveragePool", pad=0)
    networks.classifier(n, n.activate(n.norm(x)))


def efficientnet_lite(n, x):
    x = n.conv(x, 32, 3, 2)
    for expand, c, repeats, s, k in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                                     (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(repeats):
            y = n.conv(x, x.c * expand) if expand != 1 else x
            y = n.conv(n.conv(y, y.c, k, s if i == 0 else 1, g=y.c), c, act="none")
            x = n.add(x, y) if i else y
    networks.classifier(n, n.conv(x, 1280))


def ghostnet(n, x):
    def ghost(y, c, act):
        first = n.conv(y, c // 2, act=act)
        return n.cat([first, n.conv(first, c // 2, 3, g=c // 2, act=act)])
    x = n.conv(x, 16, 3, 2)
    for hidden, c, s, se in ((16, 16, 1, 0), (48, 24, 2, 0), (72, 24, 1, 0), (72, 40, 2, 1), (120, 40, 1, 1), (240, 80, 2, 0),
                             (200, 80, 1, 0), (480, 112, 1, 1), (672, 160, 2, 1), (960, 160, 1, 0)):
        y = ghost(x, hidden, "relu")
        if s == 2:
            y = n.conv(y, hidden, 3, 2, g=hidden, act="none")
        if se:
            y = n.squeeze_excite(y, hidden // 4 // 4 * 4)
        y = ghost(y, c, "none")
        short = x
        if s != 1 or x.c != c:
            short = n.conv(n.conv(x, x.c, 3, s, g=x.c, act="none"), c, act="none")
        x = n.add(y, short)
    networks.classifier(n, n.conv(x, 960))


def espcn(n, x):
    x = n.conv(n.conv(n.conv(x, 64, 5), 32, 3), 27, 3, act="none")
    y = n.op("DepthToSpace", [x.name], blocksize=3, mode="CRD")
    n.output(Value(y, 3, x.h * 3, x.w * 3))


def googlenet(n, x):
    def inception(y, a, b, bb, c, cc, d):
        return n.cat([n.conv(y, a), n.conv(n.conv(y, b), bb, 3), n.conv(n.conv(y, c), cc, 5), n.conv(n.pool(y, 3, 1), d)])
    x = n.pool(n.conv(x, 64, 7, 2), 3, 2)
    x = n.pool(n.conv(n.conv(x, 64), 192, 3), 3, 2)
    x = inception(inception(x, 64, 96, 128, 16, 32, 32), 128, 128, 192, 32, 96, 64)
    x = n.pool(x, 3, 2)
    for row in ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)):
        x = inception(x, *row)
    networks.classifier(n, inception(n.pool(x, 3, 2), 256, 160, 320, 32, 128, 128))


def regnet(n, x):
    x = n.conv(x, 32, 3, 2)
    for c, repeats in ((24, 1), (56, 1), (152, 4), (368, 7)):
        for i in range(repeats):
            s = 2 if i == 0 else 1
            y = n.conv(n.conv(n.conv(x, c), c, 3, s, g=c // 8), c, act="none")
            x = n.activate(n.add(y, n.conv(x, c, 1, 2, act="none") if i == 0 else x))
    networks.classifier(n, x)


def hrnet(n, x):
    def basic(y):
        return n.activate(n.add(n.conv(n.conv(y, y.c, 3), y.c, 3, act="none"), y))
    x = n.conv(n.conv(x, 64, 3, 2), 64, 3, 2)
    levels = [n.conv(x, 18, 3), n.conv(x, 36, 3, 2)]
    for stage in range(2):
        levels = [basic(basic(y)) for y in levels]
        fused = []
        for i, to in enumerate(levels):
            total = to
            for j, y in enumerate(levels):
                if j > i:
                    y = n.up(n.conv(y, to.c, act="none"), to.h, to.w)
                for step in range(i - j):
                    y = n.conv(y, to.c if step == i - j - 1 else y.c, 3, 2, act="none")
                total = n.add(total, y) if j != i else total
            fused.append(n.activate(total))
        levels = fused + ([n.conv(fused[-1], 72, 3, 2)] if stage == 0 else [])
    n.output(n.conv(levels[0], 17, act="none"))


def mnasnet(n, x):
    x = n.conv(n.conv(n.conv(x, 32, 3, 2), 32, 3, g=32), 16, act="none")
    for expand, k, c, repeats, s in ((3, 3, 24, 3, 2), (3, 5, 40, 3, 2), (6, 5, 80, 3, 2), (6, 3, 96, 2, 1), (6, 5, 192, 4, 2)):
        for i in range(repeats):
            y = n.conv(x, x.c * expand)
            y = n.conv(n.conv(y, y.c, k, s if i == 0 else 1, g=y.c), c, act="none")
            x = n.add(x, y) if i else y
    networks.classifier(n, n.conv(x, 1280))


def tiny_yolo(n, x):
    levels = []
    for c, s in ((16, 2), (32, 2), (64, 2), (128, 2), (256, 2), (512, 1)):
        x = n.conv(x, c, 3)
        levels.append(x)
        if s == 2:
            x = n.pool(x, 2, 2, pad=0)
    x = n.conv(n.conv(x, 1024, 3), 256)
    n.output(n.conv(n.conv(x, 512, 3), 255, act="none"))
    x = n.cat([n.up(n.conv(x, 128)), levels[4]])
    n.output(n.conv(n.conv(x, 256, 3), 255, act="none"))


def fast_scnn(n, x):
    def separable(y, c, s):
        return n.conv(n.conv(y, y.c, 3, s, g=y.c), c)
    x = high = separable(separable(n.conv(x, 32, 3, 2), 48, 2), 64, 2)
    for c, s in ((64, 2), (64, 1), (96, 2), (96, 1), (128, 1)):
        x = networks.inverted(n, x, c, 6, s)
    parts = [x] + [n.up(n.conv(n.pool(x, k, k, "AveragePool", pad=0), 32), x.h, x.w, "linear") for k in (2, 4)]
    x = n.conv(n.cat(parts), 128)
    x = n.conv(n.conv(n.up(x, high.h, high.w, "linear"), 128, 3, g=128), 128, act="none")
    x = n.activate(n.add(x, n.conv(high, 128, act="none")))
    n.output(n.conv(separable(separable(x, 128, 1), 128, 1), 19, act="none"))


def pose_baseline(n, x):
    x = n.pool(n.conv(x, 64, 7, 2), 3, 2, pad=1)
    for c, s in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        short = x if s == 1 and x.c == c else n.conv(x, c, 1, s, act="none")
        x = n.activate(n.add(n.conv(n.conv(x, c, 3, s), c, 3, act="none"), short))
    for _ in range(3):
        x = n.deconv(x, 128, 4, 2, 1)
    n.output(n.conv(x, 17, act="none"))


def repvgg(n, x):
    for c, repeats in ((48, 1), (48, 2), (96, 4), (192, 14), (1280, 1)):
        for i in range(repeats):
            x = n.conv(x, c, 3, 2 if i == 0 else 1)
    n.output(n.dense(n.mean(x), 1000).name, 1, 1000)


def fsrcnn(n, x):
    x = n.prelu(n.conv(x, 56, 5, act="none"))
    x = n.prelu(n.conv(x, 12, act="none"))
    for _ in range(4):
        x = n.prelu(n.conv(x, 12, 3, act="none"))
    x = n.prelu(n.conv(x, 56, act="none"))
    n.output(n.conv(n.deconv(x, 16, 4, 2, 1, "relu"), 3, 3, act="none"))


def keyword_net(n, x):
    x = n.conv(x, 64, (9, 5), 2)
    for _ in range(4):
        x = n.conv(n.conv(x, 64, 3, g=64), 64)
    n.output(n.dense(n.mean(x), 12).name, 1, 12)


def plate_reader(n, x):
    def small(y, c):
        return n.conv(n.conv(n.conv(n.conv(y, c // 4), c // 4, (3, 1)), c // 4, (1, 3)), c, act="none")
    x = n.pool(n.conv(x, 64, 3), 3, 1)
    x = n.pool(n.activate(small(x, 128)), 3, 2)
    x = n.activate(small(n.activate(small(x, 256)), 256))
    x = n.conv(n.pool(x, 3, 2), 256, (1, 4), act="relu")
    n.output(n.conv(n.cat([x, n.conv(x, 68, (5, 1), act="relu")]), 68, act="none"))


def darknet19(n, x):
    for stage, c in enumerate((32, 64, 128, 256, 512, 1024)):
        if stage:
            x = n.pool(x, 2, 2, pad=0)
        for i in range(1 if stage < 2 else 3 if stage < 4 else 5):
            x = n.conv(x, c // 2 if i % 2 else c, 1 if i % 2 else 3)
    networks.classifier(n, x)


def linknet(n, x):
    x = n.pool(n.conv(x, 32, 7, 2), 3, 2, pad=1)
    kept = []
    for c, s in ((32, 1), (64, 2), (128, 2), (256, 2)):
        short = x if s == 1 and x.c == c else n.conv(x, c, 1, s, act="none")
        x = n.activate(n.add(n.conv(n.conv(x, c, 3, s), c, 3, act="none"), short))
        kept.append(x)
    for skip in kept[-2::-1]:
        y = n.deconv(n.conv(x, x.c // 4), x.c // 4, 4, 2, 1)
        x = n.add(n.conv(y, skip.c), skip)
    n.output(n.conv(n.up(n.conv(x, 32, 3)), 11, act="none"))


def ssd_mobilenet(n, x):
    x = n.conv(x, 32, 3, 2)
    heads = []
    for c, s in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (1024, 2), (1024, 1)):
        x = n.conv(n.conv(x, x.c, 3, s, g=x.c), c)
        if (c, s) == (512, 1) or c == 1024 and s == 1:
            heads.append(x)
    heads.append(n.conv(n.conv(x, 256), 512, 3, 2))
    for y in heads[-3:]:
        n.output(n.conv(y, 12, act="none"))
        n.output(n.conv(y, 63, act="none"))


def convmixer(n, x):
    x = n.unary("Relu", n.conv(x, 96, 7, 7, pad=0, act="none"))
    for _ in range(6):
        x = n.conv(n.add(n.conv(x, x.c, 5, g=x.c), x), x.c)
    networks.classifier(n, x, 100)


def srresnet(n, x):
    first = x = n.prelu(n.conv(x, 32, 3, act="none"))
    for _ in range(4):
        x = n.add(x, n.conv(n.prelu(n.conv(x, 32, 3, act="none")), 32, 3, act="none"))
    x = n.conv(n.add(n.conv(x, 32, 3, act="none"), first), 48, 3, act="none")
    y = n.op("DepthToSpace", [x.name], blocksize=4, mode="CRD")
    n.output(Value(y, 3, x.h * 4, x.w * 4))


def ocr_lines(n, x):
    for c, wide in ((32, 0), (64, 0), (128, 1), (128, 0), (256, 1), (256, 0)):
        x = n.conv(x, c, 3)
        if not wide:
            x = n.pool(x, 2, 2, pad=0)
    n.output(n.conv(n.conv(x, 256, (1, 3)), 97, act="none"))


def center_net(n, x):
    x, levels = n.conv(x, 16, 3, 2), []
    for c, s in ((24, 2), (40, 2), (80, 2), (112, 1), (160, 2)):
        x = networks.inverted(n, x, c, 4, s)
        levels.append(x)
    x = n.conv(levels[-1], 64)
    for skip in (levels[3], levels[1], levels[0]):
        x = n.add(n.up(x, skip.h, skip.w), n.conv(skip, 64))
    for c, act in ((20, "sigmoid"), (2, "none"), (2, "none")):
        n.output(n.conv(n.conv(x, 64, 3), c, act=act))


def resnext(n, x):
    x = n.pool(n.conv(x, 32, 7, 2), 3, 2, pad=1)
    for c, repeats, s in ((64, 2, 1), (128, 2, 2), (256, 2, 2)):
        for i in range(repeats):
            short = n.conv(x, 2 * c, 1, s, act="none") if i == 0 else x
            y = n.conv(n.conv(n.conv(x, c), c, 3, s, g=4), 2 * c, act="none")
            x, s = n.activate(n.add(y, short)), 1
    networks.classifier(n, x)


def gaze_net(n, x):
    x = n.pool(n.conv(x, 20, 5, pad=0), 2, 2, pad=0)
    x = n.pool(n.conv(x, 50, 5, pad=0), 2, 2, pad=0)
    n.output(n.dense(n.dense(x, 200, "relu"), 2).name, 1, 2)


def se_resnet(n, x):
    x = n.pool(n.conv(x, 24, 3, 2), 3, 2, pad=1)
    for c, s in ((48, 1), (48, 1), (96, 2), (96, 1), (192, 2), (192, 1)):
        short = x if s == 1 and x.c == c else n.conv(x, c, 1, s, act="none")
        y = n.squeeze_excite(n.conv(n.conv(x, c, 3, s), c, 3, act="none"), c // 4, "Sigmoid")
        x = n.activate(n.add(y, short))
    networks.classifier(n, x, 200)


def xception(n, x):
    def separable(y, c, s=1, act="relu"):
        return n.conv(n.conv(y, y.c, 3, s, g=y.c, act="none"), c, act=act)
    x = n.conv(n.conv(x, 32, 3, 2), 48, 3)
    for c in (96, 192, 288):
        short = n.conv(x, c, 1, 2, act="none")
        x = n.add(n.pool(separable(separable(x, c), c, act="none"), 3, 2), short)
    for _ in range(2):
        x = n.add(separable(separable(n.activate(x), 288), 288, act="none"), x)
    networks.classifier(n, separable(n.activate(x), 512), 100)


def preact_resnet(n, x):
    x = n.conv(x, 32, 3, act="none")
    for c, s in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1)):
        y = n.activate(n.norm(x))
        short = x if s == 1 and x.c == c else n.conv(y, c, 1, s, act="none")
        x = n.add(n.conv(n.conv(y, c, 3, s), c, 3, act="none"), short)
    networks.classifier(n, n.activate(n.norm(x)), 10)


def aggregation(n, x):
    def block(y, c, s):
        short = n.pool(y, s, s, pad=0) if s > 1 else y
        short = short if short.c == c else n.conv(short, c, act="none")
        return n.activate(n.add(n.conv(n.conv(y, c, 3, s), c, 3, act="none"), short))
    x = n.conv(n.conv(x, 16, 7), 32, 3, 2)
    for c in (64, 128, 192):
        a = block(x, c, 2)
        b = block(a, c, 1)
        x = n.conv(n.cat([a, b, n.pool(x, 2, 2, pad=0)]), c)
    networks.classifier(n, x, 100)


def pyramid_detector(n, x):
    x = n.pool(n.conv(x, 32, 7, 2), 3, 2, pad=1)
    levels = []
    for c, s in ((48, 1), (96, 2), (160, 2), (224, 2)):
        short = x if s == 1 and x.c == c else n.conv(x, c, 1, s, act="none")
        x = n.activate(n.add(n.conv(n.conv(x, c, 3, s), c, 3, act="none"), short))
        levels.append(x)
    top = n.conv(levels[-1], 80, act="none")
    for i, skip in enumerate([None] + levels[2:0:-1]):
        if skip:
            top = n.add(n.up(top, skip.h, skip.w), n.conv(skip, 80, act="none"))
        y = n.conv(n.conv(top, 80, 3), 80, 3)
        n.output(n.conv(y, 20, 3, act="sigmoid"))
        n.output(n.conv(y, 36, 3, act="none"))


def hourglass(n, x):
    def residual(y, c):
        short = y if y.c == c else n.conv(y, c, act="none")
        return n.activate(n.add(short, n.conv(n.conv(n.conv(y, c // 2), c // 2, 3), c, act="none")))
    def level(y, depth):
        high = residual(y, y.c)
        low = residual(n.pool(y, 2, 2, pad=0), y.c)
        low = level(low, depth - 1) if depth else residual(low, y.c)
        return n.add(high, n.up(residual(low, y.c)))
    x = residual(n.conv(x, 32, 7, 2), 64)
    x = level(n.pool(x, 2, 2, pad=0), 2)
    n.output(n.conv(n.conv(x, 64), 16, act="none"))


def street_scene(n, x):
    def thin(y, d):
        z = n.conv(n.conv(y, y.c, (3, 1)), y.c, (1, 3))
        z = n.conv(n.conv(z, y.c, 3, d=d), y.c, 3, d=d, act="none")
        return n.activate(n.add(z, y))
    def down(y, c):
        return n.activate(n.cat([n.conv(y, c - y.c, 3, 2, act="none"), n.pool(y, 2, 2, pad=0)]))
    x = down(down(x, 16), 64)
    x = down(thin(thin(x, 1), 1), 128)
    for d in (2, 4, 8):
        x = thin(x, d)
    x = thin(n.deconv(x, 64, 4, 2, 1), 1)
    x = thin(n.deconv(x, 16, 4, 2, 1), 1)
    n.output(n.deconv(x, 20, 2, 2, 0, "none"))


def csp_leaky(n, x):
    x = n.conv(n.conv(x, 32, 3, 2), 64, 3, 2)
    for c, repeats in ((64, 1), (128, 2), (256, 2)):
        x = n.conv(x, c, 3, 2)
        a, b = n.conv(x, c // 2), n.conv(x, c // 2)
        for _ in range(repeats):
            b = n.add(b, n.conv(n.conv(b, c // 2), c // 2, 3))
        x = n.conv(n.cat([a, n.conv(b, c // 2)]), c)
    x = n.conv(n.cat([x] + [n.pool(x, k, 1) for k in (5, 9)]), 128)
    n.output(n.conv(x, 75, act="none"))


def enlarger(n, x):
    first = x = n.conv(x, 40, 3, act="none")
    for _ in range(4):
        x = n.add(n.conv(n.conv(x, 40, 3), 40, 3, act="none"), x)
    x = n.add(n.conv(x, 40, 3, act="none"), first)
    for _ in range(2):
        x = n.conv(x, 160, 3, act="none")
        x = Value(n.op("DepthToSpace", [x.name], blocksize=2, mode="CRD"), 40, x.h * 2, x.w * 2)
    n.output(n.conv(x, 3, 3, act="none"))


def landmarks(n, x):
    x = n.conv(n.conv(x, 32, 3, 2), 32, 3, g=32)
    x = networks.inverted(n, x, 32, 2, 2)
    for c, expand, s in ((32, 2, 1), (64, 2, 2), (64, 4, 1), (64, 4, 1), (16, 2, 1)):
        x = networks.inverted(n, x, c, expand, s)
    y = n.conv(x, 32, 3, 2)
    parts = [n.mean(x), n.mean(y), n.mean(n.conv(y, 64, 7, pad=0))]
    n.output(n.dense(n.cat(parts), 136).name, 1, 136)


def two_paths(n, x):
    def gate(y):
        return n.product(y, n.unary("Sigmoid", n.conv(n.mean(y), y.c, act="none")))
    detail = n.conv(n.conv(n.conv(x, 32, 3, 2), 32, 3, 2), 64, 3, 2)
    y, kept = n.conv(x, 24, 3, 2), []
    for c in (40, 72, 120, 168):
        y = n.conv(n.conv(y, y.c, 3, 2, g=y.c), c)
        y = n.activate(n.add(y, n.conv(n.conv(y, y.c, 3, g=y.c, act="none"), c, act="none")))
        kept.append(y)
    low = n.up(gate(n.conv(kept[-1], 64, 3)), kept[-2].h, kept[-2].w, "linear")
    low = n.conv(n.add(gate(n.conv(kept[-2], 64, 3)), low), 64, 3)
    x = n.conv(n.cat([detail, n.up(low, detail.h, detail.w, "linear")]), 96)
    x = n.add(x, gate(x))
    n.output(n.up(n.conv(n.conv(x, 48, 3), 19, act="none"), 4 * x.h, 4 * x.w, "linear"))


# name: builder, input [channels, height, width], activation. Rules were repaired on the first twenty, not on the others.
FAMILIES = {
    "squeezenet": (squeezenet, (3, 224, 224), "relu"), "shufflenet": (shufflenet, (3, 224, 224), "relu"),
    "mobilenetv3": (mobilenet_v3, (3, 224, 224), "relu"), "unet": (unet, (3, 128, 128), "relu"),
    "vgg11": (vgg11, (3, 112, 112), "relu"), "densenet": (densenet, (3, 224, 224), "relu"),
    "efficientnet-lite": (efficientnet_lite, (3, 224, 224), "relu6"), "ghostnet": (ghostnet, (3, 224, 224), "relu"),
    "espcn": (espcn, (1, 160, 160), "relu"), "googlenet": (googlenet, (3, 224, 224), "relu"),
    "regnet": (regnet, (3, 224, 224), "relu"), "hrnet": (hrnet, (3, 256, 192), "relu"),
    "mnasnet": (mnasnet, (3, 224, 224), "relu"), "tiny-yolo": (tiny_yolo, (3, 416, 416), "leaky"),
    "fast-scnn": (fast_scnn, (3, 256, 512), "relu"), "pose-baseline": (pose_baseline, (3, 256, 192), "relu"),
    "repvgg": (repvgg, (3, 224, 224), "relu"), "fsrcnn": (fsrcnn, (3, 120, 160), "relu"),
    "keyword": (keyword_net, (1, 49, 40), "relu"), "plate-reader": (plate_reader, (3, 24, 96), "silu"),
    "darknet19": (darknet19, (3, 224, 224), "leaky"), "linknet": (linknet, (3, 192, 256), "relu"),
    "ssd-mobilenet": (ssd_mobilenet, (3, 300, 300), "relu6"), "convmixer": (convmixer, (3, 224, 224), "relu"),
    "srresnet": (srresnet, (3, 64, 96), "relu"), "ocr-lines": (ocr_lines, (1, 32, 320), "relu"),
    "center-net": (center_net, (3, 256, 256), "relu"), "resnext": (resnext, (3, 224, 224), "relu"),
    "gaze": (gaze_net, (1, 36, 60), "relu"), "se-resnet": (se_resnet, (3, 160, 160), "relu"),
    "xception": (xception, (3, 160, 160), "relu"), "preact-resnet": (preact_resnet, (3, 64, 64), "relu"),
    "aggregation": (aggregation, (3, 128, 128), "relu"), "pyramid-detector": (pyramid_detector, (3, 256, 320), "relu"),
    "hourglass": (hourglass, (3, 192, 160), "relu"), "street-scene": (street_scene, (3, 128, 256), "relu"),
    "csp-leaky": (csp_leaky, (3, 288, 288), "leaky"), "enlarger": (enlarger, (3, 48, 64), "relu"),
    "landmarks": (landmarks, (3, 112, 112), "relu"), "two-paths": (two_paths, (3, 256, 384), "relu"),
}


def shape_of(name):
    return (1,) + FAMILIES[name][1]


def write(name, path):
    build, (c, h, w), act = FAMILIES[name]
    n = RandomNet(act, [1, c, h, w])
    build(n, Value("input", c, h, w))
    n.save(path)
