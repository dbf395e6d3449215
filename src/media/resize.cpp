// SPDX-License-Identifier: Apache-2.0
#include "media/resize.h"

#include <array>
#include <cmath>

#include "base/fixed_point.h"

namespace rk::media {
namespace {

constexpr int kCoefficientBits = 11;

// One output position along an axis: the two source positions and their weights, which add up to
// about 2048.
struct Tap {
  int first = 0;
  int second = 0;
  int first_weight = 0;
  int second_weight = 0;
};

int to_weight(float fraction) {
  return static_cast<int>(round_even(fraction * static_cast<float>(1 << kCoefficientBits)));
}

// Outside the picture OpenCV moves a column onto the edge with the weights (1, 0), but a row only
// repeats its source and keeps both weights; rounding shows the difference.
enum class Edge { kWholeWeight, kKeepWeights };

std::vector<Tap> make_taps(int from_size, int to_size, Edge edge) {
  // The reciprocal of a quotient, not the quotient the other way round: the last bit of a double
  // counts.
  const double scale = 1.0 / (static_cast<double>(to_size) / from_size);
  std::vector<Tap> taps(static_cast<size_t>(to_size));
  for (int i = 0; i < to_size; ++i) {
    float fraction = static_cast<float>((i + 0.5) * scale - 0.5);
    const int position = static_cast<int>(std::floor(fraction));
    fraction -= static_cast<float>(position);
    if (edge == Edge::kWholeWeight && (position < 0 || position >= from_size - 1)) fraction = 0;
    const auto clamped = [&](int p) { return p < 0 ? 0 : p >= from_size ? from_size - 1 : p; };
    Tap& tap = taps[static_cast<size_t>(i)];
    tap.first = clamped(position);
    tap.second = clamped(position + 1);
    tap.first_weight = to_weight(1.0f - fraction);
    tap.second_weight = to_weight(fraction);
  }
  return taps;
}

Picture halve(const Picture& in, int width, int height) {
  Picture out{width, height, in.channels, {}};
  const auto channels = static_cast<size_t>(in.channels);
  const size_t in_row_bytes = static_cast<size_t>(in.width) * channels;
  const size_t out_row_bytes = static_cast<size_t>(width) * channels;
  out.pixels.resize(out_row_bytes * static_cast<size_t>(height));
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    const uint8_t* const top = in.pixels.data() + 2 * y * in_row_bytes;
    const uint8_t* const bottom = top + in_row_bytes;
    uint8_t* const to = out.pixels.data() + y * out_row_bytes;
    for (size_t x = 0; x < out_row_bytes; ++x) {
      const size_t left = x / channels * 2 * channels + x % channels;
      const size_t right = left + channels;
      to[x] =
          static_cast<uint8_t>((top[left] + top[right] + bottom[left] + bottom[right] + 2) >> 2);
    }
  }
  return out;
}

// Source rows after the horizontal step, 11 fraction bits. The two last used are kept: consecutive
// output rows share them when a picture grows.
class WideRows {
 public:
  WideRows(const Picture& in, const std::vector<Tap>& columns) : in_(in), columns_(columns) {}

  // Valid until the call after the next.
  const int32_t* row(int y) {
    for (Slot& slot : slots_) {
      if (slot.y == y) {
        last_used_ = &slot;
        return slot.values.data();
      }
    }
    Slot& slot = last_used_ == &slots_[0] ? slots_[1] : slots_[0];
    fill(slot, y);
    last_used_ = &slot;
    return slot.values.data();
  }

 private:
  struct Slot {
    int y = -1;
    std::vector<int32_t> values;
  };

  void fill(Slot& slot, int y) {
    const int channels = in_.channels;
    const uint8_t* const from = in_.pixels.data() + static_cast<size_t>(y) *
                                                        static_cast<size_t>(in_.width) *
                                                        static_cast<size_t>(channels);
    slot.y = y;
    slot.values.resize(columns_.size() * static_cast<size_t>(channels));
    int32_t* to = slot.values.data();
    for (const Tap& tap : columns_) {
      const uint8_t* const first = from + tap.first * channels;
      const uint8_t* const second = from + tap.second * channels;
      for (int c = 0; c < channels; ++c) {
        *to++ = first[c] * tap.first_weight + second[c] * tap.second_weight;
      }
    }
  }

  const Picture& in_;
  const std::vector<Tap>& columns_;
  std::array<Slot, 2> slots_;
  Slot* last_used_ = nullptr;
};

Picture interpolate(const Picture& in, int width, int height) {
  const std::vector<Tap> columns = make_taps(in.width, width, Edge::kWholeWeight);
  const std::vector<Tap> rows = make_taps(in.height, height, Edge::kKeepWeights);
  Picture out{width, height, in.channels, {}};
  const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(in.channels);
  out.pixels.resize(row_bytes * static_cast<size_t>(height));
  WideRows wide(in, columns);
  uint8_t* to = out.pixels.data();
  for (const Tap& tap : rows) {
    const int32_t* const first = wide.row(tap.first);
    const int32_t* const second = wide.row(tap.second);
    // 16-bit products as OpenCV's vector code has them: 4 bits dropped before, 16 after, the last
    // two rounded.
    for (size_t x = 0; x < row_bytes; ++x) {
      const int32_t sum = ((tap.first_weight * (first[x] >> 4)) >> 16) +
                          ((tap.second_weight * (second[x] >> 4)) >> 16);
      *to++ = static_cast<uint8_t>((sum + 2) >> 2);
    }
  }
  return out;
}

}  // namespace

Result<Picture> resize_bilinear(const Picture& picture, int width, int height) {
  RK_TRY(check_picture_extents(picture.width, picture.height));
  RK_TRY(check_picture_extents(width, height));
  if (width == picture.width && height == picture.height) return picture;
  if (picture.width == 2 * width && picture.height == 2 * height) {
    return halve(picture, width, height);
  }
  return interpolate(picture, width, height);
}

}  // namespace rk::media
