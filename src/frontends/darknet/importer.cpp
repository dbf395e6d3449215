// SPDX-License-Identifier: Apache-2.0
// Darknet -> Graph: one pass over the sections, each taking its numbers from the .weights file in order. Layers are
// counted from 0 after [net], as `from` and `layers` count them, and named "<kind>_<number>" ("conv_12").
#include <algorithm>
#include <cmath>
#include <map>

#include "frontends/channel_order.h"
#include "frontends/darknet/config.h"
#include "frontends/graph_import.h"

namespace rk::frontends {
namespace darknet {
namespace {

// Darknet adds it to the standard deviation, not to the variance.
constexpr float kEpsilon = 1e-6f;

struct Layer {
  Value* value = nullptr;  // null: unavailable, `why` says it
  std::string why;
};

class Importer {
 public:
  Importer(std::vector<Section> sections, Weights weights, const ImportOptions& options,
           const OpRegistry& registry)
      : sections_(std::move(sections)), weights_(weights), import_(options, registry) {}

  Result<Imported> run();

 private:
  using Function = Status (Importer::*)(const Section& section);
  static Function find(const std::string& type);

  Status add_input();
  Status import_section(const Section& section);
  Status add_outputs();

  Status convolutional(const Section& section);
  Status connected(const Section& section);
  Status batchnorm(const Section& section);
  Status maxpool(const Section& section);
  Status avgpool(const Section& section);
  Status upsample(const Section& section);
  Status route(const Section& section);
  Status shortcut(const Section& section);
  Status multiply(const Section& section);
  Status reorg(const Section& section);
  Status softmax(const Section& section);
  Status normalization(const Section& section);
  Status activation(const Section& section);
  Status pass(const Section& section);
  Status detection(const Section& section);

  // The value of another layer: `from` counts back when negative.
  Result<Value*> layer(int64_t from);
  Result<Value*> normalized(Value* value, std::vector<float> scale, std::vector<float> bias,
                            std::vector<float> mean, std::vector<float> variance);
  Result<Value*> activated(Value* value, const Section& section, const std::string& fallback);
  Result<Value*> emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                      AttrMap attrs = {});
  Value* constant(std::string_view suffix, const Shape& shape, const std::vector<float>& values);
  Value* scalar(std::string_view suffix, float value) { return constant(suffix, {}, {value}); }
  Value* ints(std::string_view suffix, const std::vector<int64_t>& values);
  Status picture(const Value& value) const;

