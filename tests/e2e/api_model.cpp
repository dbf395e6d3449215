// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/api_model.h"

#include <cstring>

namespace rk::e2e {
namespace {

Status check(int code, const char* call) {
  if (code == RKNN_SUCC) return ok_status();
  return Status(Code::kUnavailable, str(call, " returned ", code));
}

Result<std::vector<rknn_tensor_attr>> query_attrs(rknn_context context, rknn_query_cmd command,
                                                  uint32_t count) {
  std::vector<rknn_tensor_attr> out(count);
  for (uint32_t i = 0; i < count; ++i) {
    out[i].index = i;
    RK_TRY(check(rknn_query(context, command, &out[i], sizeof out[i]), "rknn_query"));
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<ApiModel>> ApiModel::load(std::span<const uint8_t> rknn, uint32_t flags) {
  std::unique_ptr<ApiModel> out(new ApiModel);
  RK_TRY(check(rknn_init(&out->context_, const_cast<uint8_t*>(rknn.data()),
                         static_cast<uint32_t>(rknn.size()), flags, nullptr),
               "rknn_init"));
  rknn_input_output_num counts{};
  RK_TRY(check(rknn_query(out->context_, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts),
               "rknn_query"));
  RK_ASSIGN(out->inputs_, query_attrs(out->context_, RKNN_QUERY_INPUT_ATTR, counts.n_input));
  RK_ASSIGN(out->outputs_, query_attrs(out->context_, RKNN_QUERY_OUTPUT_ATTR, counts.n_output));
  return out;
}

ApiModel::~ApiModel() {
  if (context_ != 0) rknn_destroy(context_);
}

Status ApiModel::set_picture(const media::Picture& picture) const {
  rknn_input input{};
  input.buf = const_cast<uint8_t*>(picture.pixels.data());
  input.size = static_cast<uint32_t>(picture.pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  return check(rknn_inputs_set(context_, 1, &input), "rknn_inputs_set");
}

Result<std::vector<std::vector<uint8_t>>> ApiModel::run(const media::Picture& picture,
                                                        bool want_float) const {
  RK_TRY(set_picture(picture));
  RK_TRY(check(rknn_run(context_, nullptr), "rknn_run"));
  std::vector<rknn_output> outputs(outputs_.size());
  for (rknn_output& output : outputs) output.want_float = want_float ? 1 : 0;
  const auto count = static_cast<uint32_t>(outputs.size());
  RK_TRY(check(rknn_outputs_get(context_, count, outputs.data(), nullptr), "rknn_outputs_get"));
  std::vector<std::vector<uint8_t>> out;
  for (const rknn_output& output : outputs) {
    const auto* const bytes = static_cast<const uint8_t*>(output.buf);
    out.emplace_back(bytes, bytes + output.size);
  }
  RK_TRY(check(rknn_outputs_release(context_, count, outputs.data()), "rknn_outputs_release"));
  return out;
}

Result<std::vector<std::vector<float>>> ApiModel::run_float(const media::Picture& picture) const {
  RK_ASSIGN(const auto raw, run(picture, true));
  std::vector<std::vector<float>> out;
  for (const auto& bytes : raw) {
    out.emplace_back(bytes.size() / sizeof(float));
    std::memcpy(out.back().data(), bytes.data(), out.back().size() * sizeof(float));
  }
  return out;
}

Result<std::vector<std::vector<uint8_t>>> ApiModel::run_raw(const media::Picture& picture) const {
  return run(picture, false);
}

}  // namespace rk::e2e
