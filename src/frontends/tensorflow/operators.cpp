// SPDX-License-Identifier: Apache-2.0
// One row per operator that is imported.

#include "frontends/tensorflow/importer.h"

namespace rk::frontends::tensorflow {
namespace {

using layers::binary;
using layers::unary;

Status constant(NodeImport& op) {
  const AttrValue* const value = op.attr("value");
  if (value == nullptr) return invalid_model("has no value");
  RK_ASSIGN(Tensor data, tensor_of(value->tensor(), op.builder()));
  return op.bind_held(0, Held::in_file_order(op.constant("", std::move(data))));
}

// What a caller would feed and did not list.
Status placeholder(NodeImport& op) {
  RK_ASSIGN(const DType dtype, op.attr_dtype("dtype", DType::kF32));
  if (dtype != DType::kBool) {
    return unsupported("is not among the inputs; add it there, or cut the graph after it");
  }
  op.note(str("'", op.output_name(0), "' is not among the inputs and taken as false: inference"));
  Value* const value = op.constant("", Tensor::of<uint8_t>(DType::kBool, {}, {0}));
  return op.bind_held(0, Held::in_file_order(value));
}

// The same tensors under other names.
Status same(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  for (size_t i = 0; i < op.input_count(); ++i) {
    RK_ASSIGN(const Held* const held, op.held(i));
    RK_TRY(op.bind_held(i, Held(*held)));
    if (op.op() != "IdentityN") break;
  }
  return ok_status();
}

Status keeps(NodeImport& op, std::string_view name, bool is_bool = false) {
  const bool keep = op.attr_bool("keep_dims");
  return is_bool ? layers::reduce_bool(op, name, keep) : layers::reduce(op, name, keep);
}

Status arg(NodeImport& op, std::string_view name) {
  RK_ASSIGN(const DType dtype, op.attr_dtype("output_type", DType::kI64));
  return layers::arg_select(op, name, dtype);
}

Status cast(NodeImport& op) {
  RK_ASSIGN(const DType dtype, op.attr_dtype("DstT", DType::kF32));
  return layers::cast(op, dtype);
}

// Integers are divided towards zero, as C does.
Status divided(NodeImport& op) { return binary(op, "Div"); }

Status expm1(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0}, values));
  RK_ASSIGN(Value * value, op.emit("Exp", "/exp", values));
  RK_ASSIGN(value, op.emit("Sub", "/result", {value, op.scalar("/one", 1)}));
  return op.bind(0, value, order);
}

Status log1p(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0}, values));
  RK_ASSIGN(Value * value, op.emit("Add", "/shifted", {values[0], op.scalar("/one", 1)}));
  RK_ASSIGN(value, op.emit("Log", "/result", {value}));
  return op.bind(0, value, order);
}

// The sign of the dividend, as C has it.
Status truncate_mod(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  RK_ASSIGN(Value* const value, op.emit("Mod", "/result", values, {{"fmod", int64_t{1}}}));
  return op.bind(0, value, order);
}

// 0 where the divisor is 0.
Status div_no_nan(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0, 1}, values));
  Value* const zero = op.scalar("/zero", 0);
  RK_ASSIGN(Value* const is_zero, op.emit("Equal", "/is_zero", {values[1], zero}));
  RK_ASSIGN(Value* const quotient, op.emit("Div", "/quotient", values));
  RK_ASSIGN(Value* const value, op.emit("Where", "/result", {is_zero, zero, quotient}));
  return op.bind(0, value, order);
}

Status is_finite(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0}, values));
  RK_ASSIGN(Value * value, op.emit("Sub", "/rest", {values[0], values[0]}));
  RK_ASSIGN(value, op.emit("Equal", "/result", {value, op.scalar("/zero", 0)}));
  return op.bind(0, value, order);
}

Status reshape(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const std::vector<int64_t> dims, op.ints(1, "shape"));
  return layers::reshape(op, dims);
}

