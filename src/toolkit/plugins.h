// SPDX-License-Identifier: Apache-2.0
// Operators of plug-in libraries (librkcst_*.so) for graphs: the ones the runtime will use, through librknnrt.so.
#pragma once

#include "ops/shared/custom.h"

namespace rk::toolkit {

// Of every type that is no standard operator. None where there is no plug-in folder; folders without librknnrt.so beside
// the toolkit are logged and give none.
std::vector<ops::CustomOp> plugin_ops();

}  // namespace rk::toolkit
