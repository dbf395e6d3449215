// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/shape_util.h"

#include <algorithm>

namespace rk::ops {

std::string to_string(std::span<const int64_t> values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += str(i == 0 ? "" : ",", values[i]);
  return out + "]";
}

Result<int> normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return refuse("axis ", axis, " is outside rank ", rank, "; expected ", -rank, " to ", rank - 1);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<int>> normalize_axes(std::span<const int64_t> axes, int rank) {
  std::vector<int> out;
  for (const int64_t axis : axes) {
    RK_ASSIGN(const int normal, normalize_axis(axis, rank));
    if (std::ranges::find(out, normal) != out.end()) {
      return refuse("axis ", axis, " is given twice in ", to_string(axes));
    }
    out.push_back(normal);
  }
  return out;
}

Result<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank());
    const int in_b = axis - (rank - b.rank());
    const int64_t da = in_a < 0 ? 1 : a[in_a];
    const int64_t db = in_b < 0 ? 1 : b[in_b];
    if (da != db && da != 1 && db != 1) {
      return refuse("shapes ", rk::to_string(a), " and ", rk::to_string(b),
                    " do not broadcast: extents ", da, " and ", db, " differ and neither is 1");
    }
    dims[static_cast<size_t>(axis)] = da == 1 ? db : da;
  }
  return Shape::make(dims);
}

Strides row_major_strides(const Shape& shape) {
  Strides out{};
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    out[static_cast<size_t>(axis)] = step;
    step *= shape[axis];
  }
  return out;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = row_major_strides(from);
  Strides out{};
  const int shift = to.rank() - from.rank();
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] != 1) out[static_cast<size_t>(axis + shift)] = own[static_cast<size_t>(axis)];
  }
  return out;
}

int64_t extent_product(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int axis = begin; axis < end; ++axis) product *= shape[axis];
  return product;
}

std::string_view input_name(const InferCall& call, size_t i) {
  const std::vector<ArgDef>& args = call.node.def().inputs;
  return args[std::min(i, args.size() - 1)].name;
}

namespace {

Result<const Tensor*> constant_input(const InferCall& call, size_t i) {
  const Tensor* tensor = call.constant(i);
  if (tensor == nullptr) {
    return unsupported(str("input ", i, " ('", input_name(call, i),
                           "') is computed at run time; it must be a constant because the output "
                           "shape depends on it. Fix the model's input shapes or fold it"));
  }
  return tensor;
}

Status expect(bool holds, const InferCall& call, size_t i, std::string_view expected) {
  if (holds) return ok_status();
  return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(call.input(i)),
                ", expected ", expected);
}

}  // namespace

Result<std::vector<int64_t>> constant_ints(const InferCall& call, size_t i) {
  RK_ASSIGN(const Tensor* const tensor, constant_input(call, i));
  RK_TRY(expect(is_integer(tensor->dtype()) && tensor->shape().rank() <= 1, call, i,
                "a list of integers"));
  return tensor->to_i64();
}

Result<int64_t> constant_int(const InferCall& call, size_t i) {
  RK_ASSIGN(const Tensor* const tensor, constant_input(call, i));
  RK_TRY(expect(is_integer(tensor->dtype()) && tensor->elements() == 1, call, i, "one integer"));
  return tensor->at_i64(0);
}

Result<double> constant_number(const InferCall& call, size_t i) {
  RK_ASSIGN(const Tensor* const tensor, constant_input(call, i));
  RK_TRY(expect(tensor->elements() == 1, call, i, "one number"));
  return tensor->at_f64(0);
}

Status set_output(InferCall& call, size_t i, DType dtype, std::span<const int64_t> dims) {
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  return set_output(call, i, dtype, shape);
}

Status set_output(InferCall& call, size_t i, DType dtype, const Shape& shape) {
  if (i < call.output_count()) call.set_output(i, {dtype, shape});
  return ok_status();
}

Status require_float(const InferCall& call, size_t i) {
  return expect(is_float(call.input(i).dtype), call, i, "a float dtype");
}

Status require_bool(const InferCall& call, size_t i) {
  return expect(call.input(i).dtype == DType::kBool, call, i, "dtype bool");
}

Status require_index(const InferCall& call, size_t i) {
  const DType dtype = call.input(i).dtype;
  return expect(dtype == DType::kI32 || dtype == DType::kI64, call, i, "dtype i32 or i64");
}

Status require_number(const InferCall& call, size_t i) {
  const DType dtype = call.input(i).dtype;
  return expect(is_float(dtype) || is_integer(dtype), call, i, "a number dtype");
}

Status require_integer(const InferCall& call, size_t i) {
  return expect(is_integer(call.input(i).dtype), call, i, "an integer dtype");
}

Status require_same_dtype(const InferCall& call, size_t i, size_t j) {
  if (call.input(i).dtype == call.input(j).dtype) return ok_status();
  return refuse("inputs ", i, " ('", input_name(call, i), "') and ", j, " ('", input_name(call, j),
                "') have dtypes ", rk::to_string(call.input(i).dtype), " and ",
                rk::to_string(call.input(j).dtype), "; they must be the same");
}

Status require_rank(const InferCall& call, size_t i, int least, int most) {
  const int rank = call.input(i).shape.rank();
  if (rank >= least && rank <= most) return ok_status();
  return expect(false, call, i,
                least == most ? str("rank ", least) : str("rank ", least, " to ", most));
}

Status require_shape(const InferCall& call, size_t i, const Shape& shape) {
  return expect(call.input(i).shape == shape, call, i, str("shape ", rk::to_string(shape)));
}

Status require_one_of(const Node& node, std::string_view attr,
                      std::initializer_list<std::string_view> allowed) {
  const std::string& found = node.text(attr);
  if (std::ranges::find(allowed, std::string_view(found)) != allowed.end()) return ok_status();
  std::string list;
  for (const std::string_view value : allowed)
    list += str(list.empty() ? "" : ", ", "'", value, "'");
  return refuse("attribute '", attr, "' is '", found, "', expected one of ", list);
}

Status require_range(const Node& node, std::string_view attr, int64_t least, int64_t most) {
  const int64_t found = node.i64(attr);
  if (found >= least && found <= most) return ok_status();
  return refuse("attribute '", attr, "' is ", found, ", expected ", least, " to ", most);
}

}  // namespace rk::ops
