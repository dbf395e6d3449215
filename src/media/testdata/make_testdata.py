#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures in this folder and what OpenCV reads from them and makes of them.

Made with Debian 12's python3-opencv 4.6.0 (no IPP), python3-pil 9.4.0 and libjpeg-turbo 2.1.5:

    python3 make_testdata.py            # writes beside itself

expected_rgb.npy, expected_grey.npy: one row of pixels for each picture, in the order of PICTURES.
resize_source.npy: 30 x 40 x 3 of noise with hard edges.
resize_cases.npy: rows of channels, source width, source height, width, height, crc32 of the pixels after
cv2.resize of the top left corner of resize_source (its first channel when channels is 1).
"""
import os
import struct
import zlib

import cv2
import numpy as np
from PIL import Image

HEIGHT, WIDTH = 13, 19
PICTURES = ["baseline.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg", "rotated.jpg", "palette.png",
            "alpha.png", "deep.png", "interlaced.png", "grey_2bit.png", "palette.bmp", "rgb565.bmp",
            "topdown_32bit.bmp"]


def scene(rng):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    out = np.stack([x * 13 % 256, y * 19 % 256, x * y * 3 % 256], -1).astype(np.uint8)
    out[3:8, 4:10] = rng.integers(0, 256, (5, 6, 3))
    return out


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(name, bit_depth, color_type, rows, interlaced=0):
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bit_depth, color_type, 0, 0, interlaced)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    with open(name, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", data) +
                  png_chunk(b"IEND", b""))


def adam7_rows(pixels):
    for x, y, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                         (1, 0, 2, 2), (0, 1, 1, 2)):
        yield from (row.tobytes() for row in pixels[y::dy, x::dx])


def write_bmp(name, height, bits, compression, masks, pixels):
    offset = 14 + 40 + len(masks)
    info = struct.pack("<IiiHHIIiiII", 40, WIDTH, height, 1, bits, compression, 0, 0, 0, 0, 0)
    with open(name, "wb") as out:
        out.write(b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset) + info + masks + pixels)


def write_pictures(rng):
    pixels = scene(rng)
    picture = Image.fromarray(pixels)
    picture.save("baseline.jpg", quality=80, subsampling=2)
    picture.save("progressive.jpg", quality=80, subsampling=1, progressive=True)
    picture.convert("L").save("grey.jpg", quality=80)
    picture.convert("CMYK").save("cmyk.jpg", quality=80)
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save("rotated.jpg", quality=80, exif=exif)
    picture.quantize(30).save("palette.png", transparency=3)
    Image.fromarray(np.dstack([pixels, pixels[..., 0]])).save("alpha.png")
    deep = rng.integers(0, 65536, (HEIGHT, WIDTH, 3)).astype(">u2")
    write_png("deep.png", 16, 2, (row.tobytes() for row in deep))
    write_png("interlaced.png", 8, 2, adam7_rows(pixels), interlaced=1)
    packed = rng.integers(0, 256, (HEIGHT, 5)).astype(np.uint8)
    write_png("grey_2bit.png", 2, 0, (row.tobytes() for row in packed))
    picture.quantize(30).save("palette.bmp")
    words = rng.integers(0, 65536, (HEIGHT, 20)).astype("<u2")
    write_bmp("rgb565.bmp", HEIGHT, 16, 3, struct.pack("<III", 0xf800, 0x7e0, 0x1f), words.tobytes())
    quads = rng.integers(0, 256, (HEIGHT, WIDTH, 4)).astype(np.uint8)
    write_bmp("topdown_32bit.bmp", -HEIGHT, 32, 0, b"", quads.tobytes())


def write_resize_cases(rng):
    source = rng.integers(0, 256, (30, 40, 3)).astype(np.uint8)
    source[10:20] = np.where(source[10:20] > 127, 255, 0)
    np.save("resize_source.npy", source)
    sizes = [(1, 1, 1, 1), (1, 1, 5, 3), (5, 3, 1, 1), (40, 30, 40, 30), (40, 30, 20, 15), (40, 30, 80, 60),
             (40, 30, 20, 30), (40, 30, 40, 15), (40, 30, 10, 5), (2, 2, 1, 1), (2, 1, 1, 1), (39, 29, 13, 7),
             (39, 29, 77, 58), (1, 30, 7, 11), (40, 1, 17, 9), (7, 5, 79, 61)]
    while len(sizes) < 64:
        sizes.append((int(rng.integers(1, 41)), int(rng.integers(1, 31)), int(rng.integers(1, 90)),
                      int(rng.integers(1, 90))))
    cases = []
    for source_width, source_height, width, height in sizes:
        for channels in (1, 3):
            corner = np.ascontiguousarray(source[:source_height, :source_width, :channels])
            resized = cv2.resize(corner, (width, height), interpolation=cv2.INTER_LINEAR)
            cases.append((channels, source_width, source_height, width, height,
                          zlib.crc32(np.ascontiguousarray(resized).tobytes())))
    np.save("resize_cases.npy", np.array(cases, np.uint32))


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    rng = np.random.default_rng(20)
    write_pictures(rng)
    rgb = [cv2.imread(name, cv2.IMREAD_COLOR)[..., ::-1].ravel() for name in PICTURES]
    grey = [cv2.imread(name, cv2.IMREAD_GRAYSCALE).ravel() for name in PICTURES]
    np.save("expected_rgb.npy", np.stack(rgb))
    np.save("expected_grey.npy", np.stack(grey))
    write_resize_cases(rng)


if __name__ == "__main__":
    main()
