// SPDX-License-Identifier: Apache-2.0
// Log level 5: every tensor of a run as a .npy file, dequantized, in the model's order.
#pragma once

#include <string>

#include "runtime/session/session.h"

namespace rk::runtime {

// RKNN_DUMP_DIR, else "dumps" in the current directory.
std::string dump_folder();

// Writes <tensor number>_<operator type>_<name>.npy into `folder`, which is made if it does not exist. Inputs are
// InputOperator: the normalized values where they were copied, the caller's own values where they are bound. Outputs
// come a second time as OutputOperator. A file that cannot be written is a warning, once: a dump must not fail the
// run. The session must outlive its use.
Session::Observer make_dumper(const Session& session, std::string folder);

}  // namespace rk::runtime
