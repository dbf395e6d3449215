// SPDX-License-Identifier: Apache-2.0
// The convolution family: blocks of weights and bias as the container fact sheet describes them,
// then the five lines of the NPU's arithmetic.
#include <algorithm>

#include "tests/e2e/recompute.h"

namespace rk::e2e {
namespace {

// Walks the bytes of a weight tensor in their order in memory.
class BlockCursor {
 public:
  explicit BlockCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool ended() const { return at_ >= bytes_.size(); }
  int8_t next() { return static_cast<int8_t>(bytes_[at_++]); }
  size_t at() const { return at_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

Status short_block(const program::ProgramTensor& weight, size_t have) {
  return invalid_model(str("weight '", weight.name, "': ", have, " bytes do not hold its blocks"));
}

// RK3588: output channels in steps of 32, the last step of an even number; inside, input channels in steps
// of 32, the last step 16 wide when at most 16 are left.
Result<std::vector<int8_t>> unpack_dense(const program::ProgramTensor& weight, BlockCursor& cursor,
                                         size_t size, std::span<const int64_t> channel_offset) {
  const int64_t oc = weight.shape[0], ic = weight.shape[1];
  const int64_t taps = weight.shape[2] * weight.shape[3];
  std::vector<int8_t> out(static_cast<size_t>(weight.shape.elements()));
  for (int64_t o0 = 0; o0 < oc; o0 += 32) {
    const int64_t outputs = std::min<int64_t>(32, oc - o0 + oc % 2);
    for (int64_t i0 = 0; i0 < ic; i0 += 32) {
      const int64_t lanes = ic - i0 <= 16 ? 16 : 32;
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t o = o0; o < o0 + outputs; ++o) {
          for (int64_t i = i0; i < i0 + lanes; ++i) {
            if (cursor.ended()) return short_block(weight, size);
            const int8_t value = cursor.next();
            if (o >= oc) {
              if (value == 0) continue;
              return invalid_model(
                  str("weight '", weight.name, "': a channel too many holds ", int{value}));
            }
            if (i < ic) {
              out[static_cast<size_t>((o * ic + i) * taps + tap)] = value;
            } else if (value + channel_offset[static_cast<size_t>(o)] != 0) {
              return invalid_model(str("weight '", weight.name, "': padding lane ", i,
                                       " of channel ", o, " holds ", int{value}));
            }
          }
        }
      }
    }
  }
  return out;
}

// Blocks of channels as the native shape counts them; inside, taps, then channels.
Result<std::vector<int8_t>> unpack_depthwise(const program::ProgramTensor& weight,
                                             BlockCursor& cursor, size_t size) {
  const int64_t channels = weight.shape[0] * weight.shape[1];
  const int64_t taps = weight.shape[2] * weight.shape[3];
  std::vector<int8_t> out(static_cast<size_t>(weight.shape.elements()));
  int64_t c0 = 0;
  for (size_t group = 0; group + 6 <= weight.native_shape.size(); group += 6) {
    const int64_t blocks = weight.native_shape[group + 1], lanes = weight.native_shape[group + 5];
    for (int64_t block = 0; block < blocks; ++block, c0 += lanes) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t c = c0; c < c0 + lanes; ++c) {
          if (cursor.ended()) return short_block(weight, size);
          const int8_t value = cursor.next();
          if (c < channels) out[static_cast<size_t>(c * taps + tap)] = value;
        }
      }
    }
  }
  if (c0 < channels) return short_block(weight, size);
  return out;
}

// Groups of 8 channels: 8 int32 bias, 8 int16 o, 8 int16 m.
struct Channel {
  int64_t bias = 0, offset = 0, multiplier = 0;
};

