#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small embedding network on faces that it draws itself, and exports it with test pictures and goldens.

    train.py OUT_DIR [--steps N]

Needs torch and onnx. A person is a set of proportions and colors; light, place, size, turn, smile and noise
change from picture to picture. Persons of the test are not among those of the training. Writes faces.onnx, test/P_N.ppm
(three pictures of each of four persons), boxes.txt (where their faces are), calibration/NN.png and dataset.txt.
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

SIZE = 64           # of the network's input
LENGTH = 32         # of an embedding
TALL, WIDE = 120, 160  # of a test picture


def person(random):
    skin = np.array([random.uniform(0.55, 0.95), 0, 0])
    skin[1] = skin[0] * random.uniform(0.68, 0.82)
    skin[2] = skin[1] * random.uniform(0.65, 0.85)
    return {"skin": skin, "hair": random.uniform(0.02, 0.55) * np.array([1, random.uniform(0.6, 0.9), random.uniform(0.3, 0.7)]),
            "iris": random.rand(3) * 0.6, "lips": np.array([random.uniform(0.5, 0.8), random.uniform(0.15, 0.4), random.uniform(0.2, 0.4)]),
            "wide": random.uniform(0.66, 0.86), "eyes": random.uniform(0.27, 0.42), "eye": random.uniform(0.09, 0.15),
            "eye_y": random.uniform(-0.22, -0.05), "brow": random.uniform(0.10, 0.2), "brow_thick": random.uniform(0.02, 0.06),
            "nose": random.uniform(0.14, 0.32), "nose_wide": random.uniform(0.08, 0.16), "mouth": random.uniform(0.2, 0.36),
            "mouth_y": random.uniform(0.4, 0.56), "fringe": random.uniform(-0.75, -0.45), "beard": random.rand() < 0.3}


def draw(who, random, picture, cx, cy, r):
    """Paints the head of height 2 r; the box (left, top, right, bottom) of the face."""
    height, width = picture.shape[:2]
    ys, xs = np.mgrid[0:height, 0:width].astype("float32")
    turn, side = random.uniform(-0.12, 0.12), random.uniform(-0.08, 0.08)
    x0, y0 = (xs - cx) / r, (ys - cy) / r
    x, y = x0 * np.cos(turn) + y0 * np.sin(turn), y0 * np.cos(turn) - x0 * np.sin(turn)
    soft = lambda d: np.clip(0.5 - d * r, 0, 1)[..., None]  # d: distance to the edge, negative inside

    def paint(d, color):
        a = soft(d)
        picture[...] = picture * (1 - a) + a * color

    ellipse = lambda ex, ey, a, b: (np.sqrt(((x - ex) / a) ** 2 + ((y - ey) / b) ** 2) - 1) * min(a, b)
    shade = (1 - 0.35 * ((x / who["wide"]) ** 2)[..., None] + 0.12 * (x * random.uniform(-1, 1) - 0.5 * y)[..., None])
    paint(ellipse(0, -0.12, who["wide"] * 1.16, 1.08), who["hair"])
    paint(np.maximum(abs(x) - 0.4 * who["wide"], abs(y - 1.1) - 0.35), who["skin"] * 0.7)
    paint(ellipse(0, 0.05, who["wide"], 0.95), who["skin"] * np.clip(shade, 0.4, 1.2))
    if who["beard"]:
        paint(np.maximum(ellipse(0, 0.05, who["wide"], 0.95), 0.35 - y + 0.3 * (x / who["wide"]) ** 2), who["skin"] * 0.25 + who["hair"] * 0.6)
    paint(np.maximum(ellipse(0, 0.0, who["wide"] * 1.02, 1.0), y - who["fringe"] - 0.1 * np.cos(5 * x)), who["hair"])
    for s in (-1, 1):
        ex = s * who["eyes"] + side
        paint(ellipse(ex, who["eye_y"], who["eye"] * 1.35, who["eye"] * 0.95), who["skin"] * 0.72)
        paint(ellipse(ex, who["eye_y"], who["eye"], who["eye"] * 0.55), np.array([0.93, 0.93, 0.92]))
        paint(ellipse(ex + side * 0.4, who["eye_y"], who["eye"] * 0.5, who["eye"] * 0.5), who["iris"])
        paint(ellipse(ex + side * 0.4, who["eye_y"], who["eye"] * 0.24, who["eye"] * 0.24), np.array([0.03, 0.03, 0.03]))
        paint(np.maximum(abs(x - ex) - who["eye"] * 1.3, abs(y - who["eye_y"] + who["brow"] + 0.3 * (x - ex) ** 2) - who["brow_thick"]),
              who["hair"] * 0.7)
    ny = who["eye_y"] + who["nose"]
    paint(np.maximum(abs(x - side * 1.3 - 0.02) - 0.035, abs(y - (who["eye_y"] + ny) / 2) - who["nose"] / 2), who["skin"] * 0.88)
    for s in (-1, 1):
        paint(ellipse(side * 1.4 + s * who["nose_wide"] * 0.6, ny, who["nose_wide"] * 0.35, 0.035), who["skin"] * 0.4)
    smile = random.uniform(-0.25, 0.45)
    middle = who["mouth_y"] - smile * ((x - side) ** 2 - 0.03)
    paint(np.maximum(abs(x - side) - who["mouth"], abs(y - middle) - 0.055 * np.sqrt(np.clip(1 - ((x - side) / who["mouth"]) ** 2, 0.05, 1))),
          who["lips"])
    paint(np.maximum(abs(x - side) - who["mouth"] * 0.9, abs(y - middle) - 0.012), who["lips"] * 0.4)
    return cx - who["wide"] * r, cy - 0.75 * r, cx + who["wide"] * r, cy + 1.0 * r


