// SPDX-License-Identifier: Apache-2.0
// The part of frontends/onnx_edit.h that knows protobuf.
#pragma once

#include "frontends/onnx_edit.h"

namespace rk::frontends {

Result<EditedModel> edit_onnx_model(ByteSpan bytes, const EditOptions& options);

}  // namespace rk::frontends
