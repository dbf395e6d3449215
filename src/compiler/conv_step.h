// SPDX-License-Identifier: Apache-2.0
// The arithmetic constants of one convolution, from float weights and scales. Conv, FusedConv,
// ConvTranspose, Gemm and MatMul all become a ConvSpec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/builder.h"
#include "compiler/conv_tail.h"
#include "program/native_layout.h"

namespace rk::compiler {

struct ConvSpec {
  std::string type = "Conv";
  std::string name;  // of the step
  std::string weight_name;
  std::string bias_name;
  program::ConvParams params;  // geometry and activations; the constants are filled in here
  Shape weight_shape;          // OIHW, or IOHW when transposed
  std::vector<float> weights;
  std::vector<float> bias;          // per output channel; empty: none
  std::vector<float> weight_scale;  // per output channel; integer form
  std::vector<int32_t> weight_zero_point;
  // (max - min) / 255 in double where ranges are known, else empty and 0: biases are rounded in its product.
  std::vector<double> exact_weight_scale;
  double exact_in_scale = 0;
  // No channel's scale is below this share of the widest one's, so that every multiplier has at least 6 bits.
  double least_scale_share = 1.0 / 512;
  // The model brought its scales: integers are kept as they are, however narrow their channel.
  bool keep_weight_scales = false;
  int64_t in_channels = 0, out_channels = 0;
  float clip_limit = 0;
  // In place of an activation; integer form.
  std::optional<program::LookupSpec> lookup;
  std::vector<int16_t> slope;
  bool reads_picture = false;  // the first layer of the chip's picture path

  int32_t data = program::kNone;
  int32_t addend = program::kNone;
  int32_t output = program::kNone;
  Affine in, out, added;  // integer form
  uint64_t macs = 0;
};

// Integer weights and the bias block (design: docs/fidelity.md, "Convolution").
struct QuantizedConv {
  std::vector<int8_t> weights;  // as ConvSpec::weights is ordered
  program::BiasBlock channels;
  int32_t multiplier_shift = 14;
  double accumulator_scale = 0;  // the unit of v: s_in * max s_w, or finer
};
Result<QuantizedConv> quantize_conv(const ConvSpec& spec);
// Of the last stage, for an accumulator_scale.
Result<ScaleShift> output_scale(const ConvSpec& spec, double accumulator_scale);

void add_tail(const ConvTail& tail, ConvSpec& spec);

// The stages behind the sums, for what quantize_conv() gave.
Status fill_integer_params(ConvSpec& spec, const QuantizedConv& conv, bool addend_first);

// Adds the step; integer form when `spec.in.scale` is set.
Status emit_conv_step(ConvSpec spec, Builder& builder);

// The scale and zero point of each output channel from a weight's QuantParams; `axis` is the
// weight's output-channel axis. Empty when the parameters are not of that form.
struct ChannelScales {
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
};
std::optional<ChannelScales> channel_scales(const Value& weight, int axis, int64_t channels);

// (max - min) / 255 of each range of int8 parameters; empty where they have none.
std::vector<double> exact_scales(const QuantParams& quant);

}  // namespace rk::compiler
