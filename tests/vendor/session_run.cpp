// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/session_run.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/fixed_point.h"
#include "media/picture.h"
#include "media/resize.h"
#include "runtime/session/session.h"
#include "tests/vendor/samples.h"

namespace rk::vendor {
namespace {

// Pictures are stored with their channels together, in rows of the aligned width.
std::vector<uint8_t> to_nhwc(const std::vector<uint8_t>& planes,
                             const program::ProgramTensor& tensor) {
  if (tensor.shape.rank() != 4 || tensor.shape.elements() == 0) return planes;
  const size_t size = byte_size(tensor.dtype);
  const auto channels = static_cast<size_t>(tensor.shape[1]);
  const auto height = static_cast<size_t>(tensor.shape[0] * tensor.shape[2]);
  const auto width = static_cast<size_t>(tensor.shape[3]);
  const auto rows = static_cast<size_t>(tensor.shape[2]);
  const size_t stride = align_up<size_t>(width, std::max<size_t>(tensor.width_align, 1));
  std::vector<uint8_t> out(height * stride * channels * size);
  for (size_t y = 0; y < height; ++y) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t x = 0; x < width; ++x) {
        const size_t from = ((y / rows * channels + c) * rows + y % rows) * width + x;
        std::memcpy(&out[((y * stride + x) * channels + c) * size], &planes[from * size], size);
      }
    }
  }
  return out;
}

// Blocks of channels, the lanes beyond the real ones zero.
std::vector<uint8_t> to_blocks(const std::vector<uint8_t>& planes,
                               const program::ProgramTensor& tensor) {
  const size_t size = byte_size(tensor.dtype);
  const auto extent = [&](size_t i) { return static_cast<size_t>(tensor.native_shape[i]); };
  const size_t batch = extent(0), blocks = extent(1), pixels = extent(2) * extent(3),
               lanes = extent(4), channels = static_cast<size_t>(tensor.shape[1]);
  std::vector<uint8_t> out(batch * blocks * pixels * lanes * size);
  for (size_t i = 0; i < batch * channels; ++i) {
    const size_t block = i / channels * blocks + i % channels / lanes;
    for (size_t p = 0; p < pixels; ++p) {
      std::memcpy(&out[((block * pixels + p) * lanes + i % channels % lanes) * size],
                  &planes[(i * pixels + p) * size], size);
    }
  }
  return out;
}

std::vector<uint8_t> to_stored(const std::vector<uint8_t>& planes,
                               const program::ProgramTensor& tensor) {
  constexpr int32_t kMostOfPicture = 4;
  const bool blocked = tensor.layout == program::Layout::kNc1hwc2 && tensor.shape.rank() == 4 &&
                       tensor.native_shape.size() == 5 && tensor.native_shape[4] > kMostOfPicture;
  return blocked ? to_blocks(planes, tensor) : to_nhwc(planes, tensor);
}

}  // namespace

Status run_with_tensors(ByteSpan file, const std::vector<std::vector<uint8_t>>& inputs,
                        RunResult& result) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  RK_ASSIGN(const auto session, runtime::Session::create(model));
  session->set_observer([&](int32_t tensor, const Tensor& stored) {
    result.tensors.insert_or_assign(tensor, stored.clone());
    return ok_status();
  });
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto index = static_cast<size_t>(model->variant().inputs[i]);
    const program::ProgramTensor& tensor = model->variant().tensors[index];
    const std::vector<uint8_t> packed = to_stored(inputs[i], tensor);
    runtime::CallerFormat format;
    format.pass_through = true;
    RK_TRY(session->set_input(i, format, packed.data(), packed.size()));
  }
  return session->run();
}

Result<RunResult> run_with_tensors(ByteSpan file, const std::vector<std::vector<uint8_t>>& inputs) {
  RunResult result;
  RK_TRY(run_with_tensors(file, inputs, result));
  return result;
}

Result<std::vector<uint8_t>> portrait_pixels() {
  RK_ASSIGN(const media::Picture picture,
            media::read_picture(sample_folder() + "/pp_human_seg_image.jpg", media::Color::kRgb));
  RK_ASSIGN(const media::Picture small, media::resize_bilinear(picture, 192, 192));
  return small.pixels;
}

std::vector<uint8_t> quantized_portrait(const std::vector<uint8_t>& pixels, float scale,
                                        int32_t zero_point) {
  const size_t plane = pixels.size() / 3;
  std::vector<uint8_t> out(pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) {
    const float value = (static_cast<float>(pixels[i]) - 127.5f) / 127.5f;
    out[i % 3 * plane + i / 3] = static_cast<uint8_t>(quantize_f32(value, scale, zero_point));
  }
  return out;
}

}  // namespace rk::vendor
