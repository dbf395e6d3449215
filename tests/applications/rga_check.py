#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""librga.so against an independent reference in numpy, over a table of formats, sizes and strides.

    rga_check.py LIBRGA [--quick]

The reference works on whole arrays: planes are cut out by slicing, colors are converted by matrices of fractions, and the
whole destination is compared, padding included. Bad handles and sizes must give the engine's codes.
"""
import argparse
import ctypes
import itertools
import os
import sys
from fractions import Fraction

import numpy as np

from common import figure

NOERROR, SUCCESS, FAILED, NOT_SUPPORTED, INVALID, ILLEGAL = 2, 1, 0, -1, -3, -4
RGB = {"RGBA": (0x000, "RGBA"), "RGBX": (0x100, "RGBX"), "RGB": (0x200, "RGB"), "BGRA": (0x300, "BGRA"),
       "BGR": (0x700, "BGR"), "BGRX": (0x1600, "BGRX"), "ARGB": (0x2800, "ARGB"), "XRGB": (0x2900, "XRGB"),
       "ABGR": (0x2c00, "ABGR"), "XBGR": (0x2d00, "XBGR")}
SEMI = {"NV16": (0x800, 1, False), "NV12": (0xa00, 2, False), "NV61": (0xc00, 1, True), "NV21": (0xe00, 2, True)}
PLANAR = {"I422": (0x900, 1, False), "I420": (0xb00, 2, False), "YV16": (0xd00, 1, True), "YV12": (0xf00, 2, True)}
PACKED = {"YVYU": 0x1800, "VYUY": 0x1a00, "YUYV": 0x1c00, "UYVY": 0x1e00}
FORMATS = list(RGB) + ["RGB565", "GRAY"] + list(SEMI) + list(PLANAR) + list(PACKED)


class Rect(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("x", "y", "width", "height")]


class Buffer(ctypes.Structure):
    _fields_ = [("vir_addr", ctypes.c_void_p), ("phy_addr", ctypes.c_void_p)] + [
        (name, ctypes.c_int) for name in ("fd", "width", "height", "wstride", "hstride", "format", "color_space_mode",
                                          "global_alpha", "rd_mode", "color", "key_max", "key_min", "nn0", "nn1", "nn2",
                                          "nn3", "nn4", "nn5", "rop_code")] + [("handle", ctypes.c_uint32)]


class Param(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("width", "height", "format")]


def value_of(name):
    for table in (RGB, SEMI, PLANAR):
        if name in table:
            return table[name][0]
    return {"RGB565": 0x400, "GRAY": 0x1500}.get(name) or PACKED[name]


def is_yuv(name):
    return name not in RGB and name != "RGB565"


def size_of(name, w, h):
    if name in RGB:
        return w * h * len(RGB[name][1])
    if name == "RGB565" or name in PACKED:
        return 2 * w * h
    if name == "GRAY":
        return w * h
    return w * h + 2 * (w // 2) * (h // (SEMI.get(name) or PLANAR[name])[1])


def planes(name, data, w, h):
    """Views of the components: {'R': array, ...}; chroma in its own size."""
    if name in RGB:
        order = RGB[name][1]
        pixels = data.reshape(h, w, len(order))
        return {c: pixels[..., i] for i, c in enumerate(order)}
    if name in PACKED:
        pairs = data.reshape(h, w // 2, 4)
        luma = [i for i, c in enumerate(name) if c == "Y"]
        return {"Y": pairs[..., luma[0]::2], "U": pairs[..., name.index("U")], "V": pairs[..., name.index("V")]}
    luma = data[:w * h].reshape(h, w)
    if name == "GRAY":
        return {"Y": luma}
    _, down, cr_first = SEMI.get(name) or PLANAR[name]
    rows = h // down
    rest = data[w * h:w * h + w * rows]
    first, second = (rest.reshape(rows, w // 2, 2)[..., 0], rest.reshape(rows, w // 2, 2)[..., 1]) if name in SEMI else \
        (rest[:w // 2 * rows].reshape(rows, w // 2), rest[w // 2 * rows:].reshape(rows, w // 2))
    return {"Y": luma, "U": second if cr_first else first, "V": first if cr_first else second}


def read(name, data, w, h):
    """(h, w, 4) of int64: RGBA or YUVA."""
    out = np.full((h, w, 4), 255, np.int64)
    if name == "RGB565":
        word = data.view("<u2").reshape(h, w).astype(np.int64)
        five = lambda v: v * 8 + v // 4
        out[..., 0], out[..., 2] = five(word // 2048), five(word % 32)
        six = word // 32 % 64
        out[..., 1] = six * 4 + six // 16
        return out
    p = planes(name, data, w, h)
    if not is_yuv(name):
        for i, c in enumerate("RGBA"):
            if c in p:
                out[..., i] = p[c]
        return out
    out[..., 0] = p["Y"].reshape(h, w)
    for i, c in ((1, "U"), (2, "V")):
        if c not in p:
            out[..., i] = 128
        else:
            out[..., i] = np.kron(p[c], np.ones((h // p[c].shape[0], 2), np.int64))
    return out


def write(name, data, w, h, rect, pixels):
    x, y, rw, rh = rect
    pixels = pixels.astype(np.int64)
    if name == "RGB565":
        word = data.view("<u2").reshape(h, w)
        word[y:y + rh, x:x + rw] = pixels[..., 0] // 8 * 2048 + pixels[..., 1] // 4 * 32 + pixels[..., 2] // 8
        return
    p = planes(name, data, w, h)
    if not is_yuv(name):
        for c in p:
            p[c][y:y + rh, x:x + rw] = 255 if c == "X" else pixels[..., "RGBA".index(c)]
        return
    if name in PACKED:
        p["Y"][y:y + rh, x // 2:(x + rw) // 2] = pixels[..., 0].reshape(rh, rw // 2, 2)
    else:
        p["Y"][y:y + rh, x:x + rw] = pixels[..., 0]
    for i, c in ((1, "U"), (2, "V")):
        if c in p:
            down = h // p[c].shape[0]
            blocks = pixels[..., i].reshape(rh // down, down, rw // 2, 2).sum(axis=(1, 3))
            p[c][y // down:(y + rh) // down, x // 2:(x + rw) // 2] = (2 * blocks + 2 * down) // (4 * down)


def matrix(standard, full):
    """3 x 4 of fractions from RGB to YUV, by the definition of the color differences."""
    kr, kb = (Fraction("0.299"), Fraction("0.114")) if standard == 601 else (Fraction("0.2126"), Fraction("0.0722"))
    y = [kr, 1 - kr - kb, kb]
    u = [-c / (2 * (1 - kb)) for c in y[:2]] + [Fraction(1, 2)]
    v = [Fraction(1, 2)] + [-c / (2 * (1 - kr)) for c in y[1:]]
    luma, chroma, black = (Fraction(1), Fraction(1), 0) if full else (Fraction(219, 255), Fraction(224, 255), 16)
    return [[c * luma for c in y] + [Fraction(black)], [c * chroma for c in u] + [Fraction(128)],
            [c * chroma for c in v] + [Fraction(128)]]


def inverse(m):
    """Of the affine map, by Cramer's rule."""
    a = [row[:3] for row in m]
    det3 = lambda b: (b[0][0] * (b[1][1] * b[2][2] - b[1][2] * b[2][1]) - b[0][1] * (b[1][0] * b[2][2] - b[1][2] * b[2][0])
                      + b[0][2] * (b[1][0] * b[2][1] - b[1][1] * b[2][0]))
    det = det3(a)
    inv = [[None] * 3 for _ in range(3)]
    for i, j in itertools.product(range(3), range(3)):
        unit = [[(a[r][c] if c != i else Fraction(int(r == j))) for c in range(3)] for r in range(3)]
        inv[i][j] = det3(unit) / det
    return [row + [-sum(row[k] * m[k][3] for k in range(3))] for row in inv]