def finish(picture, random):
    light = random.uniform(0.8, 1.15) * (1 + random.uniform(-0.05, 0.05, 3))
    picture = picture * light + 0.02 * random.randn(*picture.shape)
    return (np.clip(picture, 0, 1) * 255).astype("uint8")


def background(random, height, width):
    return common.smooth_noise(random, height, width, 5) * 0.5 + 0.2


def crop(who, random):
    """A training picture: the face's box with the errors that a detector makes."""
    picture = background(random, SIZE, SIZE)
    r = SIZE / 1.75 * random.uniform(0.9, 1.1)
    draw(who, random, picture, SIZE / 2 + random.uniform(-4, 4), SIZE / 2 - 0.125 * r + random.uniform(-4, 4), r)
    return finish(picture, random)


def vary(x):
    """What a detector's boxes, small faces and other light do to a picture."""
    n = len(x)
    scale, turn = 1 + 0.3 * (torch.rand(n) - 0.5), 0.2 * (torch.rand(n) - 0.5)
    shift = 0.25 * (torch.rand(n, 2) - 0.5)
    c, s = torch.cos(turn) * scale, torch.sin(turn) * scale
    theta = torch.stack((torch.stack((c, -s, shift[:, 0]), 1), torch.stack((s, c, shift[:, 1]), 1)), 1)
    x = F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), padding_mode="border", align_corners=False)
    small = F.interpolate(F.interpolate(x, size=(36, 36), mode="area"), size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    blurred = (torch.rand(n, 1, 1, 1) < 0.5).float()
    x = blurred * small + (1 - blurred) * x
    return x * (0.8 + 0.4 * torch.rand(n, 1, 1, 1)) * (0.95 + 0.1 * torch.rand(n, 3, 1, 1)) + 0.1 * (torch.rand(n, 1, 1, 1) - 0.5)


class Faces(nn.Module):
    def __init__(self):
        super().__init__()
        conv = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        self.body = nn.Sequential(conv(3, 16, 2), conv(16, 24, 2), conv(24, 40, 2), conv(40, 40, 1), conv(40, 64, 2), conv(64, 64, 1))
        self.head = nn.Conv2d(64, LENGTH, 4)

    def forward(self, x):
        return self.head(self.body(x)).flatten(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--pictures-only", action="store_true", help="the test pictures")
    args = parser.parse_args()
    for folder in ("test", "calibration"):
        os.makedirs(os.path.join(args.out, folder), exist_ok=True)
    random = np.random.RandomState(8)
    lines = []
    for p in range(4):
        who = person(random)
        for n in range(3):
            picture = background(random, TALL, WIDE)
            r = random.uniform(30, 42)
            box = draw(who, random, picture, random.uniform(60, 100), random.uniform(52, 62), r)
            picture = finish(picture, random)
            name = "test/%d_%d.ppm" % (p, n)
            common.write_ppm(os.path.join(args.out, name), picture)
            lines.append("%s %d %d %d %d" % (name, *[int(round(v)) for v in box]))
    with open(os.path.join(args.out, "boxes.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    if args.pictures_only:
        return
    torch.manual_seed(1)
    torch.set_num_threads(1)
    random = np.random.RandomState(1)
    people, each = 320, 8
    crowd = [person(random) for _ in range(people)]
    pictures = torch.tensor(np.stack([crop(who, random) for who in crowd for _ in range(each)])).permute(0, 3, 1, 2)
    model = Faces()
    centers = nn.Parameter(torch.randn(people, LENGTH) * 0.1)
    optimizer = torch.optim.AdamW([*model.parameters(), centers], lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=args.steps)
    for step in range(args.steps):
        index = torch.randint(people * each, (48,))
        target = index // each
        x = vary((pictures[index].float() - 127.5) / 127.5)
        cosines = F.normalize(model(x)) @ F.normalize(centers).T
        margin = F.one_hot(target, people) * 0.2
        loss = F.cross_entropy(16 * (cosines - margin), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print("step", step, "loss %.4f" % float(loss), flush=True)
    model.eval()
    with torch.no_grad():
        unseen = [person(random) for _ in range(30)]
        e = F.normalize(model((torch.tensor(np.stack([crop(w, random) for w in unseen for _ in range(4)])).permute(0, 3, 1, 2).float() - 127.5) / 127.5))
    similar = (e @ e.T).numpy()
    same = np.kron(np.eye(30), np.ones((4, 4))).astype(bool)
    for at in (0.3, 0.4, 0.5, 0.6, 0.7):
        print("at %.1f: same %.3f, other %.3f" % (at, (similar[same] > at).mean(), (similar[~same] > at).mean()))
    path = os.path.join(args.out, "faces.onnx")
    common.export_onnx(model, SIZE, path, "face", "embedding")
    common.write_calibration(args.out, [crop(person(random), random) for _ in range(12)])


if __name__ == "__main__":
    main()
