// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing, equal bit for bit to OpenCV 4.6's cv2.resize(..., INTER_LINEAR) on 8-bit
// pictures without vendor accelerators, since that is what calibration and accuracy figures
// elsewhere were made with.
//
// Note: there is no low-pass filter. Only halving both sides averages (2 x 2
// pixels); every other reduction takes four neighbors and skips the rest.
#pragma once

#include "media/picture.h"

namespace rk::media {

// kInvalidArgument when the new extents are beyond what a picture may have.
Result<Picture> resize_bilinear(const Picture& picture, int width, int height);

}  // namespace rk::media
