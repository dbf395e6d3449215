// SPDX-License-Identifier: Apache-2.0
// The C API as the commands use it: a context that ends with its scope, and inputs from files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "rknn_api.h"

namespace rk::tools {

// The library has logged the reason.
Status check(int ret, std::string_view call);

class ApiContext {
 public:
  ApiContext() = default;
  ~ApiContext() {
    if (handle != 0) rknn_destroy(handle);
  }
  ApiContext(const ApiContext&) = delete;
  ApiContext& operator=(const ApiContext&) = delete;
  rknn_context handle = 0;
};

// Every input or output by one of the attribute queries.
Result<std::vector<rknn_tensor_attr>> query_attrs(rknn_context context, rknn_query_cmd command,
                                                  uint32_t count);

// Bytes and type of one input, kept until inputs_set has copied them.
struct Feed {
  std::vector<uint8_t> bytes;
  rknn_tensor_type type = RKNN_TENSOR_UINT8;
  rknn_tensor_format fmt = RKNN_TENSOR_NHWC;

  rknn_input input(uint32_t index);  // points into bytes
};

// A picture or an .npy array for the input that `attr` describes.
Result<Feed> feed_file(const std::string& path, const rknn_tensor_attr& attr, bool bgr);

}  // namespace rk::tools
