// SPDX-License-Identifier: Apache-2.0
#include "registers/selection.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "program/native_layout.h"
#include "registers/half_weights.h"
#include "target/target.h"

namespace rk::registers {
namespace {

// Weights of one and a bias that takes the zero point away, so that the output stage can add it again.
constexpr uint64_t kMostWeightBytes = uint64_t{8} << 20;

Status add_constants(const target::Target& target, const Selection& s, LayerTasks& out) {
  const std::string bias = s.helper + "_bias";
  const bool known = std::ranges::any_of(
      out.helpers, [&](const HelperConstant& helper) { return helper.name == s.helper; });
  if (known) return ok_status();
  const int64_t channels = s.out.channels;
  const int64_t kernel = int64_t{s.taps} * s.in.channels;
  const auto size = checked_mul(static_cast<uint64_t>(channels), static_cast<uint64_t>(kernel));
  if (!size || *size > kMostWeightBytes)
    return unsupported(str("no register form for a move of ", channels, " channels out of ",
                           s.in.channels, " in groups of ", s.taps));
  if (s.in.is_float) {
    constexpr uint16_t kOne = 0x3c00;
    RK_ASSIGN(HelperConstant halves,
              half_blocks(*s.in.chip, Shape{channels, s.in.channels, 1, s.taps},
                          program::WeightUse::kDense, [&](int64_t i) -> uint16_t {
                            const int64_t pick = s.picks[static_cast<size_t>(i / kernel)];
                            const int64_t lane = i % kernel / s.taps, tap = i % s.taps;
                            return pick == tap * s.in.channels + lane ? kOne : 0;
                          }));
    halves.name = s.helper;
    out.helpers.push_back(std::move(halves));
    return ok_status();
  }
  HelperConstant weights{.name = s.helper, .dtype = DType::kI8};
  weights.layout = program::Layout::kWeight;
  weights.shape = Shape{channels, s.in.channels, 1, s.taps};
  weights.native_shape = program::native_weight_shape(int8_layout(target, weights.shape),
                                                      weights.shape, program::WeightUse::kDense);
  std::vector<int8_t> plain(*size, 0);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t pick = s.picks[static_cast<size_t>(c)];
    if (pick < 0) continue;
    if (pick >= kernel) return invalid_model("a move reads beyond its operand");
    const int64_t tap = pick / s.in.channels, lane = pick % s.in.channels;
    plain[static_cast<size_t>((c * s.in.channels + lane) * s.taps + tap)] = 1;
  }
  const std::vector<int16_t> offset(static_cast<size_t>(channels), 0);
  weights.bytes = program::pack_weights(plain, weights.shape, offset, weights.native_shape);
  // The reader takes whole groups of 32 channels.
  constexpr int64_t kGroup = 32;
  HelperConstant biases{.name = bias, .dtype = DType::kI32, .shape = Shape{channels}};
  const int64_t padded = align_up(channels, kGroup);
  biases.native_shape = {static_cast<int32_t>(padded)};
  biases.bytes.resize(static_cast<size_t>(padded) * sizeof(int32_t));
  for (int64_t c = 0; c < channels; ++c) {
    const int32_t value = -s.zero_point;
    std::memcpy(biases.bytes.data() + static_cast<size_t>(c) * sizeof value, &value, sizeof value);
  }
  out.helpers.push_back(std::move(weights));
  out.helpers.push_back(std::move(biases));
  return ok_status();
}

}  // namespace

Status add_selection(const program::Program& program, const Selection& s, LayerTasks& out) {
  RK_ASSIGN(const target::Target* target, target::find_target(program.target));
  RK_TRY(add_constants(*target, s, out));
  ConvLayer layer{.params = {}, .in = s.in, .out = s.out};
  layer.params.kernel = {1, s.taps};
  layer.params.pad_value = s.zero_point;
  layer.params.output = {{16384, 14}, s.zero_point};
  layer.bias_form = BiasForm::kAlone;
  layer.has_bias = !s.in.is_float;
  layer.in_bytes = s.in_bytes;
  layer.out_bytes = s.out_bytes;
  const auto weights = std::ranges::find(out.helpers, s.helper, &HelperConstant::name);
  layer.weight_bytes = weights->bytes.size();
  RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
  for (const ConvTile& tile : tiles) {
    RK_ASSIGN(RegisterTask task, write_convolution(layer, tile));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = s.from;
    bound.tensors[static_cast<size_t>(Operand::kWeight)] = s.helper;
    if (layer.has_bias) bound.tensors[static_cast<size_t>(Operand::kBias)] = s.helper + "_bias";
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = s.to;
    out.tasks.push_back(std::move(bound));
  }
  return ok_status();
}

}  // namespace rk::registers
