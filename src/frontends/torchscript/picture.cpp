// SPDX-License-Identifier: Apache-2.0
// Windows over pictures, sampling, borders, normalization.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

std::vector<int64_t> twice(const std::vector<int64_t>& pads) {
  std::vector<int64_t> out = pads;
  out.insert(out.end(), pads.begin(), pads.end());
  return out;
}

Status at_least(const std::vector<int64_t>& values, int64_t least, std::string_view what) {
  for (const int64_t value : values) {
    if (value < least || value > 1 << 20) return invalid_model(str(what, " is ", value));
  }
  return ok_status();
}

// Pictures may come without a batch: one is put before and taken away again.
struct Batched {
  Value* value = nullptr;
  bool added = false;
};

Result<Batched> batched(Call& call, int spatial) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const int rank = value->shape().rank();
  if (rank == spatial + 2) return Batched{value, false};
  if (rank != spatial + 1) {
    return invalid_model(
        str("its input is ", to_string(value->shape()), "; rank ", spatial + 2, " is expected"));
  }
  std::vector<int64_t> dims = {1};
  dims.insert(dims.end(), value->shape().dims().begin(), value->shape().dims().end());
  RK_ASSIGN(Value* const out, call.reshaped(value, dims, "/batch"));
  return Batched{out, true};
}

Result<Value*> unbatched(Call& call, const Batched& from, Value* value) {
  if (!from.added) return value;
  const auto dims = value->shape().dims().subspan(1);
  return call.reshaped(value, {dims.begin(), dims.end()}, "/unbatched");
}

struct ConvForm {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  std::vector<int64_t> pads;  // begins, then ends; empty: `padding` on both sides
  int64_t groups = 1;
  bool transposed = false;
};

Status emit_conv(Call& call, int spatial, const ConvForm& form) {
  RK_ASSIGN(const Batched picture, batched(call, spatial));
  RK_ASSIGN(Value* const weight, call.tensor(1));
  if (weight->shape().rank() != spatial + 2) {
    return invalid_model(str("its weights are ", to_string(weight->shape())));
  }
  RK_TRY(at_least(form.stride, 1, "a stride"));
  RK_TRY(at_least(form.dilation, 1, "a dilation"));
  RK_TRY(at_least(form.padding, 0, "a padding"));
  const auto kernel = weight->shape().dims().subspan(2);
  AttrMap attrs = {{"kernel_shape", std::vector<int64_t>(kernel.begin(), kernel.end())},
                   {"strides", form.stride},
                   {"pads", form.pads.empty() ? twice(form.padding) : form.pads},
                   {"dilations", form.dilation},
                   {"group", form.groups}};
  if (form.transposed) attrs["output_padding"] = form.output_padding;
  std::vector<Value*> inputs = {picture.value, weight};
  if (call.has(2)) {
    RK_ASSIGN(Value* const bias, call.tensor(2));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value * out, call.emit(form.transposed ? "ConvTranspose" : "Conv", "/conv",
                                   std::move(inputs), std::move(attrs)));
  RK_ASSIGN(out, unbatched(call, picture, out));
  return call.give(out);
}

// padding='same' splits unevenly where it must, the larger half behind.
Status text_padding(Call& call, size_t i, int spatial, ConvForm& form) {
  const std::string& mode = call.arg(i).text;
  form.padding.assign(static_cast<size_t>(spatial), 0);
  if (mode == "valid") return ok_status();
  if (mode != "same") return invalid_model(str("padding '", mode, "'"));
  RK_ASSIGN(const Value* const weight, call.tensor(1));
  if (weight->shape().rank() != spatial + 2) return invalid_model("has weights of another rank");
  RK_TRY(at_least(form.dilation, 1, "a dilation"));
  form.pads.assign(static_cast<size_t>(2 * spatial), 0);
  for (size_t axis = 0; axis < static_cast<size_t>(spatial); ++axis) {
    const int64_t total = form.dilation[axis] * (weight->shape()[static_cast<int>(axis) + 2] - 1);
    form.pads[axis] = total / 2;
    form.pads[axis + static_cast<size_t>(spatial)] = total - total / 2;
  }
  return ok_status();
}

