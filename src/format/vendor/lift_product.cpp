// SPDX-License-Identifier: Apache-2.0
// Matrix product and attention: nodes that stand for a small graph. They become the operators of
// that graph. Where the lists of an int8 node are known stage by stage, the values in between are
// those of the chip: sums, which float32 holds exactly, int8 scores and weights. Otherwise they are
// float32 and only the result is rounded to its type.
#include <cmath>

#include "format/vendor/composite.h"
#include "format/vendor/product_lists.h"

namespace rk::format {
namespace {

using program::InputStage;
using program::kNone;
using program::Layout;
using program::ProgramTensor;

constexpr int64_t kLargestByte = 127, kLargestDifference = 255;

struct Operands {
  int32_t a = kNone, b = kNone, out = kNone;
};

// Constant A of exMatMul: per matrix of the batch a block of 1x1 convolution weights [M, K]. The
// result is [N, 1, M, K]. In units of its own where `integers` is asked for.
Result<int32_t> constant_matrix(LiftContext& c, const ProductLists& lists, const Operands& o,
                                bool integers) {
  const int32_t a = o.a, b = o.b, out = o.out;
  const ProgramTensor t = c.tensor(a);
  const int64_t batch = c.tensor(out).shape[0];
  const ByteSpan bytes = c.bytes(a);
  if (t.shape.rank() != 4 || t.shape[2] != 1 || t.shape[3] != 1 || batch < 1) {
    return unsupported(str("constant matrix '", t.name, "' has shape ", to_string(t.shape)));
  }
  const int64_t rows = t.shape[0], columns = t.shape[1];
  const size_t part = bytes.size() / static_cast<size_t>(batch);
  const size_t element = byte_size(t.dtype);
  if (t.dtype != DType::kF16 && t.dtype != DType::kI8) {
    return unsupported(str("constant matrix '", t.name, "' of ", to_string(t.dtype)));
  }
  double unit = 1;
  int32_t offset = 0;
  if (t.dtype == DType::kI8) {
    if (!lists.multiplies || c.registers->layer_offset.offset == 0 || !c.is_i8(out) ||
        !c.is_i8(b)) {
      return unsupported("the scale of its constant int8 matrix is not known on this chip");
    }
    offset = lists.offset;
    unit = integers
               ? 1
               : std::ldexp(double{static_cast<float>(lists.output.scale)}, -lists.output.shift) *
                     double{c.tensor(out).scale} / double{c.tensor(b).scale};
  }
  std::vector<float> values;
  for (int64_t n = 0; n < batch; ++n) {
    const ByteSpan block = bytes.subspan(static_cast<size_t>(n) * part, part / element * element);
    RK_ASSIGN(const std::vector<uint8_t> plain,
              program::unpack_weight_elements(block, t.native_shape, t.shape, element));
    for (int64_t i = 0; i < rows * columns; ++i) {
      const double stored = load_f64(t.dtype, plain.data() + static_cast<size_t>(i) * element);
      values.push_back(static_cast<float>((stored + offset) * unit));
    }
  }
  return c.add_floats(t.name + ".matrix", Shape{batch, 1, rows, columns}, values);
}

// The feature of an int8 product has 9 bits without its zero point. Where the tasks convert it to 8
// on its way in, the values that are multiplied are those: (x + offset) * scale / 2^shift.
int32_t converted_feature(LiftContext& c, const std::optional<InputStage>& stage, int32_t feature,
                          const std::string& name) {
  const ProgramTensor t = c.tensor(feature);
  if (!c.is_i8(feature) || !stage || stage->scale.scale == 0 || stage->offset != -t.zero_point)
    return feature;
  const int32_t out = c.add_internal(name, feature, t.shape);
  ProgramTensor& made = c.variant().tensors[static_cast<size_t>(out)];
  made.scale =
      static_cast<float>(std::ldexp(double{t.scale}, stage->scale.shift) / stage->scale.scale);
  made.zero_point = 0;
  program::ConcatParams copy;
  copy.axis = 0;
  copy.inputs = {*stage};
  copy.output = {{16384, 14}, 0};
  c.add_step({feature}, {out}, std::move(copy));
  return out;
}

// An int8 tensor whose numbers are its codes less the zero point.
int32_t add_codes(LiftContext& c, const std::string& name, const Shape& shape, int32_t zero_point) {
  const int32_t out = c.add_internal_f32(name, shape);
  ProgramTensor& made = c.variant().tensors[static_cast<size_t>(out)];
  made.dtype = DType::kI8;
  made.scale = 1;
  made.zero_point = zero_point;
  return out;
}

int32_t codes_of(LiftContext& c, int32_t tensor, const std::string& name) {
  const ProgramTensor t = c.tensor(tensor);
  const int32_t out = add_codes(c, name, t.shape, t.zero_point);
  c.add_operator("Mul", {tensor, c.add_floats(name + ".steps", Shape{1}, {1 / t.scale})}, out);
  return out;
}

// The last stages of a product, into an int8 tensor with the stage's zero point.
void add_output(LiftContext& c, int32_t sums, const ProductStage& stage, int32_t out) {
  c.add_operator("exRequantize", {sums}, out,
                 {{"first_scale", int64_t{stage.before.scale}},
                  {"first_shift", int64_t{stage.before.shift}},
                  {"scale", int64_t{stage.output.scale.scale}},
                  {"shift", int64_t{stage.output.scale.shift}},
                  {"zero_point", int64_t{stage.output.zero_point}},
                  {"unit", c.tensor(out).scale}});
}

bool fits_float32(int64_t depth) {
  return depth * kLargestByte * kLargestDifference < (int64_t{1} << 24);
}

// Operands as the stage expects them: int8, the zero points those of the lists.
bool agrees(LiftContext& c, const ProductStage& stage, int32_t feature, int32_t matrix) {
  if (!c.is_i8(feature)) return false;
  const int64_t zero = c.tensor(feature).zero_point;
  if (stage.conversion ? stage.conversion->offset != -zero || stage.conversion->scale.scale <= 0
                       : zero != 0) {
    return false;
  }
  return matrix == kNone || (c.is_i8(matrix) && c.tensor(matrix).zero_point == -stage.offset);
}

bool writes(LiftContext& c, const ProductStage& stage, int32_t out) {
  return c.is_i8(out) && c.tensor(out).zero_point == stage.output.zero_point;
}

// softmax over the last axis of int8 scores. The exponential of a score depends on itself and on the
// row's largest: a table of all pairs.
void add_softmax(LiftContext& c, int32_t scores, const SoftmaxStage& stage, int32_t out) {
  const int32_t entries =
      c.add_constant(c.tensor(out).name + ".exponentials", DType::kF16,
                     Shape{kSoftmaxCodes, kSoftmaxCodes}, exponential_table(stage));
  const int64_t zero_point = c.tensor(scores).zero_point;
  c.add_operator("exTableSoftmax", {scores, entries}, out,
                 {{"zero_point", zero_point},
                  {"factor", stage.factor},
                  {"output_zero_point", int64_t{c.tensor(out).zero_point}},
                  {"unit", c.tensor(out).scale}});
}

}  // namespace

// A [N, K, 1, M], B [N, K, 1, P] -> [N, M, 1, P], then times or plus C.
Status lift_matmul(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(2));
  const int32_t a = operands[0], b = operands[1], out = c.output();
  RK_TRY(check_rank4(c, {b, out}));
  const ProductLists lists = read_product_lists(c);
  const std::string stem = c.tensor(out).name;
  const auto kind = c.text("c_type");
  if (kind && *kind != "mul" && *kind != "add") {
    return unsupported(str("c_type '", *kind, "' is not known"));
  }
  const bool has_third = kind.has_value();
  if (has_third && (operands.size() < 3 || operands[2] == kNone)) {
    return unsupported("its third operand is missing");
  }
  const bool constant = c.tensor(a).is_constant() && c.tensor(a).layout == Layout::kWeight;
  const bool bytes = constant ? c.tensor(a).dtype == DType::kI8 : !c.tensor(a).is_constant();
  RK_ASSIGN(const int32_t plain_b, c.plain(b));
  const bool exact = lists.result && !lists.scores && !has_third && bytes &&
                     !c.tensor(b).is_constant() && fits_float32(c.tensor(b).shape[1]) &&
                     agrees(c, *lists.result, b, constant ? kNone : a) &&
                     writes(c, *lists.result, out);
  int32_t left = kNone;
  if (constant) {
    RK_ASSIGN(left, constant_matrix(c, lists, {a, b, out}, exact));
  } else {
    RK_ASSIGN(const int32_t plain, c.plain(a));
    RK_TRY(check_rank4(c, {plain}));
    const int32_t codes = exact ? codes_of(c, plain, stem + ".left_codes") : plain;
    left = add_transpose(c, codes, {0, 2, 3, 1}, stem + ".left");
  }
  int32_t feature = converted_feature(c, lists.conversion, plain_b, stem + ".feature");
  if (exact) feature = codes_of(c, feature, stem + ".feature_codes");
  const int32_t right = add_transpose(c, feature, {0, 2, 1, 3}, stem + ".right");
  const Shape &l = c.tensor(left).shape, &r = c.tensor(right).shape;
  const Shape product_shape{std::max(l[0], r[0]), 1, l[2], r[3]};
  int32_t product = has_third ? c.add_internal_f32(stem + ".product", product_shape)
                              : c.add_internal(stem + ".product", out, product_shape);
  if (exact) {
    const int32_t sums = c.add_internal_f32(stem + ".sums", product_shape);
    c.add_operator("MatMul", {left, right}, sums);
    add_output(c, sums, *lists.result, product);
  } else {
    c.add_operator("MatMul", {left, right}, product);
  }
  const int32_t moved = has_third ? c.add_internal_f32(stem + ".moved", c.tensor(out).shape) : out;
  c.add_operator("Transpose", {product}, moved, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  if (!has_third) return ok_status();
  RK_ASSIGN(const int32_t third, c.plain(operands[2]));
  c.add_operator(*kind == "mul" ? "Mul" : "Add", {moved, third}, out);
  return ok_status();
}

// Softmax; over channels by the lists where they say it all.
Status lift_softmax(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  const auto axis = c.integer("axis");
  if (!axis) return unsupported("attribute 'axis' is not stored with the node");
  RK_ASSIGN(const int32_t in, c.plain(operands[0]));
  const int32_t out = c.output();
  if (*axis != 1 || c.tensor(in).shape.rank() != 4) {
    c.add_operator("Softmax", {in}, out, {{"axis", *axis}});
    return ok_status();
  }
  const ProductLists lists = read_product_lists(c);
  const bool exact = lists.softmax && c.is_i8(in) && c.is_i8(out) && !c.tensor(in).is_constant() &&
                     lists.softmax->addend == -static_cast<float>(c.tensor(in).zero_point) &&
                     lists.softmax->zero_point == static_cast<float>(c.tensor(out).zero_point);
  if (!exact) {
    c.add_operator("Softmax", {in}, out, {{"axis", int64_t{1}}});
    return ok_status();
  }
  const std::string stem = c.tensor(out).name;
  const int32_t numbers = codes_of(c, in, stem + ".codes");
  const int32_t rows = add_transpose(c, numbers, {0, 2, 3, 1}, stem + ".moved");
  const int32_t parts = c.add_internal(stem + ".parts", out, c.tensor(rows).shape);
  add_softmax(c, rows, *lists.softmax, parts);
  c.add_operator("Transpose", {parts}, out, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  return ok_status();
}

// Q [N, C, 1, Lq], K and V [N, C, 1, Lk] -> [N, C, 1, Lq].
Status lift_attention(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(3));
  if (operands.size() > 3) return unsupported("attention with a fourth operand is not known");
  const int32_t out = c.output();
  RK_TRY(check_rank4(c, {operands[0], operands[1], operands[2], out}));
  const ProductLists lists = read_product_lists(c);
  const double scale = c.real("scale").value_or(1.0);
  const std::string stem = c.tensor(out).name;
  const std::vector<int64_t> rows = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < 3; ++i) {
    RK_ASSIGN(const int32_t plain, c.plain(operands[i]));
    inputs.push_back(plain);
  }
  const int32_t q = inputs[0], k = inputs[1], v = inputs[2];
  const bool exact =
      lists.result && lists.scores && lists.softmax && !lists.result->conversion &&
      !c.tensor(q).is_constant() && !c.tensor(k).is_constant() && !c.tensor(v).is_constant() &&
      agrees(c, *lists.scores, q, k) && c.is_i8(v) &&
      c.tensor(v).zero_point == -lists.result->offset && writes(c, *lists.result, out) &&
      lists.softmax->addend == -static_cast<float>(lists.scores->output.zero_point) &&
      lists.softmax->zero_point == 0 && fits_float32(c.tensor(k).shape[1]) &&
      fits_float32(c.tensor(k).shape[3]);
  inputs[0] = converted_feature(c, lists.conversion, q, stem + ".feature");
  const Shape shape = permuted(c.tensor(out).shape, rows);
  const int32_t result = c.add_internal(stem + ".rows", out, shape);
  if (exact) {
    const int32_t left =
        add_transpose(c, codes_of(c, inputs[0], stem + ".q_codes"), rows, stem + ".q");
    const int32_t right =
        add_transpose(c, codes_of(c, k, stem + ".k_codes"), {0, 2, 1, 3}, stem + ".k");
    const Shape score_shape{shape[0], 1, shape[2], c.tensor(k).shape[3]};
    const int32_t sums = c.add_internal_f32(stem + ".sums", score_shape);
    c.add_operator("MatMul", {left, right}, sums);
    const int32_t scores =
        add_codes(c, stem + ".scores", score_shape, lists.scores->output.zero_point);
    add_output(c, sums, *lists.scores, scores);
    const int32_t weights = add_codes(c, stem + ".weights", score_shape, 0);
    add_softmax(c, scores, *lists.softmax, weights);
    const int32_t values = add_transpose(c, codes_of(c, v, stem + ".v_codes"), rows, stem + ".v");
    const int32_t mixed = c.add_internal_f32(stem + ".mixed", shape);
    c.add_operator("MatMul", {weights, values}, mixed);
    add_output(c, mixed, *lists.result, result);
  } else {
    const char* const names[] = {".q", ".k", ".v"};
    for (size_t i = 0; i < 3; ++i) inputs[i] = add_transpose(c, inputs[i], rows, stem + names[i]);
    c.add_operator("exSDPAttention", std::move(inputs), result,
                   {{"scale", static_cast<float>(scale)}});
  }
  c.add_operator("Transpose", {result}, out, {{"perm", back}});
  return ok_status();
}

}  // namespace rk::format