def apply(m, pixels):
    out = pixels.copy()
    for i, row in enumerate(m):
        common = 1
        for f in row:
            common = common * f.denominator // np.gcd(common, f.denominator)
        n = [int(f * common) for f in row]
        total = sum(pixels[..., k].astype(object) * n[k] for k in range(3)) + n[3]
        out[..., i] = np.clip(np.array((2 * total + int(common)) // (2 * int(common)), dtype=np.int64), 0, 255)
    return out


TO_YUV = {0: (601, False), 4: (601, True), 8: (601, False), 12: (709, False)}
TO_RGB = {0: (601, False), 1: (601, False), 2: (601, True), 3: (709, False)}


def recolor(pixels, source, target, mode):
    if is_yuv(source) == is_yuv(target):
        return pixels
    return apply(matrix(*TO_YUV[mode & 12]), pixels) if is_yuv(target) else apply(inverse(matrix(*TO_RGB[mode & 3])), pixels)


def resize(pixels, w, h, average=False):
    sh, sw = pixels.shape[:2]
    if (sh, sw) == (h, w):
        return pixels
    if average and sw >= w and sh >= h:
        out = np.zeros((h, w, 4), np.int64)
        for y, x in itertools.product(range(h), range(w)):
            block = pixels[y * sh // h:-(-(y + 1) * sh // h), x * sw // w:-(-(x + 1) * sw // w)].reshape(-1, 4)
            out[y, x] = (block.sum(axis=0) + len(block) // 2) // len(block)
        return out

    def taps(from_, to):
        at = np.clip((2 * np.arange(to, dtype=np.int64) + 1) * from_ * 1024 // to - 1024, 0, (from_ - 1) * 2048)
        return at // 2048, np.minimum(at // 2048 + 1, from_ - 1), at % 2048
    x0, x1, fx = taps(sw, w)
    y0, y1, fy = taps(sh, h)
    across = lambda rows: rows[:, x0] * (2048 - fx)[None, :, None] + rows[:, x1] * fx[None, :, None]
    top, bottom = across(pixels[y0]), across(pixels[y1])
    return (top * (2048 - fy)[:, None, None] + bottom * fy[:, None, None] + 2 ** 21) // 2 ** 22


class Engine:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.wrapbuffer_virtualaddr_t.restype = Buffer
        self.lib.wrapbuffer_handle_t.restype = Buffer
        self.lib.wrapbuffer_fd_t.restype = Buffer
        self.lib.imStrError_t.restype = ctypes.c_char_p
        self.lib.importbuffer_virtualaddr.restype = ctypes.c_uint32
        self.lib.importbuffer_fd.restype = ctypes.c_uint32

    def wrap(self, data, name, w, h, ws, hs):
        return self.lib.wrapbuffer_virtualaddr_t(ctypes.c_void_p(data.ctypes.data), w, h, ws, hs, value_of(name))


def check_table(engine, quick):
    random = np.random.RandomState(7)
    sizes = [(4, 6, 0, 0), (20, 14, 6, 2), (34, 10, 14, 4)]
    cases = wrong = 0
    for source, target in itertools.product(FORMATS, FORMATS):
        if quick and source != target and (FORMATS.index(source) + FORMATS.index(target)) % 5:
            continue
        for k, (w, h, pad_w, pad_h) in enumerate(sizes[:1] if quick else sizes):
            ws, hs = w + pad_w, h + pad_h
            src = random.randint(0, 256, size_of(source, ws, hs)).astype(np.uint8)
            pixels = read(source, src, ws, hs)[:h, :w]
            tw, th = [(w, h), (w * 2 + 2, h * 2), (w // 4 * 2, h // 4 * 2)][(cases + k) % 3]
            tw, th = max(tw, 2), max(th, 2)
            tws, ths = tw + pad_w, th + pad_h
            before = random.randint(0, 256, size_of(target, tws, ths)).astype(np.uint8)
            from_ = engine.wrap(src, source, w, h, ws, hs)

            def judge(expected, found, status, what):
                nonlocal cases, wrong
                cases += 1
                if status != SUCCESS or not np.array_equal(expected, found):
                    wrong += 1
                    if wrong <= 10:
                        print("%s %s -> %s %dx%d -> %dx%d: status %d, %d bytes differ" % (
                            what, source, target, w, h, tw, th, status, int((expected != found).sum())))

            # Scaling with conversion, default and averaging.
            for average in (False, True):
                found, expected = before.copy(), before.copy()
                status = engine.lib.imresize_t(from_, engine.wrap(found, target, tw, th, tws, ths), ctypes.c_double(0),
                                               ctypes.c_double(0), 3 if average else 1, 1)
                write(target, expected, tws, ths, (0, 0, tw, th), recolor(resize(pixels, tw, th, average), source, target, 0))
                judge(expected, found, status, "imresize")
            # A part of the picture into a part of another, turned.
            found, expected = before.copy(), before.copy()
            part = Rect(2, 2, w - 2, h - 2) if w > 4 else Rect(0, 0, w, h)
            to = Rect(0, 0, tw, th) if tw <= 4 or th <= 4 else Rect(2, 2, tw - 2, th - 2)
            usage = [0, 1, 2, 4, 8, 16, 32, 9][cases % 8]
            status = engine.lib.improcess(from_, engine.wrap(found, target, tw, th, tws, ths), Buffer(), part, to, Rect(), usage)
            turned = pixels[part.y:part.y + part.height, part.x:part.x + part.width]
            if usage & (8 | 32):
                turned = turned[:, ::-1]
            if usage & (16 | 32):
                turned = turned[::-1]
            turned = np.rot90(turned, -{1: 1, 2: 2, 4: 3}.get(usage & 7, 0))
            write(target, expected, tws, ths, (to.x, to.y, to.width, to.height),
                  recolor(resize(turned, to.width, to.height), source, target, 0))
            judge(expected, found, status, "improcess(%d)" % usage)
            # Every color matrix, and the plain calls.
            same = random.randint(0, 256, size_of(target, ws, hs)).astype(np.uint8)
            for mode in (0, 1, 2, 3, 4, 8, 12) if is_yuv(source) != is_yuv(target) else (0,):
                if mode and bool(mode & 3) != is_yuv(source):
                    continue
                found, expected = same.copy(), same.copy()
                status = engine.lib.imcvtcolor_t(from_, engine.wrap(found, target, w, h, ws, hs), value_of(source),
                                                 value_of(target), mode, 1)
                write(target, expected, ws, hs, (0, 0, w, h), recolor(pixels, source, target, mode))
                judge(expected, found, status, "imcvtcolor(%d)" % mode)
            if source == target:
                found, expected = same.copy(), same.copy()
                status = engine.lib.imcopy_t(from_, engine.wrap(found, target, w, h, ws, hs), 1)
                write(target, expected, ws, hs, (0, 0, w, h), pixels)
                judge(expected, found, status, "imcopy")
                found, expected = same.copy(), same.copy()
                status = engine.lib.imfill_t(engine.wrap(found, target, w, h, ws, hs), Rect(2, 2, w - 2, h - 2), 0x40a0c8e0 - 0, 1)
                color = np.tile(np.array([0xe0, 0xc8, 0xa0, 0x40], np.int64), (h - 2, w - 2, 1))
                write(target, expected, ws, hs, (2, 2, w - 2, h - 2), recolor(color, "RGBA", target, 0))
                judge(expected, found, status, "imfill")
                found, expected = np.zeros(size_of(target, 2, 4), np.uint8), np.zeros(size_of(target, 2, 4), np.uint8)
                status = engine.lib.imcrop_t(from_, engine.wrap(found, target, 2, 4, 2, 4), Rect(2, 2, 2, 4), 1)
                write(target, expected, 2, 4, (0, 0, 2, 4), pixels[2:6, 2:4])
                judge(expected, found, status, "imcrop")
    return cases, wrong


def check_buffers(engine):
    """Handles and descriptors give the bytes of plain addresses. Number of failures."""
    lib, bad = engine.lib, 0
    w, h = 16, 12
    data = np.random.RandomState(3).randint(0, 256, w * h * 3).astype(np.uint8)
    fd = os.memfd_create("rga")
    os.write(fd, data.tobytes())
    handle = lib.importbuffer_virtualaddr(ctypes.c_void_p(data.ctypes.data), ctypes.byref(Param(w, h, 0x200)))
    file_handle = lib.importbuffer_fd(fd, ctypes.byref(Param(w, h, 0x200)))
    for source in (lib.wrapbuffer_handle_t(handle, w, h, w, h, 0x200), lib.wrapbuffer_handle_t(file_handle, w, h, w, h, 0x200),
                   lib.wrapbuffer_fd_t(fd, w, h, w, h, 0x200)):
        out = np.zeros_like(data)
        status = lib.imcopy_t(source, engine.wrap(out, "RGB", w, h, w, h), 1)
        bad += status != SUCCESS or not np.array_equal(out, data)
    bad += lib.imfill_t(lib.wrapbuffer_fd_t(fd, w, h, w, h, 0x200), Rect(0, 0, w, h), 0x010203, 1) != SUCCESS
    bad += os.pread(fd, 6, 0) != b"\x03\x02\x01" * 2
    bad += lib.releasebuffer_handle(handle) != SUCCESS or lib.releasebuffer_handle(file_handle) != SUCCESS
    os.close(fd)
    return bad


def check_codes(engine):
    """(right, all) of calls that must fail with a certain code."""
    lib = engine.lib
    data, out = np.zeros(64 * 64 * 4, np.uint8), np.zeros(64 * 64 * 4, np.uint8)
    good = engine.wrap(data, "RGB", 16, 16, 16, 16)
    dst = lambda w=16, h=16, ws=None, hs=None, name="RGB": engine.wrap(out, name, w, h, w if ws is None else ws, h if hs is None else hs)
    copy = lambda a, b: lib.imcopy_t(a, b, 1)
    scale = lambda a, b, how=1: lib.imresize_t(a, b, ctypes.c_double(0), ctypes.c_double(0), how, 1)
    unknown = dst()
    unknown.format = 0x4000
    short = lib.importbuffer_virtualaddr(ctypes.c_void_p(data.ctypes.data), ctypes.byref(Param(4, 4, 0x200)))
    fd = os.memfd_create("short")
    os.truncate(fd, 100)
    nothing = Buffer()
    nothing.fd = -1
    nothing.width = nothing.height = nothing.wstride = nothing.hstride = 16
    nothing.format = 0x200
    checks = [
        ("width 0", copy(good, dst(0, 16)), ILLEGAL), ("height -1", copy(good, dst(16, -1)), ILLEGAL),
        ("1 x 1", copy(good, dst(1, 1)), ILLEGAL), ("stride below width", copy(good, dst(ws=8)), INVALID),
        ("height stride below height", copy(good, dst(hs=8)), INVALID), ("unknown format", copy(good, unknown), NOT_SUPPORTED),
        ("copy of another size", copy(good, dst(8, 8)), INVALID), ("no memory", copy(nothing, dst()), INVALID),
        ("unknown handle", copy(lib.wrapbuffer_handle_t(99999, 16, 16, 16, 16, 0x200), dst()), FAILED),
        ("handle too small", copy(lib.wrapbuffer_handle_t(short, 16, 16, 16, 16, 0x200), dst()), FAILED),
        ("file too small", copy(lib.wrapbuffer_fd_t(fd, 16, 16, 16, 16, 0x200), dst()), FAILED),
        ("closed descriptor", copy(lib.wrapbuffer_fd_t(987, 16, 16, 16, 16, 0x200), dst()), FAILED),
        ("release twice", (lib.releasebuffer_handle(short), lib.releasebuffer_handle(short))[1], FAILED),
        ("negative rectangle", lib.imcrop_t(good, dst(8, 8), Rect(-2, 0, 8, 8), 1), ILLEGAL),
        ("rectangle outside", lib.imcrop_t(good, dst(8, 8), Rect(10, 0, 8, 8), 1), INVALID),
        ("rectangle of 2^31", lib.imcrop_t(good, dst(8, 8), Rect(2147483646, 0, 8, 8), 1), INVALID),
        ("odd NV12 rectangle", lib.imfill_t(dst(name="NV12"), Rect(1, 0, 4, 4), 0, 1), INVALID),
        ("33 times larger", scale(engine.wrap(data, "RGB", 2, 2, 2, 2), dst(64, 64)), NOT_SUPPORTED),
        ("cubic", scale(good, dst(8, 8), 2), NOT_SUPPORTED), ("9000 pixels", copy(good, dst(9000, 2)), NOT_SUPPORTED),
        ("blending", lib.improcess(good, dst(), Buffer(), Rect(), Rect(), Rect(), 1 << 6), NOT_SUPPORTED),
        ("two rotations", lib.improcess(good, dst(), Buffer(), Rect(), Rect(), Rect(), 3), INVALID),
        ("import of nothing", lib.importbuffer_virtualaddr(None, ctypes.byref(Param(4, 4, 0x200))), 0),
        ("import without size", lib.importbuffer_virtualaddr(ctypes.c_void_p(data.ctypes.data), ctypes.byref(Param(0, 4, 0x200))), 0),
        ("import of a bad descriptor", lib.importbuffer_fd(-1, ctypes.byref(Param(4, 4, 0x200))), 0),
        ("imcheck of good pictures", lib.imcheck_t(good, dst(), Buffer(), Rect(), Rect(), Rect(), 0), NOERROR),
        ("imcheck of a bad rectangle", lib.imcheck_t(good, dst(), Buffer(), Rect(0, 0, 17, 4), Rect(), Rect(), 0), INVALID),
    ]
    os.close(fd)
    for name, found, expected in checks:
        if found != expected:
            print("%s: %d, expected %d (%s)" % (name, found, expected, lib.imStrError_t(found)))
    return sum(found == expected for _, found, expected in checks), len(checks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--quick", action="store_true", help="one size and every fifth pair of formats")
    args = parser.parse_args()
    engine = Engine(os.path.abspath(args.library))
    cases, wrong = check_table(engine, args.quick)
    ok = figure("librga: %d formats, calls that differ from the reference" % len(FORMATS), "%d of %d" % (wrong, cases), "0",
                wrong == 0 and cases > 100)
    ok &= figure("librga: handles and descriptors", "%d failures" % check_buffers(engine), "0", check_buffers(engine) == 0)
    right, count = check_codes(engine)
    ok &= figure("librga: error codes", "%d of %d" % (right, count), "all", right == count)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
