// SPDX-License-Identifier: Apache-2.0
// One context for the examples: the copying calls or bound memory, float outputs either way. Failures print a line and end
// in false.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rknn_api.h"

namespace examples {

using Outputs = std::vector<std::vector<float>>;

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  bool init(const std::string& path);
  // Shares the weights of another one; for a thread of its own.
  bool dup(Model& other);

  // The shapes that the first input of a dynamic model may take, and choosing one. Sizes and attributes follow.
  bool shapes(rknn_input_range* range);
  bool set_shape(const rknn_input_range& range, uint32_t k);

  uint32_t width() const { return inputs_[0].dims[2]; }
  uint32_t height() const { return inputs_[0].dims[1]; }
  const std::vector<rknn_tensor_attr>& inputs() const { return inputs_; }
  const std::vector<rknn_tensor_attr>& outputs() const { return outputs_; }

  // rknn_inputs_set, rknn_run, rknn_outputs_get. A picture is RGB, height x width x 3.
  bool run_picture(const uint8_t* pixels, Outputs* out);
  // One array of floats per input, in the model's own order.
  bool run_floats(const std::vector<std::vector<float>>& arrays, Outputs* out);

  // Bound memory: write_address() has rows of row_pixels(), run_bound() reads it in place.
  bool bind();
  uint8_t* write_address() const { return static_cast<uint8_t*>(input_memory_->virt_addr); }
  int write_descriptor() const { return input_memory_->fd; }
  uint32_t row_pixels() const;
  bool run_bound();
  const float* bound_output(size_t i) const {
    return static_cast<const float*>(output_memory_[i]->virt_addr);
  }

 private:
  bool query(rknn_query_cmd input = RKNN_QUERY_INPUT_ATTR,
             rknn_query_cmd output = RKNN_QUERY_OUTPUT_ATTR);
  bool run(std::vector<rknn_input>& inputs, Outputs* out);

  rknn_context context_ = 0;
  std::vector<rknn_tensor_attr> inputs_, outputs_;
  rknn_tensor_mem* input_memory_ = nullptr;
  std::vector<rknn_tensor_mem*> output_memory_;
};

}  // namespace examples
