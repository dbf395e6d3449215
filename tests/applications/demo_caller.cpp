// SPDX-License-Identifier: Apache-2.0
// A classification demo in the way demos for boards are written: the 2D engine scales a picture into the NPU's input memory by
// its descriptor, outputs are bound as floats, the five best are printed. docs/vendor-demos.md compiles and runs it; nothing here
// is for a PC.
//
//   demo_caller MODEL.rknn PICTURE.ppm
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "RgaUtils.h"
#include "im2d.h"
#include "rga.h"
#include "rknn_api.h"

static std::vector<unsigned char> read_ppm(const char* path, int* width, int* height) {
  std::vector<unsigned char> pixels;
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return pixels;
  if (fscanf(file, "P6 %d %d 255", width, height) == 2 && fgetc(file) != EOF && *width > 0 &&
      *height > 0 && *width <= 8192 && *height <= 8192) {
    pixels.resize(static_cast<size_t>(*width) * static_cast<size_t>(*height) * 3);
    if (fread(pixels.data(), 1, pixels.size(), file) != pixels.size()) pixels.clear();
  }
  fclose(file);
  return pixels;
}

static void print_attr(const rknn_tensor_attr& attr) {
  printf(
      "  index=%d, name=%s, n_dims=%d, dims=[%d, %d, %d, %d], n_elems=%d, size=%d, fmt=%s, "
      "type=%s, qnt_type=%s, zp=%d, scale=%f\n",
      attr.index, attr.name, attr.n_dims, attr.dims[0], attr.dims[1], attr.dims[2], attr.dims[3],
      attr.n_elems, attr.size, get_format_string(attr.fmt), get_type_string(attr.type),
      get_qnt_type_string(attr.qnt_type), attr.zp, attr.scale);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    printf("usage: %s MODEL.rknn PICTURE.ppm\n", argv[0]);
    return 2;
  }
  int width = 0, height = 0;
  std::vector<unsigned char> picture = read_ppm(argv[2], &width, &height);
  rknn_context ctx = 0;
  if (picture.empty() || rknn_init(&ctx, argv[1], 0, 0, NULL) < 0) {
    printf("cannot use the picture or the model\n");
    return 1;
  }
  rknn_sdk_version version;
  rknn_input_output_num count;
  rknn_custom_string text;
  if (rknn_query(ctx, RKNN_QUERY_SDK_VERSION, &version, sizeof(version)) != RKNN_SUCC ||
      rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof(count)) != RKNN_SUCC ||
      rknn_query(ctx, RKNN_QUERY_CUSTOM_STRING, &text, sizeof(text)) != RKNN_SUCC ||
      count.n_input != 1) {
    printf("rknn_query failed, or the model has several inputs\n");
    return 1;
  }
  rknn_tensor_attr input;
  memset(&input, 0, sizeof(input));
  std::vector<rknn_tensor_attr> outputs(count.n_output);
  if (rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &input, sizeof(input)) < 0) return 1;
  print_attr(input);
  for (uint32_t i = 0; i < count.n_output; i++) {
    memset(&outputs[i], 0, sizeof(outputs[i]));
    outputs[i].index = i;
    if (rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &outputs[i], sizeof(outputs[i])) < 0) return 1;
    print_attr(outputs[i]);
  }

  const int model_height = static_cast<int>(input.dims[1]),
            model_width = static_cast<int>(input.dims[2]);
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_tensor_mem* const input_mem = rknn_create_mem(ctx, input.size_with_stride);
  if (input_mem == NULL) return 1;
  const int row = input.w_stride != 0 ? static_cast<int>(input.w_stride) : model_width;
  rga_buffer_t src = wrapbuffer_virtualaddr(picture.data(), width, height, RK_FORMAT_RGB_888);
  rga_buffer_t dst = wrapbuffer_fd_t(input_mem->fd, model_width, model_height, row, model_height,
                                     RK_FORMAT_RGB_888);
  im_rect src_rect, dst_rect;
  memset(&src_rect, 0, sizeof(src_rect));
  memset(&dst_rect, 0, sizeof(dst_rect));
  int ret = imcheck(src, dst, src_rect, dst_rect);
  if (ret != IM_STATUS_NOERROR) {
    printf("imcheck: %s\n", imStrError((IM_STATUS)ret));
    return 1;
  }
  printf("%s of %.1f bytes a pixel: %d x %d to %d x %d\n", translate_format_str(RK_FORMAT_RGB_888),
         get_bpp_from_format(RK_FORMAT_RGB_888), width, height, model_width, model_height);
  if (imresize(src, dst) != IM_STATUS_SUCCESS) return 1;

  if (rknn_set_io_mem(ctx, input_mem, &input) < 0) return 1;
  std::vector<rknn_tensor_mem*> output_mems;
  for (rknn_tensor_attr& attr : outputs) {
    attr.type = RKNN_TENSOR_FLOAT32;
    attr.size = attr.n_elems * static_cast<uint32_t>(sizeof(float));
    output_mems.push_back(rknn_create_mem(ctx, attr.size));
    if (output_mems.back() == NULL || rknn_set_io_mem(ctx, output_mems.back(), &attr) < 0) return 1;
  }
  if (rknn_run(ctx, NULL) < 0) return 1;

  const float* const scores = static_cast<const float*>(output_mems[0]->virt_addr);
  std::vector<uint32_t> order(outputs[0].n_elems);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  printf("---- Top5 ----\n");
  for (size_t i = 0; i < 5 && i < order.size(); i++)
    printf("%8.6f - %d\n", scores[order[i]], order[i]);
  rknn_destroy_mem(ctx, input_mem);
  for (rknn_tensor_mem* memory : output_mems) rknn_destroy_mem(ctx, memory);
  rknn_destroy(ctx);
  return 0;
}
