// SPDX-License-Identifier: Apache-2.0
// Element types by the protocol's names, and the typed contents that JSON-minded clients send instead of bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "include/rknn_api.h"
#include "open_inference.pb.h"

namespace rk::server {

// "FP32", "UINT8" ...; empty for types that the protocol has no name for.
std::string_view to_datatype(rknn_tensor_type type);
std::optional<rknn_tensor_type> from_datatype(std::string_view name);

// The elements of `contents` as bytes of `type`. kInvalidArgument when they are of another type or do not fit.
Result<std::string> bytes_of(const inference::InferTensorContents& contents, rknn_tensor_type type);
// The reverse; false when the protocol has no typed form (FP16), which then travels as bytes.
bool fill_contents(rknn_tensor_type type, std::string_view bytes,
                   inference::InferTensorContents& contents);

}  // namespace rk::server
