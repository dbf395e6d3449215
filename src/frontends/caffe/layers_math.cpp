// SPDX-License-Identifier: Apache-2.0
// Layers element by element, matrices, reductions, and moves.
#include <algorithm>
#include <cmath>

#include "frontends/caffe/importer.h"

namespace rk::frontends::caffe {
namespace {

std::vector<int64_t> dims_of(const Value& value) {
  return {value.shape().dims().begin(), value.shape().dims().end()};
}

// shift + scale * x, without what does nothing.
Result<Value*> affine(LayerImport& layer, Value* value, float scale, float shift) {
  if (scale != 1) {
    RK_ASSIGN(value, layer.emit("Mul", "/scaled", {value, layer.scalar("/scale", scale)}));
  }
  if (shift != 0) {
    RK_ASSIGN(value, layer.emit("Add", "/shifted", {value, layer.scalar("/shift", shift)}));
  }
  return value;
}

}  // namespace

Status unary(LayerImport& layer, std::string_view op) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(Value* const value, layer.emit(op, "/result", {input}));
  return layer.bind(0, value);
}

Status relu(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const float slope, layer.params("relu_param").real("negative_slope", 0));
  auto value = slope == 0 ? layer.emit("Relu", "/relu", {input})
                          : layer.emit("LeakyRelu", "/relu", {input}, {{"alpha", slope}});
  if (!value.ok()) return value.status();
  return layer.bind(0, *value);
}

Status relu6(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(Value* const value,
            layer.emit("Clip", "/clip", {input, layer.scalar("/min", 0), layer.scalar("/max", 6)}));
  return layer.bind(0, value);
}

Status prelu(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  const int rank = input->shape().rank();
  RK_ASSIGN(const bool shared, layer.params("prelu_param").flag("channel_shared", false));
  std::vector<int64_t> dims = {1};
  if (!shared && rank > 1) {
    dims.assign(static_cast<size_t>(rank - 1), 1);
    dims[0] = input->shape()[1];
  }
  RK_ASSIGN(Value* const slope, layer.blob(0, dims, "/slope"));
  RK_ASSIGN(Value* const value, layer.emit("PRelu", "/prelu", {input, slope}));
  return layer.bind(0, value);
}

Status elu(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const float alpha, layer.params("elu_param").real("alpha", 1));
  RK_ASSIGN(Value* const value, layer.emit("Elu", "/elu", {input}, {{"alpha", alpha}}));
  return layer.bind(0, value);
}

// (shift + scale * x) ^ power
Status power(LayerImport& layer) {
  const Message& params = layer.params("power_param");
  RK_ASSIGN(Value * value, layer.bottom(0));
  RK_ASSIGN(const float exponent, params.real("power", 1));
  RK_ASSIGN(const float factor, params.real("scale", 1));
  RK_ASSIGN(const float shift, params.real("shift", 0));
  RK_ASSIGN(value, affine(layer, value, factor, shift));
  if (exponent == 2) {
    RK_ASSIGN(value, layer.emit("Mul", "/square", {value, value}));
  } else if (exponent == 0.5f) {
    RK_ASSIGN(value, layer.emit("Sqrt", "/sqrt", {value}));
  } else if (exponent != 1) {
    RK_ASSIGN(value, layer.emit("Pow", "/power", {value, layer.scalar("/exponent", exponent)}));
  }
  return layer.bind(0, value);
}

// base ^ (shift + scale * x); a base of -1 is e.
Status exponential(LayerImport& layer) {
  const Message& params = layer.params("exp_param");
  RK_ASSIGN(Value * value, layer.bottom(0));
  RK_ASSIGN(const float base, params.real("base", -1));
  RK_ASSIGN(const float factor, params.real("scale", 1));
  RK_ASSIGN(const float shift, params.real("shift", 0));
  if (base != -1 && base <= 0) return invalid_model(str("base ", base));
  const float log_base = base == -1 ? 1 : std::log(base);
  RK_ASSIGN(value, affine(layer, value, factor * log_base, shift * log_base));
  RK_ASSIGN(value, layer.emit("Exp", "/exp", {value}));
  return layer.bind(0, value);
}

// log_base(shift + scale * x)
Status logarithm(LayerImport& layer) {
  const Message& params = layer.params("log_param");
  RK_ASSIGN(Value * value, layer.bottom(0));
  RK_ASSIGN(const float base, params.real("base", -1));
  RK_ASSIGN(const float factor, params.real("scale", 1));
  RK_ASSIGN(const float shift, params.real("shift", 0));
  if (base != -1 && (base <= 0 || base == 1)) return invalid_model(str("base ", base));
  RK_ASSIGN(value, affine(layer, value, factor, shift));
  RK_ASSIGN(value, layer.emit("Log", "/log", {value}));
  RK_ASSIGN(value, affine(layer, value, base == -1 ? 1 : 1 / std::log(base), 0));
  return layer.bind(0, value);
}

