/* SPDX-License-Identifier: Apache-2.0
 * What demos take from this header beside im2d.h. Functions that read and write files of raw pixels are not offered. */
#ifndef OPENRKNN_RGA_UTILS_H
#define OPENRKNN_RGA_UTILS_H

#include "rga.h"

/* Bytes of a pixel, with its share of the chroma planes: 1.5 for NV12. 0: not a format. */
float get_bpp_from_format(int format);
/* Bytes from one pixel of the first plane to the next. 0: not a format. */
int get_perPixel_stride_from_format(int format);
/* The format's name; never NULL. */
const char* translate_format_str(int format);

#endif
