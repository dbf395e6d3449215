// SPDX-License-Identifier: Apache-2.0
// A .rknn image run through the C API in each flow an application may choose: copying, zero-copy with plain or native
// attributes, and a duplicated context. Inputs are f32 in model order (integers keep their dtype).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor.h"
#include "rknn_api.h"

namespace rk::foundation {

enum class Flow { kCopy, kPlainMemory, kNativeMemory, kDuplicate };

class AnyModel {
 public:
  static Result<AnyModel> load(std::span<const uint8_t> rknn);
  AnyModel(AnyModel&& other) noexcept;
  AnyModel& operator=(AnyModel&&) = delete;
  ~AnyModel();

  rknn_context context() const { return context_; }
  rknn_tensor_attr input_attr(uint32_t i, rknn_query_cmd query = RKNN_QUERY_INPUT_ATTR) const;
  rknn_tensor_attr output_attr(uint32_t i, rknn_query_cmd query = RKNN_QUERY_OUTPUT_ATTR) const;
  uint32_t inputs() const { return counts_.n_input; }
  uint32_t outputs() const { return counts_.n_output; }

  // float32 results in the outputs' own order.
  Result<std::vector<std::vector<float>>> run_float(const std::vector<Tensor>& inputs) const;
  // The stored bytes of every output, in plain order whatever the flow, from one uint8 NHWC picture.
  Result<std::vector<std::vector<uint8_t>>> run_picture(std::span<const uint8_t> picture,
                                                        Flow flow) const;

 private:
  AnyModel() = default;
  rknn_context context_ = 0;
  rknn_input_output_num counts_{};
};

}  // namespace rk::foundation