Status squeeze(NodeImport& op) {
  std::vector<int64_t> axes = op.attr_ints("squeeze_dims");
  if (axes.empty()) axes = op.attr_ints("axis");
  return layers::squeeze(op, axes);
}

// Concat has the axis first, ConcatV2 last.
Status concat(NodeImport& op, bool axis_first) {
  RK_TRY(op.need_inputs(2));
  const size_t last = op.input_count() - 1;
  RK_ASSIGN(const int64_t axis, op.integer(axis_first ? 0 : last, "axis"));
  std::vector<size_t> which;
  for (size_t i = 0; i < last; ++i) which.push_back(axis_first ? i + 1 : i);
  return layers::concatenation(op, which, axis);
}

Status strided_slice(NodeImport& op) {
  return layers::strided_slice(
      op,
      {op.attr_int("begin_mask", 0), op.attr_int("end_mask", 0), op.attr_int("ellipsis_mask", 0),
       op.attr_int("new_axis_mask", 0), op.attr_int("shrink_axis_mask", 0)});
}

Status gather_v2(NodeImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const int64_t axis, op.integer(2, "axis"));
  return layers::gather(op, axis, op.attr_int("batch_dims", 0));
}

// Every input's shape.
Status shapes(NodeImport& op) {
  RK_ASSIGN(const DType dtype, op.attr_dtype("out_type", DType::kI32));
  if (op.op() == "Shape") return layers::shape_of(op, dtype);
  for (size_t i = 0; i < op.input_count(); ++i) {
    RK_ASSIGN(const Held* const held, op.held(i));
    const Shape shape = held->shape();
    const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    Value* const value = op.constant(
        str("/shape", i), Tensor::i64({static_cast<int64_t>(dims.size())}, dims).cast(dtype));
    RK_TRY(op.bind_held(i, Held::in_file_order(value)));
  }
  return ok_status();
}

Status size_of(NodeImport& op) {
  RK_ASSIGN(const DType dtype, op.attr_dtype("out_type", DType::kI32));
  RK_ASSIGN(const Held* const held, op.held(0));
  Value* const value = op.constant("", Tensor::i64({}, {held->shape().elements()}).cast(dtype));
  return op.bind_held(0, Held::in_file_order(value));
}

Status invert_permutation(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const std::vector<int64_t> perm, op.ints(0, "x"));
  std::vector<int64_t> out(perm.size(), -1);
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(perm.size()) ||
        out[static_cast<size_t>(perm[i])] != -1) {
      return invalid_model("its input is not an order");
    }
    out[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  Value* const value =
      op.constant("", Tensor::i64({static_cast<int64_t>(out.size())}, out).cast(DType::kI32));
  return op.bind_held(0, Held::in_file_order(value));
}

Status resize(NodeImport& op, bool linear) {
  const layers::Scaling scaling{op.attr_bool("align_corners"), op.attr_bool("half_pixel_centers")};
  return linear ? layers::resize_bilinear(op, scaling) : layers::resize_nearest(op, scaling);
}

// The file's alpha is per element; so is layers.h's.
Status lrn(NodeImport& op) {
  return layers::local_response_normalization(
      op, {op.attr_int("depth_radius", 5), op.attr_float("bias", 1), op.attr_float("alpha", 1),
           op.attr_float("beta", 0.5f)});
}

Status einsum(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  std::vector<Value*> values;
  for (size_t i = 0; i < op.input_count(); ++i) {
    RK_ASSIGN(Value* const value, op.last(i));
    values.push_back(value);
  }
  RK_ASSIGN(Value* const value,
            op.emit("Einsum", "/result", values, {{"equation", op.attr_string("equation", "")}}));
  return op.bind(0, value, Order::kFile);
}

Status leaky_relu(NodeImport& op) {
  return unary(op, "LeakyRelu", {{"alpha", op.attr_float("alpha", 0.2f)}});
}

