// SPDX-License-Identifier: Apache-2.0
#include "server/service/datatype.h"

#include <cstring>
#include <limits>

namespace rk::server {
namespace {

struct Pair {
  rknn_tensor_type type;
  std::string_view name;
};
constexpr Pair kPairs[] = {
    {RKNN_TENSOR_FLOAT32, "FP32"}, {RKNN_TENSOR_FLOAT16, "FP16"},  {RKNN_TENSOR_INT8, "INT8"},
    {RKNN_TENSOR_UINT8, "UINT8"},  {RKNN_TENSOR_INT16, "INT16"},   {RKNN_TENSOR_UINT16, "UINT16"},
    {RKNN_TENSOR_INT32, "INT32"},  {RKNN_TENSOR_UINT32, "UINT32"}, {RKNN_TENSOR_INT64, "INT64"},
    {RKNN_TENSOR_BOOL, "BOOL"},    {RKNN_TENSOR_BFLOAT16, "BF16"},
};

template <typename To, typename From>
Result<std::string> packed(const From& values) {
  std::string out(static_cast<size_t>(values.size()) * sizeof(To), '\0');
  char* at = out.data();
  for (const auto value : values) {
    if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>) {
      if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max())
        return invalid_argument(str("the element ", value, " does not fit the tensor's datatype"));
    }
    const To element = static_cast<To>(value);
    std::memcpy(at, &element, sizeof element);
    at += sizeof element;
  }
  return out;
}

template <typename From, typename To>
void unpacked(std::string_view bytes, To* values) {
  values->Reserve(static_cast<int>(bytes.size() / sizeof(From)));
  for (size_t i = 0; i + sizeof(From) <= bytes.size(); i += sizeof(From)) {
    From element;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    values->Add(element);
  }
}

}  // namespace

std::string_view to_datatype(rknn_tensor_type type) {
  for (const Pair& pair : kPairs) {
    if (pair.type == type) return pair.name;
  }
  return {};
}

std::optional<rknn_tensor_type> from_datatype(std::string_view name) {
  for (const Pair& pair : kPairs) {
    if (pair.name == name) return pair.type;
  }
  return std::nullopt;
}

Result<std::string> bytes_of(const inference::InferTensorContents& contents,
                             rknn_tensor_type type) {
  switch (type) {
    case RKNN_TENSOR_BOOL:
      return packed<bool>(contents.bool_contents());
    case RKNN_TENSOR_INT8:
      return packed<int8_t>(contents.int_contents());
    case RKNN_TENSOR_INT16:
      return packed<int16_t>(contents.int_contents());
    case RKNN_TENSOR_INT32:
      return packed<int32_t>(contents.int_contents());
    case RKNN_TENSOR_INT64:
      return packed<int64_t>(contents.int64_contents());
    case RKNN_TENSOR_UINT8:
      return packed<uint8_t>(contents.uint_contents());
    case RKNN_TENSOR_UINT16:
      return packed<uint16_t>(contents.uint_contents());
    case RKNN_TENSOR_UINT32:
      return packed<uint32_t>(contents.uint_contents());
    case RKNN_TENSOR_FLOAT32:
      return packed<float>(contents.fp32_contents());
    default:
      return invalid_argument(
          str(to_datatype(type), " has no typed contents: send it in raw_input_contents"));
  }
}

bool fill_contents(rknn_tensor_type type, std::string_view bytes,
                   inference::InferTensorContents& contents) {
  switch (type) {
    case RKNN_TENSOR_BOOL:
      unpacked<uint8_t>(bytes, contents.mutable_bool_contents());
      return true;
    case RKNN_TENSOR_INT8:
      unpacked<int8_t>(bytes, contents.mutable_int_contents());
      return true;
    case RKNN_TENSOR_INT16:
      unpacked<int16_t>(bytes, contents.mutable_int_contents());
      return true;
    case RKNN_TENSOR_INT32:
      unpacked<int32_t>(bytes, contents.mutable_int_contents());
      return true;
    case RKNN_TENSOR_INT64:
      unpacked<int64_t>(bytes, contents.mutable_int64_contents());
      return true;
    case RKNN_TENSOR_UINT8:
      unpacked<uint8_t>(bytes, contents.mutable_uint_contents());
      return true;
    case RKNN_TENSOR_UINT16:
      unpacked<uint16_t>(bytes, contents.mutable_uint_contents());
      return true;
    case RKNN_TENSOR_UINT32:
      unpacked<uint32_t>(bytes, contents.mutable_uint_contents());
      return true;
    case RKNN_TENSOR_FLOAT32:
      unpacked<float>(bytes, contents.mutable_fp32_contents());
      return true;
    default:
      return false;
  }
}

}  // namespace rk::server