struct PoolForm {
  std::vector<int64_t> kernel, stride, padding;
};

Result<PoolForm> pool_form(Call& call, int spatial) {
  const auto n = static_cast<size_t>(spatial);
  PoolForm form;
  RK_ASSIGN(form.kernel, call.ints(1, "the window", n));
  form.stride = form.kernel;
  if (call.has(2) && !(call.arg(2).is_list() && call.arg(2).items->empty())) {
    RK_ASSIGN(form.stride, call.ints(2, "the stride", n));
  }
  form.padding.assign(n, 0);
  if (call.has(3)) {
    RK_ASSIGN(form.padding, call.ints(3, "the padding", n));
  }
  RK_TRY(at_least(form.kernel, 1, "a window"));
  RK_TRY(at_least(form.stride, 1, "a stride"));
  RK_TRY(at_least(form.padding, 0, "a padding"));
  return form;
}

// (x, weight, bias, stride, padding, dilation, groups)
Status conv(Call& call, int spatial) {
  const auto n = static_cast<size_t>(spatial);
  ConvForm form;
  RK_ASSIGN(form.stride, call.ints(3, "the stride", n));
  RK_ASSIGN(form.dilation, call.ints(5, "the dilation", n));
  if (call.arg(4).kind == Item::Kind::kText) {
    RK_TRY(text_padding(call, 4, spatial, form));
  } else {
    RK_ASSIGN(form.padding, call.ints(4, "the padding", n));
  }
  RK_ASSIGN(form.groups, call.integer(6, "the groups"));
  return emit_conv(call, spatial, form);
}

// (x, weight, bias, stride, padding, output_padding, groups, dilation)
Status conv_transpose(Call& call, int spatial) {
  const auto n = static_cast<size_t>(spatial);
  ConvForm form;
  form.transposed = true;
  RK_ASSIGN(form.stride, call.ints(3, "the stride", n));
  RK_ASSIGN(form.padding, call.ints(4, "the padding", n));
  RK_ASSIGN(form.output_padding, call.ints(5, "the output padding", n));
  RK_ASSIGN(form.groups, call.integer(6, "the groups"));
  RK_ASSIGN(form.dilation, call.ints(7, "the dilation", n));
  return emit_conv(call, spatial, form);
}

// (x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...); also (x, weight, bias, stride,
// 'same', dilation, groups), as _convolution_mode has it.
Status convolution(Call& call) {
  RK_ASSIGN(const Value* const weight, call.tensor(1));
  const int spatial = weight->shape().rank() - 2;
  if (spatial < 1 || spatial > 3)
    return invalid_model(str("its weights are ", to_string(weight->shape())));
  if (call.arg(4).kind == Item::Kind::kText) return conv(call, spatial);
  const auto n = static_cast<size_t>(spatial);
  ConvForm form;
  RK_ASSIGN(form.stride, call.ints(3, "the stride", n));
  RK_ASSIGN(form.padding, call.ints(4, "the padding", n));
  RK_ASSIGN(form.dilation, call.ints(5, "the dilation", n));
  RK_ASSIGN(form.transposed, call.flag(6, "transposed"));
  RK_ASSIGN(form.output_padding, call.ints(7, "the output padding", n));
  RK_ASSIGN(form.groups, call.integer(8, "the groups"));
  return emit_conv(call, spatial, form);
}

// (x, window, stride, padding, dilation, ceil_mode)
Status max_pool(Call& call, int spatial) {
  RK_ASSIGN(const Batched picture, batched(call, spatial));
  RK_ASSIGN(const PoolForm form, pool_form(call, spatial));
  std::vector<int64_t> dilation(static_cast<size_t>(spatial), 1);
  if (call.has(4)) {
    RK_ASSIGN(dilation, call.ints(4, "the dilation", dilation.size()));
  }
  RK_TRY(at_least(dilation, 1, "a dilation"));
  RK_ASSIGN(Value * out, call.emit("MaxPool", "/pool", {picture.value},
                                   {{"kernel_shape", form.kernel},
                                    {"strides", form.stride},
                                    {"pads", twice(form.padding)},
                                    {"dilations", dilation},
                                    {"ceil_mode", static_cast<int64_t>(call.flag_or(5, false))}}));
  RK_ASSIGN(out, unbatched(call, picture, out));
  RK_TRY(call.give_moved(out));
  if (call.node().outputs.size() < 2) return ok_status();
  return call.give(
      Item::lost(str(call.node().kind, ": its indices are not taken, only its values")), 1);
}

