# SPDX-License-Identifier: Apache-2.0
"""What the training scripts share: smooth random colors, and pictures written without an image library."""
import struct
import zlib

import torch
import torch.nn.functional as F


def smooth_noise(random, height, width, cells):
    """(height, width, 3) around 0 to 1: random colors of cells x cells points, blended."""
    grid = torch.tensor(random.rand(1, 3, cells, cells).astype("float32"))
    return F.interpolate(grid, size=(height, width), mode="bicubic", align_corners=True)[0].permute(1, 2, 0).numpy()


def write_ppm(path, picture):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (picture.shape[1], picture.shape[0]) + picture.tobytes())


def write_png(path, picture):
    """RGB of 8 bits, rows without filters."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def write_calibration(folder, pictures):
    """calibration/NN.png and the list dataset.txt."""
    with open(folder + "/dataset.txt", "w") as listing:
        for i, picture in enumerate(pictures):
            write_png(folder + "/calibration/%02d.png" % i, picture)
            listing.write("./calibration/%02d.png\n" % i)


def export_onnx(model, size, path, input_name, output_name):
    options = {"dynamo": False} if torch.__version__ >= "2.5" else {}
    torch.onnx.export(model, torch.zeros(1, 3, size, size), path, input_names=[input_name], output_names=[output_name],
                      opset_version=12, **options)
