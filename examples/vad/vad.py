# SPDX-License-Identifier: Apache-2.0
"""vad.py --model MODEL.rknn --img SOUND.wav: voice activity in 16 kHz mono sound, the state fed back from step to step."""
import os
import sys
import wave

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'utils'))
import zoo


def read_wav(path):
    with wave.open(path) as sound:
        if (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) != (1, 2, 16000):
            sys.exit("'%s': PCM of 16 bits, one channel, 16 kHz is read" % path)
        return np.frombuffer(sound.readframes(sound.getnframes()), '<i2').astype('float32') / 32768


if __name__ == '__main__':
    args = zoo.arguments(None, dataset='list of calibration data to write: windows and states of this sound')
    rknn = zoo.start(args)
    samples = read_wav(args.img)
    window, state = np.zeros((1, 576), 'float32'), np.zeros((2, 1, 128), 'float32')
    lines = []
    for at in range(0, len(samples) - 511, 512):
        window = np.concatenate([window[:, -64:], samples[np.newaxis, at:at + 512]], axis=1)
        if args.dataset:
            files = ['%s_%s_%d.npy' % (args.dataset, name, at) for name in ('window', 'state')]
            for file, array in zip(files, (window, state)):
                np.save(file, array)
            lines.append(' '.join(os.path.abspath(file) for file in files))
        speech, state = rknn.inference(inputs=[window, state])
        print('%6.3f s  speech %.4f%s' % (at / 16000, speech[0, 0], '  *' if speech[0, 0] > 0.5 else ''))
    if args.dataset:
        with open(args.dataset, 'w') as listing:
            listing.write('\n'.join(lines) + '\n')
    rknn.release()
