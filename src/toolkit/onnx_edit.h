// SPDX-License-Identifier: Apache-2.0
// onnx_edit of the Python API: other shapes at a model's inputs and outputs, and calibration data to match.
#pragma once

#include "base/json.h"
#include "base/status.h"

namespace rk::toolkit {

// Members: model, export_path, inputs_transform, outputs_transform, dataset. With a dataset the result has the path of
// the new one, dataset_for_<stem of export_path>.txt beside export_path.
Result<Json> edit_onnx(const Json& options);

}  // namespace rk::toolkit