Result<std::vector<Channel>> unpack_channels(std::span<const uint8_t> bytes, int64_t count) {
  std::vector<Channel> out(static_cast<size_t>(count));
  for (size_t c = 0; c < out.size(); ++c) {
    const size_t group = c / 8 * 64, lane = c % 8;
    if (group + 64 > bytes.size()) return invalid_model("bias block too short");
    out[c] = {load<int32_t>(&bytes[group + 4 * lane]), load<int16_t>(&bytes[group + 32 + 2 * lane]),
              load<int16_t>(&bytes[group + 48 + 2 * lane])};
  }
  return out;
}

// One input plane with its border, so that the loops below need no bounds.
struct PaddedPlane {
  int64_t width = 0;
  std::vector<int64_t> values;
};

// A transposed convolution is an ordinary one with stride 1 and the kernel turned round, over a plane whose pixels lie
// `stride` apart; what lies between counts as border.
PaddedPlane spread_plane(const int8_t* from, const Shape& in, const Shape& to,
                         const program::ConvParams& params) {
  const int64_t reach_h = int64_t{params.kernel.h - 1} * params.dilation.h;
  const int64_t reach_w = int64_t{params.kernel.w - 1} * params.dilation.w;
  PaddedPlane out;
  out.width = to[3] + reach_w;
  const int64_t height = to[2] + reach_h;
  out.values.assign(static_cast<size_t>(out.width * height), params.pad_value);
  for (int64_t y = 0; y < in[2]; ++y) {
    for (int64_t x = 0; x < in[3]; ++x) {
      const int64_t row = reach_h - params.pads.top + y * params.stride.h;
      const int64_t column = reach_w - params.pads.left + x * params.stride.w;
      if (row < height && column < out.width)
        out.values[static_cast<size_t>(row * out.width + column)] = from[y * in[3] + x];
    }
  }
  return out;
}

PaddedPlane pad_plane(const int8_t* from, int64_t h, int64_t w, const program::ConvParams& params) {
  PaddedPlane out;
  out.width = w + params.pads.left + params.pads.right;
  const int64_t height = h + params.pads.top + params.pads.bottom;
  out.values.assign(static_cast<size_t>(out.width * height), params.pad_value);
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      out.values[static_cast<size_t>((y + params.pads.top) * out.width + x + params.pads.left)] =
          from[y * w + x];
    }
  }
  return out;
}

struct OutputExtents {
  int64_t h = 1, w = 1;
};

// acc += plane * kernel for one input and one output channel.
void accumulate(const PaddedPlane& plane, const int8_t* kernel, int64_t channel_offset,
                const program::ConvParams& params, OutputExtents to, std::vector<int64_t>& acc) {
  for (int64_t ky = 0; ky < params.kernel.h; ++ky) {
    for (int64_t kx = 0; kx < params.kernel.w; ++kx) {
      const int64_t weight = kernel[ky * params.kernel.w + kx] + channel_offset;
      for (int64_t y = 0; y < to.h; ++y) {
        const int64_t* const row = plane.values.data() +
                                   (y * params.stride.h + ky * params.dilation.h) * plane.width +
                                   kx * params.dilation.w;
        int64_t* const sums = acc.data() + y * to.w;
        for (int64_t x = 0; x < to.w; ++x) sums[x] += row[x * params.stride.w] * weight;
      }
    }
  }
}

int64_t activate(int64_t v, program::Activation activation, int64_t limit) {
  if (activation == program::Activation::kNone) return v;
  v = std::max<int64_t>(v, 0);
  return activation == program::Activation::kClip ? std::min(v, limit) : v;
}

}  // namespace

Result<std::vector<int8_t>> unpack_blocks(const program::ProgramTensor& weight,
                                          std::span<const uint8_t> bytes,
                                          std::span<const int64_t> channel_offset, bool depthwise) {
  if (weight.layout != program::Layout::kWeight) {
    if (bytes.size() < static_cast<size_t>(weight.shape.elements()))
      return short_block(weight, bytes.size());
    const auto* const from = reinterpret_cast<const int8_t*>(bytes.data());
    return std::vector<int8_t>(from, from + weight.shape.elements());
  }
  BlockCursor cursor(bytes);
  auto out = depthwise ? unpack_depthwise(weight, cursor, bytes.size())
                       : unpack_dense(weight, cursor, bytes.size(), channel_offset);
  if (out.ok() && !cursor.ended())
    return invalid_model(
        str("weight '", weight.name, "': ", bytes.size() - cursor.at(), " bytes are left over"));
  return out;
}

