// SPDX-License-Identifier: Apache-2.0
// An SSD-style face detector (UltraFace): priors, variances, suppression, table.
//
//   rknn_face_demo MODEL.rknn PICTURE
#include <cstdio>
#include <cstdlib>

#include "face/ssd.h"
#include "utils/rknn_model.h"

using examples::Found;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.rknn PICTURE\n", argv[0]);
    return 2;
  }
  examples::Model model;
  image_buffer_t image{}, input{};
  if (!model.init(argv[1]) || read_image(argv[2], &image) != 0) return 1;
  input.width = static_cast<int>(model.width());
  input.height = static_cast<int>(model.height());
  input.format = IMAGE_FORMAT_RGB888;
  letterbox_t letterbox{};
  examples::Outputs outputs;
  if (model.outputs().size() != 2 ||
      convert_image_with_letterbox(&image, &input, &letterbox, face::kBars) != 0 ||
      !model.run_picture(input.virt_addr, &outputs))
    return 1;
  examples::print_table_head();
  for (const Found& box : face::decode(outputs[0], outputs[1], input.width, input.height))
    examples::print_table_row("face",
                              examples::in_picture(box, letterbox, image.width, image.height));
  std::free(input.virt_addr);
  std::free(image.virt_addr);
  return 0;
}
