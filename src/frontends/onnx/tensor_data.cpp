// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/tensor_data.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/checked_math.h"
#include "base/model_budget.h"

namespace rk::frontends {
namespace {

namespace fs = std::filesystem;

constexpr int kExternal = 1;  // TensorProto.data_location

std::string_view onnx_type_name(int64_t number) {
  switch (number) {
    case 0:
      return "undefined";
    case 8:
      return "string";
    case 14:
      return "complex64";
    case 15:
      return "complex128";
    default:
      return "unknown";
  }
}

Status count_mismatch(const std::string& what, const TensorType& type, size_t found,
                      std::string_view unit) {
  return invalid_model(str(what, ": ", found, " ", unit, " found, ", to_string(type), " needs ",
                           type.shape.elements()));
}

// Typed fields store small types widened; a value outside the type is a damaged file.
template <typename To, typename Field>
Result<Tensor> copy_field(const TensorType& type, const Field& field, const std::string& what) {
  if (static_cast<int64_t>(field.size()) != type.shape.elements()) {
    return count_mismatch(what, type, static_cast<size_t>(field.size()), "values");
  }
  RK_ASSIGN(Tensor out, Tensor::try_make(type));
  To* to = out.mutable_data<To>();
  for (int i = 0; i < field.size(); ++i) {
    if constexpr (std::is_integral_v<To>) {
      if (!std::in_range<To>(field[i])) {
        return invalid_model(
            str(what, ": value ", field[i], " does not fit ", to_string(type.dtype)));
      }
    }
    to[i] = static_cast<To>(field[i]);
  }
  return out;
}

int64_t packed_bytes(const TensorType& type) {
  return (type.shape.elements() * bit_width(type.dtype) + 7) / 8;
}

// Elements of less than a byte lie packed in a file, the first in the low bits. `bytes` has packed_bytes(type).
Result<Tensor> unpack(const TensorType& type, ByteSpan bytes) {
  const int bits = bit_width(type.dtype);
  if (bits >= 8) return Tensor::from_bytes(type, bytes);
  RK_ASSIGN(Tensor out, Tensor::try_make(type));
  uint8_t* to = out.mutable_data<uint8_t>();
  const bool has_sign = type.dtype == DType::kI4 || type.dtype == DType::kI2;
  const int sign = 1 << (bits - 1);
  const auto per_byte = static_cast<size_t>(8 / bits);
  for (size_t i = 0; i < static_cast<size_t>(type.shape.elements()); ++i) {
    const int shift = static_cast<int>(i % per_byte) * bits;
    const int code = (bytes[i / per_byte] >> shift) & ((1 << bits) - 1);
    to[i] = static_cast<uint8_t>(has_sign && code >= sign ? code - 2 * sign : code);
  }
  return out;
}

Result<Tensor> copy_typed(const onnx::TensorProto& proto, const TensorType& type,
                          const std::string& what) {
  switch (type.dtype) {
    case DType::kF32:
      return copy_field<float>(type, proto.float_data(), what);
    case DType::kF64:
      return copy_field<double>(type, proto.double_data(), what);
    case DType::kI64:
      return copy_field<int64_t>(type, proto.int64_data(), what);
    case DType::kU64:
      return copy_field<uint64_t>(type, proto.uint64_data(), what);
    case DType::kU32:
      return copy_field<uint32_t>(type, proto.uint64_data(), what);
    case DType::kI32:
      return copy_field<int32_t>(type, proto.int32_data(), what);
    case DType::kI16:
      return copy_field<int16_t>(type, proto.int32_data(), what);
    case DType::kI8:
      return copy_field<int8_t>(type, proto.int32_data(), what);
    case DType::kU8:
    case DType::kBool:
      return copy_field<uint8_t>(type, proto.int32_data(), what);
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return copy_field<uint16_t>(type, proto.int32_data(), what);
    case DType::kUndefined:
      break;
    default: {  // 8 bits and less: bytes, widened
      TensorType bytes{DType::kU8, Shape{packed_bytes(type)}};
      RK_ASSIGN(const Tensor packed, copy_field<uint8_t>(bytes, proto.int32_data(), what));
      return unpack(type, packed.bytes());
    }
  }
  return invalid_model(str(what, ": has no element type"));
}

Result<uint64_t> parse_number(const std::string& text, const std::string& what) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) {
    return invalid_model(str(what, " '", text, "' is not a number"));
  }
  return out;
}

