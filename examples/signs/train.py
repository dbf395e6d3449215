#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small YOLOv5-style detector on scenes that it draws itself, and exports it.

No outside data: backgrounds are value noise, objects are eight polygons. The heads are raw
(three scales, three anchors each, 5 + 8 channels), as detectors for the RKNN NPU are usually
exported, so decoding and NMS belong to the application.

usage: train.py OUT_DIR [--steps N] [--device cuda]
writes: signs.onnx, test/NNN.jpg, labels.txt, calibration/NNN.jpg, dataset.txt, report.json
"""
import argparse
import json
import math
import os
import time

import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = ["circle", "triangle", "square", "pentagon", "star", "cross", "heart", "arrow"]
SIZE = 320
STRIDES = [8, 16, 32]
ANCHORS = [[(16, 16), (24, 24), (34, 34)], [(48, 48), (66, 66), (90, 90)], [(120, 120), (156, 156), (204, 204)]]


# ---- scenes -------------------------------------------------------------------------------------
def polygons(device):
    """(8, 28, 2) vertex lists in the unit square; short ones are padded by repeating the last vertex."""
    def ring(n, radius=1.0, phase=-math.pi / 2):
        return [(radius * math.cos(phase + 2 * math.pi * i / n), radius * math.sin(phase + 2 * math.pi * i / n))
                for i in range(n)]
    star = [p for i in range(5) for p in (ring(5)[i], ring(5, 0.42, -math.pi / 2 + math.pi / 5)[i])]
    heart = []
    for i in range(28):
        t = 2 * math.pi * i / 28
        heart.append((math.sin(t) ** 3,
                      -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 15))
    cross = [(-.34, -1), (.34, -1), (.34, -.34), (1, -.34), (1, .34),
             (.34, .34), (.34, 1), (-.34, 1), (-.34, .34), (-1, .34), (-1, -.34), (-.34, -.34)]
    arrow = [(-1, -.32), (.15, -.32), (.15, -.85), (1, 0), (.15, .85), (.15, .32), (-1, .32)]
    square = [(-.88, -.88), (.88, -.88), (.88, .88), (-.88, .88)]
    shapes = [ring(28), ring(3), square, ring(5), star, cross, heart, arrow]
    return torch.tensor([s + [s[-1]] * (28 - len(s)) for s in shapes], device=device)


def value_noise(batch, channels, device, generator):
    image = torch.zeros(batch, channels, SIZE, SIZE, device=device)
    for cells, weight in ((3, 1.0), (7, .6), (17, .35), (43, .2), (107, .12)):
        grid = torch.rand(batch, channels, cells, cells, device=device, generator=generator) - .5
        image += weight * F.interpolate(grid, size=(SIZE, SIZE), mode="bicubic", align_corners=True)
    return image


def draw(batch, device, generator):
    """uint8 pictures (batch, 3, SIZE, SIZE) and labels (batch, 6, 6): present, class, cx, cy, w, h in pixels."""
    rand = lambda *shape: torch.rand(*shape, device=device, generator=generator)
    image = .5 + value_noise(batch, 3, device, generator) * (.25 + .5 * rand(batch, 1, 1, 1))
    shapes = polygons(device)
    pixels = torch.arange(SIZE, device=device) + .5
    ys, xs = torch.meshgrid(pixels, pixels, indexing="ij")
    labels = torch.zeros(batch, 6, 6, device=device)
    for k in range(6):
        cls = (rand(batch) * 8).long().clamp(max=7)
        half = 9 * (11.0 ** rand(batch))                       # 9 .. 99 pixels
        center = half[:, None] * .8 + rand(batch, 2) * (SIZE - 1.6 * half[:, None])
        angle = (rand(batch) - .5) * math.pi / 2.5
        points = shapes[cls] * (.85 + .3 * rand(batch, 1, 2))
        c, s = torch.cos(angle)[:, None], torch.sin(angle)[:, None]
        turned = torch.stack((points[..., 0] * c - points[..., 1] * s, points[..., 0] * s + points[..., 1] * c), -1)
        points = turned * half[:, None, None] + center[:, None]
        low, high = points.amin(1).clamp(0, SIZE), points.amax(1).clamp(0, SIZE)
        box = torch.cat(((low + high) / 2, high - low), 1)
        overlap = ((labels[:, :k, 2] - box[:, None, 0]).abs() * 2 < labels[:, :k, 4] + box[:, None, 2]) & \
                  ((labels[:, :k, 3] - box[:, None, 1]).abs() * 2 < labels[:, :k, 5] + box[:, None, 3]) & \
                  (labels[:, :k, 0] > 0)
        keep = ~overlap.any(1) & (rand(batch) < (1.0 if k == 0 else .75))
        inside = torch.zeros(batch, SIZE, SIZE, dtype=torch.bool, device=device)
        for i in range(28):
            (ax, ay), (bx, by) = points[:, i].T, points[:, (i + 1) % 28].T
            ax, ay, bx, by = (v[:, None, None] for v in (ax, ay, bx, by))
            crosses = (ay > ys) != (by > ys)
            inside ^= crosses & (xs < (bx - ax) * (ys - ay) / (by - ay + 1e-9) + ax)
        mask = F.avg_pool2d(inside.float()[:, None], 3, 1, 1) * keep[:, None, None, None].float()
        color = rand(batch, 3, 1, 1)
        mean = (image * mask).sum((2, 3), keepdim=True) / mask.sum((2, 3), keepdim=True).clamp(min=1)
        color = torch.where((color - mean).abs().amax(1, keepdim=True) < .3, (mean + .5) % 1.0, color)
        texture = 1 + .15 * value_noise(batch, 1, device, generator)
        image = image * (1 - mask) + mask * color * texture
        labels[:, k] = torch.cat((keep[:, None].float(), cls[:, None].float(), box), 1) * keep[:, None].float()
    image = image + .04 * torch.randn(image.shape, device=device, generator=generator) * rand(batch, 1, 1, 1)
    image = (image - .5) * (.7 + .6 * rand(batch, 1, 1, 1)) + .5 + .2 * (rand(batch, 1, 1, 1) - .5)
    return (image.clamp(0, 1) * 255).round().to(torch.uint8), labels


# ---- network ------------------------------------------------------------------------------------
class Conv(nn.Sequential):
    def __init__(self, cin, cout, k=1, s=1):
        super().__init__(nn.Conv2d(cin, cout, k, s, k // 2, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class C3(nn.Module):
    def __init__(self, cin, cout, n=1, shortcut=True):
        super().__init__()
        hidden = cout // 2
        self.a, self.b, self.out = Conv(cin, hidden), Conv(cin, hidden), Conv(2 * hidden, cout)
        self.blocks = nn.ModuleList(nn.Sequential(Conv(hidden, hidden), Conv(hidden, hidden, 3)) for _ in range(n))
        self.shortcut = shortcut

    def forward(self, x):
        a = self.a(x)
        for block in self.blocks:
            a = a + block(a) if self.shortcut else block(a)
        return self.out(torch.cat((a, self.b(x)), 1))


class SPPF(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.pool = Conv(c, c // 2), Conv(c * 2, c), nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        x = self.a(x)
        y = self.pool(x)
        z = self.pool(y)
        return self.b(torch.cat((x, y, z, self.pool(z)), 1))


class Signs(nn.Module):
    def __init__(self, nc=len(CLASSES)):
        super().__init__()
        self.stem = nn.Sequential(Conv(3, 16, 3, 2), Conv(16, 24, 3, 2), C3(24, 24))
        self.p3 = nn.Sequential(Conv(24, 48, 3, 2), C3(48, 48, 2))
        self.p4 = nn.Sequential(Conv(48, 80, 3, 2), C3(80, 80, 2))
        self.p5 = nn.Sequential(Conv(80, 128, 3, 2), C3(128, 128), SPPF(128))
        self.up5, self.td4 = Conv(128, 80), C3(160, 80, 1, False)
        self.up4, self.td3 = Conv(80, 48), C3(96, 48, 1, False)
        self.down3, self.bu4 = Conv(48, 48, 3, 2), C3(128, 80, 1, False)
        self.down4, self.bu5 = Conv(80, 80, 3, 2), C3(208, 128, 1, False)
        self.heads = nn.ModuleList(nn.Conv2d(c, 3 * (5 + nc), 1) for c in (48, 80, 128))
        for head in self.heads:
            head.bias.data.view(3, -1)[:, 4] = -5.0

    def forward(self, x):
        p3 = self.p3(self.stem(x))
        p4 = self.p4(p3)
        p5 = self.p5(p4)
        t4 = self.td4(torch.cat((F.interpolate(self.up5(p5), scale_factor=2.0, mode="nearest"), p4), 1))
        t3 = self.td3(torch.cat((F.interpolate(self.up4(t4), scale_factor=2.0, mode="nearest"), p3), 1))
        b4 = self.bu4(torch.cat((self.down3(t3), t4), 1))
        b5 = self.bu5(torch.cat((self.down4(b4), p5), 1))
        return [head(f) for head, f in zip(self.heads, (t3, b4, b5))]


# ---- loss, decoding, score ----------------------------------------------------------------------
def box_iou_xywh(a, b, ciou=False):
    (ax1, ay1), (ax2, ay2) = ((a[..., :2] + side * a[..., 2:4] / 2).unbind(-1) for side in (-1, 1))
    (bx1, by1), (bx2, by2) = ((b[..., :2] + side * b[..., 2:4] / 2).unbind(-1) for side in (-1, 1))
    inter = (torch.min(ax2, bx2) - torch.max(ax1, bx1)).clamp(min=0) * \
        (torch.min(ay2, by2) - torch.max(ay1, by1)).clamp(min=0)
    union = a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3] - inter + 1e-7
    iou = inter / union
    if not ciou:
        return iou
    cw, ch = torch.max(ax2, bx2) - torch.min(ax1, bx1), torch.max(ay2, by2) - torch.min(ay1, by1)
    center = ((a[..., 0] - b[..., 0]) ** 2 + (a[..., 1] - b[..., 1]) ** 2) / (cw ** 2 + ch ** 2 + 1e-7)
    angle_a, angle_b = (torch.atan(box[..., 2] / (box[..., 3] + 1e-7)) for box in (a, b))
    v = 4 / math.pi ** 2 * (angle_b - angle_a) ** 2
    alpha = v / (v - iou + 1 + 1e-7)
    return iou - center - v * alpha.detach()


def loss_fn(outputs, labels):
    device, nc, total = labels.device, len(CLASSES), 0.0
    image, slot = torch.nonzero(labels[..., 0] > 0, as_tuple=True)
    t = labels[image, slot]
    for level, raw in enumerate(outputs):
        stride = STRIDES[level]
        b, _, h, w = raw.shape
        pred = raw.float().view(b, 3, 5 + nc, h, w).permute(0, 1, 3, 4, 2)
        anchors = torch.tensor(ANCHORS[level], device=device, dtype=torch.float)
        ratio = t[:, None, 4:6] / anchors[None]
        match = torch.max(ratio, 1 / ratio.clamp(min=1e-6)).amax(-1) < 3.0
        ti, ai = torch.nonzero(match, as_tuple=True)
        obj_target = torch.zeros(b, 3, h, w, device=device)
        if len(ti):
            gx, gy = t[ti, 2] / stride, t[ti, 3] / stride
            cells = [(gx.floor(), gy.floor(), torch.ones_like(gx, dtype=torch.bool))]
            fx, fy = gx - gx.floor(), gy - gy.floor()
            cells += [(gx.floor() - 1, gy.floor(), (fx < .5) & (gx > 1)),
                      (gx.floor() + 1, gy.floor(), (fx > .5) & (gx < w - 1)),
                      (gx.floor(), gy.floor() - 1, (fy < .5) & (gy > 1)),
                      (gx.floor(), gy.floor() + 1, (fy > .5) & (gy < h - 1))]
            cx = torch.cat([c[0][c[2]] for c in cells]).long().clamp(0, w - 1)
            cy = torch.cat([c[1][c[2]] for c in cells]).long().clamp(0, h - 1)
            ti, ai = torch.cat([ti[c[2]] for c in cells]), torch.cat([ai[c[2]] for c in cells])
            p = pred[image[ti], ai, cy, cx]
            xy = (p[:, :2].sigmoid() * 2 - .5 + torch.stack((cx, cy), 1)) * stride
            wh = (p[:, 2:4].sigmoid() * 2) ** 2 * anchors[ai]
            iou = box_iou_xywh(torch.cat((xy, wh), 1), t[ti, 2:6], ciou=True)
            total = total + .05 * 20 * (1 - iou).mean()
            obj_target[image[ti], ai, cy, cx] = iou.detach().clamp(0, 1)
            total = total + .5 * F.binary_cross_entropy_with_logits(p[:, 5:], F.one_hot(t[ti, 1].long(), nc).float())
        total = total + (4.0, 1.0, .4)[level] * F.binary_cross_entropy_with_logits(pred[..., 4], obj_target)
    return total


def decode(outputs, threshold=.25, nms=.45):
    """Per picture: tensor (n, 6) of cx, cy, w, h, score, class."""
    rows = []
    for level, raw in enumerate(outputs):
        b, _, h, w = raw.shape
        p = raw.float().view(b, 3, -1, h, w).permute(0, 1, 3, 4, 2).sigmoid()
        gy, gx = torch.meshgrid(torch.arange(h, device=raw.device), torch.arange(w, device=raw.device), indexing="ij")
        xy = (p[..., :2] * 2 - .5 + torch.stack((gx, gy), -1)) * STRIDES[level]
        anchors = torch.tensor(ANCHORS[level], device=raw.device, dtype=torch.float)
        wh = (p[..., 2:4] * 2) ** 2 * anchors[None, :, None, None]
        score, cls = (p[..., 4:5] * p[..., 5:]).max(-1)
        rows.append(torch.cat((xy, wh, score[..., None], cls[..., None].float()), -1).reshape(b, -1, 6))
    result = []
    for picture in torch.cat(rows, 1):
        picture = picture[picture[:, 4] > threshold]
        picture = picture[picture[:, 4].argsort(descending=True)][:300]
        keep = []
        while len(picture):
            keep.append(picture[0])
            same = (box_iou_xywh(picture[:1, :4], picture[:, :4]) > nms) & (picture[:, 5] == picture[0, 5])
            same[0] = True
            picture = picture[~same]
        result.append(torch.stack(keep) if keep else torch.zeros(0, 6, device=outputs[0].device))
    return result


def mean_ap(detections, labels, iou_at=.5):
    """Average over classes of the area under the precision-recall curve (all points)."""
    scores = []
    for c in range(len(CLASSES)):
        rows, positives = [], 0
        for det, lab in zip(detections, labels):
            truth = lab[(lab[:, 0] > 0) & (lab[:, 1] == c)][:, 2:6]
            positives += len(truth)
            used = torch.zeros(len(truth), dtype=torch.bool)
            for d in det[det[:, 5] == c]:
                hit = False
                if len(truth):
                    iou = box_iou_xywh(d[None, :4].cpu(), truth.cpu())
                    j = int(iou.argmax())
                    hit = bool(iou[j] > iou_at and not used[j])
                    used[j] |= hit
                rows.append((float(d[4]), hit))
        rows.sort(reverse=True)
        hits = np.cumsum([r[1] for r in rows]) if rows else np.zeros(0)
        precision, recall = hits / (np.arange(len(rows)) + 1), hits / max(positives, 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1] if len(rows) else precision
        scores.append(float(np.sum(np.diff(np.concatenate(([0], recall))) * precision)) if len(rows) else 0.0)
    return float(np.mean(scores)), dict(zip(CLASSES, scores))


def write_pictures(folder, pictures):
    os.makedirs(folder, exist_ok=True)
    for i, picture in enumerate(pictures.permute(0, 2, 3, 1).cpu().numpy()):
        cv2.imwrite(f"{folder}/{i:03d}.jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])


def write_lists(folder, labels):
    with open(f"{folder}/labels.txt", "w") as f:
        f.write(f"# picture class cx cy w h   (pixels; classes {' '.join(CLASSES)})\n")
        for i, rows in enumerate(labels.cpu().numpy()):
            for present, cls, cx, cy, w, h in rows:
                if present:
                    f.write(f"{i:03d} {int(cls)} {cx:.2f} {cy:.2f} {w:.2f} {h:.2f}\n")
    with open(f"{folder}/dataset.txt", "w") as f:
        f.writelines(f"./calibration/{i:03d}.jpg\n" for i in range(32))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--pool", type=int, default=24000)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(1)
    device = args.device
    generator = torch.Generator(device=device).manual_seed(1)
    started = time.time()
    pictures, labels = zip(*(draw(64, device, generator) for _ in range(args.pool // 64)))
    pictures, labels = torch.cat(pictures), torch.cat(labels)
    test_generator = torch.Generator(device=device).manual_seed(2)
    test_p, test_l = zip(*(draw(64, device, test_generator) for _ in range(8)))
    test_p, test_l = torch.cat(test_p), torch.cat(test_l)
    print(f"drew {len(pictures)} scenes in {time.time() - started:.0f} s", flush=True)

    model = Signs().to(device).to(memory_format=torch.channels_last)
    ema = {k: v.clone() for k, v in model.state_dict().items()}
    print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=args.steps, pct_start=.05)
    for step in range(args.steps):
        index = torch.randint(len(pictures), (128,), device=device)
        x, y = pictures[index].float() / 255, labels[index].clone()
        contrast = .8 + .4 * torch.rand(128, 1, 1, 1, device=device)
        x = (x - .5) * contrast + .5 + .1 * torch.randn(128, 1, 1, 1, device=device)
        x = x[:, torch.randperm(3, device=device)].clamp(0, 1)
        model.train()
        with torch.autocast(device, dtype=torch.bfloat16):
            outputs = model(x.to(memory_format=torch.channels_last))
        loss = loss_fn(outputs, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            decay = min(.9995, (1 + step) / (10 + step))
            for k, v in model.state_dict().items():
                ema[k].mul_(decay).add_(v, alpha=1 - decay) if v.dtype.is_floating_point else ema[k].copy_(v)
        if step % 500 == 0:
            print(f"step {step} loss {float(loss):.4f} {time.time() - started:.0f} s", flush=True)
    model.load_state_dict(ema)
    model.eval().float()
    with torch.no_grad():
        detections = [d for i in range(0, len(test_p), 64) for d in decode(model(test_p[i:i + 64].float() / 255), .05)]
    score, per_class = mean_ap(detections, test_l)
    print("mAP@0.5", score, per_class, flush=True)

    model = model.cpu()
    example = torch.zeros(1, 3, SIZE, SIZE)
    torch.onnx.export(model, example, f"{args.out}/signs.onnx", input_names=["images"],
                      output_names=["head8", "head16", "head32"],
                      opset_version=13, dynamo=False)
    calibration_generator = torch.Generator(device=device).manual_seed(3)
    calibration, _ = draw(48, device, calibration_generator)
    write_pictures(f"{args.out}/test", test_p[:96])
    write_pictures(f"{args.out}/calibration", calibration[:32])
    write_lists(args.out, test_l[:96])
    with torch.no_grad():
        small, _ = mean_ap(decode(model(test_p[:96].float().cpu() / 255), .05), test_l[:96].cpu())
    report = {"classes": CLASSES, "strides": STRIDES, "anchors": ANCHORS, "map50_512_scenes": score,
              "map50_96_scenes": small, "per_class": per_class, "steps": args.steps, "torch": torch.__version__}
    with open(f"{args.out}/report.json", "w") as f:
        json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