// x * sigmoid(beta * x)
Status swish(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const float beta, layer.params("swish_param").real("beta", 1));
  RK_ASSIGN(Value * gate, affine(layer, input, beta, 0));
  RK_ASSIGN(gate, layer.emit("Sigmoid", "/gate", {gate}));
  RK_ASSIGN(Value* const value, layer.emit("Mul", "/swish", {input, gate}));
  return layer.bind(0, value);
}

Status threshold(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const float limit, layer.params("threshold_param").real("threshold", 0));
  RK_ASSIGN(Value* const above,
            layer.emit("Greater", "/above", {input, layer.scalar("/limit", limit)}));
  RK_ASSIGN(Value* const value,
            layer.emit("Cast", "/number", {above}, {{"to", static_cast<int64_t>(DType::kF32)}}));
  return layer.bind(0, value);
}

Status eltwise(LayerImport& layer) {
  const Message& params = layer.params("eltwise_param");
  const std::string kind = params.text("operation", "SUM");
  RK_ASSIGN(const std::vector<float> factors, params.reals("coeff"));
  const bool is_sum = kind == "SUM" || kind == "1";
  const char* const op = is_sum                          ? "Add"
                         : kind == "PROD" || kind == "0" ? "Mul"
                         : kind == "MAX" || kind == "2"  ? "Max"
                                                         : nullptr;
  if (op == nullptr)
    return unsupported(str("operation: ", kind, " is not taken; PROD, SUM and MAX are"));
  if (layer.bottoms() == 0 || (!factors.empty() && factors.size() != layer.bottoms())) {
    return invalid_model(str(factors.size(), " coeff for ", layer.bottoms(), " bottoms"));
  }
  Value* result = nullptr;
  for (size_t i = 0; i < layer.bottoms(); ++i) {
    RK_ASSIGN(Value * value, layer.bottom(i));
    if (result != nullptr && value->shape() != result->shape()) {
      return invalid_model(
          str("bottoms are ", to_string(result->shape()), " and ", to_string(value->shape())));
    }
    if (is_sum && !factors.empty()) {
      RK_ASSIGN(value, affine(layer, value, factors[i], 0));
    }
    if (result == nullptr) {
      result = value;
      continue;
    }
    RK_ASSIGN(result, layer.emit(op, "/result", {result, value}));
  }
  return layer.bind(0, result);
}

// Bottoms: a number per channel, x, y.
Status axpy(LayerImport& layer) {
  RK_ASSIGN(Value* const factor, layer.bottom(0));
  RK_ASSIGN(Value* const x, layer.picture(1));
  RK_ASSIGN(Value* const y, layer.picture(2));
  RK_ASSIGN(Value* const per_channel,
            reshaped(layer.builder(), factor, {x->shape()[0], x->shape()[1], 1, 1}, "/factor"));
  RK_ASSIGN(Value* const scaled, layer.emit("Mul", "/scaled", {x, per_channel}));
  RK_ASSIGN(Value* const value, layer.emit("Add", "/result", {scaled, y}));
  return layer.bind(0, value);
}

Status softmax(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(int64_t axis, layer.params("softmax_param").integer("axis", 1));
  RK_ASSIGN(axis, layer.axis(axis, input->shape().rank()));
  RK_ASSIGN(Value* const value, layer.emit("Softmax", "/softmax", {input}, {{"axis", axis}}));
  return layer.bind(0, value);
}

// Over `axis` and everything after it.
Status reduction(LayerImport& layer) {
  const Message& params = layer.params("reduction_param");
  RK_ASSIGN(Value * value, layer.bottom(0));
  RK_ASSIGN(int64_t axis, params.integer("axis", 0));
  RK_ASSIGN(const float factor, params.real("coeff", 1));
  const int64_t rank = value->shape().rank();
  RK_ASSIGN(axis, layer.axis(axis, rank));
  const std::string kind = params.text("operation", "SUM");
  const char* const op = kind == "SUM"     ? "ReduceSum"
                         : kind == "ASUM"  ? "ReduceL1"
                         : kind == "SUMSQ" ? "ReduceSumSquare"
                         : kind == "MEAN"  ? "ReduceMean"
                                           : nullptr;
  if (op == nullptr) return unsupported(str("operation: ", kind, " is not taken"));
  std::vector<int64_t> axes;
  for (; axis < rank; ++axis) axes.push_back(axis);
  RK_ASSIGN(value, layer.emit(op, "/reduced", {value, layer.ints("/axes", axes)},
                              {{"keepdims", int64_t{0}}}));
  RK_ASSIGN(value, affine(layer, value, factor, 0));
  return layer.bind(0, value);
}

