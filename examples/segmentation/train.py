#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small segmentation network on scenes that it draws itself, and exports it with test pictures and goldens.

    train.py OUT_DIR [--steps N]

Needs torch, onnx and onnxruntime. Writes shapes.onnx, test/N.ppm, calibration/NN.png, dataset.txt, golden/N.npy (the class
of every pixel by ONNX Runtime) and golden/N_sure.npy (where its best two classes differ by more than 0.25).
"""
import argparse
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "utils"))
import pictures as common

SIZE = 128
CLASSES = ("background", "circle", "square", "triangle")


def noise(random, height, width, cells):
    return common.smooth_noise(random, height, width, cells) - 0.5


def scene(random, height=SIZE, width=SIZE):
    """(picture of uint8, class of every pixel)."""
    picture = 0.5 + sum(weight * noise(random, height, width, cells) for cells, weight in ((3, 0.5), (9, 0.3), (31, 0.15)))
    classes = np.zeros((height, width), np.int64)
    ys, xs = np.mgrid[0:height, 0:width].astype("float32")
    for _ in range(random.randint(1, 5)):
        kind, r = random.randint(1, 4), min(height, width) * random.uniform(0.08, 0.24)
        cx, cy, turn = random.uniform(0, width), random.uniform(0, height), random.uniform(0, 2 * np.pi)
        x, y = xs - cx, ys - cy
        u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
        if kind == 1:
            inside = u * u + v * v < r * r
        elif kind == 2:
            inside = np.maximum(abs(u), abs(v)) < 0.85 * r
        else:
            inside = (v < 0.5 * r) & (0.866 * abs(u) - 0.5 * v < 0.5 * r)
        color = random.rand(3)
        mean = picture[inside].mean(0) if inside.any() else color
        if np.abs(color - mean).max() < 0.3:
            color = (mean + 0.5) % 1.0
        picture[inside] = color * (1 + 0.1 * noise(random, height, width, 9)[inside])
        classes[inside] = kind
    picture += 0.03 * random.randn(height, width, 3)
    return (np.clip(picture, 0, 1) * 255).astype("uint8"), classes


def conv(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU())


class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = conv(3, 16, 2), nn.Sequential(conv(16, 24, 2), conv(24, 24))
        self.c, self.d = nn.Sequential(conv(24, 40, 2), conv(40, 40)), nn.Sequential(conv(40, 56, 2), conv(56, 56), conv(56, 40))
        self.up_c, self.up_b, self.up_a = conv(80, 24), conv(48, 16), conv(32, 16)
        self.head = nn.Conv2d(16, len(CLASSES), 1)

    def forward(self, x):
        larger = lambda y: F.interpolate(y, scale_factor=2.0, mode="nearest")
        a = self.a(x)
        b = self.b(a)
        c = self.c(b)
        y = self.up_c(torch.cat((larger(self.d(c)), c), 1))
        y = self.up_b(torch.cat((larger(y), b), 1))
        return self.head(self.up_a(torch.cat((larger(y), a), 1)))  # half the picture's size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=1200)
    args = parser.parse_args()
    for folder in ("test", "calibration", "golden"):
        os.makedirs(os.path.join(args.out, folder), exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    random = np.random.RandomState(1)
    pool = [scene(random) for _ in range(1200)]
    pictures = torch.tensor(np.stack([p for p, _ in pool])).permute(0, 3, 1, 2)
    labels = torch.tensor(np.stack([c for _, c in pool]))
    model = Shapes()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=args.steps)
    for step in range(args.steps):
        index = torch.randint(len(pool), (16,))
        x, y = pictures[index].float() / 255, labels[index]
        x = (x[:, torch.randperm(3)] - 0.5) * (0.8 + 0.4 * torch.rand(16, 1, 1, 1)) + 0.5
        if step % 2:
            x, y = x.flip(3), y.flip(2)
        if step % 4 > 1:
            x, y = x.transpose(2, 3), y.transpose(1, 2)
        loss = F.cross_entropy(F.interpolate(model(x), scale_factor=2.0, mode="bilinear", align_corners=False), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print("step", step, "loss %.4f" % float(loss), flush=True)
    model.eval()
    path = os.path.join(args.out, "shapes.onnx")
    common.export_onnx(model, SIZE, path, "image", "classes")

    import onnxruntime
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.RandomState(2)
    common.write_calibration(args.out, [scene(random)[0] for _ in range(12)])
    right = total = 0
    for i in range(24):
        picture, truth = scene(random)
        logits = session.run(None, {"image": picture.transpose(2, 0, 1)[None].astype("float32") / 255})[0][0]
        best = np.sort(logits, axis=0)
        answer = logits.argmax(0).astype("uint8")
        right += (answer == truth[::2, ::2]).sum()
        total += answer.size
        if i < 3:
            common.write_ppm(os.path.join(args.out, "test", "%d.ppm" % i), picture)
            np.save(os.path.join(args.out, "golden", "%d.npy" % i), answer)
            np.save(os.path.join(args.out, "golden", "%d_sure.npy" % i), np.packbits(best[-1] - best[-2] > 0.25))
    print("pixels right: %.4f" % (right / total))


if __name__ == "__main__":
    main()
