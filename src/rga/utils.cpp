// SPDX-License-Identifier: Apache-2.0
// The functions of RgaUtils.h, from the table of formats.
#include "RgaUtils.h"

#include "rga/pixels.h"

// A block of 2 x 2 pixels has whole bytes in every format.
float get_bpp_from_format(int format) {
  const rk::rga::Format* const found = rk::rga::find_format(format);
  return found == nullptr ? 0 : static_cast<float>(rk::rga::View::size_bytes(*found, 2, 2)) / 4;
}

int get_perPixel_stride_from_format(int format) {
  const rk::rga::Format* const found = rk::rga::find_format(format);
  return found == nullptr ? 0 : found->bytes;
}

const char* translate_format_str(int format) {
  const rk::rga::Format* const found = rk::rga::find_format(format);
  return found == nullptr ? "UNKNOWN" : found->name;
}