Status arg_max(LayerImport& layer) {
  const Message& params = layer.params("argmax_param");
  RK_ASSIGN(Value * value, layer.bottom(0));
  RK_ASSIGN(const bool with_value, params.flag("out_max_val", false));
  RK_ASSIGN(const int64_t count, params.integer("top_k", 1));
  if (with_value || count != 1 || !params.has("axis")) {
    return unsupported("is taken with an axis, top_k 1 and without out_max_val only");
  }
  RK_ASSIGN(int64_t axis, params.integer("axis", 1));
  RK_ASSIGN(axis, layer.axis(axis, value->shape().rank()));
  RK_ASSIGN(value,
            layer.emit("ArgMax", "/index", {value}, {{"axis", axis}, {"keepdims", int64_t{1}}}));
  RK_ASSIGN(value,
            layer.emit("Cast", "/number", {value}, {{"to", static_cast<int64_t>(DType::kF32)}}));
  return layer.bind(0, value);
}

Status inner_product(LayerImport& layer) {
  const Message& params = layer.params("inner_product_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const int64_t count, params.integer("num_output", 0));
  RK_ASSIGN(const bool has_bias, params.flag("bias_term", true));
  RK_ASSIGN(const bool across, params.flag("transpose", false));
  RK_ASSIGN(int64_t axis, params.integer("axis", 1));
  const Shape shape = input->shape();
  RK_ASSIGN(axis, layer.axis(axis, shape.rank()));
  int64_t rows = 1, depth = 1;
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    (i < axis ? rows : depth) *= shape[i];
    if (i < axis) dims.push_back(shape[i]);
  }
  if (count < 1 || count > 1 << 24) return invalid_model(str("num_output ", count));
  dims.push_back(count);
  RK_ASSIGN(Value* const matrix, reshaped(layer.builder(), input, {rows, depth}, "/rows"));
  RK_ASSIGN(Value* const weights,
            layer.blob(
                0, across ? std::vector<int64_t>{depth, count} : std::vector<int64_t>{count, depth},
                "/weights"));
  std::vector<Value*> inputs = {matrix, weights};
  if (has_bias) {
    RK_ASSIGN(Value* const offset, layer.blob(1, {count}, "/bias"));
    inputs.push_back(offset);
  }
  RK_ASSIGN(Value * value,
            layer.emit("Gemm", "/gemm", std::move(inputs), {{"transB", int64_t{!across}}}));
  RK_ASSIGN(value, reshaped(layer.builder(), value, dims, "/shape"));
  return layer.bind(0, value);
}

Status pass(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  return layer.bind(0, input);
}

Status split(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  for (size_t i = 0; i < layer.tops(); ++i) RK_TRY(layer.bind(i, input));
  return ok_status();
}

Status silence(LayerImport&) { return ok_status(); }

Status concat(LayerImport& layer) {
  const Message& params = layer.params("concat_param");
  RK_ASSIGN(Value* const first, layer.bottom(0));
  RK_ASSIGN(const int64_t old_axis, params.integer("concat_dim", 1));
  RK_ASSIGN(int64_t axis, params.integer("axis", old_axis));
  RK_ASSIGN(axis, layer.axis(axis, first->shape().rank()));
  std::vector<Value*> parts;
  for (size_t i = 0; i < layer.bottoms(); ++i) {
    RK_ASSIGN(Value* const part, layer.bottom(i));
    parts.push_back(part);
  }
  if (parts.size() == 1) return layer.bind(0, parts[0]);
  RK_ASSIGN(Value* const value,
            layer.emit("Concat", "/concat", std::move(parts), {{"axis", axis}}));
  return layer.bind(0, value);
}

