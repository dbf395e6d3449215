// SPDX-License-Identifier: Apache-2.0
// The texts of a Model table that describe inputs and outputs: slot 3 (a Python literal,
// single-quoted, True/False) and slots 12 and 13 (JSON as Python's json.dumps writes it, a space
// after ':' and ','). Users' scripts parse all three.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "program/program.h"

namespace rk::format {

// The value as Python's repr() prints it: {'a': [1, 2.0], 'b': True}.
std::string to_python_literal(const Json& value);
// The value as json.dumps(value) prints it: {"a": [1, 2.0], "b": true}.
std::string to_python_json(const Json& value);

// numpy's name of a dtype: int8, float16, ...
std::string_view numpy_name(DType dtype);

// Model slot 3: attributes and quantization of each input and output, and the accepted shapes of a
// dynamic model.
std::string make_info(const program::Program& program);
// Model slot 12: {dtype, layout} of each input as the API shows it (NHWC for four extents).
std::string make_input_json(const program::Program& program);
// Model slot 13: likewise for outputs (NCHW).
std::string make_output_json(const program::Program& program);

}  // namespace rk::format
