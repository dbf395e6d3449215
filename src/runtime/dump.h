// SPDX-License-Identifier: Apache-2.0
// Log level 5: every tensor of a run as a .npy file, dequantised, in the model's order.
#pragma once

#include <string>

#include "runtime/session.h"

namespace rk::runtime {

// RKNN_DUMP_DIR, else the board's own place.
std::string dump_folder();

// Writes <number>_<tensor name>.npy into `folder`, which is made if it does not exist. A file that cannot be written
// is a warning, once: a dump must not fail the run. The session must outlive its use.
Session::Observer make_dumper(const Session& session, std::string folder);

}  // namespace rk::runtime
