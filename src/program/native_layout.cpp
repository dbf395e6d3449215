// SPDX-License-Identifier: Apache-2.0
// The bias block and the sizes of features; weights are in native_weights.cpp.
#include "program/native_layout.h"

#include "base/checked_math.h"

namespace rk::program {
namespace {

constexpr int kBiasBytesPerChannel = 8;

template <typename T>
void store(std::vector<uint8_t>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

Result<uint64_t> product(std::initializer_list<int64_t> extents) {
  const auto size = checked_product({extents.begin(), extents.size()});
  if (!size || *size > kMaxObjectBytes) return invalid_model("a tensor exceeds 1 GiB");
  return *size;
}

}  // namespace

std::vector<uint8_t> pack_bias(const BiasBlock& block, int group, int channel_align) {
  const size_t channels = block.bias.size(), g = static_cast<size_t>(group);
  const size_t padded = align_up(align_up(channels, static_cast<size_t>(channel_align)), g);
  std::vector<uint8_t> bytes(padded * kBiasBytesPerChannel);
  for (size_t c = 0; c < channels; ++c) {
    const size_t base = c / g * g * kBiasBytesPerChannel, lane = c % g;
    store(bytes, base + 4 * lane, block.bias[c]);
    store(bytes, base + 4 * g + 2 * lane, block.offset[c]);
    store(bytes, base + 6 * g + 2 * lane, block.multiplier[c]);
  }
  return bytes;
}

Result<BiasBlock> unpack_bias(ByteSpan bytes, int64_t channels, int group) {
  if (channels < 0 || group < 1) return invalid_model("bias block without channels or groups");
  const size_t count = static_cast<size_t>(channels), g = static_cast<size_t>(group);
  if (bytes.size() / kBiasBytesPerChannel / g < ceil_div(count, g)) {
    return invalid_model(str("bias block of ", bytes.size(), " bytes is too short for ", channels,
                             " channels in groups of ", group));
  }
  BiasBlock block;
  for (size_t c = 0; c < count; ++c) {
    const uint8_t* from = bytes.data() + c / g * g * kBiasBytesPerChannel;
    const size_t lane = c % g;
    block.bias.push_back(load<int32_t>(from + 4 * lane));
    block.offset.push_back(load<int16_t>(from + 4 * g + 2 * lane));
    block.multiplier.push_back(load<int16_t>(from + 6 * g + 2 * lane));
  }
  return block;
}

Result<ConvConstants> unpack_conv_constants(const Program& program, const Variant& variant,
                                            const Step& step) {
  RK_ASSIGN(const target::Target* const target, target::find_target(program.target));
  const auto tensor = [&](size_t i) -> const ProgramTensor& {
    return variant.tensors[static_cast<size_t>(step.inputs[i])];
  };
  const auto bytes = [&](size_t i) {
    return program.weights[static_cast<size_t>(tensor(i).weight)].bytes;
  };
  ConvConstants out;
  if (tensor(1).layout == Layout::kWeight) {
    RK_ASSIGN(out.weights, unpack_weights(bytes(1), tensor(1).native_shape, tensor(1).shape));
  } else {
    const auto* from = reinterpret_cast<const int8_t*>(bytes(1).data());
    out.weights.assign(from, from + tensor(1).shape.elements());
  }
  const int64_t channels = variant.tensors[static_cast<size_t>(step.outputs[0])].shape[1];
  RK_ASSIGN(out.channels, unpack_bias(bytes(2), channels, target->weights_i8.bias_group));
  return out;
}

bool is_picture(const Shape& shape) {
  return shape.rank() == 4 && (shape[1] == 1 || shape[1] == 3 || shape[1] == 4);
}

Result<NativeFeature> native_feature(const target::Target& target, DType dtype, const Shape& shape,
                                     FeatureUse use, bool is_model_output) {
  NativeFeature out;
  const auto element = static_cast<int64_t>(byte_size(dtype));
  const bool i8 = dtype == DType::kI8;
  const bool blocked =
      shape.rank() == 4 && (i8 || dtype == DType::kF16) && (i8 ? target.c2_i8 : target.c2_f16) != 0;
  if (!blocked) {
    out.layout = shape.rank() == 4 ? Layout::kNchw : Layout::kPlain;
    for (const int64_t extent : shape.dims()) {
      out.native_shape.push_back(static_cast<int32_t>(extent));
    }
    RK_ASSIGN(out.size_bytes, product({shape.elements(), element}));
    if (use == FeatureUse::kInput && shape.rank() != 4 && (i8 || dtype == DType::kF16)) {
      // As a row of int8 pixels; vendor files round three axes up to 8 bytes on every chip.
      const int align = shape.rank() == 3 ? 8 : target.input_width_align_i8;
      out.size_bytes = align_up(out.size_bytes, static_cast<uint64_t>(align));
    }
    return out;
  }
  const int64_t n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  out.layout = Layout::kNc1hwc2;
  if (use == FeatureUse::kInput && is_picture(shape)) {
    const int64_t align = i8 ? target.input_width_align_i8 : target.input_width_align_f16;
    out.width_align = static_cast<uint32_t>(align);
    RK_ASSIGN(out.size_bytes, product({n, h, align_up(w, align), c, element}));
    out.native_shape = {static_cast<int32_t>(n), 1, static_cast<int32_t>(h),
                        static_cast<int32_t>(w), static_cast<int32_t>(c)};
    return out;
  }
  const int64_t c2 = i8 ? target.c2_i8 : target.c2_f16;
  int64_t channel_align = c2;
  if (use == FeatureUse::kConvOutput) {
    channel_align = i8 ? target.conv_output_channel_align_i8 : target.conv_output_channel_align_f16;
  }
  const int64_t taken = use == FeatureUse::kDepthwiseOutput
                            ? target::depthwise_channels(target, dtype, c)
                            : align_up(c, channel_align);
  const int64_t plane = h * w == 1 ? 1 : align_up<int64_t>(h * w, target.plane_align);
  const int64_t planes = ceil_div(taken, c2);
  out.plane_align = static_cast<uint32_t>(target.plane_align);
  RK_ASSIGN(out.size_bytes, product({n, planes, plane, c2, element}));
  int64_t c1 = ceil_div(c, c2);
  if (is_model_output && n * h * w != 0) {
    c1 = static_cast<int64_t>(out.size_bytes) / (n * h * w * c2 * element);
  }
  out.native_shape = {static_cast<int32_t>(n), static_cast<int32_t>(c1), static_cast<int32_t>(h),
                      static_cast<int32_t>(w), static_cast<int32_t>(c2)};
  return out;
}

}  // namespace rk::program
