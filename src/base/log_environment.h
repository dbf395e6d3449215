// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rk {

// Takes RKNN_LOG_LEVEL and RKNN_LOG_FILE (lines are appended there as well) as they are now; an interpreter may set them
// between two models. Without RKNN_LOG_LEVEL the level stays.
void read_log_environment();

}  // namespace rk
