# SPDX-License-Identifier: Apache-2.0
"""face_compare.py --detector DETECTOR.rknn --model EMBEDDER.rknn --img A --other B: do two pictures show the same person?"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'utils'))
sys.path.insert(0, os.path.join(HERE, '..', 'face'))
import face
import zoo

SIZE, SAME = 64, 0.5


def crop(picture, box):
    """The square around the box, cut to the picture, in the network's size."""
    half = max(box[2] - box[0], box[3] - box[1]) / 2
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    place = lambda at, most: int(np.clip(np.floor(at + 0.5), 0, most))
    rows, columns = picture.shape[:2]
    left, top = place(x - half, columns - 2), place(y - half, rows - 2)
    right, bottom = place(x + half - 1, columns - 1), place(y + half - 1, rows - 1)
    return zoo.resize(picture[top:bottom + 1, left:right + 1], SIZE, SIZE)


def best_face(rknn, picture):
    boxed, scale, x_pad, y_pad = zoo.letterbox(picture, face.WIDTH, face.HEIGHT, 127)
    boxes, scores = face.decode(*rknn.inference(inputs=[boxed[np.newaxis]], data_format=['nhwc']))
    if not len(scores):
        return None, 0
    best = int(scores.argmax())
    return zoo.in_picture(boxes[best:best + 1], scale, x_pad, y_pad, picture.shape)[0], scores[best]


if __name__ == '__main__':
    args = zoo.arguments(None, detector='.rknn file of ../face', other='the second picture')
    embedder, detector = zoo.start(args), zoo.RKNN()
    zoo.check('Load RKNN model', detector.load_rknn(args.detector))
    zoo.check('Init runtime', detector.init_runtime())
    found = []
    for path in (args.img, args.other):
        picture = zoo.read_image(path)
        box, score = best_face(detector, picture)
        if box is None:
            sys.exit("'%s': no face" % path)
        print('%s: face %.3f [%4d, %4d, %4d, %4d]' % (path, score, *[int(v) for v in box]))
        vector = embedder.inference(inputs=[crop(picture, box)[np.newaxis]], data_format=['nhwc'])[0].ravel().astype('float64')
        found.append(vector / np.linalg.norm(vector))
    similarity = float(found[0] @ found[1])
    print('similarity %.4f: %s' % (similarity, 'the same person' if similarity > SAME else 'another person'))
    detector.release()
    embedder.release()