// (x, window, stride, padding, ceil_mode, count_include_pad, divisor_override)
Status avg_pool(Call& call, int spatial) {
  RK_ASSIGN(const Batched picture, batched(call, spatial));
  RK_ASSIGN(const PoolForm form, pool_form(call, spatial));
  if (call.has(6)) return unsupported("with divisor_override is not taken");
  RK_ASSIGN(Value * out,
            call.emit("AveragePool", "/pool", {picture.value},
                      {{"kernel_shape", form.kernel},
                       {"strides", form.stride},
                       {"pads", twice(form.padding)},
                       {"ceil_mode", static_cast<int64_t>(call.flag_or(4, false))},
                       {"count_include_pad", static_cast<int64_t>(call.flag_or(5, true))}}));
  RK_ASSIGN(out, unbatched(call, picture, out));
  return call.give_like(out);
}

// Windows of one axis that do not come out even: from floor(i * in / out) to ceil((i + 1) * in / out).
Result<Value*> uneven_axis(Call& call, Value* value, int64_t axis, int64_t out, bool largest) {
  const int64_t in = value->shape()[static_cast<int>(axis)];
  if (in == out) return value;
  if (out < 1 || out > 256) return unsupported(str("to ", out, " windows is not taken"));
  std::vector<Value*> parts;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    RK_ASSIGN(Value* const window,
              call.emit("Slice", "/window",
                        {value, call.ints_value("/begin", {begin}), call.ints_value("/end", {end}),
                         call.ints_value("/axis", {axis})}));
    RK_ASSIGN(Value* const one,
              call.emit(largest ? "ReduceMax" : "ReduceMean", "/one",
                        {window, call.ints_value("/axes", {axis})}, {{"keepdims", int64_t{1}}}));
    parts.push_back(one);
  }
  if (parts.size() == 1) return parts[0];
  return call.emit("Concat", "/windows", std::move(parts), {{"axis", axis}});
}

Status adaptive_pool(Call& call, int spatial, bool largest) {
  RK_ASSIGN(const Batched picture, batched(call, spatial));
  const Shape shape = picture.value->shape();
  std::vector<int64_t> out_size;
  const Item& sizes = call.arg(1);
  for (int i = 0; i < spatial; ++i) {
    const bool listed = sizes.is_list() && static_cast<size_t>(i) < sizes.items->size();
    const Item& one = listed ? (*sizes.items)[static_cast<size_t>(i)] : sizes;
    int64_t extent = shape[i + 2];  // None: as it is
    if (!one.is_none()) {
      RK_ASSIGN(extent, call.integer_of(one, "the size"));
    }
    if (extent < 1) return invalid_model(str("to an extent of ", extent));
    out_size.push_back(extent);
  }
  bool even = true, global = true;
  std::vector<int64_t> window;
  for (int i = 0; i < spatial; ++i) {
    const int64_t extent = out_size[static_cast<size_t>(i)];
    even = even && shape[i + 2] % extent == 0;
    global = global && extent == 1;
    window.push_back(shape[i + 2] / extent);
  }
  Value* out = picture.value;
  if (global) {
    RK_ASSIGN(out, call.emit(largest ? "GlobalMaxPool" : "GlobalAveragePool", "/pool", {out}));
  } else if (even) {
    RK_ASSIGN(out, call.emit(largest ? "MaxPool" : "AveragePool", "/pool", {out},
                             {{"kernel_shape", window}, {"strides", window}}));
  } else {
    for (int i = 0; i < spatial; ++i) {
      RK_ASSIGN(out, uneven_axis(call, out, i + 2, out_size[static_cast<size_t>(i)], largest));
    }
  }
  RK_ASSIGN(out, unbatched(call, picture, out));
  if (!largest) return call.give_like(out);
  RK_TRY(call.give_moved(out));
  if (call.node().outputs.size() < 2) return ok_status();
  return call.give(
      Item::lost(str(call.node().kind, ": its indices are not taken, only its values")), 1);
}

