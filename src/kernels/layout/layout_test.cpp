// SPDX-License-Identifier: Apache-2.0
// Layout and border conversions against index formulas written out here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/fixed_point.h"
#include "base/half.h"
#include "kernels/kernel_test.h"
#include "kernels/layout/convert.h"
#include "kernels/layout/quantize.h"
#include "kernels/layout/quantize_lane.h"

namespace rk::kernels {
namespace {

const ActivationShape kShapes[] = {{1, 1, {2, 3}},
                                   {2, 3, {5, 4}},
                                   {1, 16, {3, 7}},
                                   {2, 17, {4, 3}},
                                   {1, 33, {1, 5}},
                                   // Around whole vectors of pixels.
                                   {1, 1, {2, 65}},
                                   {1, 2, {1, 31}},
                                   {2, 3, {2, 48}},
                                   {1, 4, {3, 37}},
                                   {2, 20, {2, 35}},
                                   {1, 16, {1, 16}}};

int64_t nchw(const ActivationShape& s, int64_t stride, int n, int c, int h, int w) {
  return ((int64_t{n} * s.channels + c) * s.extent.h + h) * stride + w;
}
int64_t nhwc(const ActivationShape& s, int64_t stride, int n, int c, int h, int w) {
  return ((int64_t{n} * s.extent.h + h) * stride + w) * s.channels + c;
}
int64_t plain(PlainLayout layout, const ActivationShape& s, int64_t stride, int n, int c, int h,
              int w) {
  return layout == PlainLayout::kNchw ? nchw(s, stride, n, c, h, w) : nhwc(s, stride, n, c, h, w);
}

template <typename F>
void for_each(const ActivationShape& s, F&& f) {
  for (int n = 0; n < s.batch; ++n) {
    for (int c = 0; c < s.channels; ++c) {
      for (int h = 0; h < s.extent.h; ++h) {
        for (int w = 0; w < s.extent.w; ++w) f(n, c, h, w);
      }
    }
  }
}

template <typename T>
std::vector<T> noise(size_t count) {
  std::mt19937 random(31);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(random());
  return values;
}

template <typename T>
void check_plain(PlainLayout layout, int64_t w_stride) {
  for (const ActivationShape& s : kShapes) {
    const int64_t stride = w_stride != 0 ? s.extent.w + w_stride : s.extent.w;
    const auto input = noise<T>(size_t(s.batch) * s.channels * s.extent.h * stride);
    std::vector<T> blocked(size_t(blocked_elements(s)), 1), back(input.size(), 1);
    PlainArgs args = {
        s, sizeof(T), layout, w_stride != 0 ? stride : 0, input.data(), blocked.data(), 0x55};
    for (int64_t unit = layout_units(s); unit-- > 0;) plain_to_blocked(args, {unit, unit + 1});
    for_each(s, [&](int n, int c, int h, int w) {
      ASSERT_EQ(blocked[blocked_index(s, n, c, h, w)], input[plain(layout, s, stride, n, c, h, w)]);
    });
    if (s.channels % 16 != 0) {
      EXPECT_EQ(blocked.back(), 0x55);
    }
    args.input = blocked.data();
    args.output = back.data();
    blocked_to_plain(args, {0, layout_units(s)});
    for_each(s, [&](int n, int c, int h, int w) {
      const int64_t at = plain(layout, s, stride, n, c, h, w);
      ASSERT_EQ(back[at], input[at]);
    });
  }
}

KERNEL_TEST(LayoutTest, PlainAndBlockedConvertBothWaysForEverySize) {
  for (const PlainLayout layout : {PlainLayout::kNchw, PlainLayout::kNhwc}) {
    for (const int64_t extra : {0, 3}) {
      check_plain<uint8_t>(layout, extra);
      check_plain<uint16_t>(layout, extra);
      check_plain<uint32_t>(layout, extra);
    }
  }
}

KERNEL_TEST(LayoutTest, ChipBlocksOfOtherWidthsAndStridesConvertBothWays) {
  for (const ActivationShape& s : kShapes) {
    for (const int32_t c2 : {4, 8, 16, 32}) {
      for (const bool strided : {false, true}) {
        const int64_t row = s.extent.w + (strided ? 2 : 0);
        const int64_t plane = s.extent.h * row + (strided ? 5 : 0);
        const int64_t planes = (s.channels + c2 - 1) / c2;
        const auto chip = noise<uint16_t>(size_t(s.batch * planes * plane * c2));
        auto at = [&](int n, int c, int h, int w) {
          return ((n * planes + c / c2) * plane + h * row + w) * c2 + c % c2;
        };
        std::vector<uint16_t> blocked(size_t(blocked_elements(s))), back(chip.size());
        ChipArgs args = {
            s, 2, {c2, strided ? row : 0, strided ? plane : 0}, chip.data(), blocked.data(), 7};
        for (int64_t unit = layout_units(s); unit-- > 0;) chip_to_blocked(args, {unit, unit + 1});
        args.input = blocked.data();
        args.output = back.data();
        blocked_to_chip(args, {0, layout_units(s)});
        for_each(s, [&](int n, int c, int h, int w) {
          ASSERT_EQ(blocked[blocked_index(s, n, c, h, w)], chip[at(n, c, h, w)]);
          ASSERT_EQ(back[at(n, c, h, w)], chip[at(n, c, h, w)]);
        });
        if (s.channels % c2 != 0) {
          EXPECT_EQ(back[at(0, s.channels, 0, 0)], 7);
        }
        if (s.channels % 16 != 0) {
          EXPECT_EQ(blocked.back(), 7);
        }
      }
    }
  }
}

KERNEL_TEST(LayoutTest, ChannelsAreCopiedAtAnyOffsetAndNothingElseIsTouched) {
  const ActivationShape in = {2, 37, {3, 5}}, out = {2, 50, {3, 5}};
  const auto input = noise<int8_t>(size_t(blocked_elements(in)));
  std::vector<int8_t> table(256);
  for (int i = 0; i < 256; ++i) table[i] = static_cast<int8_t>(127 - i);
  for (const int32_t from : {0, 1, 16, 20}) {
    for (const int32_t to : {0, 5, 16, 33}) {
      for (const int8_t* t :
           {static_cast<const int8_t*>(nullptr), static_cast<const int8_t*>(table.data())}) {
        const int32_t count = std::min(37 - from, 50 - to);
        std::vector<int8_t> output(size_t(blocked_elements(out)), 99);
        const ChannelCopyArgs args = {2,  in.extent, 1, input.data(), 37, from, output.data(), 50,
                                      to, count,     t};
        copy_channels(args, {0, 4});
        copy_channels(args, {4, 6});
        for_each(out, [&](int n, int c, int h, int w) {
          const int8_t y = output[blocked_index(out, n, c, h, w)];
          if (c < to || c >= to + count) {
            ASSERT_EQ(y, 99);
          } else {
            const int8_t x = input[blocked_index(in, n, from + c - to, h, w)];
            ASSERT_EQ(y, t == nullptr ? x : -1 - x);
          }
        });
      }
    }
  }
}

KERNEL_TEST(QuantizeTest, LaneEqualsTheBaseRuleOverTiesExtremesAndExponents) {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               1024.0f,
                               -1024.0f,
                               1023.5f,
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max()};
  for (int i = -600; i <= 600; ++i) {
    const float tie = i * 0.5f;
    values.insert(values.end(), {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)});
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (const float scale : {1.0f, 0.0039215689f, 3.7f}) {
    for (const int32_t zero_point : {0, -128, 127, 5}) {
      for (const float v : values) {
        ASSERT_EQ(quantize_lane(v, scale, zero_point), quantize_f32(v, scale, zero_point)) << v;
        ASSERT_EQ(quantize_lane(v * scale, scale, zero_point),
                  quantize_f32(v * scale, scale, zero_point));
      }
    }
  }
}

KERNEL_TEST(QuantizeTest, BytesGoThroughTheirChannelsTable) {
  const ActivationShape s = {1, 3, {4, 5}};
  const BorderAffine affine[] = {{127.5f, 127.5f}, {0.0f, 1.0f}, {10.0f, 50.0f}};
  std::vector<int8_t> unsigned_tables(3 * 256), signed_tables(3 * 256);
  std::vector<uint16_t> half_tables(3 * 256);
  for (int c = 0; c < 3; ++c) {
    make_quantize_table_u8(affine[c], 0.02f, -3, unsigned_tables.data() + c * 256);
    make_quantize_table_i8(affine[c], 0.02f, -3, signed_tables.data() + c * 256);
    make_half_table_u8(affine[c], half_tables.data() + c * 256);
  }
  const auto input = noise<uint8_t>(3 * 20);
  std::vector<int8_t> a(size_t(blocked_elements(s))), b(a.size());
  std::vector<uint16_t> half(a.size());
  TableQuantizeArgs args;
  args.shape = s;
  args.input = input.data();
  args.output = a.data();
  args.tables = unsigned_tables.data();
  args.fill = -3;
  quantize_by_table(args, {0, 4});
  args.output = b.data();
  args.tables = signed_tables.data();
  args.layout = PlainLayout::kNchw;
  quantize_by_table(args, {0, 4});
  TableHalfArgs half_args;
  half_args.shape = s;
  half_args.input = input.data();
  half_args.output = half.data();
  half_args.tables = half_tables.data();
  half_by_table(half_args, {0, 4});
  for_each(s, [&](int n, int c, int h, int w) {
    const int64_t at = blocked_index(s, n, c, h, w);
    const uint8_t u = input[nhwc(s, 5, n, c, h, w)];
    const int8_t i = static_cast<int8_t>(input[nchw(s, 5, n, c, h, w)]);
    EXPECT_EQ(a[at], quantize_f32((u - affine[c].mean) / affine[c].stddev, 0.02f, -3));
    EXPECT_EQ(b[at], quantize_f32((i - affine[c].mean) / affine[c].stddev, 0.02f, -3));
    EXPECT_EQ(half[at], float_to_half((u - affine[c].mean) / affine[c].stddev));
  });
  EXPECT_EQ(a[15], -3);
}

// Blocks, interleaved pixels and fp16 of every shape, with one table for all channels and with their own.
KERNEL_TEST(QuantizeTest, TablesServePicturesOfAnyWidthInEveryOrder) {
  for (const ActivationShape& s : kShapes) {
    const auto noise_tables = noise<int8_t>(size_t(s.channels) * 256);
    const auto half_tables = noise<uint16_t>(noise_tables.size());
    for (const bool same : {false, true}) {
      std::vector<int8_t> tables = noise_tables;
      for (size_t i = 0; same && i < tables.size(); ++i) tables[i] = tables[i % 256];
      for (const PlainLayout layout : {PlainLayout::kNchw, PlainLayout::kNhwc}) {
        for (const int extra : {0, 2}) {
          const int64_t stride = s.extent.w + extra;
          const auto input = noise<uint8_t>(size_t(s.batch) * s.channels * s.extent.h * stride);
          std::vector<int8_t> blocks(size_t(blocked_elements(s)), 99);
          std::vector<int8_t> pixels(size_t(s.batch * s.channels * s.pixels()) + 1, 99);
          std::vector<uint16_t> halves(blocks.size(), 99);
          TableQuantizeArgs args;
          args.shape = s, args.layout = layout, args.w_stride = extra != 0 ? stride : 0;
          args.input = input.data(), args.output = blocks.data();
          args.tables = tables.data(), args.fill = 5;
          const int64_t units = layout_units(s);
          quantize_by_table(args, {0, units});
          args.interleaved = true;
          args.output = pixels.data();
          quantize_by_table(args, {units / 2, units});
          quantize_by_table(args, {0, units / 2});
          TableHalfArgs half;
          half.shape = s, half.layout = layout, half.w_stride = args.w_stride;
          half.input = input.data(), half.output = halves.data(), half.tables = half_tables.data();
          half_by_table(half, {0, units});
          std::vector<uint16_t> half_pixels(pixels.size(), 99);
          half.output = half_pixels.data(), half.interleaved = true;
          half_by_table(half, {units / 2, units});
          half_by_table(half, {0, units / 2});
          for_each(s, [&](int n, int c, int h, int w) {
            const uint8_t x = input[plain(layout, s, stride, n, c, h, w)];
            const int64_t at = blocked_index(s, n, c, h, w);
            ASSERT_EQ(blocks[at], tables[c * 256 + x]);
            ASSERT_EQ(pixels[nhwc(s, s.extent.w, n, c, h, w)], tables[c * 256 + x]);
            ASSERT_EQ(halves[at], half_tables[c * 256 + x]);
            ASSERT_EQ(half_pixels[nhwc(s, s.extent.w, n, c, h, w)], half_tables[c * 256 + x]);
          });
          EXPECT_EQ(pixels.back(), 99);
          EXPECT_EQ(half_pixels.back(), 99);
          if (s.channels % 16 != 0) {
            EXPECT_EQ(blocks.back(), 5);
            EXPECT_EQ(halves.back(), 0);
          }
        }
      }
    }
  }
}

KERNEL_TEST(QuantizeTest, FloatsRoundTripThroughTheBorder) {
  for (const ActivationShape& s : kShapes) {
    for (const PlainLayout layout : {PlainLayout::kNchw, PlainLayout::kNhwc}) {
      const int64_t stride = s.extent.w + 1;
      std::vector<BorderAffine> affine(size_t(s.channels));
      for (int c = 0; c < s.channels; ++c) affine[c] = {c * 0.5f, 1.0f + c};
      const auto raw = noise<int8_t>(size_t(s.batch) * s.channels * s.extent.h * stride);
      std::vector<float> floats(raw.size()), back(raw.size());
      std::vector<uint16_t> halves(raw.size());
      for (size_t i = 0; i < raw.size(); ++i)
        floats[i] = raw[i] * 0.25f, halves[i] = float_to_half(floats[i]);
      std::vector<uint16_t> normalized(size_t(blocked_elements(s)), 99);
      HalfF32Args hn;
      hn.shape = s, hn.layout = layout, hn.w_stride = stride, hn.affine = affine.data();
      hn.input = floats.data(), hn.output = normalized.data();
      f32_to_blocked_f16(hn, {0, layout_units(s)});
      std::vector<uint16_t> half_pixels(size_t(s.batch * s.channels * s.pixels()) + 1, 99);
      hn.output = half_pixels.data(), hn.interleaved = true;
      f32_to_blocked_f16(hn, {0, layout_units(s)});
      EXPECT_EQ(half_pixels.back(), 99);
      // The same numbers as halves, which hold them exactly.
      std::vector<uint16_t> from_halves(normalized.size(), 99);
      std::vector<uint16_t> pixels_from_halves(half_pixels.size(), 99);
      HalfF16Args hh;
      hh.shape = s, hh.layout = layout, hh.w_stride = stride, hh.affine = affine.data();
      hh.input = halves.data(), hh.output = from_halves.data();
      f16_to_blocked_f16(hh, {0, layout_units(s)});
      hh.output = pixels_from_halves.data(), hh.interleaved = true;
      f16_to_blocked_f16(hh, {0, layout_units(s)});
      EXPECT_EQ(from_halves, normalized);
      EXPECT_EQ(pixels_from_halves, half_pixels);
      for_each(s, [&](int n, int c, int h, int w) {
        ASSERT_EQ(half_pixels[nhwc(s, s.extent.w, n, c, h, w)],
                  normalized[blocked_index(s, n, c, h, w)]);
      });
      std::vector<int8_t> quantized(size_t(blocked_elements(s))), from_half(quantized.size());
      std::vector<uint16_t> blocked_half(quantized.size());
      QuantizeF32Args q;
      q.shape = s, q.layout = layout, q.w_stride = stride;
      q.input = floats.data(), q.output = quantized.data();
      q.params = {affine.data(), 0.125f, 4};
      quantize_f32_to_i8(q, {0, layout_units(s)});
      std::vector<int8_t> pixels(size_t(s.batch * s.channels * s.pixels()));
      q.output = pixels.data(), q.interleaved = true;
      quantize_f32_to_i8(q, {0, layout_units(s)});
      QuantizeF16Args qh;
      qh.shape = s, qh.layout = layout, qh.w_stride = stride;
      qh.input = halves.data(), qh.output = from_half.data();
      qh.params = {nullptr, 0.5f, -1};
      quantize_f16_to_i8(qh, {0, layout_units(s)});
      std::vector<int8_t> pixels_from_half(pixels.size());
      qh.params = q.params;
      qh.output = pixels_from_half.data(), qh.interleaved = true;
      quantize_f16_to_i8(qh, {0, layout_units(s)});
      EXPECT_EQ(pixels_from_half, pixels);
      HalfF32Args hf;
      hf.shape = s, hf.layout = layout, hf.w_stride = stride;
      hf.input = floats.data(), hf.output = blocked_half.data();
      f32_to_blocked_f16(hf, {0, layout_units(s)});
      DequantizeArgs d;
      d.shape = s, d.layout = layout, d.w_stride = stride;
      d.input = quantized.data(), d.output = back.data();
      d.scale = 0.125f, d.zero_point = 4;
      dequantize_i8_to_f32(d, {0, layout_units(s)});
      std::vector<float> half_back(raw.size());
      BorderArgs<uint16_t, float> hb = {s, layout, stride, blocked_half.data(), half_back.data()};
      blocked_f16_to_f32(hb, {0, layout_units(s)});
      for_each(s, [&](int n, int c, int h, int w) {
        const int64_t at = blocked_index(s, n, c, h, w);
        const int64_t from = plain(layout, s, stride, n, c, h, w);
        const int8_t want =
            quantize_f32((floats[from] - affine[c].mean) / affine[c].stddev, 0.125f, 4);
        ASSERT_EQ(quantized[at], want);
        ASSERT_EQ(pixels[nhwc(s, s.extent.w, n, c, h, w)], want);
        ASSERT_EQ(back[from], (want - 4) * 0.125f);
        ASSERT_EQ(from_half[at], quantize_f32(floats[from], 0.5f, -1));
        ASSERT_EQ(half_back[from], floats[from]);
        ASSERT_EQ(normalized[at],
                  float_to_half((floats[from] - affine[c].mean) / affine[c].stddev));
      });
    }
  }
}

KERNEL_TEST(QuantizeTest, PicturesOfExtremeFloatsAgreeWithTheBaseRule) {
  std::mt19937 random(3);
  const ActivationShape s = {1, 3, {40, 41}};
  std::vector<float> input(size_t(3 * s.pixels()));
  for (float& x : input) {
    const uint32_t bits = random();
    std::memcpy(&x, &bits, sizeof x);  // every exponent, NaN and infinities
    if (random() % 4 == 0) x = static_cast<float>(static_cast<int>(random() % 2000) - 1000) * 0.25f;
  }
  for (const int32_t zero_point : {-128, 5, 127}) {
    std::vector<int8_t> pixels(input.size());
    QuantizeF32Args args;
    args.shape = s, args.input = input.data(), args.output = pixels.data();
    args.params = {nullptr, 0.5f, zero_point};
    args.interleaved = true;
    quantize_f32_to_i8(args, {0, layout_units(s)});
    for (size_t i = 0; i < input.size(); ++i)
      ASSERT_EQ(pixels[i], quantize_f32(input[i], 0.5f, zero_point)) << input[i];
  }
}

KERNEL_TEST(QuantizeTest, FlatHalfConversionsKeepEveryValue) {
  std::vector<uint16_t> halves, back(1003);
  std::vector<float> floats(1003);
  for (int i = 0; i < 1003; ++i) halves.push_back(static_cast<uint16_t>(i * 30));
  f16_to_f32(halves.data(), floats.data(), {0, 500});
  f16_to_f32(halves.data(), floats.data(), {500, 1003});
  f32_to_f16(floats.data(), back.data(), {0, 1003});
  EXPECT_EQ(back, halves);
}

KERNEL_TEST(QuantizeTest, FlatConversionsAgreeWithTheBaseRulesForEveryLength) {
  std::mt19937 random(4);
  for (const int64_t count : {1, 15, 16, 17, 1003}) {
    std::vector<float> floats(size_t(count), 0.0f), back(size_t(count) + 1, 7.0f);
    for (float& x : floats) {
      const uint32_t bits = random();
      std::memcpy(&x, &bits, sizeof x);
      if (random() % 2 == 0)
        x = static_cast<float>(static_cast<int>(random() % 2000) - 1000) * 0.25f;
    }
    std::vector<uint16_t> halves(size_t(count) + 1, 55);
    std::vector<int8_t> bytes(size_t(count) + 1, 55);
    f32_to_f16(floats.data(), halves.data(), {0, count});
    f32_to_i8(floats.data(), bytes.data(), {0.5f, -3}, {0, count});
    for (size_t i = 0; i < size_t(count); ++i) {
      ASSERT_EQ(bytes[i], quantize_f32(floats[i], 0.5f, -3));
      if (std::isnan(floats[i])) continue;
      ASSERT_EQ(halves[i], float_to_half(floats[i]));
    }
    EXPECT_EQ(halves.back(), 55);
    EXPECT_EQ(bytes.back(), 55);
    i8_to_f32(bytes.data(), back.data(), {0.125f, 9}, {0, count});
    for (size_t i = 0; i < size_t(count); ++i) ASSERT_EQ(back[i], (bytes[i] - 9) * 0.125f);
    EXPECT_EQ(back.back(), 7.0f);
  }
}

}  // namespace
}  // namespace rk::kernels