  std::vector<Section> sections_;
  Weights weights_;
  GraphImport import_;
  std::vector<Layer> layers_;
  Value* current_ = nullptr;        // what the next layer reads
  std::string name_;                // of the layer at hand
  std::vector<size_t> detections_;  // layers that are outputs
};

std::string name_of(const std::string& type, size_t index) {
  static const std::map<std::string, std::string> short_names = {{"convolutional", "conv"},
                                                                 {"connected", "fc"}};
  const auto it = short_names.find(type);
  return str(it == short_names.end() ? type : it->second, "_", index);
}

Importer::Function Importer::find(const std::string& type) {
  static constexpr std::pair<std::string_view, Function> kRows[] = {
      {"convolutional", &Importer::convolutional},
      {"conv", &Importer::convolutional},
      {"connected", &Importer::connected},
      {"conn", &Importer::connected},
      {"batchnorm", &Importer::batchnorm},
      {"maxpool", &Importer::maxpool},
      {"max", &Importer::maxpool},
      {"avgpool", &Importer::avgpool},
      {"avg", &Importer::avgpool},
      {"upsample", &Importer::upsample},
      {"route", &Importer::route},
      {"shortcut", &Importer::shortcut},
      {"scale_channels", &Importer::multiply},
      {"sam", &Importer::multiply},
      {"reorg", &Importer::reorg},
      {"softmax", &Importer::softmax},
      {"soft", &Importer::softmax},
      {"normalization", &Importer::normalization},
      {"lrn", &Importer::normalization},
      {"activation", &Importer::activation},
      {"dropout", &Importer::pass},
      {"cost", &Importer::pass},
      {"yolo", &Importer::detection},
      {"Gaussian_yolo", &Importer::detection},
      {"region", &Importer::detection},
      {"detection", &Importer::detection},
  };
  const auto* const row =
      std::ranges::find(kRows, type, &std::pair<std::string_view, Function>::first);
  return row == std::end(kRows) ? nullptr : row->second;
}

Result<Value*> Importer::emit(std::string_view op, std::string_view suffix,
                              std::vector<Value*> inputs, AttrMap attrs) {
  NodeDraft draft;
  draft.name = name_;
  return import_.builder().emit(draft, op, suffix, std::move(inputs), std::move(attrs));
}

Value* Importer::constant(std::string_view suffix, const Shape& shape,
                          const std::vector<float>& values) {
  return import_.builder().constant(name_ + std::string(suffix), Tensor::f32(shape, values));
}

Value* Importer::ints(std::string_view suffix, const std::vector<int64_t>& values) {
  NodeDraft draft;
  draft.name = name_;
  return import_.builder().ints(draft, suffix, values);
}

Status Importer::picture(const Value& value) const {
  if (value.shape().rank() == 4) return ok_status();
  return unsupported(str("its input is ", to_string(value.shape()), "; a picture is expected"));
}

Result<Value*> Importer::layer(int64_t from) {
  const int64_t index = from < 0 ? static_cast<int64_t>(layers_.size()) + from : from;
  if (index < 0 || index >= static_cast<int64_t>(layers_.size())) {
    return invalid_model(
        str("layer ", from, " is not before this one, which is layer ", layers_.size()));
  }
  const Layer& found = layers_[static_cast<size_t>(index)];
  if (found.value == nullptr) return unsupported(found.why);
  return found.value;
}

Status Importer::add_input() {
  const Section& net = sections_[0];
  RK_ASSIGN(const int64_t channels, net.number("channels", 3));
  RK_ASSIGN(const int64_t height, net.number("height", 0));
  RK_ASSIGN(const int64_t width, net.number("width", 0));
  // `batch` is that of training.
  const std::string name = "data";
  RK_TRY(import_.check_names(import_.options().inputs, "inputs", {name}));
  RK_TRY(import_.check_input_count({name}));
  RK_ASSIGN(const std::vector<int64_t> dims,
            import_.input_dims(name, 0, {1, channels, height, width}));
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  RK_ASSIGN(current_, import_.add_input(name, 0, {DType::kF32, shape}));
  return ok_status();
}

Result<Value*> Importer::activated(Value* value, const Section& section,
                                   const std::string& fallback) {
  const std::string kind = section.text("activation", fallback);
  static const std::map<std::string, std::string> plain = {
      {"logistic", "Sigmoid"}, {"relu", "Relu"}, {"tanh", "Tanh"},
      {"mish", "Mish"},        {"elu", "Elu"},   {"selu", "Selu"}};
  if (kind == "linear") return value;
  if (const auto it = plain.find(kind); it != plain.end()) return emit(it->second, "/act", {value});
  if (kind == "leaky") return emit("LeakyRelu", "/act", {value}, {{"alpha", 0.1f}});
  if (kind == "relie") return emit("LeakyRelu", "/act", {value}, {{"alpha", 0.01f}});
  if (kind == "relu6") {
    return emit("Clip", "/act", {value, scalar("/min", 0), scalar("/max", 6)});
  }
  if (kind == "hardtan") {
    return emit("Clip", "/act", {value, scalar("/min", -1), scalar("/max", 1)});
  }
  if (kind == "gelu") {
    return emit("Gelu", "/act", {value}, {{"approximate", std::string("tanh")}});
  }
  if (kind == "swish") {
    RK_ASSIGN(Value* const gate, emit("Sigmoid", "/gate", {value}));
    return emit("Mul", "/act", {value, gate});
  }
  if (kind == "loggy") {
    // 2 / (1 + exp(-x)) - 1
    RK_ASSIGN(Value* const half, emit("Mul", "/half", {value, scalar("/factor", 0.5f)}));
    return emit("Tanh", "/act", {half});
  }
  if (kind == "ramp") {
    RK_ASSIGN(Value* const positive, emit("Relu", "/positive", {value}));
    RK_ASSIGN(Value* const tenth, emit("Mul", "/tenth", {value, scalar("/factor", 0.1f)}));
    return emit("Add", "/act", {positive, tenth});
  }
  return unsupported(str("activation=", kind,
                         " is not taken; linear, logistic, loggy, relu, relu6, elu, selu, leaky, "
                         "relie, ramp, tanh, hardtan, swish, mish and gelu are"));
}

Result<Value*> Importer::normalized(Value* value, std::vector<float> scale, std::vector<float> bias,
                                    std::vector<float> mean, std::vector<float> variance) {
  const auto count = static_cast<int64_t>(scale.size());
  // (x - mean) / (sqrt(variance) + epsilon): the operator adds its own epsilon, 0, below the root.
  for (float& v : variance) {
    const float deviation = std::sqrt(std::max(v, 0.0f)) + kEpsilon;
    v = deviation * deviation;
  }
  return emit("BatchNormalization", "/bn",
              {value, constant("/scale", {count}, scale), constant("/bias", {count}, bias),
               constant("/mean", {count}, mean), constant("/variance", {count}, variance)},
              {{"epsilon", 0.0f}});
}

Status Importer::convolutional(const Section& section) {
  RK_TRY(picture(*current_));
  for (const char* key : {"binary", "xnor", "share_index", "antialiasing", "deform", "rotate"}) {
    RK_ASSIGN(const int64_t asked, section.number(key, 0));
    if (asked != 0) return unsupported(str(key, "=", asked, " is not taken"));
  }
  RK_ASSIGN(const int64_t filters, section.number("filters", 1));
  RK_ASSIGN(const int64_t size, section.number("size", 1));
  RK_ASSIGN(const int64_t stride, section.number("stride", 1));
  RK_ASSIGN(const int64_t stride_x, section.number("stride_x", stride));
  RK_ASSIGN(const int64_t stride_y, section.number("stride_y", stride));
  RK_ASSIGN(int64_t dilation, section.number("dilation", 1));
  RK_ASSIGN(const int64_t groups, section.number("groups", 1));
  RK_ASSIGN(const int64_t pad, section.number("pad", 0));
  RK_ASSIGN(int64_t padding, section.number("padding", 0));
  RK_ASSIGN(const int64_t batch_normalize, section.number("batch_normalize", 0));
  if (size == 1) dilation = 1;
  if (pad != 0) padding = size / 2 * dilation;
  const int64_t channels = current_->shape()[1];
  if (filters < 1 || size < 1 || size > 1024 || filters > 1 << 20 || groups < 1 || padding < 0 ||
      padding > 1 << 20 || channels % groups != 0 || filters % groups != 0) {
    return invalid_model(str("filters=", filters, " size=", size, " groups=", groups,
                             " padding=", padding, " do not fit ", channels, " channels"));
  }
  RK_ASSIGN(std::vector<float> bias, weights_.take(filters));
  std::vector<float> scale, mean, variance;
  if (batch_normalize != 0) {
    RK_ASSIGN(scale, weights_.take(filters));
    RK_ASSIGN(mean, weights_.take(filters));
    RK_ASSIGN(variance, weights_.take(filters));
  }
  RK_ASSIGN(const std::vector<float> kernel,
            weights_.take(filters * (channels / groups) * size * size));
  std::vector<Value*> inputs = {
      current_, constant("/weights", {filters, channels / groups, size, size}, kernel)};
  if (batch_normalize == 0) inputs.push_back(constant("/bias", {filters}, bias));
  RK_ASSIGN(Value * value, emit("Conv", "/conv", std::move(inputs),
                                {{"kernel_shape", std::vector<int64_t>{size, size}},
                                 {"strides", std::vector<int64_t>{stride_y, stride_x}},
                                 {"dilations", std::vector<int64_t>{dilation, dilation}},
                                 {"pads", std::vector<int64_t>{padding, padding, padding, padding}},
                                 {"group", groups}}));
  if (batch_normalize != 0) {
    RK_ASSIGN(value, normalized(value, std::move(scale), std::move(bias), std::move(mean),
                                std::move(variance)));
  }
  RK_ASSIGN(current_, activated(value, section, "logistic"));
  return ok_status();
}

Status Importer::connected(const Section& section) {
  RK_ASSIGN(const int64_t results, section.number("output", 1));
  RK_ASSIGN(const int64_t batch_normalize, section.number("batch_normalize", 0));
  const Shape shape = current_->shape();
  const int64_t batch = shape[0], depth = shape.elements() / std::max<int64_t>(batch, 1);
  if (results < 1 || results > 1 << 24 || depth > 1 << 28) {
    return invalid_model(str("output=", results, " from ", to_string(shape)));
  }
  RK_ASSIGN(std::vector<float> bias, weights_.take(results));
  RK_ASSIGN(const std::vector<float> matrix, weights_.take(results * depth));
  RK_ASSIGN(Value* const rows, reshaped(import_.builder(), current_, {batch, depth}, "/flat"));
  const bool across = weights_.is_transposed();
  std::vector<Value*> inputs = {
      rows, constant("/weights", across ? Shape{depth, results} : Shape{results, depth}, matrix)};
  if (batch_normalize == 0) inputs.push_back(constant("/bias", {results}, bias));
  RK_ASSIGN(Value * value,
            emit("Gemm", "/gemm", std::move(inputs), {{"transB", int64_t{!across}}}));
  if (batch_normalize != 0) {
    RK_ASSIGN(std::vector<float> scale, weights_.take(results));
    RK_ASSIGN(std::vector<float> mean, weights_.take(results));
    RK_ASSIGN(std::vector<float> variance, weights_.take(results));
    RK_ASSIGN(value, normalized(value, std::move(scale), std::move(bias), std::move(mean),
                                std::move(variance)));
  }
  RK_ASSIGN(current_, activated(value, section, "logistic"));
  return ok_status();
}

// A section of its own has no biases in the file.
Status Importer::batchnorm(const Section&) {
  RK_TRY(picture(*current_));
  const int64_t channels = current_->shape()[1];
  RK_ASSIGN(std::vector<float> scale, weights_.take(channels));
  RK_ASSIGN(std::vector<float> mean, weights_.take(channels));
  RK_ASSIGN(std::vector<float> variance, weights_.take(channels));
  std::vector<float> bias(scale.size(), 0.0f);
  RK_ASSIGN(current_, normalized(current_, std::move(scale), std::move(bias), std::move(mean),
                                 std::move(variance)));
  return ok_status();
}

Status Importer::maxpool(const Section& section) {
  RK_TRY(picture(*current_));
  RK_ASSIGN(const int64_t stride, section.number("stride", 1));
  RK_ASSIGN(const int64_t stride_x, section.number("stride_x", stride));
  RK_ASSIGN(const int64_t stride_y, section.number("stride_y", stride));
  RK_ASSIGN(const int64_t size, section.number("size", stride));
  RK_ASSIGN(const int64_t padding, section.number("padding", size - 1));
  if (size < 1 || stride_x < 1 || stride_y < 1 || padding < 0 || size > 1 << 16 ||
      padding > 1 << 16) {
    return invalid_model(str("size=", size, " stride=", stride, " padding=", padding));
  }
  // `padding` is the sum of both sides; the smaller half lies before.
  const int64_t before = padding / 2;
  const auto after = [&](int64_t extent, int64_t step) {
    const int64_t results = (extent + padding - size) / step + 1;
    return std::max<int64_t>((results - 1) * step + size - extent - before, 0);
  };
  RK_ASSIGN(
      current_,
      emit("MaxPool", "/pool", {current_},
           {{"kernel_shape", std::vector<int64_t>{size, size}},
            {"strides", std::vector<int64_t>{stride_y, stride_x}},
            {"pads", std::vector<int64_t>{before, before, after(current_->shape()[2], stride_y),
                                          after(current_->shape()[3], stride_x)}}}));
  RK_ASSIGN(current_, activated(current_, section, "linear"));
  return ok_status();
}

Status Importer::avgpool(const Section&) {
  RK_TRY(picture(*current_));
  RK_ASSIGN(current_, emit("GlobalAveragePool", "/pool", {current_}));
  return ok_status();
}

Status Importer::upsample(const Section& section) {
  RK_TRY(picture(*current_));
  RK_ASSIGN(const int64_t stride, section.number("stride", 2));
  RK_ASSIGN(const float scale, section.real("scale", 1));
  if (stride < 1 || stride > 1024) {
    return unsupported(str("stride=", stride, " is not taken; 1 to 1024 are"));
  }
  const auto factor = static_cast<float>(stride);
  RK_ASSIGN(current_, emit("Resize", "/resize",
                           {current_, nullptr, constant("/scales", {4}, {1, 1, factor, factor})},
                           {{"mode", std::string("nearest")},
                            {"coordinate_transformation_mode", std::string("asymmetric")},
                            {"nearest_mode", std::string("floor")}}));
  if (scale != 1) {
    RK_ASSIGN(current_, emit("Mul", "/scaled", {current_, scalar("/factor", scale)}));
  }
  return ok_status();
}

Status Importer::route(const Section& section) {
  RK_ASSIGN(const std::vector<int64_t> from, section.numbers("layers"));
  RK_ASSIGN(const int64_t groups, section.number("groups", 1));
  RK_ASSIGN(const int64_t group, section.number("group_id", 0));
  if (from.empty()) return invalid_model("layers= names no layer");
  if (groups < 1 || group < 0 || group >= groups) {
    return invalid_model(str("groups=", groups, " group_id=", group));
  }
  std::vector<Value*> parts;
  for (const int64_t index : from) {
    RK_ASSIGN(Value * part, layer(index));
    if (groups > 1) {
      const int64_t channels = part->shape().rank() > 1 ? part->shape()[1] : 0;
      const int64_t each = channels / groups;
      if (each * groups != channels || each == 0) {
        return invalid_model(str("groups=", groups, " do not divide ", channels, " channels"));
      }
      RK_ASSIGN(part, emit("Slice", str("/group", parts.size()),
                           {part, ints("/start", {group * each}),
                            ints("/end", {(group + 1) * each}), ints("/axis", {1})}));
    }
    parts.push_back(part);
  }
  if (parts.size() == 1) {
    current_ = parts[0];
    return ok_status();
  }
  RK_ASSIGN(current_, emit("Concat", "/concat", std::move(parts), {{"axis", int64_t{1}}}));
  return ok_status();
}

// alpha * (the layer before) + beta * (the others). The result has the channels of the layer before; the others' are
// cut off or count as 0.
Status Importer::shortcut(const Section& section) {
  RK_ASSIGN(const std::vector<int64_t> from, section.numbers("from"));
  if (from.empty()) return invalid_model("from= names no layer");
  if (section.text("weights_type", "none") != "none") {
    return unsupported(str("weights_type=", section.text("weights_type", ""), " is not taken"));
  }
  RK_ASSIGN(const float alpha, section.real("alpha", 1));
  RK_ASSIGN(const float beta, section.real("beta", 1));
  Value* sum = current_;
  if (alpha != 1) {
    RK_ASSIGN(sum, emit("Mul", "/alpha", {sum, scalar("/factor", alpha)}));
  }
  for (const int64_t index : from) {
    RK_ASSIGN(Value * other, layer(index));
    if (beta != 1) {
      RK_ASSIGN(other, emit("Mul", "/beta", {other, scalar("/factor", beta)}));
    }
    const Shape a = sum->shape(), b = other->shape();
    if (a.rank() == 4 && b.rank() == 4 && a[1] != b[1]) {
      if (b[1] > a[1]) {
        RK_ASSIGN(other,
                  emit("Slice", "/cut",
                       {other, ints("/start", {0}), ints("/end", {a[1]}), ints("/axis", {1})}));
      } else {
        RK_ASSIGN(other, emit("Pad", "/filled",
                              {other, ints("/pads", {0, 0, 0, 0, 0, a[1] - b[1], 0, 0})}));
      }
    }
    if (other->shape() != sum->shape()) {
      return unsupported(
          str("adds ", to_string(b), " to ", to_string(a), "; pictures of one size are taken"));
    }
    RK_ASSIGN(sum, emit("Add", "/add", {sum, other}));
  }
  RK_ASSIGN(current_, activated(sum, section, "linear"));
  return ok_status();
}

// [sam]: both of one shape; [scale_channels]: the layer before has one number per channel.
Status Importer::multiply(const Section& section) {
  RK_ASSIGN(const std::vector<int64_t> from, section.numbers("from"));
  if (from.size() != 1) return invalid_model("from= names one layer");
  RK_ASSIGN(Value* const other, layer(from[0]));
  RK_ASSIGN(const int64_t spatial, section.number("scale_wh", 0));
  if (spatial != 0) return unsupported("scale_wh=1 is not taken");
  RK_ASSIGN(Value* const product, emit("Mul", "/mul", {other, current_}));
  RK_ASSIGN(current_, activated(product, section, "linear"));
  return ok_status();
}

// Darknet reads its input as [c/s^2, h*s, w*s], takes blocks of s x s to channels, and gives the result the shape that
// was meant, [c*s^2, h/s, w/s]: two changes of shape without a move.
Status Importer::reorg(const Section& section) {
  RK_TRY(picture(*current_));
  RK_ASSIGN(const int64_t stride, section.number("stride", 1));
  for (const char* key : {"reverse", "flatten", "extra"}) {
    RK_ASSIGN(const int64_t asked, section.number(key, 0));
    if (asked != 0) return unsupported(str(key, "=", asked, " is not taken"));
  }
  const Shape s = current_->shape();
  if (stride < 1 || stride > 1024 || s[1] % (stride * stride) != 0 || s[2] % stride != 0 ||
      s[3] % stride != 0) {
    return invalid_model(str("stride=", stride, " does not divide ", to_string(s)));
  }
  GraphBuilder& builder = import_.builder();
  RK_ASSIGN(Value * value,
            reshaped(builder, current_,
                     {s[0], s[1] / (stride * stride), s[2] * stride, s[3] * stride}, "/as_read"));
  RK_ASSIGN(value, emit("SpaceToDepth", "/s2d", {value}, {{"blocksize", stride}}));
  RK_ASSIGN(current_,
            reshaped(builder, value, {s[0], s[1] * stride * stride, s[2] / stride, s[3] / stride},
                     "/reorg"));
  return ok_status();
}

Status Importer::softmax(const Section& section) {
  RK_ASSIGN(const int64_t groups, section.number("groups", 1));
  RK_ASSIGN(const float temperature, section.real("temperature", 1));
  if (groups != 1 || section.has("tree") || temperature == 0) {
    return unsupported(str("groups=", groups, " temperature=", temperature,
                           section.has("tree") ? " with a tree" : "", " is not taken"));
  }
  Value* value = current_;
  if (temperature != 1) {
    RK_ASSIGN(value, emit("Mul", "/cooled", {value, scalar("/factor", 1 / temperature)}));
  }
  const Shape shape = value->shape();
  const int64_t depth = shape.elements() / std::max<int64_t>(shape[0], 1);
  const bool per_channel = shape.rank() < 2 || shape[1] == depth;
  if (!per_channel) {
    RK_ASSIGN(value, reshaped(import_.builder(), value, {shape[0], depth}, "/flat"));
  }
  RK_ASSIGN(value, emit("Softmax", "/softmax", {value}, {{"axis", int64_t{1}}}));
  RK_ASSIGN(current_, reshaped(import_.builder(), value, {shape.dims().begin(), shape.dims().end()},
                               "/shape"));
  return ok_status();
}

Status Importer::normalization(const Section& section) {
  RK_TRY(picture(*current_));
  RK_ASSIGN(const int64_t size, section.number("size", 5));
  RK_ASSIGN(const float alpha, section.real("alpha", 0.0001f));
  RK_ASSIGN(const float beta, section.real("beta", 0.75f));
  RK_ASSIGN(const float kappa, section.real("kappa", 1));
  RK_ASSIGN(current_, emit("LRN", "/lrn", {current_},
                           {{"size", size},
                            {"alpha", alpha * static_cast<float>(size)},
                            {"beta", beta},
                            {"bias", kappa}}));
  return ok_status();
}

Status Importer::activation(const Section& section) {
  RK_ASSIGN(current_, activated(current_, section, "linear"));
  return ok_status();
}

Status Importer::pass(const Section&) { return ok_status(); }

// The map that enters it is an output: decoding boxes is the application's part.
Status Importer::detection(const Section&) {
  if (layers_.empty()) return invalid_model("is the first layer");
  detections_.push_back(layers_.size() - 1);
  return ok_status();
}

Status Importer::import_section(const Section& section) {
  name_ = name_of(section.type, layers_.size());
  const Function function = find(section.type);
  Status status = function == nullptr ? unsupported("this kind of layer is not taken")
                  : (current_ == nullptr && section.type != "route")
                      ? unsupported(layers_.back().why)
                      : (this->*function)(section);
  if (status.ok()) {
    Graph& graph = import_.graph();
    if (current_->producer() != nullptr && graph.find(name_) == nullptr &&
        (layers_.empty() || layers_.back().value != current_) && section.type != "route") {
      graph.rename(current_, name_);
    }
    layers_.push_back({current_, ""});
    return status;
  }
  const std::string why = str(section.label(), ": ", status.message());
  if (status.code() != Code::kUnsupported) return Status(status.code(), why);
  if (function == nullptr || current_ != nullptr) import_.add_unsupported(why);
  // Note: without knowing a layer's shape the place in the .weights file is lost, so nothing after it can be imported.
  current_ = nullptr;
  layers_.push_back({nullptr, why});
  return ok_status();
}

Status Importer::add_outputs() {
  std::vector<size_t> wanted;
  const std::vector<std::string>& asked = import_.options().outputs;
  std::vector<std::string> names;
  for (size_t i = 0; i < layers_.size(); ++i) names.push_back(name_of(sections_[i + 1].type, i));
  RK_TRY(import_.check_names(asked, "outputs", names));
  for (const std::string& name : asked) {
    wanted.push_back(static_cast<size_t>(std::ranges::find(names, name) - names.begin()));
  }
  if (asked.empty() && import_.has_unsupported()) return import_.unsupported_error();
  if (asked.empty()) wanted = detections_;
  if (wanted.empty() && !layers_.empty()) wanted = {layers_.size() - 1};
  for (const size_t index : wanted) {
    if (layers_[index].value == nullptr) return import_.unsupported_error();
  }
  for (const size_t index : wanted) RK_TRY(import_.add_output(names[index], layers_[index].value));
  return ok_status();
}

Result<Imported> Importer::run() {
  RK_TRY(add_input());
  for (size_t i = 1; i < sections_.size(); ++i) {
    RK_TRY(import_section(sections_[i]));
    if (current_ == nullptr) break;
  }
  if (layers_.empty()) return invalid_model("the .cfg has no layers after [net]");
  // A broken layer ends the walk; what lies before it can still be asked for.
  while (layers_.size() + 1 < sections_.size()) layers_.push_back({nullptr, layers_.back().why});
  RK_TRY(add_outputs());
  if (current_ != nullptr && weights_.floats_left() > 0) {
    import_.note(str("the .weights file holds ", weights_.floats_left(),
                     " numbers more than the .cfg asks for; do they belong together?"));
  }
  return import_.finish();
}

}  // namespace
}  // namespace darknet

Result<Imported> import_darknet_files(std::span<const ModelFile> files,
                                      const ImportOptions& options, const OpRegistry& registry) {
  RK_ASSIGN(std::vector<darknet::Section> sections, darknet::read_config(files[0].bytes));
  RK_ASSIGN(const darknet::Weights weights, darknet::Weights::open(files[1].bytes));
  return darknet::Importer(std::move(sections), weights, options, registry).run();
}

}  // namespace rk::frontends