// (x, size, [align_corners,] scale per axis...) or (x, size, [align_corners,] list of scales).
Status resize(Call& call, std::string_view mode, bool exact = false) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  const int spatial = value->shape().rank() - 2;
  if (spatial < 1 || spatial > 3)
    return invalid_model(str("its input is ", to_string(value->shape())));
  const bool nearest = mode == "nearest";
  const bool align = !nearest && call.flag_or(2, false);
  std::vector<double> scales;
  const size_t first = nearest ? 2 : 3;
  if (call.arg(first).is_list()) {
    for (const Item& item : *call.arg(first).items) {
      RK_ASSIGN(const double scale, call.real_of(item, "a scale"));
      scales.push_back(scale);
    }
  } else {
    for (size_t i = first; i < call.count() && call.has(i); ++i) {
      RK_ASSIGN(const double scale, call.real(i, "a scale"));
      scales.push_back(scale);
    }
  }
  if (scales.size() != static_cast<size_t>(spatial)) scales.clear();
  std::vector<int64_t> sizes = {value->shape()[0], value->shape()[1]};
  if (call.has(1)) {
    RK_ASSIGN(const auto own, call.ints(1, "the size", static_cast<size_t>(spatial)));
    sizes.insert(sizes.end(), own.begin(), own.end());
  } else if (scales.empty()) {
    return invalid_model("has neither size nor scales");
  }
  AttrMap attrs = {{"mode", std::string(mode)}};
  attrs["coordinate_transformation_mode"] = std::string(align               ? "align_corners"
                                                        : nearest && !exact ? "asymmetric"
                                                                            : "half_pixel");
  if (nearest) attrs["nearest_mode"] = std::string(exact ? "round_prefer_ceil" : "floor");
  if (mode == "cubic") attrs["cubic_coeff_a"] = -0.75f;
  std::vector<float> all = {1, 1};
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto in = static_cast<double>(value->shape()[static_cast<int>(i) + 2]);
    const double extent = std::floor(in * scales[i]);
    if (!(extent >= 1 && extent < 1e9)) return invalid_model(str("a scale is ", scales[i]));
    all.push_back(static_cast<float>(scales[i]));
    if (!call.has(1)) sizes.push_back(static_cast<int64_t>(extent));
  }
  // A scale says where to sample, which size / extent would not where it does not come out even. Corners are aligned by
  // size.
  Value* scale_value = nullptr;
  if (!scales.empty() && !align) {
    scale_value = call.builder().constant(call.name() + "/scales",
                                          Tensor::f32({static_cast<int64_t>(all.size())}, all));
  }
  RK_ASSIGN(Value* const out,
            call.emit("Resize", "/resize",
                      {value, nullptr, scale_value,
                       scale_value == nullptr ? call.ints_value("/sizes", sizes) : nullptr},
                      std::move(attrs)));
  return nearest ? call.give_moved(out) : call.give_like(out);
}

// (x, grid, mode, padding, align_corners)
Status grid_sampler(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(Value* const grid, call.tensor(1));
  RK_ASSIGN(const int64_t mode, call.integer(2, "the mode"));
  RK_ASSIGN(const int64_t padding, call.integer(3, "the padding mode"));
  constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return invalid_model("has an unknown mode");
  RK_ASSIGN(Value* const out,
            call.emit("GridSample", "/y", {value, grid},
                      {{"mode", std::string(kModes[mode])},
                       {"padding_mode", std::string(kPaddings[padding])},
                       {"align_corners", static_cast<int64_t>(call.flag_or(4, false))}}));
  return call.give(out);
}

Status affine_grid(Call& call) {
  RK_ASSIGN(Value* const theta, call.tensor(0));
  RK_ASSIGN(const auto size, call.ints(1, "the size"));
  RK_ASSIGN(Value* const out,
            call.emit("AffineGrid", "/y", {theta, call.ints_value("/size", size)},
                      {{"align_corners", static_cast<int64_t>(call.flag_or(2, false))}}));
  return call.give(out);
}