struct ExternalData {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<ExternalData> parse_external(const onnx::TensorProto& proto, const std::string& what) {
  ExternalData out;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      out.location = entry.value();
    } else if (entry.key() == "offset") {
      RK_ASSIGN(out.offset, parse_number(entry.value(), str(what, ": external data offset")));
    } else if (entry.key() == "length") {
      RK_ASSIGN(out.length, parse_number(entry.value(), str(what, ": external data length")));
    }
  }
  if (out.location.empty()) return invalid_model(str(what, ": external data without a location"));
  return out;
}

// The file must lie below the model's folder, also after following symbolic links: a model from the net must not be
// able to read /etc or a neighbor's home into its weights.
Result<fs::path> external_path(const std::string& location, const std::string& base_dir,
                               const std::string& what) {
  if (base_dir.empty()) {
    return invalid_model(str(what, ": its data lies in the file '", location,
                             "', but the model was given as bytes; load it by its path"));
  }
  const fs::path relative(location);
  const auto leaves = [](const fs::path& path) {
    return path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end();
  };
  const std::string refusal = str(what, ": external data file '", location,
                                  "' lies outside the model's folder; only files beside the model "
                                  "are read");
  if (location.find('\0') != std::string::npos || leaves(relative)) return invalid_model(refusal);
  std::error_code error;
  const fs::path base = fs::canonical(base_dir, error);
  if (error) return io_error(str("'", base_dir, "': ", error.message()));
  const fs::path path = fs::canonical(base / relative, error);
  if (error) {
    return io_error(
        str(what, ": external data file '", location, "' beside the model: ", error.message()));
  }
  if (leaves(path.lexically_relative(base))) return invalid_model(refusal);
  if (!fs::is_regular_file(path, error)) {
    return io_error(str(what, ": external data file '", location, "' is not a regular file"));
  }
  return path;
}

Result<Tensor> read_external(const onnx::TensorProto& proto, const TensorType& type,
                             const std::string& base_dir, const std::string& what) {
  RK_ASSIGN(const ExternalData external, parse_external(proto, what));
  RK_TRY(checked_byte_size(type).status());
  const auto size_bytes = static_cast<uint64_t>(packed_bytes(type));
  if (external.length && *external.length != size_bytes) {
    return invalid_model(str(what, ": external data has ", *external.length, " bytes, ",
                             to_string(type), " needs ", size_bytes));
  }
  RK_ASSIGN(const fs::path path, external_path(external.location, base_dir, what));
  std::error_code error;
  const uint64_t file_bytes = fs::file_size(path, error);
  const auto end = checked_add(external.offset, size_bytes);
  if (error || !end || *end > file_bytes) {
    return invalid_model(str(what, ": ", size_bytes, " bytes at offset ", external.offset, " of '",
                             external.location, "' wanted, the file has ", file_bytes));
  }
  const bool packed = bit_width(type.dtype) < 8;
  RK_ASSIGN(Tensor out,
            Tensor::try_make(packed ? TensorType{DType::kU8, Shape{packed_bytes(type)}} : type));
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(external.offset));
  file.read(reinterpret_cast<char*>(out.mutable_data<uint8_t>()),
            static_cast<std::streamsize>(size_bytes));
  if (!file) return io_error(str(what, ": '", external.location, "' cannot be read"));
  if (packed) return unpack(type, out.bytes());
  return out;
}

}  // namespace