Status slice(LayerImport& layer) {
  const Message& params = layer.params("slice_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const int64_t old_axis, params.integer("slice_dim", 1));
  RK_ASSIGN(int64_t axis, params.integer("axis", old_axis));
  RK_ASSIGN(axis, layer.axis(axis, input->shape().rank()));
  RK_ASSIGN(std::vector<int64_t> points, params.integers("slice_point"));
  const int64_t extent = input->shape()[static_cast<int>(axis)];
  const auto parts = static_cast<int64_t>(layer.tops());
  if (points.empty()) {
    if (parts == 0 || extent % parts != 0) {
      return invalid_model(str("an extent of ", extent, " cannot be cut in ", parts));
    }
    for (int64_t i = 1; i < parts; ++i) points.push_back(i * (extent / parts));
  }
  if (static_cast<int64_t>(points.size()) + 1 != parts) {
    return invalid_model(str(points.size(), " slice_point for ", parts, " tops"));
  }
  points.insert(points.begin(), 0);
  points.push_back(extent);
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (points[i] < 0 || points[i + 1] <= points[i] || points[i + 1] > extent) {
      return invalid_model(str("a part from ", points[i], " to ", points[i + 1], " of ", extent));
    }
    RK_ASSIGN(Value* const part,
              layer.emit("Slice", str("/", i),
                         {input, layer.ints("/start", {points[i]}),
                          layer.ints("/end", {points[i + 1]}), layer.ints("/axis", {axis})}));
    RK_TRY(layer.bind(i, part));
  }
  return ok_status();
}

// To the extents of the second bottom, from `axis` on.
Status crop(LayerImport& layer) {
  const Message& params = layer.params("crop_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(const Value* const like, layer.bottom(1));
  RK_ASSIGN(int64_t axis, params.integer("axis", 2));
  const int64_t rank = input->shape().rank();
  RK_ASSIGN(axis, layer.axis(axis, rank));
  RK_ASSIGN(const std::vector<int64_t> offsets, params.integers("offset"));
  const int64_t cut = rank - axis;
  if (like->shape().rank() != rank ||
      (offsets.size() > 1 && static_cast<int64_t>(offsets.size()) != cut)) {
    return invalid_model(str(offsets.size(), " offset for ", cut, " axes"));
  }
  std::vector<int64_t> starts, ends, axes;
  for (int64_t i = 0; i < cut; ++i) {
    const int64_t offset =
        offsets.empty() ? 0 : offsets[offsets.size() == 1 ? 0 : static_cast<size_t>(i)];
    const auto at = static_cast<int>(axis + i);
    if (offset < 0 || offset + like->shape()[at] > input->shape()[at]) {
      return invalid_model(str("offset ", offset, " and extent ", like->shape()[at], " exceed ",
                               input->shape()[at]));
    }
    starts.push_back(offset);
    ends.push_back(offset + like->shape()[at]);
    axes.push_back(at);
  }
  RK_ASSIGN(Value* const value, layer.emit("Slice", "/crop",
                                           {input, layer.ints("/starts", starts),
                                            layer.ints("/ends", ends), layer.ints("/axes", axes)}));
  return layer.bind(0, value);
}

Status permute(LayerImport& layer) {
  RK_ASSIGN(Value* const input, layer.bottom(0));
  RK_ASSIGN(std::vector<int64_t> order, layer.params("permute_param").integers("order"));
  const int64_t rank = input->shape().rank();
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t& axis : order) {
    RK_ASSIGN(axis, layer.axis(axis, rank));
    if (seen[static_cast<size_t>(axis)]) return invalid_model(str("order has ", axis, " twice"));
    seen[static_cast<size_t>(axis)] = true;
  }
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!seen[static_cast<size_t>(axis)]) order.push_back(axis);
  }
  RK_ASSIGN(Value* const value, transposed(layer.builder(), input, order, "/permute"));
  return layer.bind(0, value);
}

Status flatten(LayerImport& layer) {
  const Message& params = layer.params("flatten_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  const int64_t rank = input->shape().rank();
  RK_ASSIGN(int64_t axis, params.integer("axis", 1));
  RK_ASSIGN(int64_t end, params.integer("end_axis", -1));
  RK_ASSIGN(axis, layer.axis(axis, rank));
  RK_ASSIGN(end, layer.axis(end, rank));
  if (end < axis) return invalid_model(str("axis ", axis, ", end_axis ", end));
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = input->shape()[static_cast<int>(i)];
    if (i > axis && i <= end) {
      dims.back() *= extent;
    } else {
      dims.push_back(extent);
    }
  }
  RK_ASSIGN(Value* const value, reshaped(layer.builder(), input, dims, "/flat"));
  return layer.bind(0, value);
}

