// SPDX-License-Identifier: Apache-2.0
// One detector for pictures of several sizes: the picture is letterboxed to each shape that the model knows and run in it.
//
//   rknn_dynamic_shape_demo MODEL.rknn PICTURE
#include <cstdio>
#include <cstdlib>

#include "signs/detection.h"
#include "utils/boxes.h"
#include "utils/rknn_model.h"

namespace {

constexpr float kScore = 0.25f;
constexpr char kBars = 114;

bool detect(examples::Model& model, image_buffer_t& image) {
  image_buffer_t input{};
  input.width = static_cast<int>(model.width());
  input.height = static_cast<int>(model.height());
  input.format = IMAGE_FORMAT_RGB888;
  letterbox_t letterbox{};
  examples::Outputs outputs;
  const bool ran = convert_image_with_letterbox(&image, &input, &letterbox, kBars) == 0 &&
                   model.run_picture(input.virt_addr, &outputs);
  std::free(input.virt_addr);
  if (!ran || outputs.size() != 3 || input.width != input.height) return false;
  const auto found = signs::decode({outputs[0], outputs[1], outputs[2]},
                                   {.score_threshold = kScore, .picture_size = input.width});
  if (!found.ok()) {
    std::fprintf(stderr, "%s\n", found.status().message().c_str());
    return false;
  }
  std::printf("%d x %d\n", input.width, input.height);
  examples::print_table_head();
  for (const signs::Detection& d : *found) {
    examples::print_table_row(
        std::string(signs::class_name(d.cls)),
        examples::in_picture({d.box.cx - d.box.w / 2, d.box.cy - d.box.h / 2,
                              d.box.cx + d.box.w / 2, d.box.cy + d.box.h / 2, d.score, d.cls},
                             letterbox, image.width, image.height));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE\n", argv[0]);
    return 2;
  }
  examples::Model model;
  image_buffer_t image{};
  rknn_input_range range{};
  if (!model.init(argv[1]) || !model.shapes(&range) || read_image(argv[2], &image) != 0) return 1;
  bool ok = true;
  for (uint32_t k = 0; k < range.shape_number && ok; ++k)
    ok = model.set_shape(range, k) && detect(model, image);
  std::free(image.virt_addr);
  return ok ? 0 : 1;
}