Result<DType> import_dtype(int64_t onnx_number, const std::string& what) {
  const auto dtype = dtype_from_onnx(onnx_number);
  if (dtype && *dtype != DType::kUndefined) return *dtype;
  return unsupported(str(what, ": element type ", onnx_number, " (", onnx_type_name(onnx_number),
                         ") is not supported; bool, the integers of 2 to 64 bits and the floats of "
                         "4 to 64 bits are"));
}

Result<Tensor> import_tensor(const onnx::TensorProto& proto, const std::string& base_dir,
                             const std::string& what) {
  RK_ASSIGN(const DType dtype, import_dtype(proto.data_type(), what));
  const std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(what);
  const TensorType type{dtype, *shape};

  const auto read = [&]() -> Result<Tensor> {
    if (proto.data_location() == kExternal) return read_external(proto, type, base_dir, what);
    if (!proto.has_raw_data()) return copy_typed(proto, type, what);
    const std::string& raw = proto.raw_data();
    RK_TRY(checked_byte_size(type).status());
    const auto size_bytes = static_cast<uint64_t>(packed_bytes(type));
    if (raw.size() != size_bytes) {
      return invalid_model(
          str(what, ": ", raw.size(), " bytes found, ", to_string(type), " needs ", size_bytes));
    }
    return unpack(type, {reinterpret_cast<const uint8_t*>(raw.data()), raw.size()});
  };
  RK_ASSIGN(Tensor tensor, read());
  if (tensor.dtype() == DType::kBool) {
    // Any byte may stand in a file; bool code must only meet 0 and 1.
    uint8_t* bytes = tensor.mutable_data<uint8_t>();
    for (int64_t i = 0; i < tensor.elements(); ++i) bytes[i] = bytes[i] != 0;
  }
  return tensor;
}

Result<Tensor> import_sparse_tensor(const onnx::SparseTensorProto& proto,
                                    const std::string& base_dir, const std::string& what) {
  RK_ASSIGN(const Tensor values, import_tensor(proto.values(), base_dir, str(what, " (values)")));
  RK_ASSIGN(const Tensor indices,
            import_tensor(proto.indices(), base_dir, str(what, " (indices)")));
  const std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(what);
  // Either one position in row-major order per value, or one index per axis.
  const int64_t count = values.elements();
  const int64_t rank = shape->rank();
  const bool linear = indices.shape() == Shape{count};
  if (values.shape().rank() != 1 || indices.dtype() != DType::kI64 ||
      (!linear && !(indices.shape() == Shape{count, rank}))) {
    return invalid_model(str(what, ": values ", to_string(values.type()), " with indices ",
                             to_string(indices.type()), " do not fit ", to_string(*shape)));
  }
  RK_ASSIGN(const uint64_t full_bytes, checked_byte_size({values.dtype(), *shape}));
  const uint64_t stored_bytes = values.size_bytes() + indices.size_bytes();
  if (full_bytes > budget::kSparseBytes && full_bytes / budget::kSparseTimes > stored_bytes) {
    return out_of_memory(str(what, ": ", stored_bytes, " bytes stand for a tensor of ", full_bytes,
                             "; at most ", budget::kSparseTimes,
                             " times as many are allowed. Store the tensor in full"));
  }
  RK_ASSIGN(Tensor out, Tensor::try_make({values.dtype(), *shape}));
  const size_t item = byte_size(values.dtype());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = linear ? indices.at_i64(i) : 0;
    bool inside = !linear || (at >= 0 && at < shape->elements());
    for (int axis = 0; !linear && axis < rank; ++axis) {
      const int64_t index = indices.at_i64(i * rank + axis);
      inside &= index >= 0 && index < (*shape)[axis];
      if (inside) at = at * (*shape)[axis] + index;
    }
    if (!inside)
      return invalid_model(str(what, ": index ", i, " lies outside ", to_string(*shape)));
    std::memcpy(out.mutable_data<uint8_t>() + static_cast<size_t>(at) * item,
                values.data<uint8_t>() + static_cast<size_t>(i) * item, item);
  }
  return out;
}

}  // namespace rk::frontends
