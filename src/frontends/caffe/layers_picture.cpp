// SPDX-License-Identifier: Apache-2.0
// Layers for pictures: convolutions, pooling, normalization, resizing, detection.
#include <algorithm>
#include <cmath>

#include "frontends/caffe/importer.h"

namespace rk::frontends::caffe {
namespace {

struct Window {
  std::vector<int64_t> kernel, stride, pad, dilation;  // h, w
};

// `kernel_size` once or twice, or `kernel_h` and `kernel_w`; the others alike.
Result<std::vector<int64_t>> pair(const Message& params, const std::string& name,
                                  const std::string& stem, int64_t fallback) {
  if (params.has(stem + "_h") || params.has(stem + "_w")) {
    RK_ASSIGN(const int64_t h, params.integer(stem + "_h", fallback));
    RK_ASSIGN(const int64_t w, params.integer(stem + "_w", fallback));
    return std::vector<int64_t>{h, w};
  }
  RK_ASSIGN(const std::vector<int64_t> given, params.integers(name));
  if (given.size() > 2)
    return unsupported(str(name, " has ", given.size(), " entries; 2 are taken"));
  if (given.empty()) return std::vector<int64_t>{fallback, fallback};
  return std::vector<int64_t>{given[0], given.back()};
}

Result<Window> window(const Message& params) {
  Window out;
  RK_ASSIGN(out.kernel, pair(params, "kernel_size", "kernel", 0));
  RK_ASSIGN(out.stride, pair(params, "stride", "stride", 1));
  RK_ASSIGN(out.pad, pair(params, "pad", "pad", 0));
  RK_ASSIGN(out.dilation, pair(params, "dilation", "dilation", 1));
  constexpr int64_t kLargest = 1 << 16;
  for (size_t i = 0; i < 2; ++i) {
    for (const int64_t extent : {out.kernel[i], out.stride[i], out.pad[i], out.dilation[i]}) {
      if (extent < 0 || extent > kLargest) return invalid_model(str("an extent of ", extent));
    }
    if (out.stride[i] < 1 || out.dilation[i] < 1) return invalid_model("a stride or dilation of 0");
  }
  return out;
}

AttrMap attrs_of(const Window& window) {
  return {
      {"kernel_shape", window.kernel},
      {"strides", window.stride},
      {"pads", std::vector<int64_t>{window.pad[0], window.pad[1], window.pad[0], window.pad[1]}}};
}

struct Filters {
  int64_t count = 0, group = 1;
  bool has_bias = true;
};

Result<Filters> filters_of(LayerImport& layer, const Message& params, int64_t channels) {
  Filters out;
  RK_ASSIGN(out.count, params.integer("num_output", 0));
  RK_ASSIGN(out.group, params.integer("group", 1));
  RK_ASSIGN(out.has_bias, params.flag("bias_term", true));
  if (layer.layer().type.find("Depthwise") != std::string::npos) out.group = channels;
  if (out.count < 1 || out.count > 1 << 24 || out.group < 1 || channels % out.group != 0 ||
      out.count % out.group != 0) {
    return invalid_model(str("num_output ", out.count, " in ", out.group, " groups does not fit ",
                             channels, " channels"));
  }
  return out;
}

}  // namespace

Status convolution(LayerImport& layer) {
  const Message& params = layer.params("convolution_param");
  RK_ASSIGN(const Window win, window(params));
  for (size_t b = 0; b < layer.bottoms(); ++b) {  // each bottom has a top; the weights are shared
    RK_ASSIGN(Value* const picture, layer.picture(b));
    const int64_t channels = picture->shape()[1];
    RK_ASSIGN(const Filters filters, filters_of(layer, params, channels));
    RK_ASSIGN(Value* const weights,
              layer.blob(0, {filters.count, channels / filters.group, win.kernel[0], win.kernel[1]},
                         "/weights"));
    std::vector<Value*> inputs = {picture, weights};
    if (filters.has_bias) {
      RK_ASSIGN(Value* const bias, layer.blob(1, {filters.count}, "/bias"));
      inputs.push_back(bias);
    }
    AttrMap attrs = attrs_of(win);
    attrs["dilations"] = win.dilation;
    attrs["group"] = filters.group;
    RK_ASSIGN(Value* const value, layer.emit("Conv", "/conv", std::move(inputs), std::move(attrs)));
    RK_TRY(layer.bind(b, value));
  }
  return ok_status();
}

Status deconvolution(LayerImport& layer) {
  const Message& params = layer.params("convolution_param");
  RK_ASSIGN(const Window win, window(params));
  RK_ASSIGN(Value* const picture, layer.picture(0));
  const int64_t channels = picture->shape()[1];
  RK_ASSIGN(const Filters filters, filters_of(layer, params, channels));
  RK_ASSIGN(Value* const weights,
            layer.blob(0, {channels, filters.count / filters.group, win.kernel[0], win.kernel[1]},
                       "/weights"));
  std::vector<Value*> inputs = {picture, weights};
  if (filters.has_bias) {
    RK_ASSIGN(Value* const bias, layer.blob(1, {filters.count}, "/bias"));
    inputs.push_back(bias);
  }
  AttrMap attrs = attrs_of(win);
  attrs["dilations"] = win.dilation;
  attrs["group"] = filters.group;
  RK_ASSIGN(Value* const value,
            layer.emit("ConvTranspose", "/conv", std::move(inputs), std::move(attrs)));
  return layer.bind(0, value);
}

// The number of results is rounded up; the border counts in an average, what lies beyond it does not.
Status pooling(LayerImport& layer) {
  const Message& params = layer.params("pooling_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  const std::string kind = params.text("pool", "MAX");
  const bool is_max = kind == "MAX" || kind == "0";
  if (!is_max && kind != "AVE" && kind != "1") {
    return unsupported(str("pool: ", kind, " is not taken; MAX and AVE are"));
  }
  RK_ASSIGN(const bool global, params.flag("global_pooling", false));
  if (global) {
    RK_ASSIGN(Value* const value,
              layer.emit(is_max ? "GlobalMaxPool" : "GlobalAveragePool", "/pool", {picture}));
    return layer.bind(0, value);
  }
  RK_ASSIGN(const Window win, window(params));
  RK_ASSIGN(bool rounds_up, params.flag("ceil_mode", true));
  const std::string rounding = params.text("round_mode", "CEIL");
  if (rounding == "FLOOR" || rounding == "1") rounds_up = false;
  AttrMap attrs = attrs_of(win);
  attrs["ceil_mode"] = int64_t{rounds_up};
  if (!is_max) attrs["count_include_pad"] = int64_t{1};
  RK_ASSIGN(Value* const value,
            layer.emit(is_max ? "MaxPool" : "AveragePool", "/pool", {picture}, std::move(attrs)));
  if (layer.tops() > 1) return unsupported("a second top (the mask) is not taken");
  return layer.bind(0, value);
}

Status batch_norm(LayerImport& layer) {
  const Message& params = layer.params("batch_norm_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const float eps, params.real("eps", 1e-5f));
  RK_ASSIGN(const bool stored, params.flag("use_global_stats", true));
  const int rank = input->shape().rank();
  if (rank < 2) return invalid_model(str("its bottom is ", to_string(input->shape())));
  const int64_t channels = input->shape()[1];
  if (!stored) {
    // The statistics of the batch at hand.
    std::vector<int64_t> axes = {0};
    for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
    Value* const over = layer.ints("/axes", axes);
    RK_ASSIGN(Value* const mean, layer.emit("ReduceMean", "/mean", {input, over}));
    RK_ASSIGN(Value* const centered, layer.emit("Sub", "/centered", {input, mean}));
    RK_ASSIGN(Value* const squares, layer.emit("Mul", "/squares", {centered, centered}));
    RK_ASSIGN(Value * variance, layer.emit("ReduceMean", "/variance", {squares, over}));
    RK_ASSIGN(variance, layer.emit("Add", "/eps", {variance, layer.scalar("/epsilon", eps)}));
    RK_ASSIGN(Value* const deviation, layer.emit("Sqrt", "/deviation", {variance}));
    RK_ASSIGN(Value* const value, layer.emit("Div", "/normalized", {centered, deviation}));
    return layer.bind(0, value);
  }
  // Sums of moving averages and the factor they were multiplied with.
  RK_ASSIGN(Value* const mean, layer.blob(0, {channels}, "/mean"));
  RK_ASSIGN(Value* const variance, layer.blob(1, {channels}, "/variance"));
  float factor = 1;
  if (layer.has_blob(2) && layer.layer().blobs[2].elements() == 1) {
    const float stored_factor = layer.layer().blobs[2].data<float>()[0];
    factor = stored_factor == 0 ? 0 : 1 / stored_factor;
  }
  Value* const by = layer.scalar("/factor", factor);
  RK_ASSIGN(Value* const true_mean, layer.emit("Mul", "/true_mean", {mean, by}));
  RK_ASSIGN(Value* const true_variance, layer.emit("Mul", "/true_variance", {variance, by}));
  const auto count = static_cast<size_t>(channels);
  RK_ASSIGN(Value* const value,
            layer.emit("BatchNormalization", "/bn",
                       {input, layer.floats("/one", {channels}, std::vector<float>(count, 1.0f)),
                        layer.floats("/zero", {channels}, std::vector<float>(count, 0.0f)),
                        true_mean, true_variance},
                       {{"epsilon", eps}}));
  return layer.bind(0, value);
}

namespace {

// A factor or summand over some axes: a weight array, or the second bottom.
Result<Value*> over_axes(LayerImport& layer, const Message& params, const Value& input,
                         std::string_view suffix) {
  const int64_t rank = input.shape().rank();
  RK_ASSIGN(int64_t axis, params.integer("axis", 1));
  RK_ASSIGN(axis, layer.axis(axis, rank));
  if (layer.bottoms() > 1) {
    RK_ASSIGN(Value* const second, layer.bottom(1));
    std::vector<int64_t> dims(second->shape().dims().begin(), second->shape().dims().end());
    if (axis + static_cast<int64_t>(dims.size()) > rank) return invalid_model("bottoms do not fit");
    while (axis + static_cast<int64_t>(dims.size()) < rank) dims.push_back(1);
    return reshaped(layer.builder(), second, dims, std::string(suffix));
  }
  RK_ASSIGN(int64_t axes, params.integer("num_axes", 1));
  if (axes < 0) axes = rank - axis;
  if (axis + axes > rank) return invalid_model(str("num_axes ", axes, " from axis ", axis));
  std::vector<int64_t> dims(static_cast<size_t>(rank - axis), 1);
  for (int64_t i = 0; i < axes; ++i) {
    dims[static_cast<size_t>(i)] = input.shape()[static_cast<int>(axis + i)];
  }
  return layer.blob(0, dims, suffix);
}

}  // namespace

Status scale(LayerImport& layer) {
  const Message& params = layer.params("scale_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(Value* const factor, over_axes(layer, params, *input, "/scale"));
  RK_ASSIGN(Value * value, layer.emit("Mul", "/scaled", {input, factor}));
  RK_ASSIGN(const bool has_bias, params.flag("bias_term", false));
  if (has_bias) {
    const Shape& shape = factor->shape();
    RK_ASSIGN(Value* const offset, layer.blob(layer.bottoms() > 1 ? 0 : 1,
                                              {shape.dims().begin(), shape.dims().end()}, "/bias"));
    RK_ASSIGN(value, layer.emit("Add", "/biased", {value, offset}));
  }
  return layer.bind(0, value);
}

Status bias(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(Value* const offset, over_axes(layer, layer.params("bias_param"), *input, "/bias"));
  RK_ASSIGN(Value* const value, layer.emit("Add", "/biased", {input, offset}));
  return layer.bind(0, value);
}

Status lrn(LayerImport& layer) {
  const Message& params = layer.params("lrn_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const int64_t size, params.integer("local_size", 5));
  RK_ASSIGN(const float alpha, params.real("alpha", 1));
  RK_ASSIGN(const float beta, params.real("beta", 0.75f));
  RK_ASSIGN(const float k, params.real("k", 1));
  const std::string region = params.text("norm_region", "ACROSS_CHANNELS");
  if (size < 1 || size % 2 == 0 || size > 1 << 16) {
    return invalid_model(str("local_size ", size, " is not odd"));
  }
  if (region == "ACROSS_CHANNELS" || region == "0") {
    RK_ASSIGN(Value* const value,
              layer.emit("LRN", "/lrn", {picture},
                         {{"size", size}, {"alpha", alpha}, {"beta", beta}, {"bias", k}}));
    return layer.bind(0, value);
  }
  // Within a channel: x * (1 + alpha * mean of squares around it) ^ -beta.
  const int64_t pad = size / 2;
  RK_ASSIGN(Value* const squares, layer.emit("Mul", "/squares", {picture, picture}));
  RK_ASSIGN(Value * sum, layer.emit("AveragePool", "/mean", {squares},
                                    {{"kernel_shape", std::vector<int64_t>{size, size}},
                                     {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                                     {"count_include_pad", int64_t{1}}}));
  RK_ASSIGN(sum, layer.emit("Mul", "/alpha", {sum, layer.scalar("/factor", alpha)}));
  RK_ASSIGN(sum, layer.emit("Add", "/one", {sum, layer.scalar("/offset", 1)}));
  RK_ASSIGN(sum, layer.emit("Pow", "/power", {sum, layer.scalar("/exponent", -beta)}));
  RK_ASSIGN(Value* const value, layer.emit("Mul", "/lrn", {picture, sum}));
  return layer.bind(0, value);
}

// x / sqrt(sum of squares + eps) * scale, the sum over channels or over everything but the batch.
Status normalize(LayerImport& layer) {
  const Message& params = layer.params("norm_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const bool across, params.flag("across_spatial", true));
  RK_ASSIGN(const bool shared, params.flag("channel_shared", true));
  RK_ASSIGN(const float eps, params.real("eps", 1e-10f));
  RK_ASSIGN(Value* const squares, layer.emit("Mul", "/squares", {picture, picture}));
  const std::vector<int64_t> axes =
      across ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{1};
  RK_ASSIGN(Value * norm, layer.emit("ReduceSum", "/sum", {squares, layer.ints("/axes", axes)}));
  RK_ASSIGN(norm, layer.emit("Add", "/eps", {norm, layer.scalar("/epsilon", eps)}));
  RK_ASSIGN(norm, layer.emit("Sqrt", "/norm", {norm}));
  RK_ASSIGN(Value* const unit, layer.emit("Div", "/unit", {picture, norm}));
  const std::vector<int64_t> dims =
      shared ? std::vector<int64_t>{1} : std::vector<int64_t>{picture->shape()[1], 1, 1};
  RK_ASSIGN(Value* const factor, layer.blob(0, dims, "/scale"));
  RK_ASSIGN(Value* const value, layer.emit("Mul", "/scaled", {unit, factor}));
  return layer.bind(0, value);
}

// Each sample (or channel of it) less its mean, divided by its deviation + eps.
Status mvn(LayerImport& layer) {
  const Message& params = layer.params("mvn_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const bool across, params.flag("across_channels", false));
  RK_ASSIGN(const bool divides, params.flag("normalize_variance", true));
  RK_ASSIGN(const float eps, params.real("eps", 1e-9f));
  Value* const axes =
      layer.ints("/axes", across ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 3});
  RK_ASSIGN(Value* const mean, layer.emit("ReduceMean", "/mean", {picture, axes}));
  RK_ASSIGN(Value * value, layer.emit("Sub", "/centered", {picture, mean}));
  if (divides) {
    RK_ASSIGN(Value* const squares, layer.emit("Mul", "/squares", {value, value}));
    RK_ASSIGN(Value * deviation, layer.emit("ReduceMean", "/variance", {squares, axes}));
    RK_ASSIGN(deviation, layer.emit("Sqrt", "/deviation", {deviation}));
    RK_ASSIGN(deviation, layer.emit("Add", "/eps", {deviation, layer.scalar("/epsilon", eps)}));
    RK_ASSIGN(value, layer.emit("Div", "/normalized", {value, deviation}));
  }
  return layer.bind(0, value);
}

// Bilinear between the corners; the size as given, by a factor, or as another blob's.
Status interp(LayerImport& layer) {
  const Message& params = layer.params("interp_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const int64_t shrink, params.integer("shrink_factor", 1));
  RK_ASSIGN(const int64_t zoom, params.integer("zoom_factor", 1));
  RK_ASSIGN(int64_t height, params.integer("height", 0));
  RK_ASSIGN(int64_t width, params.integer("width", 0));
  for (const char* field : {"pad_beg", "pad_end"}) {
    RK_ASSIGN(const int64_t pad, params.integer(field, 0));
    if (pad != 0) return unsupported(str(field, " ", pad, " is not taken; 0 is"));
  }
  if (shrink < 1 || zoom < 1 || zoom > 1024) return invalid_model("a factor below 1");
  const Shape& shape = picture->shape();
  if (layer.bottoms() > 1) {
    RK_ASSIGN(const Value* const like, layer.picture(1));
    height = like->shape()[2];
    width = like->shape()[3];
  } else if (height == 0 || width == 0) {
    height = (shape[2] - 1) / shrink + 1;
    width = (shape[3] - 1) / shrink + 1;
    height += (height - 1) * (zoom - 1);
    width += (width - 1) * (zoom - 1);
  }
  RK_ASSIGN(Value* const value,
            layer.emit("Resize", "/resize",
                       {picture, nullptr, nullptr,
                        layer.ints("/sizes", {shape[0], shape[1], height, width})},
                       {{"mode", std::string("linear")},
                        {"coordinate_transformation_mode", std::string("align_corners")}}));
  return layer.bind(0, value);
}

Status upsample(LayerImport& layer) {
  const Message& params = layer.params("upsample_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  if (layer.bottoms() > 1) return unsupported("with a mask of a pooling layer is not taken");
  RK_ASSIGN(const int64_t scale, params.integer("scale", 2));
  if (scale < 1 || scale > 1024) return invalid_model(str("scale ", scale));
  const Shape& shape = picture->shape();
  RK_ASSIGN(
      Value* const value,
      layer.emit("Resize", "/resize",
                 {picture, nullptr, nullptr,
                  layer.ints("/sizes", {shape[0], shape[1], shape[2] * scale, shape[3] * scale})},
                 {{"mode", std::string("nearest")},
                  {"coordinate_transformation_mode", std::string("asymmetric")},
                  {"nearest_mode", std::string("floor")}}));
  return layer.bind(0, value);
}

Status roi_pooling(LayerImport& layer) {
  const Message& params = layer.params("roi_pooling_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(Value * regions, layer.bottom(1));
  RK_ASSIGN(const int64_t height, params.integer("pooled_h", 0));
  RK_ASSIGN(const int64_t width, params.integer("pooled_w", 0));
  RK_ASSIGN(const float scale, params.real("spatial_scale", 1));
  if (regions->shape().elements() % 5 != 0) {
    return invalid_model(
        str("regions are ", to_string(regions->shape()), "; five numbers each are expected"));
  }
  RK_ASSIGN(regions,
            reshaped(layer.builder(), regions, {regions->shape().elements() / 5, 5}, "/regions"));
  RK_ASSIGN(Value* const value, layer.emit("MaxRoiPool", "/pool", {picture, regions},
                                           {{"pooled_shape", std::vector<int64_t>{height, width}},
                                            {"spatial_scale", scale}}));
  return layer.bind(0, value);
}

// Boxes around every place of a feature map, and their variances: a constant, since all sizes are known.
Status prior_box(LayerImport& layer) {
  const Message& params = layer.params("prior_box_param");
  RK_ASSIGN(const Value* const map, layer.picture(0));
  RK_ASSIGN(const Value* const image, layer.picture(1));
  RK_ASSIGN(const std::vector<float> least, params.reals("min_size"));
  RK_ASSIGN(const std::vector<float> most, params.reals("max_size"));
  RK_ASSIGN(const std::vector<float> given, params.reals("aspect_ratio"));
  RK_ASSIGN(std::vector<float> variance, params.reals("variance"));
  RK_ASSIGN(const bool flip, params.flag("flip", true));
  RK_ASSIGN(const bool clip, params.flag("clip", false));
  RK_ASSIGN(const float offset, params.real("offset", 0.5f));
  RK_ASSIGN(const int64_t square, params.integer("img_size", 0));
  RK_ASSIGN(int64_t image_h, params.integer("img_h", square));
  RK_ASSIGN(int64_t image_w, params.integer("img_w", square));
  if (image_h == 0 || image_w == 0) {
    image_h = image->shape()[2];
    image_w = image->shape()[3];
  }
  const int64_t rows = map->shape()[2], columns = map->shape()[3];
  RK_ASSIGN(const float step, params.real("step", 0));
  RK_ASSIGN(float step_h, params.real("step_h", step));
  RK_ASSIGN(float step_w, params.real("step_w", step));
  if (step_h == 0 || step_w == 0) {
    step_h = static_cast<float>(image_h) / static_cast<float>(rows);
    step_w = static_cast<float>(image_w) / static_cast<float>(columns);
  }
  if (least.empty() || (!most.empty() && most.size() != least.size()) ||
      (variance.size() > 1 && variance.size() != 4)) {
    return invalid_model(
        str(least.size(), " min_size, ", most.size(), " max_size, ", variance.size(), " variance"));
  }
  std::vector<float> ratios = {1};
  for (const float ratio : given) {
    const bool known =
        std::ranges::any_of(ratios, [&](float r) { return std::abs(r - ratio) < 1e-6f; });
    if (known || ratio <= 0) continue;
    ratios.push_back(ratio);
    if (flip) ratios.push_back(1 / ratio);
  }
  const auto per_place = static_cast<int64_t>(least.size() * ratios.size() + most.size());
  const int64_t numbers = rows * columns * per_place * 4;
  if (numbers > int64_t{1} << 24) return out_of_memory(str("makes ", numbers, " numbers"));
  std::vector<float> boxes;
  boxes.reserve(static_cast<size_t>(2 * numbers));
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      const float cx = (static_cast<float>(x) + offset) * step_w;
      const float cy = (static_cast<float>(y) + offset) * step_h;
      const auto box = [&](float w, float h) {
        boxes.push_back((cx - w / 2) / static_cast<float>(image_w));
        boxes.push_back((cy - h / 2) / static_cast<float>(image_h));
        boxes.push_back((cx + w / 2) / static_cast<float>(image_w));
        boxes.push_back((cy + h / 2) / static_cast<float>(image_h));
      };
      for (size_t s = 0; s < least.size(); ++s) {
        box(least[s], least[s]);
        if (!most.empty()) box(std::sqrt(least[s] * most[s]), std::sqrt(least[s] * most[s]));
        for (const float ratio : ratios) {
          if (std::abs(ratio - 1) < 1e-6f) continue;
          box(least[s] * std::sqrt(ratio), least[s] / std::sqrt(ratio));
        }
      }
    }
  }
  if (clip) {
    for (float& edge : boxes) edge = std::clamp(edge, 0.0f, 1.0f);
  }
  const auto count = static_cast<int64_t>(boxes.size());
  if (variance.empty()) variance = {0.1f};
  if (variance.size() == 1) variance.assign(4, variance[0]);
  for (int64_t i = 0; i < count; ++i) boxes.push_back(variance[static_cast<size_t>(i % 4)]);
  return layer.bind(0, layer.floats("/boxes", {1, 2, count}, boxes));
}

Status detection_output(LayerImport& layer) {
  layer.note(str("layer '", layer.layer().name,
                 "' (DetectionOutput) is left out: the model's outputs are what enters it "
                 "(locations, confidences, prior boxes). Decode the boxes and suppress overlaps in "
                 "the application"));
  layer.cut_off();
  return ok_status();
}

}  // namespace rk::frontends::caffe
