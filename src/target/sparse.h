// SPDX-License-Identifier: Apache-2.0
// Which chips skip zero weights (sparse_infer).
#pragma once

#include "target/target.h"

namespace rk::target {

bool has_sparse_weights(const Target& target);
// "rk3576, rv1126b".
std::string sparse_chips();

}  // namespace rk::target
