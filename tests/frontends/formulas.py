# SPDX-License-Identifier: Apache-2.0
"""What operators of TFLite and TensorFlow compute, written out in numpy: pictures are NHWC."""
import numpy as np


def border(extent, kernel, stride, dilation, same):
    """(results, elements of border before) of one axis."""
    reach = (kernel - 1) * dilation + 1
    if not same:
        return (extent - reach) // stride + 1, 0
    results = -(-extent // stride)
    return results, max((results - 1) * stride + reach - extent, 0) // 2


def windows(x, kernel, stride, dilation, same):
    """Yields (y, x, rows, columns inside the picture, kernel rows, kernel columns) for each result."""
    results = [border(x.shape[i + 1], kernel[i], stride[i], dilation[i], same) for i in range(2)]
    for oy in range(results[0][0]):
        for ox in range(results[1][0]):
            taps = []
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    iy = oy * stride[0] - results[0][1] + ky * dilation[0]
                    ix = ox * stride[1] - results[1][1] + kx * dilation[1]
                    if 0 <= iy < x.shape[1] and 0 <= ix < x.shape[2]:
                        taps.append((iy, ix, ky, kx))
            yield oy, ox, taps


def sizes(x, kernel, stride, dilation, same):
    return tuple(border(x.shape[i + 1], kernel[i], stride[i], dilation[i], same)[0] for i in range(2))


def conv(x, w, b, stride=(1, 1), dilation=(1, 1), same=True, groups=1):
    """w is [out, h, w, in]."""
    kernel = w.shape[1:3]
    out = np.zeros((x.shape[0],) + sizes(x, kernel, stride, dilation, same) + (w.shape[0],), np.float64)
    cin, cout = x.shape[3] // groups, w.shape[0] // groups
    for oy, ox, taps in windows(x, kernel, stride, dilation, same):
        for iy, ix, ky, kx in taps:
            for g in range(groups):
                out[:, oy, ox, g * cout:(g + 1) * cout] += (
                    x[:, iy, ix, g * cin:(g + 1) * cin].astype(np.float64) @ w[g * cout:(g + 1) * cout, ky, kx].T)
    return out + b


def depthwise(x, w, b, stride=(1, 1), dilation=(1, 1), same=True):
    """w is [1, h, w, in * multiplier]."""
    kernel, times = w.shape[1:3], w.shape[3] // x.shape[3]
    out = np.zeros((x.shape[0],) + sizes(x, kernel, stride, dilation, same) + (w.shape[3],), np.float64)
    for oy, ox, taps in windows(x, kernel, stride, dilation, same):
        for iy, ix, ky, kx in taps:
            out[:, oy, ox] += np.repeat(x[:, iy, ix], times, axis=1) * w[0, ky, kx]
    return out + b


def transpose_conv(x, w, shape, stride, same):
    """w is [out, h, w, in]: every input element adds its filter to the result."""
    kernel = w.shape[1:3]
    full = [(x.shape[i + 1] - 1) * stride[i] + kernel[i] for i in range(2)]
    cut = [max(full[i] - shape[i + 1], 0) // 2 for i in range(2)]
    big = np.zeros((x.shape[0], max(full[0], shape[1] + cut[0]), max(full[1], shape[2] + cut[1]), w.shape[0]))
    for iy in range(x.shape[1]):
        for ix in range(x.shape[2]):
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    big[:, iy * stride[0] + ky, ix * stride[1] + kx] += x[:, iy, ix] @ w[:, ky, kx].T
    return big[:, cut[0]:cut[0] + shape[1], cut[1]:cut[1] + shape[2]]


def pool(x, kernel, stride, same, kind):
    out = np.zeros((x.shape[0],) + sizes(x, kernel, stride, (1, 1), same) + (x.shape[3],), np.float64)
    for oy, ox, taps in windows(x, kernel, stride, (1, 1), same):
        inside = np.stack([x[:, iy, ix] for iy, ix, _, _ in taps])
        out[:, oy, ox] = {"max": inside.max(0), "average": inside.mean(0),
                          "l2": np.sqrt((inside ** 2).mean(0))}[kind]
    return out


def resize(x, size, linear, align_corners=False, half_pixel=False):
    out = np.zeros((x.shape[0],) + tuple(size) + (x.shape[3],), np.float64)

    def source(i, n_in, n_out):
        if align_corners and n_out > 1:
            return i * (n_in - 1) / (n_out - 1)
        return (i + 0.5) * n_in / n_out - 0.5 if half_pixel and linear else i * n_in / n_out

    def nearest(i, n_in, n_out):
        if align_corners:
            at = int(np.floor(source(i, n_in, n_out) + 0.5))
        elif half_pixel:
            at = int(np.floor((i + 0.5) * n_in / n_out))
        else:
            at = int(np.floor(i * n_in / n_out))
        return min(at, n_in - 1)

    for oy in range(size[0]):
        for ox in range(size[1]):
            if not linear:
                out[:, oy, ox] = x[:, nearest(oy, x.shape[1], size[0]), nearest(ox, x.shape[2], size[1])]
                continue
            fy, fx = source(oy, x.shape[1], size[0]), source(ox, x.shape[2], size[1])
            fy, fx = min(max(fy, 0), x.shape[1] - 1), min(max(fx, 0), x.shape[2] - 1)
            y0, x0 = int(fy), int(fx)
            y1, x1 = min(y0 + 1, x.shape[1] - 1), min(x0 + 1, x.shape[2] - 1)
            dy, dx = fy - y0, fx - x0
            out[:, oy, ox] = ((1 - dy) * ((1 - dx) * x[:, y0, x0] + dx * x[:, y0, x1]) +
                              dy * ((1 - dx) * x[:, y1, x0] + dx * x[:, y1, x1]))
    return out


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x):
    """By its series: independent of any library."""
    x = np.asarray(x, np.float64)
    total, term = np.zeros_like(x), x.copy()
    for n in range(60):
        total += term / (2 * n + 1)
        term = -term * x * x / (n + 1)
    return 2 / np.sqrt(np.pi) * total


def lstm(x, w, r, b, time_major, peepholes=None, coupled=False):
    """Gates in the order input, forget, cell, output; x is [time, batch, depth] or [batch, time, depth]."""
    x = x if time_major else x.transpose(1, 0, 2)
    cells = r[1].shape[0]
    h, c, out = np.zeros((x.shape[1], cells)), np.zeros((x.shape[1], cells)), []
    for step in x:
        def gate(k):
            return step @ w[k].T + h @ r[k].T + b[k]
        p = peepholes or (0, 0, 0)
        f = sigmoid(gate(1) + p[1] * c)
        i = 1 - f if coupled else sigmoid(gate(0) + p[0] * c)
        c = f * c + i * np.tanh(gate(2))
        h = sigmoid(gate(3) + p[2] * c) * np.tanh(c)
        out.append(h)
    out = np.stack(out)
    return out if time_major else out.transpose(1, 0, 2)


def quantized(x, scale, zero, low=-128, high=127):
    return np.clip(np.rint(np.asarray(x, np.float64) / scale) + zero, low, high)


def rounded(x, scale, zero, low=-128, high=127):
    return (quantized(x, scale, zero, low, high) - zero) * scale
