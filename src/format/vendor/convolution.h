// SPDX-License-Identifier: Apache-2.0
// A vendor convolution on its way to steps, as the files that lift it share it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "format/vendor/conv_constants.h"
#include "format/vendor/lift_context.h"
#include "format/vendor/lookup.h"

namespace rk::format {

struct ConvOperands {
  int32_t data = program::kNone, weight = program::kNone, bias = program::kNone,
          out = program::kNone;
  std::vector<int32_t> others;  // addend, factor, slopes
};

struct Convolution {
  ConvOperands o;
  program::ConvParams p;
  std::vector<std::string> fused;  // "Relu", "Add", ...
  const Task* task = nullptr;      // its first one that convolves; null: the file has none
  LoadedTask loaded;

  bool has(std::string_view name) const {
    return std::find(fused.begin(), fused.end(), name) != fused.end();
  }
  int32_t addend() const {
    return has("Add") && !o.others.empty() ? o.others.back() : program::kNone;
  }
};

Status refuse_stage(std::string_view what);
Result<BiasForm> bias_form(LiftContext& context);
// The one offset that all weights of a layer have.
Result<int16_t> layer_offset(LiftContext& context, const Task& task, bool depthwise);

// The batch-norm stage divides by a power of two and does nothing else.
bool shifts_only(const target::RegisterFile& registers);
// Int8 convolutions of RK3588 and RK3566 whose stages no integer step has: factors and addends of
// their own in the batch-norm stage, a product with another feature.
bool needs_real_numbers(const LiftContext& context, const Convolution& convolution);
Status lift_real_conv(LiftContext& context, const Convolution& convolution);

}  // namespace rk::format