// Pairs of pads from the last axis on, as torch counts them.
Status padded(Call& call, size_t pads_argument, std::string_view mode, double number) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto pairs, call.ints(pads_argument, "the pads"));
  const auto rank = static_cast<size_t>(value->shape().rank());
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > rank) {
    return invalid_model(str(pairs.size(), " pads for ", to_string(value->shape())));
  }
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  std::vector<Value*> inputs = {value, call.ints_value("/pads", pads)};
  if (mode == "constant") inputs.push_back(call.scalar("/border", number, value->dtype()));
  RK_ASSIGN(Value* const out,
            call.emit("Pad", "/pad", std::move(inputs), {{"mode", std::string(mode)}}));
  return call.give_like(out);
}

// (x, pads, mode, value)
// (x, kernel, dilation, padding, stride): the windows as columns, [n, channels * taps, places].
Status im2col(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  RK_ASSIGN(const auto kernel, call.ints(1, "the kernel", 2));
  RK_ASSIGN(const auto dilation, call.ints(2, "the dilation", 2));
  RK_ASSIGN(const auto padding, call.ints(3, "the padding", 2));
  RK_ASSIGN(const auto stride, call.ints(4, "the stride", 2));
  constexpr int64_t kMost = 4096;
  if (value->shape().rank() != 4)
    return unsupported(str("of ", to_string(value->shape()), " is not taken"));
  for (size_t i = 0; i < 2; ++i) {
    const bool good = kernel[i] > 0 && kernel[i] < kMost && dilation[i] > 0 &&
                      dilation[i] < kMost && padding[i] >= 0 && padding[i] < kMost &&
                      stride[i] > 0 && stride[i] < kMost;
    if (!good) return invalid_model("has a kernel, dilation, padding or stride that cannot be");
  }
  if (kernel[0] * kernel[1] > kMost) return unsupported("of so many taps is not taken");
  if (padding[0] != 0 || padding[1] != 0) {
    Value* const pads =
        call.ints_value("/pads", {0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]});
    RK_ASSIGN(value, call.emit("Pad", "/padded", {value, pads}));
  }
  int64_t places[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t free =
        value->shape()[static_cast<int>(i) + 2] - dilation[i] * (kernel[i] - 1) - 1;
    if (free < 0) return invalid_model(str("has a kernel larger than ", to_string(value->shape())));
    places[i] = free / stride[i] + 1;
  }
  const int64_t batch = value->shape()[0], channels = value->shape()[1];
  std::vector<Value*> taps;
  for (int64_t y = 0; y < kernel[0]; ++y) {
    for (int64_t x = 0; x < kernel[1]; ++x) {
      const int64_t top = y * dilation[0], left = x * dilation[1];
      const std::vector<int64_t> end = {top + (places[0] - 1) * stride[0] + 1,
                                        left + (places[1] - 1) * stride[1] + 1};
      RK_ASSIGN(
          Value * tap,
          call.emit("Slice", "/tap",
                    {value, call.ints_value("/begin", {top, left}), call.ints_value("/end", end),
                     call.ints_value("/axes", {2, 3}), call.ints_value("/step", stride)}));
      RK_ASSIGN(tap, call.reshaped(tap, {batch, channels, 1, places[0] * places[1]}, "/tap_row"));
      taps.push_back(tap);
    }
  }
  RK_ASSIGN(Value * out, call.emit("Concat", "/taps", std::move(taps), {{"axis", int64_t{2}}}));
  RK_ASSIGN(out, call.reshaped(
                     out, {batch, channels * kernel[0] * kernel[1], places[0] * places[1]}, "/y"));
  return call.give(out);
}

Status pad(Call& call) {
  const std::string& mode = call.arg(2).text;
  if (mode.empty() || mode == "constant") return padded(call, 1, "constant", call.real_or(3, 0));
  if (mode == "reflect") return padded(call, 1, "reflect", 0);
  if (mode == "replicate") return padded(call, 1, "edge", 0);
  if (mode == "circular") return padded(call, 1, "wrap", 0);
  return unsupported(str("mode '", mode, "' is not taken"));
}

