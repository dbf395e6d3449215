// SPDX-License-Identifier: Apache-2.0
// Recognises files that were given to the wrong importer, by their first bytes. Only a hint for messages: a file that
// is not recognised may still be anything.
#pragma once

#include <string>

#include "base/bytes.h"

namespace rk::frontends {

// What the file is and which call takes it, as the end of a sentence; empty when nothing speaks against ONNX.
std::string recognize_other_than_onnx(ByteSpan bytes);

}  // namespace rk::frontends
