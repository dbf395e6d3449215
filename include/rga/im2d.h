/* SPDX-License-Identifier: Apache-2.0
 * The im2d interface of librga as far as OpenRKNN computes it, on the CPU. Values, sizes and names are those that programs
 * for the 2D engine are compiled with; docs/vendor-demos.md says how results are rounded and what is not offered.
 *
 * Calls return 1 (IM_STATUS_SUCCESS) or IM_STATUS_NOERROR from imcheck, and 0 or a negative number on failure;
 * imStrError() says why the last call of this thread failed. Results are there when a call returns, also with sync 0. */
#ifndef OPENRKNN_IM2D_H
#define OPENRKNN_IM2D_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rga.h"

#ifdef __cplusplus
#define IM_C_API extern "C"
#else
#define IM_C_API
#endif
#define IM_API
#define IM_EXPORT_API IM_C_API

typedef uint32_t im_api_version_t;
typedef uint32_t im_job_handle_t;
typedef uint32_t im_ctx_id_t;
typedef uint32_t rga_buffer_handle_t; /* 0: none */

/* Bits of `usage`; others are refused with IM_STATUS_NOT_SUPPORTED. */
typedef enum {
  IM_HAL_TRANSFORM_ROT_90 = 1 << 0, /* clockwise */
  IM_HAL_TRANSFORM_ROT_180 = 1 << 1,
  IM_HAL_TRANSFORM_ROT_270 = 1 << 2,
  IM_HAL_TRANSFORM_FLIP_H = 1 << 3, /* left becomes right */
  IM_HAL_TRANSFORM_FLIP_V = 1 << 4,
  IM_HAL_TRANSFORM_FLIP_H_V = 1 << 5,
  IM_HAL_TRANSFORM_MASK = 0x3f,
  IM_SYNC = 1 << 19,
  IM_CROP = 1 << 20,
  IM_COLOR_FILL = 1 << 21,
  IM_ASYNC = 1 << 26
} IM_USAGE;

typedef enum { IM_BORDER_CONSTANT = 0, IM_BORDER_REFLECT = 2, IM_BORDER_WRAP = 3 } IM_BORDER_TYPE;

typedef enum {
  IM_COLOR_SPACE_DEFAULT = 0, /* BT.601, limited range */
  IM_YUV_TO_RGB_BT601_LIMIT = 1,
  IM_YUV_TO_RGB_BT601_FULL = 2,
  IM_YUV_TO_RGB_BT709_LIMIT = 3,
  IM_YUV_TO_RGB_MASK = 3,
  IM_RGB_TO_YUV_BT601_FULL = 1 << 2,
  IM_RGB_TO_YUV_BT601_LIMIT = 2 << 2,
  IM_RGB_TO_YUV_BT709_LIMIT = 3 << 2,
  IM_RGB_TO_YUV_MASK = 3 << 2
} IM_COLOR_SPACE_MODE;

typedef enum { INTER_NEAREST, INTER_LINEAR, INTER_CUBIC } IM_SCALE_MODE;
typedef enum {
  IM_INTERP_DEFAULT = 0, /* here: as IM_INTERP_LINEAR */
  IM_INTERP_LINEAR = 1,
  IM_INTERP_CUBIC = 2, /* not offered */
  IM_INTERP_AVERAGE = 3
} IM_INTER_MODE;

typedef enum { IM_CONFIG_SCHEDULER_CORE, IM_CONFIG_PRIORITY, IM_CONFIG_CHECK } IM_CONFIG_NAME;
typedef enum {
  RGA_VENDOR = 0,
  RGA_VERSION,
  RGA_MAX_INPUT,
  RGA_MAX_OUTPUT,
  RGA_BYTE_STRIDE,
  RGA_SCALE_LIMIT,
  RGA_INPUT_FORMAT,
  RGA_OUTPUT_FORMAT,
  RGA_FEATURE,
  RGA_EXPECTED,
  RGA_ALL
} IM_INFORMATION;

typedef enum {
  IM_STATUS_NOERROR = 2,
  IM_STATUS_SUCCESS = 1,
  IM_STATUS_FAILED = 0,
  IM_STATUS_NOT_SUPPORTED = -1,
  IM_STATUS_OUT_OF_MEMORY = -2,
  IM_STATUS_INVALID_PARAM = -3,
  IM_STATUS_ILLEGAL_PARAM = -4,
  IM_STATUS_ERROR_VERSION = -5,
  IM_STATUS_NO_SESSION = -6
} IM_STATUS;

typedef struct {
  int x, y, width, height;
} im_rect;

typedef struct {
  int max, min;
} im_colorkey_range;

typedef struct im_nn {
  int scale_r, scale_g, scale_b, offset_r, offset_g, offset_b;
} im_nn_t;

/* One picture in memory: where it lies (one of handle, vir_addr, fd), its size and the distance of its rows and planes in
 * pixels. */
typedef struct {
  void* vir_addr;
  void* phy_addr;
  int fd;
  int width, height, wstride, hstride;
  int format; /* RK_FORMAT_... */
  int color_space_mode;
  int global_alpha;
  int rd_mode;
  int color;
  im_colorkey_range colorkey_range;
  im_nn_t nn;
  int rop_code;
  rga_buffer_handle_t handle;
} rga_buffer_t;

typedef struct im_handle_param {
  uint32_t width, height, format;
} im_handle_param_t;

/* Options of improcess. Only color is read. */
typedef struct im_opt {
  im_api_version_t version;
  int color;
  im_colorkey_range colorkey_range;
  im_nn_t nn;
  int rop_code, priority, core, mosaic_mode;
  char reserve[512]; /* at least as long as other versions of the header have it */
} im_opt_t;

/* Buffers. A handle keeps a file mapped until releasebuffer_handle(); an address must stay valid that long. */
IM_C_API rga_buffer_handle_t importbuffer_fd(int fd, im_handle_param_t* param);
IM_C_API rga_buffer_handle_t importbuffer_virtualaddr(void* va, im_handle_param_t* param);
IM_C_API rga_buffer_handle_t importbuffer_physicaladdr(uint64_t pa, im_handle_param_t* param);
IM_C_API IM_STATUS releasebuffer_handle(rga_buffer_handle_t handle);
IM_C_API rga_buffer_t wrapbuffer_handle_t(rga_buffer_handle_t handle, int width, int height,
                                          int wstride, int hstride, int format);
IM_C_API rga_buffer_t wrapbuffer_virtualaddr_t(void* vir_addr, int width, int height, int wstride,
                                               int hstride, int format);
IM_C_API rga_buffer_t wrapbuffer_physicaladdr_t(void* phy_addr, int width, int height, int wstride,
                                                int hstride, int format);
IM_C_API rga_buffer_t wrapbuffer_fd_t(int fd, int width, int height, int wstride, int hstride,
                                      int format);
/* wrapbuffer_x(place, width, height, format [, wstride, hstride]). */
#define OPENRKNN_WRAP(function, place, width, height, format, ...)                    \
  (__extension__({                                                                    \
    const int im_strides[] = {(width), (height), ##__VA_ARGS__};                      \
    const int im_at = sizeof im_strides / sizeof(int) == 4 ? 2 : 0;                   \
    function(place, width, height, im_strides[im_at], im_strides[im_at + 1], format); \
  }))
#define wrapbuffer_virtualaddr(place, width, height, format, ...) \
  OPENRKNN_WRAP(wrapbuffer_virtualaddr_t, place, width, height, format, ##__VA_ARGS__)
#define wrapbuffer_physicaladdr(place, width, height, format, ...) \
  OPENRKNN_WRAP(wrapbuffer_physicaladdr_t, place, width, height, format, ##__VA_ARGS__)
#define wrapbuffer_fd(place, width, height, format, ...) \
  OPENRKNN_WRAP(wrapbuffer_fd_t, place, width, height, format, ##__VA_ARGS__)
#ifndef __cplusplus
#define wrapbuffer_handle(place, width, height, format, ...) \
  OPENRKNN_WRAP(wrapbuffer_handle_t, place, width, height, format, ##__VA_ARGS__)
#endif

IM_C_API const char* imStrError_t(IM_STATUS status);
#define imStrError(...)                                                   \
  (__extension__({                                                        \
    const int im_codes[] = {IM_STATUS_INVALID_PARAM, ##__VA_ARGS__};      \
    imStrError_t((IM_STATUS)im_codes[sizeof im_codes / sizeof(int) - 1]); \
  }))
IM_C_API IM_STATUS imcheck_t(const rga_buffer_t src, const rga_buffer_t dst, const rga_buffer_t pat,
                             const im_rect src_rect, const im_rect dst_rect, const im_rect pat_rect,
                             const int mode_usage);
#define imcheck(src, dst, src_rect, dst_rect, ...)               \
  (__extension__({                                               \
    rga_buffer_t im_pat;                                         \
    im_rect im_pat_rect;                                         \
    const int im_usage[] = {0, ##__VA_ARGS__};                   \
    memset(&im_pat, 0, sizeof im_pat);                           \
    memset(&im_pat_rect, 0, sizeof im_pat_rect);                 \
    imcheck_t(src, dst, im_pat, src_rect, dst_rect, im_pat_rect, \
              im_usage[sizeof im_usage / sizeof(int) - 1]);      \
  }))
IM_C_API IM_STATUS imsync(int release_fence_fd);
IM_C_API IM_STATUS imconfig(IM_CONFIG_NAME name, uint64_t value);
IM_C_API const char* querystring(int name);

/* Everything at once: the source rectangle, turned as `usage` says, fills the destination rectangle. A rectangle of zeros is
 * the whole picture. */
IM_C_API IM_STATUS improcess(rga_buffer_t src, rga_buffer_t dst, rga_buffer_t pat, im_rect srect,
                             im_rect drect, im_rect prect, int usage);
IM_C_API IM_STATUS imcopy_t(const rga_buffer_t src, rga_buffer_t dst, int sync);
IM_C_API IM_STATUS imresize_t(const rga_buffer_t src, rga_buffer_t dst, double fx, double fy,
                              int interpolation, int sync);
IM_C_API IM_STATUS imcrop_t(const rga_buffer_t src, rga_buffer_t dst, im_rect rect, int sync);
IM_C_API IM_STATUS imtranslate_t(const rga_buffer_t src, rga_buffer_t dst, int x, int y, int sync);
IM_C_API IM_STATUS imcvtcolor_t(rga_buffer_t src, rga_buffer_t dst, int sfmt, int dfmt, int mode,
                                int sync);
IM_C_API IM_STATUS imrotate_t(const rga_buffer_t src, rga_buffer_t dst, int rotation, int sync);
IM_C_API IM_STATUS imflip_t(const rga_buffer_t src, rga_buffer_t dst, int mode, int sync);
/* color: 0xAABBGGRR. */
IM_C_API IM_STATUS imfill_t(rga_buffer_t dst, im_rect rect, int color, int sync);

#ifdef __cplusplus
IM_API rga_buffer_handle_t importbuffer_fd(int fd, int size);
IM_API rga_buffer_handle_t importbuffer_virtualaddr(void* va, int size);
IM_API rga_buffer_handle_t importbuffer_physicaladdr(uint64_t pa, int size);
IM_API rga_buffer_handle_t importbuffer_fd(int fd, int width, int height, int format);
IM_API rga_buffer_handle_t importbuffer_virtualaddr(void* va, int width, int height, int format);
IM_API rga_buffer_handle_t importbuffer_physicaladdr(uint64_t pa, int width, int height,
                                                     int format);
IM_API rga_buffer_t wrapbuffer_handle(rga_buffer_handle_t handle, int width, int height,
                                      int format);
IM_API rga_buffer_t wrapbuffer_handle(rga_buffer_handle_t handle, int width, int height, int format,
                                      int wstride, int hstride);
IM_API IM_STATUS imcopy(const rga_buffer_t src, rga_buffer_t dst, int sync = 1,
                        int* release_fence_fd = NULL);
IM_API IM_STATUS imresize(const rga_buffer_t src, rga_buffer_t dst, double fx = 0, double fy = 0,
                          int interpolation = IM_INTERP_DEFAULT, int sync = 1,
                          int* release_fence_fd = NULL);
IM_API IM_STATUS imcrop(const rga_buffer_t src, rga_buffer_t dst, im_rect rect, int sync = 1,
                        int* release_fence_fd = NULL);
IM_API IM_STATUS imtranslate(const rga_buffer_t src, rga_buffer_t dst, int x, int y, int sync = 1,
                             int* release_fence_fd = NULL);
IM_API IM_STATUS imcvtcolor(rga_buffer_t src, rga_buffer_t dst, int sfmt, int dfmt,
                            int mode = IM_COLOR_SPACE_DEFAULT, int sync = 1,
                            int* release_fence_fd = NULL);
IM_API IM_STATUS imrotate(const rga_buffer_t src, rga_buffer_t dst, int rotation, int sync = 1,
                          int* release_fence_fd = NULL);
IM_API IM_STATUS imflip(const rga_buffer_t src, rga_buffer_t dst, int mode, int sync = 1,
                        int* release_fence_fd = NULL);
IM_API IM_STATUS imfill(rga_buffer_t dst, im_rect rect, int color, int sync = 1,
                        int* release_fence_fd = NULL);
IM_API IM_STATUS improcess(rga_buffer_t src, rga_buffer_t dst, rga_buffer_t pat, im_rect srect,
                           im_rect drect, im_rect prect, int acquire_fence_fd,
                           int* release_fence_fd, im_opt_t* opt, int usage);
#else
#define imcopy(src, dst) imcopy_t(src, dst, 1)
#define imresize(src, dst) imresize_t(src, dst, 0, 0, IM_INTERP_DEFAULT, 1)
#define imcrop(src, dst, rect) imcrop_t(src, dst, rect, 1)
#define imcvtcolor(src, dst, sfmt, dfmt) \
  imcvtcolor_t(src, dst, sfmt, dfmt, IM_COLOR_SPACE_DEFAULT, 1)
#define imrotate(src, dst, rotation) imrotate_t(src, dst, rotation, 1)
#define imflip(src, dst, mode) imflip_t(src, dst, mode, 1)
#define imfill(dst, rect, color) imfill_t(dst, rect, color, 1)
#endif

#endif
