// SPDX-License-Identifier: Apache-2.0
// Pooling and resizing: kernels that know no coordinate modes get one table per axis from here.
#include <algorithm>
#include <cmath>

#include "kernels/eltwise/eltwise.h"
#include "kernels/pool/pool.h"
#include "kernels/resize/resize.h"
#include "runtime/host/select.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

kernels::PoolShape pool_shape(const StepContext& context, const program::PoolParams& p) {
  const kernels::ActivationShape in = activation_shape(context.input(0).shape);
  const kernels::ActivationShape out = activation_shape(context.output().shape);
  return {.batch = in.batch,
          .channels = in.channels,
          .in = in.extent,
          .out = out.extent,
          .kernel = extent(p.kernel),
          .stride = extent(p.stride),
          .dilation = {1, 1},
          .pad_before = {p.pads.top, p.pads.left},
          .pad_after = {p.pads.bottom, p.pads.right},
          .count_include_pad = p.count_include_pad};
}

template <typename Args, typename T>
StepFunction pool_function(const Args& prototype, int32_t input, int32_t output,
                           void (*kernel)(const Args&, IndexRange),
                           std::shared_ptr<const void> keep_alive) {
  const int64_t units = kernels::pool_units_blocked(prototype.shape);
  // Kernels do a maximum of four pixels per cycle, down the window and then along it, and an average of one.
  const int64_t cost =
      int64_t{prototype.shape.out.w} * prototype.shape.kernel.h * prototype.shape.kernel.w;
  return [=, keep_alive = std::move(keep_alive)](const StepCall& call) {
    Args args = prototype;
    args.input = call.data<T>(input);
    args.output = call.data<T>(output);
    call.parallel(units, cost, [&](IndexRange range) { kernel(args, range); });
    return ok_status();
  };
}

// The input coordinate of an output coordinate, in pixels; ONNX Resize.
double source_coordinate(program::CoordinateMode mode, int64_t at, int64_t in, int64_t out,
                         double scale) {
  const double x = static_cast<double>(at);
  switch (mode) {
    case program::CoordinateMode::kHalfPixel:
      return (x + 0.5) / scale - 0.5;
    case program::CoordinateMode::kPytorchHalfPixel:
      return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case program::CoordinateMode::kAlignCorners:
      return out > 1 ? x * static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    case program::CoordinateMode::kAsymmetric:
      return x / scale;
  }
  return 0;
}

double round_nearest(program::NearestMode mode, double x) {
  switch (mode) {
    case program::NearestMode::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case program::NearestMode::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case program::NearestMode::kFloor:
      return std::floor(x);
    case program::NearestMode::kCeil:
      return std::ceil(x);
  }
  return 0;
}

std::vector<int32_t> nearest_indices(const program::ResizeParams& p, int64_t in, int64_t out,
                                     double scale) {
  std::vector<int32_t> indices(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const double x = round_nearest(p.nearest, source_coordinate(p.coordinates, i, in, out, scale));
    indices[static_cast<size_t>(i)] =
        static_cast<int32_t>(std::clamp(x, 0.0, static_cast<double>(in - 1)));
  }
  return indices;
}

std::vector<kernels::LinearTap> linear_taps(const program::ResizeParams& p, int64_t in, int64_t out,
                                            double scale) {
  std::vector<kernels::LinearTap> taps(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const double last = static_cast<double>(in - 1);
    const double x = std::clamp(source_coordinate(p.coordinates, i, in, out, scale), 0.0, last);
    const double low = std::floor(x);
    kernels::LinearTap& tap = taps[static_cast<size_t>(i)];
    tap.low = static_cast<int32_t>(low);
    tap.high = static_cast<int32_t>(std::min(low + 1, last));
    tap.high_weight_f = static_cast<float>(x - low);
    tap.high_weight = static_cast<int32_t>(round_even((x - low) * kernels::kLinearOne));
  }
  return taps;
}

struct NearestTables {
  std::vector<int32_t> y, x;
  std::vector<int8_t> rescale;  // empty: bytes are copied
};
struct LinearTables {
  std::vector<kernels::LinearTap> y, x;
};

template <typename T, typename Args>
StepFunction resize_function(const Args& prototype, const StepContext& context,
                             void (*kernel)(const Args&, IndexRange),
                             std::shared_ptr<const void> tables) {
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const int64_t units = kernels::resize_units(prototype.shape);
  const int64_t cost = int64_t{prototype.shape.out.w} * 4;
  return [=, tables = std::move(tables)](const StepCall& call) {
    Args args = prototype;
    args.input = call.data<T>(input);
    args.output = call.data<T>(output);
    call.parallel(units, cost, [&](IndexRange range) { kernel(args, range); });
    return ok_status();
  };
}

template <typename T>
StepFunction nearest_function(const StepContext& context, const kernels::ResizeShape& shape,
                              void (*kernel)(const kernels::NearestArgs<T>&, IndexRange),
                              const std::shared_ptr<const NearestTables>& tables) {
  kernels::NearestArgs<T> args;
  args.shape = shape;
  args.y_index = tables->y.data();
  args.x_index = tables->x.data();
  args.table = tables->rescale.empty() ? nullptr : tables->rescale.data();
  return resize_function<T>(args, context, kernel, tables);
}