Result<std::vector<int8_t>> recompute_conv(const program::Program& program,
                                           const program::Step& step,
                                           const program::ConvParams& params,
                                           const StoredTensors& stored) {
  const program::Variant& variant = program.main_variant();
  const auto tensor = [&](int32_t index) -> const program::ProgramTensor& {
    return variant.tensors[static_cast<size_t>(index)];
  };
  const program::ProgramTensor& weight = tensor(step.inputs[1]);
  const Shape& in = tensor(step.inputs[0]).shape;
  const Shape& to = tensor(step.outputs[0]).shape;
  const int64_t batch = to[0], oc = to[1], ic = in[1];
  const int64_t group_in = ic / params.group, group_out = oc / params.group;
  const bool depthwise = params.group > 1 && group_in == 1 && group_out == 1;
  if (params.transposed && !depthwise) return unsupported("dense transposed convolution");
  program::ConvParams forward = params;
  if (params.transposed) forward.stride = {1, 1};

  const auto bytes_of = [&](int32_t index) {
    return program.weights[static_cast<size_t>(tensor(index).weight)].bytes;
  };
  RK_ASSIGN(const auto channels, unpack_channels(bytes_of(step.inputs[2]), oc));
  std::vector<int64_t> offsets;
  for (const Channel& channel : channels) offsets.push_back(channel.offset);
  RK_ASSIGN(auto weights, unpack_blocks(weight, bytes_of(step.inputs[1]), offsets, depthwise));

  const int8_t* const x = stored[static_cast<size_t>(step.inputs[0])]->data<int8_t>();
  const bool adds = step.inputs.size() > 3 && step.inputs[3] != program::kNone;
  const int8_t* const e =
      adds ? stored[static_cast<size_t>(step.inputs[3])]->data<int8_t>() : nullptr;
  const int64_t taps = int64_t{params.kernel.h} * params.kernel.w;
  for (size_t at = 0; params.transposed && at < weights.size(); at += static_cast<size_t>(taps))
    std::reverse(&weights[at], &weights[at] + taps);
  const int64_t pixels = to[2] * to[3];
  std::vector<int8_t> out(static_cast<size_t>(to.elements()));
  for (int64_t n = 0; n < batch; ++n) {
    std::vector<PaddedPlane> planes;
    for (int64_t i = 0; i < ic; ++i) {
      const int8_t* const plane = x + (n * ic + i) * in[2] * in[3];
      planes.push_back(params.transposed ? spread_plane(plane, in, to, params)
                                         : pad_plane(plane, in[2], in[3], params));
    }
    for (int64_t o = 0; o < oc; ++o) {
      const Channel& channel = channels[static_cast<size_t>(o)];
      std::vector<int64_t> acc(static_cast<size_t>(pixels), channel.bias);
      for (int64_t i = 0; i < group_in; ++i) {
        const int64_t plane = o / group_out * group_in + i;
        accumulate(planes[static_cast<size_t>(plane)],
                   &weights[static_cast<size_t>((o * group_in + i) * taps)], channel.offset,
                   forward, {to[2], to[3]}, acc);
      }
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t at = (n * oc + o) * pixels + p;
        int64_t v =
            divide_rne(acc[static_cast<size_t>(p)] * channel.multiplier, params.multiplier_shift);
        v = activate(v, params.activation, params.clip_limit);
        if (adds) v += scaled(int64_t{e[at]} + params.addend.offset, params.addend.scale);
        v = activate(v, params.post_activation, params.clip_limit);
        out[static_cast<size_t>(at)] = finish(v, params.output);
      }
    }
  }
  return out;
}

}  // namespace rk::e2e
