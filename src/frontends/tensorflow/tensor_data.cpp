// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor.
#include <cstring>

#include "base/checked_math.h"
#include "frontends/tensorflow/importer.h"

namespace rk::frontends::tensorflow {
namespace {

struct TypeRow {
  int32_t number;
  DType dtype;
  std::string_view name;
};

constexpr TypeRow kTypes[] = {
    {1, DType::kF32, "float"},        {2, DType::kF64, "double"},
    {3, DType::kI32, "int32"},        {4, DType::kU8, "uint8"},
    {5, DType::kI16, "int16"},        {6, DType::kI8, "int8"},
    {7, DType::kUndefined, "string"}, {9, DType::kI64, "int64"},
    {10, DType::kBool, "bool"},       {11, DType::kI8, "qint8"},
    {12, DType::kU8, "quint8"},       {13, DType::kI32, "qint32"},
    {14, DType::kBF16, "bfloat16"},   {15, DType::kI16, "qint16"},
    {16, DType::kU16, "quint16"},     {17, DType::kU16, "uint16"},
    {19, DType::kF16, "half"},        {22, DType::kU32, "uint32"},
    {23, DType::kU64, "uint64"},      {20, DType::kUndefined, "resource"},
};

// The stored values, the last repeated. `Stored` is the element in memory, which may be narrower
// than the field.
template <typename Stored, typename Field>
void spread(const Field& values, Tensor& out) {
  auto* const data = out.mutable_data<Stored>();
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t i = 0; i < out.elements(); ++i) {
    data[i] = static_cast<Stored>(values.Get(static_cast<int>(std::min(i, count - 1))));
  }
}

// Nothing for no values: protobuf leaves a lone zero out.
template <typename Stored, typename Field>
Status fill_from(const Field& values, Tensor& out) {
  if (static_cast<int64_t>(values.size()) > out.elements()) {
    return invalid_model(str("has ", values.size(), " values for ", out.elements(), " elements"));
  }
  if (!values.empty()) spread<Stored>(values, out);
  return ok_status();
}

Status fill_values(const rk::tensorflow::TensorProto& proto, Tensor& out) {
  switch (out.dtype()) {
    case DType::kF32:
      return fill_from<float>(proto.float_val(), out);
    case DType::kF64:
      return fill_from<double>(proto.double_val(), out);
    case DType::kI32:
      return fill_from<int32_t>(proto.int_val(), out);
    case DType::kU16:
      return fill_from<uint16_t>(proto.int_val(), out);
    case DType::kI16:
      return fill_from<int16_t>(proto.int_val(), out);
    case DType::kU8:
      return fill_from<uint8_t>(proto.int_val(), out);
    case DType::kI8:
      return fill_from<int8_t>(proto.int_val(), out);
    case DType::kI64:
      return fill_from<int64_t>(proto.int64_val(), out);
    case DType::kBool:
      return fill_from<uint8_t>(proto.bool_val(), out);
    case DType::kF16:
    case DType::kBF16:
      return fill_from<uint16_t>(proto.half_val(), out);  // the bits
    case DType::kU32:
      return fill_from<uint32_t>(proto.uint32_val(), out);
    case DType::kU64:
      return fill_from<uint64_t>(proto.uint64_val(), out);
    default:
      return unsupported("its values cannot be read");
  }
}

}  // namespace

DType dtype_of(int32_t number) {
  for (const TypeRow& row : kTypes) {
    if (row.number == number) return row.dtype;
  }
  return DType::kUndefined;
}

std::string dtype_name(int32_t number) {
  for (const TypeRow& row : kTypes) {
    if (row.number == number) return std::string(row.name);
  }
  return str("number ", number);
}

Result<Tensor> tensor_of(const rk::tensorflow::TensorProto& proto, GraphBuilder& builder) {
  const DType dtype = dtype_of(proto.dtype());
  if (dtype == DType::kUndefined) {
    return unsupported(str("is of type ", dtype_name(proto.dtype()), ", which is not taken"));
  }
  std::vector<int64_t> dims;
  for (const auto& dim : proto.tensor_shape().dim()) {
    if (dim.size() < 0) return invalid_model("has an open shape");
    dims.push_back(dim.size());
  }
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  const TensorType type{dtype, shape};
  if (!proto.tensor_content().empty()) {
    const std::string& content = proto.tensor_content();
    return Tensor::from_bytes(
        type, ByteSpan(reinterpret_cast<const uint8_t*>(content.data()), content.size()));
  }
  // One stored value can stand for a whole tensor.
  RK_ASSIGN(Tensor out, builder.described(type));
  RK_TRY(fill_values(proto, out));
  return out;
}

}  // namespace rk::frontends::tensorflow