Status constant_pad(Call& call) { return padded(call, 1, "constant", call.real_or(2, 0)); }
Status mode_pad(Call& call, std::string_view mode) { return padded(call, 1, mode, 0); }

// A vector per channel, or a constant where there is none.
Result<Value*> per_channel(Call& call, size_t i, int64_t channels, float fallback) {
  if (call.has(i)) return call.tensor(i);
  return call.builder().constant(
      call.name() + "/channel",
      Tensor::f32({channels}, std::vector<float>(static_cast<size_t>(channels), fallback)));
}

Result<int64_t> channels_of(const Value* value) {
  if (value->shape().rank() < 2)
    return invalid_model(str("its input is ", to_string(value->shape())));
  return value->shape()[1];
}

Status normalized_by_statistics(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t channels, channels_of(value));
  RK_ASSIGN(Value* const scale, per_channel(call, 1, channels, 1));
  RK_ASSIGN(Value* const bias, per_channel(call, 2, channels, 0));
  RK_ASSIGN(Value* const mean, call.tensor(3));
  RK_ASSIGN(Value* const variance, call.tensor(4));
  RK_ASSIGN(Value* const out,
            call.emit("BatchNormalization", "/y", {value, scale, bias, mean, variance},
                      {{"epsilon", static_cast<float>(call.real_or(7, 1e-5))}}));
  return call.give(out);
}

// (x, weight, bias, mean, variance, training, momentum, eps, cudnn)
Status batch_norm(Call& call) {
  if (call.flag_or(5, false) || !call.has(3) || !call.has(4)) {
    return unsupported(
        "in training mode, or without running statistics, is not taken; call eval() "
        "before torch.jit.trace");
  }
  return normalized_by_statistics(call);
}

// (x, weight, bias, mean, variance, use_input_stats, momentum, eps, cudnn)
Status instance_norm(Call& call) {
  if (!call.flag_or(5, true)) return normalized_by_statistics(call);
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t channels, channels_of(value));
  RK_ASSIGN(Value* const scale, per_channel(call, 1, channels, 1));
  RK_ASSIGN(Value* const bias, per_channel(call, 2, channels, 0));
  RK_ASSIGN(Value* const out, call.emit("InstanceNormalization", "/y", {value, scale, bias},
                                        {{"epsilon", static_cast<float>(call.real_or(7, 1e-5))}}));
  return call.give(out);
}

// (x, groups, weight, bias, eps, cudnn)
Status group_norm(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t channels, channels_of(value));
  RK_ASSIGN(const int64_t groups, call.integer(1, "the groups"));
  RK_ASSIGN(Value* const scale, per_channel(call, 2, channels, 1));
  RK_ASSIGN(Value* const bias, per_channel(call, 3, channels, 0));
  RK_ASSIGN(Value* const out, call.emit("GroupNormalization", "/y", {value, scale, bias},
                                        {{"epsilon", static_cast<float>(call.real_or(4, 1e-5))},
                                         {"num_groups", groups}}));
  return call.give(out);
}

// (x, normalized shape, weight, bias, eps, cudnn)
Status layer_norm(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto shape, call.ints(1, "the shape"));
  const auto axes = static_cast<int64_t>(shape.size());
  if (axes < 1 || axes > value->shape().rank()) {
    return invalid_model(str("over ", axes, " axes of ", to_string(value->shape())));
  }
  Value* scale = nullptr;
  if (call.has(2)) {
    RK_ASSIGN(scale, call.tensor(2));
  } else {
    RK_ASSIGN(const Shape dims, Shape::make(shape));
    scale = call.builder().constant(
        call.name() + "/scale",
        Tensor::f32(dims, std::vector<float>(static_cast<size_t>(dims.elements()), 1.0f)));
  }
  std::vector<Value*> inputs = {value, scale};
  if (call.has(3)) {
    RK_ASSIGN(Value* const bias, call.tensor(3));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value* const out,
            call.emit("LayerNormalization", "/y", std::move(inputs),
                      {{"axis", -axes}, {"epsilon", static_cast<float>(call.real_or(4, 1e-5))}}));
  return call.give(out);
}

}  // namespace

