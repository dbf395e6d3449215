// SPDX-License-Identifier: Apache-2.0
#include "ir/flat_attr.h"

#include <cstring>

namespace rk {
namespace {

template <typename T>
FlatAttr flat(DType dtype, const T* values, size_t count) {
  FlatAttr out{dtype, static_cast<uint32_t>(count), {}};
  out.bytes.resize(count * sizeof(T));
  if (count != 0) std::memcpy(out.bytes.data(), values, out.bytes.size());
  return out;
}

struct Flatten {
  FlatAttr operator()(int64_t v) const { return flat(DType::kI64, &v, 1); }
  FlatAttr operator()(float v) const { return flat(DType::kF32, &v, 1); }
  FlatAttr operator()(const std::string& v) const { return flat(DType::kU8, v.data(), v.size()); }
  FlatAttr operator()(const std::vector<int64_t>& v) const {
    return flat(DType::kI64, v.data(), v.size());
  }
  FlatAttr operator()(const std::vector<float>& v) const {
    return flat(DType::kF32, v.data(), v.size());
  }
  FlatAttr operator()(const std::vector<std::string>& v) const {
    std::string all;
    for (const std::string& text : v) all.append(text).push_back('\0');
    return flat(DType::kU8, all.data(), all.size());
  }
  FlatAttr operator()(const Tensor& v) const {
    const auto count = static_cast<size_t>(v.shape().elements());
    FlatAttr out = flat(v.dtype(), v.data<uint8_t>(), count * byte_size(v.dtype()));
    out.count = static_cast<uint32_t>(count);
    return out;
  }
};

}  // namespace

FlatAttr flat_attr(const Attr& value) { return std::visit(Flatten{}, value); }

}  // namespace rk
