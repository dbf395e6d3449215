// SPDX-License-Identifier: Apache-2.0
#include "format/vendor/conv_constants.h"

#include <algorithm>

#include "base/checked_math.h"

namespace rk::format {
namespace {

constexpr size_t kFields = 6;  // numbers per group of a native shape
constexpr int32_t kMaxExtent = 1 << 20;

Status check_groups(std::span<const int32_t> native, const Shape& shape) {
  bool good = shape.rank() == 4 && !native.empty() && native.size() % kFields == 0;
  for (const int32_t extent : native) good = good && extent >= 0 && extent <= kMaxExtent;
  for (int i = 0; good && i < 4; ++i) good = shape[i] >= 1 && shape[i] <= kMaxExtent;
  for (size_t i = 0; good && i < native.size(); i += kFields) {
    good = native[i + 2] == shape[2] && native[i + 3] == shape[3] && native[i + 4] >= 1 &&
           native[i + 5] >= 1;
  }
  if (good) return ok_status();
  return invalid_model(str("weight of shape ", to_string(shape), ": its native shape of ",
                           native.size(), " numbers does not describe it"));
}

Status too_short(const Shape& shape, size_t found) {
  return invalid_model(
      str("weight of shape ", to_string(shape), ": the file has only ", found, " bytes of it"));
}

// Offsets are int8, but no zero point is +128's negative: 0x80 stands for +128.
int16_t widen_offset(uint8_t byte) {
  const auto value = static_cast<int8_t>(byte);
  return value == -128 ? int16_t{128} : int16_t{value};
}

struct Lane {
  size_t weight, offset;
};
Lane lane_of(target::DepthwiseOffsets form, size_t lane, size_t lanes) {
  switch (form) {
    case target::DepthwiseOffsets::kPairs:
      return {lane / 2 * 4 + lane % 2, lane / 2 * 4 + 2 + lane % 2};
    case target::DepthwiseOffsets::kAlternating:
      return {2 * lane, 2 * lane + 1};
    case target::DepthwiseOffsets::kEights:
    case target::DepthwiseOffsets::kInBias:
      break;
  }
  return {lane, lanes + lane};
}

// RV1103B and RV1106B: 56 bytes for eight channels, 24 for four without offsets.
Result<program::BiasBlock> read_byte_offsets(ByteSpan bytes, size_t channels, BiasForm form) {
  program::BiasBlock out;
  const bool with_offset = form == BiasForm::kAll;
  const size_t group = with_offset ? 8 : 4, group_bytes = with_offset ? 56 : 24;
  if (bytes.size() / group_bytes < ceil_div(channels, group)) {
    return invalid_model(
        str("bias block of ", bytes.size(), " bytes is too short for ", channels, " channels"));
  }
  for (size_t c = 0; c < channels; ++c) {
    const uint8_t* const from = bytes.data() + c / group * group_bytes;
    const size_t lane = c % group, half = lane / 4 * 32, in_half = lane % 4;
    out.bias.push_back(load<int32_t>(from + half + 4 * in_half));
    out.multiplier.push_back(load<int16_t>(from + half + 16 + 2 * in_half));
    out.offset.push_back(with_offset ? widen_offset(from[24 + lane]) : int16_t{0});
  }
  return out;
}

}  // namespace

Result<std::vector<uint8_t>> unpack_picture_rows(ByteSpan bytes, std::span<const int32_t> native,
                                                 const Shape& shape, size_t element_bytes) {
  RK_TRY(check_groups(native, shape));
  const int64_t oc = shape[0], ic = shape[1], kh = shape[2], kw = shape[3];
  const int64_t kw_padded = align_up<int64_t>(kw, 4), lanes = native[5];
  // Rows are padded, so the elements cannot be more than the bytes.
  if (ic > lanes || static_cast<uint64_t>(shape.elements()) > bytes.size() / element_bytes)
    return too_short(shape, bytes.size());
  std::vector<uint8_t> out(static_cast<size_t>(shape.elements()) * element_bytes);
  int64_t first = 0, at = 0;  // output channel, element
  for (size_t g = 0; g < native.size() && first < oc; g += kFields) {
    const int64_t block = native[g + 4];
    for (int32_t k = 0; k < native[g] && first < oc; ++k, first += block) {
      const int64_t size = kh * block * kw_padded * lanes;
      if (static_cast<uint64_t>(at + size) * element_bytes > bytes.size())
        return too_short(shape, bytes.size());
      for (int64_t o = 0; o < std::min(block, oc - first); ++o) {
        for (int64_t i = 0; i < ic; ++i) {
          for (int64_t tap = 0; tap < kh * kw; ++tap) {
            const int64_t from = at + ((tap / kw * block + o) * kw_padded + tap % kw) * lanes + i;
            const int64_t to = ((first + o) * ic + i) * kh * kw + tap;
            std::memcpy(out.data() + static_cast<size_t>(to) * element_bytes,
                        bytes.data() + static_cast<size_t>(from) * element_bytes, element_bytes);
          }
        }
      }
      at += size;
    }
  }
  if (first < oc) return too_short(shape, bytes.size());
  return out;
}

Result<DepthwiseWeights> unpack_depthwise(ByteSpan bytes, std::span<const int32_t> native,
                                          const Shape& shape, target::DepthwiseOffsets form) {
  RK_TRY(check_groups(native, shape));
  const auto channels = static_cast<size_t>(shape[0] * shape[1]);
  const auto taps = static_cast<size_t>(shape[2] * shape[3]);
  if (channels * taps > bytes.size() / 2) return too_short(shape, bytes.size());
  DepthwiseWeights out;
  out.weights.resize(channels * taps);
  out.offset.resize(channels);
  size_t first = 0, at = 0;
  for (size_t g = 0; g < native.size() && first < channels; g += kFields) {
    const auto lanes = static_cast<size_t>(native[g + 5]);
    for (int32_t k = 0; k < native[g + 1] && first < channels; ++k, first += lanes) {
      if (at + taps * lanes * 2 > bytes.size()) return too_short(shape, bytes.size());
      for (size_t tap = 0; tap < taps; ++tap, at += lanes * 2) {
        for (size_t c = 0; c < std::min(lanes, channels - first); ++c) {
          const Lane lane = lane_of(form, c, lanes);
          out.weights[(first + c) * taps + tap] = bytes[at + lane.weight];
          out.offset[first + c] = widen_offset(bytes[at + lane.offset]);
        }
      }
    }
  }
  if (first < channels) return too_short(shape, bytes.size());
  return out;
}

Result<program::BiasBlock> read_bias_block(ByteSpan bytes, int64_t channels,
                                           const target::ConvRegisters& chip, BiasForm form) {
  const auto count = static_cast<size_t>(channels);
  if (form == BiasForm::kAlone) {
    if (bytes.size() / 4 < count) {
      return invalid_model(
          str("bias of ", bytes.size(), " bytes is too short for ", channels, " channels"));
    }
    program::BiasBlock out;
    for (size_t c = 0; c < count; ++c) out.bias.push_back(load<int32_t>(bytes.data() + 4 * c));
    out.offset.resize(count);
    out.multiplier.resize(count);
    return out;
  }
  if (chip.byte_offsets) return read_byte_offsets(bytes, count, form);
  if (form == BiasForm::kAll) return program::unpack_bias(bytes, channels, chip.bias_group);
  const auto g = static_cast<size_t>(chip.bias_group);
  if (bytes.size() / 6 / g < ceil_div(count, g)) {
    return invalid_model(
        str("bias block of ", bytes.size(), " bytes is too short for ", channels, " channels"));
  }
  program::BiasBlock out;
  for (size_t c = 0; c < count; ++c) {
    const uint8_t* const from = bytes.data() + c / g * g * 6;
    out.bias.push_back(load<int32_t>(from + 4 * (c % g)));
    out.multiplier.push_back(load<int16_t>(from + 4 * g + 2 * (c % g)));
  }
  out.offset.resize(count);
  return out;
}

std::vector<uint8_t> turn_kernels(const std::vector<uint8_t>& oihw, const Shape& shape,
                                  size_t element_bytes) {
  const int64_t oc = shape[0], ic = shape[1], taps = shape[2] * shape[3];
  std::vector<uint8_t> out(oihw.size());
  for (int64_t o = 0; o < oc; ++o) {
    for (int64_t i = 0; i < ic; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t from = (o * ic + i) * taps + (taps - 1 - tap), to = (i * oc + o) * taps + tap;
        std::memcpy(out.data() + static_cast<size_t>(to) * element_bytes,
                    oihw.data() + static_cast<size_t>(from) * element_bytes, element_bytes);
      }
    }
  }
  return out;
}

}  // namespace rk::format
