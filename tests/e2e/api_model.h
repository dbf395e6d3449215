// SPDX-License-Identifier: Apache-2.0
// One context of the C API, used as an application uses it. Every failure is a Status with the
// call's name; the library itself has logged the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "media/picture.h"
#include "rknn_api.h"

namespace rk::e2e {

class ApiModel {
 public:
  // The image may go after the call.
  static Result<std::unique_ptr<ApiModel>> load(std::span<const uint8_t> rknn, uint32_t flags = 0);
  ~ApiModel();
  ApiModel(const ApiModel&) = delete;
  ApiModel& operator=(const ApiModel&) = delete;

  rknn_context context() const { return context_; }
  const std::vector<rknn_tensor_attr>& inputs() const { return inputs_; }
  const std::vector<rknn_tensor_attr>& outputs() const { return outputs_; }

  // set, run, get, release: uint8 NHWC in, float32 out in the output's own order.
  Result<std::vector<std::vector<float>>> run_float(const media::Picture& picture) const;
  // The same with the outputs' stored bytes.
  Result<std::vector<std::vector<uint8_t>>> run_raw(const media::Picture& picture) const;
  Status set_picture(const media::Picture& picture) const;

 private:
  ApiModel() = default;
  Result<std::vector<std::vector<uint8_t>>> run(const media::Picture& picture,
                                                bool want_float) const;
  rknn_context context_ = 0;
  std::vector<rknn_tensor_attr> inputs_, outputs_;
};

}  // namespace rk::e2e
