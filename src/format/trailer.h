// SPDX-License-Identifier: Apache-2.0
// The JSON trailer: one flat object that shows the whole flatbuffer as a single node with the
// model's inputs and outputs. Nothing needs it to run a model; viewers and older tools read names,
// shapes and the target from it.
#pragma once

#include <string>

#include "format/vendor_model.h"

namespace rk::format {

// Keys sorted, no spaces, as vendor files have it. The first graph's inputs and outputs are listed.
std::string make_trailer(const FileModel& model);

}  // namespace rk::format
