// SPDX-License-Identifier: Apache-2.0
// What is in a .rknn file, ours or the vendor's, for people and for scripts: container, model,
// memory, inputs and outputs, nodes, tensors, and the compiled Program when the file has one.
// Nothing is executed, and a file whose Program is not legal is still shown, with the reason.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/json.h"
#include "base/status.h"

namespace rk::format {

struct InspectOptions {
  bool tensors = false;  // list every tensor, constants included
  bool program = false;  // append the Program's own text
};

Result<std::string> inspect_text(ByteSpan file, const InspectOptions& options = {});
// Everything; the options of the text form do not apply.
Result<Json> inspect_json(ByteSpan file);

}  // namespace rk::format