Status selu(NodeImport& op) {
  return unary(op, "Selu", {{"alpha", 1.67326324f}, {"gamma", 1.05070099f}});
}

// TopK has k as an attribute.
Status top_k_of_attr(NodeImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(const auto results,
            op.emit_many("TopK", {input, op.ints_value("/k", {op.attr_int("k", 1)})}, 2,
                         {{"axis", int64_t{input->shape().rank() - 1}},
                          {"largest", int64_t{1}},
                          {"sorted", int64_t{1}}}));
  RK_TRY(op.bind(0, results[0], Order::kFile));
  RK_ASSIGN(Value* const indices,
            op.emit("Cast", "/indices", {results[1]}, {{"to", static_cast<int64_t>(DType::kI32)}}));
  return op.bind(1, indices, Order::kFile);
}

#define RK_UNARY(tf, name)                             \
  {                                                    \
    tf, [](NodeImport& op) { return unary(op, name); } \
  }
#define RK_BINARY(tf, name)                             \
  {                                                     \
    tf, [](NodeImport& op) { return binary(op, name); } \
  }
#define RK_LAYER(tf, call)                            \
  {                                                   \
    tf, [](NodeImport& op) -> Status { return call; } \
  }

const std::map<std::string, NodeFunction>& rows() {
  // clang-format off
  static const std::map<std::string, NodeFunction> table = {
      {"Const", constant},
      {"Placeholder", placeholder},
      {"PlaceholderV2", placeholder},
      {"PlaceholderWithDefault", same},
      {"Identity", same},
      {"IdentityN", same},
      {"Snapshot", same},
      {"StopGradient", same},
      {"PreventGradient", same},
      {"CheckNumerics", same},
      {"EnsureShape", same},
      {"Switch", switched},
      {"RefSwitch", switched},
      {"Merge", merged},
      {"RefMerge", merged},

      {"Conv2D", conv_2d},
      {"DepthwiseConv2dNative", depthwise_conv_2d},
      {"Conv3D", conv_3d},
      {"Conv2DBackpropInput", conv_2d_backprop},
      {"_FusedConv2D", fused_conv_2d},
      {"FusedResizeAndPadConv2D", fused_resize_conv},
      {"FusedPadConv2D", fused_resize_conv},
      RK_LAYER("MaxPool", pool(op, "MaxPool", 2)),
      RK_LAYER("AvgPool", pool(op, "AveragePool", 2)),
      RK_LAYER("MaxPool3D", pool(op, "MaxPool", 3)),
      RK_LAYER("AvgPool3D", pool(op, "AveragePool", 3)),
      {"MaxPoolGrad", max_pool_grad},
      {"BiasAdd", bias_add},
      {"BiasAddV1", bias_add},
      {"FusedBatchNorm", fused_batch_norm},
      {"FusedBatchNormV2", fused_batch_norm},
      {"FusedBatchNormV3", fused_batch_norm},
      {"BatchNormWithGlobalNormalization", global_batch_norm},
      RK_LAYER("ResizeBilinear", resize(op, true)),
      RK_LAYER("ResizeNearestNeighbor", resize(op, false)),
      RK_LAYER("SpaceToDepth", moved_blocks(op, true)),
      RK_LAYER("DepthToSpace", moved_blocks(op, false)),
      {"SpaceToBatchND", space_to_batch},
      {"BatchToSpaceND", batch_to_space},
      {"LRN", lrn},

      {"MatMul", matmul},
      RK_LAYER("BatchMatMul", layers::batch_matmul(op, op.attr_bool("adj_x"), op.attr_bool("adj_y"))),
      RK_LAYER("BatchMatMulV2", layers::batch_matmul(op, op.attr_bool("adj_x"), op.attr_bool("adj_y"))),
      RK_LAYER("BatchMatMulV3", layers::batch_matmul(op, op.attr_bool("adj_x"), op.attr_bool("adj_y"))),
      {"Einsum", einsum},

      {"Dequantize", dequantize},
      RK_LAYER("FakeQuantWithMinMaxArgs", fake_quant(op, true)),
      RK_LAYER("FakeQuantWithMinMaxVars", fake_quant(op, false)),
      RK_LAYER("FakeQuantWithMinMaxVarsPerChannel", fake_quant(op, false)),
      {"QuantizeAndDequantizeV2", quantize_and_dequantize},
      {"QuantizeAndDequantizeV3", quantize_and_dequantize},

      RK_BINARY("Add", "Add"),
      RK_BINARY("AddV2", "Add"),
      RK_BINARY("Sub", "Sub"),
      RK_BINARY("Mul", "Mul"),
      RK_BINARY("RealDiv", "Div"),
      {"Div", divided},
      {"TruncateDiv", divided},
      {"DivNoNan", div_no_nan},
      RK_LAYER("FloorDiv", layers::floor_div(op)),
      RK_LAYER("FloorMod", layers::floor_mod(op)),
      {"Mod", truncate_mod},
      {"TruncateMod", truncate_mod},
      RK_BINARY("Maximum", "Max"),
      RK_BINARY("Minimum", "Min"),
      RK_BINARY("Pow", "Pow"),
      RK_BINARY("Less", "Less"),
      RK_BINARY("LessEqual", "LessOrEqual"),
      RK_BINARY("Greater", "Greater"),
      RK_BINARY("GreaterEqual", "GreaterOrEqual"),
      RK_BINARY("Equal", "Equal"),
      RK_LAYER("NotEqual", layers::not_equal(op)),
      RK_BINARY("LogicalAnd", "And"),
      RK_BINARY("LogicalOr", "Or"),
      RK_UNARY("LogicalNot", "Not"),
      RK_LAYER("SquaredDifference", layers::squared_difference(op)),
      RK_LAYER("AddN", layers::add_n(op)),
      RK_LAYER("AccumulateNV2", layers::add_n(op)),
      RK_LAYER("Select", layers::select(op, true)),
      RK_LAYER("SelectV2", layers::select(op, false)),

      RK_UNARY("Abs", "Abs"),
      RK_UNARY("Neg", "Neg"),
      RK_UNARY("Exp", "Exp"),
      {"Expm1", expm1},
      RK_UNARY("Log", "Log"),
      {"Log1p", log1p},
      RK_UNARY("Sqrt", "Sqrt"),
      RK_LAYER("Rsqrt", layers::rsqrt(op)),
      RK_LAYER("Square", layers::square(op)),
      RK_UNARY("Reciprocal", "Reciprocal"),
      RK_UNARY("Inv", "Reciprocal"),
      RK_UNARY("Sin", "Sin"),
      RK_UNARY("Cos", "Cos"),
      RK_UNARY("Tan", "Tan"),
      RK_UNARY("Asin", "Asin"),
      RK_UNARY("Acos", "Acos"),
      RK_UNARY("Atan", "Atan"),
      RK_UNARY("Sinh", "Sinh"),
      RK_UNARY("Cosh", "Cosh"),
      RK_UNARY("Asinh", "Asinh"),
      RK_UNARY("Acosh", "Acosh"),
      RK_UNARY("Atanh", "Atanh"),
      RK_UNARY("Tanh", "Tanh"),
      RK_UNARY("Sigmoid", "Sigmoid"),
      RK_UNARY("Relu", "Relu"),
      RK_LAYER("Relu6", layers::clipped(op, 0, 6)),
      RK_UNARY("Elu", "Elu"),
      {"Selu", selu},
      {"LeakyRelu", leaky_relu},
      RK_UNARY("Softplus", "Softplus"),
      RK_UNARY("Softsign", "Softsign"),
      RK_UNARY("Erf", "Erf"),
      RK_UNARY("Floor", "Floor"),
      RK_UNARY("Ceil", "Ceil"),
      RK_UNARY("Round", "Round"),
      RK_UNARY("Rint", "Round"),
      RK_UNARY("Sign", "Sign"),
      RK_UNARY("IsNan", "IsNaN"),
      RK_UNARY("IsInf", "IsInf"),
      {"IsFinite", is_finite},
      {"Cast", cast},
      RK_LAYER("Softmax", layers::softmax(op)),
      RK_LAYER("LogSoftmax", layers::log_softmax(op)),

      RK_LAYER("Mean", keeps(op, "ReduceMean")),
      RK_LAYER("Sum", keeps(op, "ReduceSum")),
      RK_LAYER("Max", keeps(op, "ReduceMax")),
      RK_LAYER("Min", keeps(op, "ReduceMin")),
      RK_LAYER("Prod", keeps(op, "ReduceProd")),
      RK_LAYER("EuclideanNorm", keeps(op, "ReduceL2")),
      RK_LAYER("Any", keeps(op, "ReduceMax", true)),
      RK_LAYER("All", keeps(op, "ReduceMin", true)),
      RK_LAYER("ArgMax", arg(op, "ArgMax")),
      RK_LAYER("ArgMin", arg(op, "ArgMin")),
      RK_LAYER("Cumsum", layers::cumsum(op, op.attr_bool("exclusive"), op.attr_bool("reverse"))),

      {"Reshape", reshape},
      {"Squeeze", squeeze},
      RK_LAYER("ExpandDims", layers::expand_dims(op)),
      RK_LAYER("Transpose", layers::transpose(op)),
      RK_LAYER("Pad", layers::pad(op)),
      RK_LAYER("PadV2", layers::pad(op)),
      RK_LAYER("MirrorPad", layers::mirror_pad(op, op.attr_string("mode", "") != "REFLECT")),
      RK_LAYER("Concat", concat(op, true)),
      RK_LAYER("ConcatV2", concat(op, false)),
      RK_LAYER("Split", layers::split(op)),
      RK_LAYER("SplitV", layers::split_v(op)),
      RK_LAYER("Pack", layers::pack(op, op.attr_int("axis", 0))),
      RK_LAYER("Unpack", layers::unpack(op, op.attr_int("axis", 0))),
      RK_LAYER("Slice", layers::slice(op)),
      {"StridedSlice", strided_slice},
      RK_LAYER("Gather", layers::gather(op, 0, 0)),
      {"GatherV2", gather_v2},
      RK_LAYER("GatherNd", layers::gather_nd(op)),
      RK_LAYER("ScatterNd", layers::scatter_nd(op)),
      RK_LAYER("Tile", layers::tile(op)),
      RK_LAYER("BroadcastTo", layers::broadcast_to(op)),
      RK_LAYER("OneHot", layers::one_hot(op, op.attr_int("axis", -1))),
      RK_LAYER("TopKV2", layers::top_k(op)),
      {"TopK", top_k_of_attr},
      RK_LAYER("ReverseV2", layers::reverse(op)),
      RK_LAYER("ReverseSequence", layers::reverse_sequence(op, op.attr_int("seq_dim", 0), op.attr_int("batch_dim", 0))),
      {"Shape", shapes},
      {"ShapeN", shapes},
      RK_LAYER("Rank", layers::rank_of(op)),
      {"Size", size_of},
      RK_LAYER("Fill", layers::fill(op)),
      RK_LAYER("ZerosLike", layers::filled_like(op, 0)),
      RK_LAYER("OnesLike", layers::filled_like(op, 1)),
      RK_LAYER("Range", layers::range(op)),
      {"InvertPermutation", invert_permutation},
  };
  // clang-format on
  return table;
}

#undef RK_UNARY
#undef RK_BINARY
#undef RK_LAYER

}  // namespace

NodeFunction find_operator(const std::string& op) {
  const auto row = rows().find(op);
  return row == rows().end() ? nullptr : row->second;
}

}  // namespace rk::frontends::tensorflow
