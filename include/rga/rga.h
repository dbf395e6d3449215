/* SPDX-License-Identifier: Apache-2.0
 * Pixel formats of the 2D engine, with the values that programs for it use. Names read from the first byte of a pixel on:
 * RGB_888 has red first. SP: two planes, P: three; 420_SP with Cb first is NV12, with Cr first NV21. */
#ifndef OPENRKNN_RGA_H
#define OPENRKNN_RGA_H

typedef enum {
  RK_FORMAT_RGBA_8888 = 0x000,
  RK_FORMAT_RGBX_8888 = 0x100,
  RK_FORMAT_RGB_888 = 0x200,
  RK_FORMAT_BGRA_8888 = 0x300,
  RK_FORMAT_RGB_565 = 0x400,
  RK_FORMAT_BGR_888 = 0x700,
  RK_FORMAT_YCbCr_422_SP = 0x800,
  RK_FORMAT_YCbCr_422_P = 0x900,
  RK_FORMAT_YCbCr_420_SP = 0xa00,
  RK_FORMAT_YCbCr_420_P = 0xb00,
  RK_FORMAT_YCrCb_422_SP = 0xc00,
  RK_FORMAT_YCrCb_422_P = 0xd00,
  RK_FORMAT_YCrCb_420_SP = 0xe00,
  RK_FORMAT_YCrCb_420_P = 0xf00,
  RK_FORMAT_YCbCr_400 = 0x1500, /* gray */
  RK_FORMAT_BGRX_8888 = 0x1600,
  RK_FORMAT_YVYU_422 = 0x1800,
  RK_FORMAT_VYUY_422 = 0x1a00,
  RK_FORMAT_YUYV_422 = 0x1c00,
  RK_FORMAT_UYVY_422 = 0x1e00,
  RK_FORMAT_ARGB_8888 = 0x2800,
  RK_FORMAT_XRGB_8888 = 0x2900,
  RK_FORMAT_ABGR_8888 = 0x2c00,
  RK_FORMAT_XBGR_8888 = 0x2d00,
  RK_FORMAT_UNKNOWN = 0x10000
} RgaSURF_FORMAT;

#endif
