// SPDX-License-Identifier: Apache-2.0
// Element types, layouts and attributes as the C headers spell them.
#pragma once

#include <optional>

#include "capi/api.h"
#include "runtime/session/session.h"

namespace rk::capi {

rknn_tensor_type to_rknn_type(DType dtype);
// Nothing for INT4 and for values that are no type: no input or output can have them.
std::optional<DType> from_rknn_type(rknn_tensor_type type);

std::optional<runtime::TensorFormat> from_rknn_format(rknn_tensor_format format);

rknn_tensor_attr to_rknn_attr(const runtime::TensorAttr& attr);

// Copies with a terminating zero; what does not fit is cut.
void copy_text(char* to, size_t capacity, std::string_view text);

}  // namespace rk::capi
