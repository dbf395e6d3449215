// SPDX-License-Identifier: Apache-2.0
#include "utils/rknn_model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace examples {
namespace {

bool check(const char* call, int code) {
  if (code != RKNN_SUCC) std::fprintf(stderr, "%s failed with %d\n", call, code);
  return code == RKNN_SUCC;
}

}  // namespace

Model::~Model() {
  if (context_ == 0) return;
  if (input_memory_ != nullptr) rknn_destroy_mem(context_, input_memory_);
  for (rknn_tensor_mem* memory : output_memory_) rknn_destroy_mem(context_, memory);
  rknn_destroy(context_);
}

bool Model::init(const std::string& path) {
  std::string name = path;  // the call takes a pointer to non-const
  return check("rknn_init", rknn_init(&context_, name.data(), 0, 0, nullptr)) && query();
}

bool Model::dup(Model& other) {
  return check("rknn_dup_context", rknn_dup_context(&other.context_, &context_)) && query();
}

bool Model::shapes(rknn_input_range* range) {
  *range = {};
  return check("rknn_query",
               rknn_query(context_, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range, sizeof *range));
}

bool Model::set_shape(const rknn_input_range& range, uint32_t k) {
  if (k >= range.shape_number || inputs_.size() != 1) return false;
  inputs_[0].n_dims = range.n_dims;
  inputs_[0].fmt = range.fmt;
  std::copy_n(range.dyn_range[k], range.n_dims, inputs_[0].dims);
  return check("rknn_set_input_shapes", rknn_set_input_shapes(context_, 1, inputs_.data())) &&
         query(RKNN_QUERY_CURRENT_INPUT_ATTR, RKNN_QUERY_CURRENT_OUTPUT_ATTR);
}

bool Model::query(rknn_query_cmd input, rknn_query_cmd output) {
  rknn_input_output_num count{};
  if (!check("rknn_query", rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count)))
    return false;
  const auto attributes = [&](rknn_query_cmd command, uint32_t n,
                              std::vector<rknn_tensor_attr>* to) {
    to->resize(n);
    for (uint32_t i = 0; i < n; ++i) {
      (*to)[i] = {};
      (*to)[i].index = i;
      if (!check("rknn_query", rknn_query(context_, command, &(*to)[i], sizeof(rknn_tensor_attr))))
        return false;
    }
    return true;
  };
  return attributes(input, count.n_input, &inputs_) &&
         attributes(output, count.n_output, &outputs_);
}

bool Model::run(std::vector<rknn_input>& inputs, Outputs* out) {
  if (!check("rknn_inputs_set",
             rknn_inputs_set(context_, static_cast<uint32_t>(inputs.size()), inputs.data())) ||
      !check("rknn_run", rknn_run(context_, nullptr)))
    return false;
  std::vector<rknn_output> results(outputs_.size());
  for (rknn_output& result : results) {
    result = {};
    result.want_float = 1;
  }
  const auto n = static_cast<uint32_t>(results.size());
  if (!check("rknn_outputs_get", rknn_outputs_get(context_, n, results.data(), nullptr)))
    return false;
  out->clear();
  for (const rknn_output& result : results) {
    const auto* const values = static_cast<const float*>(result.buf);
    out->emplace_back(values, values + result.size / sizeof(float));
  }
  return check("rknn_outputs_release", rknn_outputs_release(context_, n, results.data()));
}

bool Model::run_picture(const uint8_t* pixels, Outputs* out) {
  std::vector<rknn_input> inputs(1);
  inputs[0] = {};
  inputs[0].buf = const_cast<uint8_t*>(pixels);  // the structure has no const
  inputs[0].size = inputs_[0].n_elems;
  inputs[0].type = RKNN_TENSOR_UINT8;
  inputs[0].fmt = RKNN_TENSOR_NHWC;
  return run(inputs, out);
}

bool Model::run_floats(const std::vector<std::vector<float>>& arrays, Outputs* out) {
  if (arrays.size() != inputs_.size()) {
    std::fprintf(stderr, "%zu arrays, the model has %zu inputs\n", arrays.size(), inputs_.size());
    return false;
  }
  std::vector<rknn_input> inputs(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    inputs[i] = {};
    inputs[i].index = static_cast<uint32_t>(i);
    inputs[i].buf = const_cast<float*>(arrays[i].data());
    inputs[i].size = static_cast<uint32_t>(arrays[i].size() * sizeof(float));
    inputs[i].type = RKNN_TENSOR_FLOAT32;
    inputs[i].fmt = RKNN_TENSOR_UNDEFINED;
  }
  return run(inputs, out);
}

uint32_t Model::row_pixels() const { return std::max(inputs_[0].w_stride, inputs_[0].dims[2]); }

bool Model::bind() {
  rknn_tensor_attr& in = inputs_[0];
  in.type = RKNN_TENSOR_UINT8;
  in.fmt = RKNN_TENSOR_NHWC;
  in.size = in.dims[0] * in.dims[1] * row_pixels() * in.dims[3];
  input_memory_ = rknn_create_mem(context_, std::max(in.size, in.size_with_stride));
  if (input_memory_ == nullptr ||
      !check("rknn_set_io_mem", rknn_set_io_mem(context_, input_memory_, &in)))
    return false;
  for (rknn_tensor_attr& attr : outputs_) {
    attr.type = RKNN_TENSOR_FLOAT32;
    attr.size = attr.n_elems * static_cast<uint32_t>(sizeof(float));
    rknn_tensor_mem* const memory =
        rknn_create_mem(context_, std::max(attr.size, attr.size_with_stride));
    if (memory == nullptr) return false;
    output_memory_.push_back(memory);
    if (!check("rknn_set_io_mem", rknn_set_io_mem(context_, memory, &attr))) return false;
  }
  return true;
}

bool Model::run_bound() { return check("rknn_run", rknn_run(context_, nullptr)); }

}  // namespace examples
