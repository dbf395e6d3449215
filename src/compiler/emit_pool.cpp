// SPDX-License-Identifier: Apache-2.0
// Max and average pools, windowed and global. A global pool is a window of the feature's size.
#include <set>

#include "compiler/emit.h"
#include "ops/shared/pool.h"

namespace rk::compiler {
namespace {

constexpr int64_t kMaxWindowArea = 1 << 16;  // one stage per count is stored

std::optional<program::PoolParams> params_of(const Node& node) {
  const Shape& in = node.input(0).shape();
  if (in.rank() != 4) return std::nullopt;
  program::PoolParams p;
  const bool average = node.op() == "AveragePool" || node.op() == "GlobalAveragePool";
  p.kind = average ? program::PoolKind::kAverage : program::PoolKind::kMax;
  if (node.op() == "GlobalAveragePool" || node.op() == "GlobalMaxPool") {
    p.kernel = p.stride = {static_cast<int32_t>(in[2]), static_cast<int32_t>(in[3])};
    return p;
  }
  const ops::PoolAttrs attrs = ops::pool_attrs(node);
  const ops::Window& window = attrs.window;
  for (int axis = 1; axis <= 2; ++axis) {
    if (window.dilation.at(axis) != 1) return std::nullopt;
    if (window.pads.begin(axis) < 0 || window.pads.end(axis) < 0) return std::nullopt;
  }
  p.kernel = {static_cast<int32_t>(window.kernel.h), static_cast<int32_t>(window.kernel.w)};
  p.stride = {static_cast<int32_t>(window.stride.h), static_cast<int32_t>(window.stride.w)};
  p.pads = {static_cast<int32_t>(window.pads.top), static_cast<int32_t>(window.pads.left),
            static_cast<int32_t>(window.pads.bottom), static_cast<int32_t>(window.pads.right)};
  p.count_include_pad = attrs.count_include_pad;
  return p;
}

// How many elements of the axis a window can cover: not only the kernel's extent where there are pads.
std::set<int64_t> covered(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t begin,
                          int64_t end, bool include_pad) {
  std::set<int64_t> counts;
  const int64_t first = include_pad ? -begin : 0, last = include_pad ? in + end : in;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t from = i * stride - begin;
    counts.insert(std::min(from + kernel, last) - std::max(from, first));
  }
  return counts;
}

std::set<int64_t> window_counts(const Shape& in, const Shape& out, const program::PoolParams& p) {
  std::set<int64_t> counts;
  for (const int64_t h : covered(in[2], out[2], p.kernel.h, p.stride.h, p.pads.top, p.pads.bottom,
                                 p.count_include_pad)) {
    for (const int64_t w : covered(in[3], out[3], p.kernel.w, p.stride.w, p.pads.left, p.pads.right,
                                   p.count_include_pad)) {
      counts.insert(h * w);
    }
  }
  return counts;
}

Status add_average_stages(const Value& x, const Value& y, program::PoolParams& p) {
  const Affine in = affine_of(x), out = affine_of(y);
  const std::set<int64_t> counts = window_counts(x.shape(), y.shape(), p);
  const int count = p.kernel.h * p.kernel.w;
  for (int n = 1; n <= count; ++n) {
    const auto stage = program::input_stage(in, out, 1.0 / n);
    // A count that no window of this layer has needs no stage that the chip can express.
    if (!stage.ok() && counts.contains(n)) return stage.status();
    p.by_count.push_back(stage.ok() ? *stage : program::InputStage{});
  }
  p.output = program::output_stage(out);
  return ok_status();
}

}  // namespace

Result<bool> emit_pool(const Node& node, Builder& builder) {
  const Value &x = node.input(0), &y = node.output();
  if (node.output_count() > 1 || x.is_constant() || !is_float(x.dtype())) return false;
  auto params = params_of(node);
  if (!params || int64_t{params->kernel.h} * params->kernel.w > kMaxWindowArea) return false;
  const bool integer = builder.may_use_integers(node) && is_i8(x) && is_i8(y);
  if (integer && params->kind == program::PoolKind::kMax && !(affine_of(x) == affine_of(y))) {
    return false;  // the chip's maximum does not change scales
  }
  if (integer && params->kind == program::PoolKind::kAverage) {
    RK_TRY(add_average_stages(x, y, *params));
  }
  const int32_t from = integer ? builder.home(x) : builder.as_f16(x);
  const int32_t written = builder.output(y, integer ? DType::kI8 : DType::kF16);
  builder.add_step({.type = std::string(node.op()),
                    .name = str(node.op(), ":", node.name()),
                    .inputs = {from},
                    .outputs = {written},
                    .params = std::move(*params),
                    .macs = macs_of(node)});
  builder.finish_output(y, written);
  return true;
}

}  // namespace rk::compiler
