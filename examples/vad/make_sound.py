# SPDX-License-Identifier: Apache-2.0
"""make_sound.py OUT.wav [SECONDS] [SEED]: vowels, hisses and pauses in 16 kHz, which a voice detector takes for speech.

Voices of several heights and volumes, so that calibration needs no recording of anybody."""
import sys
import wave

import numpy as np

RATE = 16000
FORMANTS = np.array([(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410)])  # a i u e o, in Hz


def resonate(x, start, end, width):
    """Two poles, their frequency moving from start to end."""
    radius = np.exp(-np.pi * width / RATE)
    feedback = 2 * radius * np.cos(2 * np.pi * np.linspace(start, end, len(x)) / RATE)
    y, last, before = np.zeros(len(x)), 0.0, 0.0
    for n in range(len(x)):
        y[n] = (1 - radius) * x[n] + feedback[n] * last - radius * radius * before
        last, before = y[n], last
    return y / np.abs(y).max()


def fade(x, rise, fall):
    t = np.arange(len(x)) / RATE
    return x * np.minimum(1, np.minimum(t / rise, (len(x) / RATE - t) / fall))


def vowel(random, seconds, pitch):
    """From one vowel to another: pulses of the glottis behind three formants."""
    t = np.arange(int(seconds * RATE)) / RATE
    phase = np.cumsum(pitch * (1 + 0.15 * np.cos(np.pi * t / seconds) + 0.01 * np.sin(10 * np.pi * t))) / RATE % 1
    source = np.diff(np.sin(np.pi * np.minimum(phase / 0.4, 1)) ** 2, prepend=0) + 0.003 * random.randn(len(t))
    start, end = FORMANTS[random.randint(len(FORMANTS), size=2)]
    mixed = sum(w * resonate(source, a, b, width) for w, a, b, width in zip((1, 0.6, 0.3), start, end, (80, 100, 140)))
    return fade(mixed / np.abs(mixed).max(), 0.03, 0.05)


def hiss(random, seconds):
    place = random.choice([2500, 4500, 6000])
    return 0.3 * fade(resonate(random.randn(int(seconds * RATE)), place, place, 900), 0.02, 0.02)


def sound(seconds, seed):
    random = np.random.RandomState(seed)
    parts = []
    while sum(map(len, parts)) < seconds * RATE:
        parts.append(np.zeros(int(random.uniform(0.1, 0.5) * RATE)))
        pitch, volume = random.uniform(90, 240), 10 ** random.uniform(-1.2, -0.1)
        for _ in range(random.randint(1, 5)):
            if random.rand() < 0.6:
                parts.append(volume * hiss(random, random.uniform(0.05, 0.15)))
            parts.append(volume * vowel(random, random.uniform(0.1, 0.3), pitch))
    samples = np.concatenate(parts)[:int(seconds * RATE)]
    return np.clip(samples + 10 ** random.uniform(-3.5, -2.5) * random.randn(len(samples)), -1, 1)


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 4:
        sys.exit('usage: make_sound.py OUT.wav [SECONDS] [SEED]')
    seconds, seed = (float(sys.argv[2]) if len(sys.argv) > 2 else 3.0), (int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with wave.open(sys.argv[1], 'wb') as file:
        file.setparams((1, 2, RATE, 0, 'NONE', ''))
        file.writeframes((sound(seconds, seed) * 32767).astype('<i2').tobytes())
