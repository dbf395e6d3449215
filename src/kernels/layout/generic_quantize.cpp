// SPDX-License-Identifier: Apache-2.0
// Border conversions in portable loops.
#include <cstring>

#include "base/half.h"
#include "kernels/half_lanes.h"
#include "kernels/layout/quantize.h"
#include "kernels/layout/quantize_lane.h"
#include "kernels/layout/rows.h"

namespace rk::kernels {
namespace {

int8_t zero_point_byte(int32_t zero_point) {
  return static_cast<int8_t>(zero_point < -128 ? -128 : zero_point > 127 ? 127 : zero_point);
}

constexpr int64_t kStrip = 64;  // pixels quantized at a time, channel by channel

// One channel of a strip. The stride is a constant for NCHW, so that the loop vectorizes.
template <typename In, typename Widen>
void quantize_strip(const In* x, int64_t pixel_step, int64_t count, const QuantizeParams& params,
                    int32_t channel, const Widen& widen, int8_t* strip) {
  const float scale = params.scale;
  const int32_t zero_point = clamp_zero_point(params.zero_point);
  float wide[kStrip];
  if (pixel_step == 1) {
    for (int64_t i = 0; i < count; ++i) wide[i] = widen(x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) wide[i] = widen(x[i * pixel_step]);
  }
  if (params.affine != nullptr) {
    const BorderAffine affine = params.affine[channel];
    for (int64_t i = 0; i < count; ++i) wide[i] = (wide[i] - affine.mean) / affine.stddev;
  }
  for (int64_t i = 0; i < count; ++i) strip[i] = quantize_lane(wide[i], scale, zero_point);
}

template <typename In, typename Args, typename Widen>
void quantize_rows(const Args& args, IndexRange units, const Widen& widen) {
  const ActivationShape& shape = args.shape;
  const int8_t fill = zero_point_byte(args.params.zero_point);
  int8_t strip[kHostBlock][kStrip];
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h;
    const int64_t h = unit % shape.extent.h;
    const PlainRow<const In> source =
        plain_row(args.input, shape, args.layout, args.w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      std::memset(strip, fill, sizeof strip);
      int8_t* const row = blocked_row(args.output, shape, n, block, h);
      for (int64_t w = 0; w < shape.extent.w; w += kStrip) {
        const int64_t count = shape.extent.w - w < kStrip ? shape.extent.w - w : kStrip;
        for (int32_t c = 0; c < lanes; ++c) {
          const int32_t channel = block * kHostBlock + c;
          quantize_strip(source.data + channel * source.channel_step + w * source.pixel_step,
                         source.pixel_step, count, args.params, channel, widen, strip[c]);
        }
        if (args.interleaved) {
          int8_t* const pixels = interleaved_row(args.output, shape, n, h) + w * shape.channels;
          for (int64_t i = 0; i < count; ++i) {
            for (int32_t c = 0; c < lanes; ++c)
              pixels[i * shape.channels + block * kHostBlock + c] = strip[c][i];
          }
          continue;
        }
        for (int64_t i = 0; i < count; ++i) {
          for (int32_t c = 0; c < kHostBlock; ++c) row[(w + i) * kHostBlock + c] = strip[c][i];
        }
      }
    }
  }
}

template <typename In, typename Convert>
void to_half(const BorderArgs<In, uint16_t>& args, IndexRange units, const Convert& convert) {
  if (args.interleaved) {
    rows_to_interleaved(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                        convert);
  } else {
    rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, uint16_t{0},
                    units, convert);
  }
}

// (x - mean) / stddev of what `widen` makes of an element.
template <typename Args, typename Widen>
void normalize_to_half(const Args& args, IndexRange units, const Widen& widen) {
  to_half(args, units, [&](int32_t c, auto x) {
    if (args.affine == nullptr) return float_to_half(widen(x));
    return float_to_half((widen(x) - args.affine[c].mean) / args.affine[c].stddev);
  });
}

}  // namespace

void quantize_by_table__generic(const TableQuantizeArgs& args, IndexRange units) {
  const auto convert = [tables = args.tables](int32_t c, uint8_t x) {
    return tables[int64_t{c} * 256 + x];
  };
  if (args.interleaved) {
    rows_to_interleaved(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                        convert);
  } else {
    rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, args.fill,
                    units, convert);
  }
}

void quantize_f32_to_i8__generic(const QuantizeF32Args& args, IndexRange units) {
  quantize_rows<float>(args, units, [](float x) { return x; });
}

void quantize_f16_to_i8__generic(const QuantizeF16Args& args, IndexRange units) {
  quantize_rows<uint16_t>(args, units, half_to_float);
}

void half_by_table__generic(const TableHalfArgs& args, IndexRange units) {
  to_half(args, units,
          [tables = args.tables](int32_t c, uint8_t x) { return tables[int64_t{c} * 256 + x]; });
}

void f32_to_blocked_f16__generic(const HalfF32Args& args, IndexRange units) {
  normalize_to_half(args, units, [](float x) { return x; });
}

void f16_to_blocked_f16__generic(const HalfF16Args& args, IndexRange units) {
  normalize_to_half(args, units, half_to_float);
}

void dequantize_i8_to_f32__generic(const DequantizeArgs& args, IndexRange units) {
  const float scale = args.scale;
  const int32_t zero_point = args.zero_point;
  rows_from_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                    [=](int8_t x) { return static_cast<float>(x - zero_point) * scale; });
}

void blocked_f16_to_f32__generic(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  rows_from_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                    half_to_float);
}

void f32_to_f16__generic(const float* input, uint16_t* output, IndexRange elements) {
  for (int64_t e = elements.begin; e < elements.end; ++e) output[e] = float_to_half(input[e]);
}

void f16_to_f32__generic(const uint16_t* input, float* output, IndexRange elements) {
  int64_t e = elements.begin;
  for (; e + 16 <= elements.end; e += 16) widen_lanes<16>(input + e, output + e);
  for (; e < elements.end; ++e) output[e] = half_to_float(input[e]);
}

void f32_to_i8__generic(const float* input, int8_t* output, QuantScale by, IndexRange elements) {
  const int32_t zero_point = clamp_zero_point(by.zero_point);
  for (int64_t e = elements.begin; e < elements.end; ++e)
    output[e] = quantize_lane(input[e], by.scale, zero_point);
}

void i8_to_f32__generic(const int8_t* input, float* output, QuantScale by, IndexRange elements) {
  const float zero_point = static_cast<float>(by.zero_point);
  for (int64_t e = elements.begin; e < elements.end; ++e)
    output[e] = (static_cast<float>(input[e]) - zero_point) * by.scale;
}

}  // namespace rk::kernels