template <typename T>
Result<StepFunction> prepare_nearest(const StepContext& context, const program::ResizeParams& p,
                                     const kernels::ResizeShape& shape,
                                     void (*kernel)(const kernels::NearestArgs<T>&, IndexRange)) {
  auto tables = std::make_shared<NearestTables>();
  tables->y = nearest_indices(p, shape.in.h, shape.out.h, p.scale_h);
  tables->x = nearest_indices(p, shape.in.w, shape.out.w, p.scale_w);
  RK_TRY(kernels::check_nearest_indices(shape, tables->y.data(), tables->x.data()));
  if (!p.identity && context.input(0).dtype == DType::kI8) {
    const kernels::InputStage in = input_stage(p.input);
    const kernels::OutputStage out = output_stage(p.output);
    RK_TRY(kernels::check_rescale(in, out));
    tables->rescale.resize(256);
    if (kernels::make_rescale_table(in, out, tables->rescale.data())) tables->rescale.clear();
  }
  return nearest_function<T>(context, shape, kernel, tables);
}

}  // namespace

Result<StepFunction> prepare_pool(const StepContext& context, const program::PoolParams& p) {
  const kernels::PoolShape shape = pool_shape(context, p);
  RK_TRY(kernels::check_pool_shape(shape));
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const bool integer = context.input(0).dtype == DType::kI8;
  const bool max = p.kind == program::PoolKind::kMax;
  if (!integer) {
    kernels::PoolArgs<uint16_t> args;
    args.shape = shape;
    return pool_function<kernels::PoolArgs<uint16_t>, uint16_t>(
        args, input, output, max ? kernels::max_pool_f16 : kernels::average_pool_f16, nullptr);
  }
  if (max) {
    const program::ProgramTensor &in = context.input(0), &out = context.output();
    if (in.scale != out.scale || in.zero_point != out.zero_point) {
      return unsupported("a maximum between tensors of different quantization");
    }
    kernels::PoolArgs<int8_t> args;
    args.shape = shape;
    return pool_function<kernels::PoolArgs<int8_t>, int8_t>(args, input, output,
                                                            kernels::max_pool_i8, nullptr);
  }
  auto scales = std::make_shared<std::vector<ScaleShift>>(1);
  for (const program::InputStage& stage : p.by_count) scales->push_back(stage.scale);
  kernels::AveragePoolI8Args args;
  args.shape = shape;
  args.input_zero_point = -p.by_count.front().offset;
  args.scale_by_count = scales->data();
  args.output_stage = output_stage(p.output);
  RK_TRY(kernels::check_average_pool_i8(args));
  return pool_function<kernels::AveragePoolI8Args, int8_t>(args, input, output,
                                                           kernels::average_pool_i8, scales);
}

Result<StepFunction> prepare_repeat(const StepContext& context, kernels::Extent2 factor,
                                    std::span<const int8_t> table) {
  const kernels::ActivationShape in = activation_shape(context.input(0).shape);
  const kernels::ActivationShape out = activation_shape(context.output().shape);
  auto tables = std::make_shared<NearestTables>();
  for (int32_t y = 0; y < out.extent.h; ++y) tables->y.push_back(y / factor.h);
  for (int32_t x = 0; x < out.extent.w; ++x) tables->x.push_back(x / factor.w);
  bool changes = false;
  for (int32_t i = 0; i < 256; ++i) changes |= table[static_cast<size_t>(i)] != i - 128;
  if (changes) tables->rescale.assign(table.begin(), table.end());
  const kernels::ResizeShape shape{in.batch, in.channels, in.extent, out.extent};
  RK_TRY(kernels::check_nearest_indices(shape, tables->y.data(), tables->x.data()));
  return nearest_function<int8_t>(context, shape, kernels::resize_nearest_i8, tables);
}

Result<StepFunction> prepare_resize(const StepContext& context, const program::ResizeParams& p) {
  const kernels::ActivationShape in = activation_shape(context.input(0).shape);
  const kernels::ActivationShape out = activation_shape(context.output().shape);
  const kernels::ResizeShape shape{in.batch, in.channels, in.extent, out.extent};
  const bool integer = context.input(0).dtype == DType::kI8;
  if (p.mode == program::ResizeMode::kNearest) {
    if (integer) return prepare_nearest<int8_t>(context, p, shape, kernels::resize_nearest_i8);
    return prepare_nearest<uint16_t>(context, p, shape, kernels::resize_nearest_f16);
  }
  auto tables = std::make_shared<LinearTables>();
  tables->y = linear_taps(p, shape.in.h, shape.out.h, p.scale_h);
  tables->x = linear_taps(p, shape.in.w, shape.out.w, p.scale_w);
  if (integer) {
    kernels::LinearI8Args args;
    args.shape = shape;
    args.y_taps = tables->y.data();
    args.x_taps = tables->x.data();
    args.input_stage = input_stage(p.input);
    args.output_stage = output_stage(p.output);
    RK_TRY(kernels::check_linear_i8(args));
    return resize_function<int8_t>(args, context, kernels::resize_linear_i8, tables);
  }
  kernels::LinearArgs<uint16_t> args;
  args.shape = shape;
  args.y_taps = tables->y.data();
  args.x_taps = tables->x.data();
  RK_TRY(kernels::check_linear_taps(shape, args.y_taps, args.x_taps));
  return resize_function<uint16_t>(args, context, kernels::resize_linear_f16, tables);
}

}  // namespace rk::runtime::host
