// SPDX-License-Identifier: Apache-2.0
// How files of each format begin. Only as sure as first bytes are: what is not recognized may still be anything.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace rk::frontends {

// One per row of the table in model_source.cpp.
bool is_onnx(ByteSpan bytes, std::string_view file_name);
bool is_tflite(ByteSpan bytes, std::string_view file_name);
bool is_tensorflow(ByteSpan bytes, std::string_view file_name);
bool is_caffe(ByteSpan bytes, std::string_view file_name);    // prototxt or caffemodel
bool is_darknet(ByteSpan bytes, std::string_view file_name);  // cfg or weights
bool is_pytorch(ByteSpan bytes, std::string_view file_name);

// Files that are no model to import: what it is and what to do, as the end of a sentence; empty: none of those.
std::string recognize_no_model(ByteSpan bytes);

}  // namespace rk::frontends