std::span<const OperatorRow> picture_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::conv1d", [](Call& c) { return conv(c, 1); }},
      {"aten::conv2d", [](Call& c) { return conv(c, 2); }},
      {"aten::conv3d", [](Call& c) { return conv(c, 3); }},
      {"aten::conv_transpose1d", [](Call& c) { return conv_transpose(c, 1); }},
      {"aten::conv_transpose2d", [](Call& c) { return conv_transpose(c, 2); }},
      {"aten::conv_transpose3d", [](Call& c) { return conv_transpose(c, 3); }},
      {"aten::_convolution", convolution},
      {"aten::convolution", convolution},
      {"aten::_convolution_mode", convolution},
      {"aten::max_pool1d", [](Call& c) { return max_pool(c, 1); }},
      {"aten::max_pool2d", [](Call& c) { return max_pool(c, 2); }},
      {"aten::max_pool3d", [](Call& c) { return max_pool(c, 3); }},
      {"aten::max_pool1d_with_indices", [](Call& c) { return max_pool(c, 1); }},
      {"aten::max_pool2d_with_indices", [](Call& c) { return max_pool(c, 2); }},
      {"aten::avg_pool1d", [](Call& c) { return avg_pool(c, 1); }},
      {"aten::avg_pool2d", [](Call& c) { return avg_pool(c, 2); }},
      {"aten::avg_pool3d", [](Call& c) { return avg_pool(c, 3); }},
      {"aten::adaptive_avg_pool1d", [](Call& c) { return adaptive_pool(c, 1, false); }},
      {"aten::adaptive_avg_pool2d", [](Call& c) { return adaptive_pool(c, 2, false); }},
      {"aten::adaptive_avg_pool3d", [](Call& c) { return adaptive_pool(c, 3, false); }},
      {"aten::adaptive_max_pool1d", [](Call& c) { return adaptive_pool(c, 1, true); }},
      {"aten::adaptive_max_pool2d", [](Call& c) { return adaptive_pool(c, 2, true); }},
      {"aten::adaptive_max_pool3d", [](Call& c) { return adaptive_pool(c, 3, true); }},
      {"aten::upsample_nearest1d", [](Call& c) { return resize(c, "nearest"); }},
      {"aten::upsample_nearest2d", [](Call& c) { return resize(c, "nearest"); }},
      {"aten::upsample_nearest3d", [](Call& c) { return resize(c, "nearest"); }},
      {"aten::_upsample_nearest_exact1d", [](Call& c) { return resize(c, "nearest", true); }},
      {"aten::_upsample_nearest_exact2d", [](Call& c) { return resize(c, "nearest", true); }},
      {"aten::upsample_linear1d", [](Call& c) { return resize(c, "linear"); }},
      {"aten::upsample_bilinear2d", [](Call& c) { return resize(c, "linear"); }},
      {"aten::upsample_trilinear3d", [](Call& c) { return resize(c, "linear"); }},
      {"aten::upsample_bicubic2d", [](Call& c) { return resize(c, "cubic"); }},
      {"aten::grid_sampler", grid_sampler},
      {"aten::affine_grid_generator", affine_grid},
      {"aten::im2col", im2col},
      {"aten::pad", pad},
      {"aten::constant_pad_nd", constant_pad},
      {"aten::reflection_pad1d", [](Call& c) { return mode_pad(c, "reflect"); }},
      {"aten::reflection_pad2d", [](Call& c) { return mode_pad(c, "reflect"); }},
      {"aten::replication_pad1d", [](Call& c) { return mode_pad(c, "edge"); }},
      {"aten::replication_pad2d", [](Call& c) { return mode_pad(c, "edge"); }},
      {"aten::replication_pad3d", [](Call& c) { return mode_pad(c, "edge"); }},
      {"aten::batch_norm", batch_norm},
      {"aten::instance_norm", instance_norm},
      {"aten::group_norm", group_norm},
      {"aten::layer_norm", layer_norm},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript
