/* SPDX-License-Identifier: Apache-2.0
 * Pictures for the examples: read, write, convert, letterbox. Names and structures are those that programs of the vendor's
 * model zoo use. Scaling and colors are librga's (docs/vendor-demos.md says how they round). */
#ifndef OPENRKNN_IMAGE_UTILS_H
#define OPENRKNN_IMAGE_UTILS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IMAGE_FORMAT_GRAY8,
  IMAGE_FORMAT_RGB888,
  IMAGE_FORMAT_RGBA8888,
  IMAGE_FORMAT_YUV420SP_NV21,
  IMAGE_FORMAT_YUV420SP_NV12
} image_format_t;

typedef struct {
  int width, height;
  int width_stride, height_stride; /* pixels; 0: as the size */
  image_format_t format;
  unsigned char* virt_addr; /* or NULL and fd */
  int size;                 /* bytes */
  int fd;                   /* 0: none */
} image_buffer_t;

typedef struct {
  int left, top, right, bottom; /* pixels, all inside */
} image_rect_t;

/* From a picture to its letterbox: x * scale + x_pad. */
typedef struct {
  int x_pad, y_pad;
  float scale;
} letterbox_t;

/* All return 0, or -1 with a line on standard error. */

/* JPEG, PNG and BMP become RGB888, PPM too. Pixels are the caller's: free(image->virt_addr). */
int read_image(const char* path, image_buffer_t* image);
/* .png, .ppm; RGB888 and GRAY8. */
int write_image(const char* path, const image_buffer_t* image);
int get_image_size(const image_buffer_t* image);
/* A part (NULL: all) of one picture fills a part of the other; `color` fills the rest where dst_box is given. */
int convert_image(image_buffer_t* src, image_buffer_t* dst, image_rect_t* src_box,
                  image_rect_t* dst_box, char color);
/* Keeps the ratio of the sides, centered; `color` fills the bars. dst without memory gets some: free(dst->virt_addr). */
int convert_image_with_letterbox(image_buffer_t* src, image_buffer_t* dst, letterbox_t* letterbox,
                                 char color);

#ifdef __cplusplus
}
#endif
#endif