// Of the axes from `axis` on, `num_axes` of them (-1: all): 0 keeps an extent, -1 takes what is left.
Status reshape(LayerImport& layer) {
  const Message& params = layer.params("reshape_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  const int64_t rank = input->shape().rank();
  RK_ASSIGN(int64_t axis, params.integer("axis", 0));
  RK_ASSIGN(int64_t count, params.integer("num_axes", -1));
  if (axis < 0) axis += rank + 1;
  if (count < 0) count = rank - axis;
  if (axis < 0 || axis > rank || axis + count > rank) {
    return invalid_model(str("axis ", axis, ", num_axes ", count, " of rank ", rank));
  }
  const Message* const shape = params.message("shape");
  std::vector<int64_t> wanted;
  if (shape != nullptr) {
    RK_ASSIGN(wanted, shape->integers("dim"));
  }
  std::vector<int64_t> dims = dims_of(*input);
  std::vector<int64_t> out(dims.begin(), dims.begin() + axis);
  int64_t* open = nullptr;
  out.reserve(dims.size() + wanted.size());
  int64_t known = 1;
  for (const int64_t extent : out) known *= extent;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t extent = wanted[i];
    if (extent == 0) {
      const int64_t from = axis + static_cast<int64_t>(i);
      if (from >= rank) return invalid_model(str("dim ", i, " is 0, but there is no such axis"));
      extent = dims[static_cast<size_t>(from)];
    }
    out.push_back(extent);
    if (extent == -1 && open == nullptr) {
      open = &out.back();
    } else if (extent < 1 || known > input->shape().elements()) {
      return invalid_model(str("dim ", extent));
    } else {
      known *= extent;
    }
  }
  for (int64_t i = axis + count; i < rank; ++i) {
    out.push_back(dims[static_cast<size_t>(i)]);
    known *= out.back();
  }
  if (open != nullptr) *open = known == 0 ? 0 : input->shape().elements() / known;
  if ((open == nullptr ? known : known * *open) != input->shape().elements()) {
    return invalid_model(str(to_string(input->shape()), " does not fit the new shape"));
  }
  RK_ASSIGN(Value* const value, reshaped(layer.builder(), input, out, "/reshape"));
  return layer.bind(0, value);
}

Status tile(LayerImport& layer) {
  const Message& params = layer.params("tile_param");
  RK_ASSIGN(Value* const input, layer.bottom(0));
  const int64_t rank = input->shape().rank();
  RK_ASSIGN(int64_t axis, params.integer("axis", 1));
  RK_ASSIGN(axis, layer.axis(axis, rank));
  RK_ASSIGN(const int64_t times, params.integer("tiles", 1));
  if (times < 1) return invalid_model(str("tiles ", times));
  std::vector<int64_t> repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(axis)] = times;
  RK_ASSIGN(Value* const value,
            layer.emit("Tile", "/tile", {input, layer.ints("/times", repeats)}));
  return layer.bind(0, value);
}

Status shuffle_channel(LayerImport& layer) {
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const int64_t groups, layer.params("shuffle_channel_param").integer("group", 1));
  const Shape s = picture->shape();
  if (groups < 1 || s[1] % groups != 0) {
    return invalid_model(str("group ", groups, " does not divide ", s[1], " channels"));
  }
  GraphBuilder& builder = layer.builder();
  RK_ASSIGN(Value * value,
            reshaped(builder, picture, {s[0], groups, s[1] / groups, s[2], s[3]}, "/groups"));
  RK_ASSIGN(value, transposed(builder, value, {0, 2, 1, 3, 4}, "/shuffled"));
  RK_ASSIGN(value, reshaped(builder, value, dims_of(*picture), "/joined"));
  return layer.bind(0, value);
}

// As Darknet's: the input is read as [c/s^2, h*s, w*s] before blocks of s x s go to channels.
Status reorg(LayerImport& layer) {
  const Message& params = layer.params("reorg_param");
  RK_ASSIGN(Value* const picture, layer.picture(0));
  RK_ASSIGN(const int64_t stride, params.integer("stride", 2));
  RK_ASSIGN(const bool back, params.flag("reverse", false));
  const Shape s = picture->shape();
  if (back) return unsupported("reverse: true is not taken");
  if (stride < 1 || stride > 1024 || s[1] % (stride * stride) != 0 || s[2] % stride != 0 ||
      s[3] % stride != 0) {
    return invalid_model(str("stride ", stride, " does not divide ", to_string(s)));
  }
  GraphBuilder& builder = layer.builder();
  RK_ASSIGN(Value * value,
            reshaped(builder, picture,
                     {s[0], s[1] / (stride * stride), s[2] * stride, s[3] * stride}, "/as_read"));
  RK_ASSIGN(value, layer.emit("SpaceToDepth", "/s2d", {value}, {{"blocksize", stride}}));
  RK_ASSIGN(value,
            reshaped(builder, value, {s[0], s[1] * stride * stride, s[2] / stride, s[3] / stride},
                     "/reorg"));
  return layer.bind(0, value);
}

}  // namespace rk::frontends::caffe
