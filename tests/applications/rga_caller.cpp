// SPDX-License-Identifier: Apache-2.0
// The calls a detection demo makes: a frame in NV12 behind a descriptor becomes a letterboxed RGB input. Compiled against
// im2d.h as a program for the engine would be; a solid color makes the result known.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "RgaUtils.h"
#include "im2d.hpp"
#include "rga.h"

static_assert(sizeof(rga_buffer_t) == 96, "as programs for the engine have it");

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "line %d: %s; %s\n", __LINE__, #condition, imStrError(status)); \
      return 1;                                                                       \
    }                                                                                 \
  } while (0)

int main() {
  IM_STATUS status = IM_STATUS_SUCCESS;
  CHECK(get_bpp_from_format(RK_FORMAT_YCbCr_420_SP) == 1.5f &&
        get_bpp_from_format(RK_FORMAT_YUYV_422) == 2.0f);
  CHECK(get_perPixel_stride_from_format(RK_FORMAT_RGBA_8888) == 4 &&
        get_bpp_from_format(RK_FORMAT_UNKNOWN) == 0);
  CHECK(std::strcmp(translate_format_str(RK_FORMAT_RGB_565), "RGB565") == 0 &&
        translate_format_str(-1) != nullptr);
  const int width = 64, height = 32, side = 48;
  const int fd = memfd_create("frame", 0);
  CHECK(fd >= 0 && ftruncate(fd, width * height * 3 / 2) == 0);
  rga_buffer_t frame = wrapbuffer_fd(fd, width, height, RK_FORMAT_YCbCr_420_SP);
  status = imfill(frame, {0, 0, width, height}, 0xff0000ff);  // red
  CHECK(status == IM_STATUS_SUCCESS);

  std::vector<uint8_t> input(side * side * 3);
  const rga_buffer_handle_t handle =
      importbuffer_virtualaddr(input.data(), side, side, RK_FORMAT_RGB_888);
  CHECK(handle != 0);
  rga_buffer_t target = wrapbuffer_handle(handle, side, side, RK_FORMAT_RGB_888);
  status = imfill(target, {0, 0, side, side}, 0x727272);
  CHECK(status == IM_STATUS_SUCCESS);
  const im_rect from = {0, 0, width, height}, to = {0, 12, side, 24};
  status = imcheck(frame, target, from, to);
  CHECK(status == IM_STATUS_NOERROR);
  status = improcess(frame, target, rga_buffer_t{}, from, to, im_rect{}, IM_SYNC);
  CHECK(status == IM_STATUS_SUCCESS);
  for (int y = 0; y < side; ++y) {
    const uint8_t* const pixel = &input[static_cast<size_t>(y * side * 3)];
    const bool inside = y >= 12 && y < 36;
    // Red is (81, 90, 240) in BT.601 limited and comes back as (254, 0, 0).
    CHECK(inside ? pixel[0] == 254 && pixel[1] == 0 && pixel[2] == 0 : pixel[0] == 0x72);
  }
  status = releasebuffer_handle(handle);
  CHECK(status == IM_STATUS_SUCCESS);
  status = improcess(frame, target, rga_buffer_t{}, from, to, im_rect{}, IM_SYNC);
  CHECK(status == IM_STATUS_FAILED);  // released
  close(fd);
  puts("letterbox of an NV12 frame: as expected");
  return 0;
}
