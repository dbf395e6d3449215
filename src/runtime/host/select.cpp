// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/select.h"

namespace rk::runtime::host {

bool wants_blocked(const program::Step& step) {
  return std::holds_alternative<program::ConvParams>(step.params) ||
         std::holds_alternative<program::PoolParams>(step.params) ||
         std::holds_alternative<program::ResizeParams>(step.params);
}

bool is_packed_operand(const program::Step& step, size_t input) {
  return std::holds_alternative<program::ConvParams>(step.params) && (input == 1 || input == 2);
}

Result<StepFunction> select_kernel(const StepContext& context) {
  struct Prepare {
    const StepContext& context;
    Result<StepFunction> operator()(const program::ConvParams& p) const {
      return prepare_conv(context, p);
    }
    Result<StepFunction> operator()(const program::PoolParams& p) const {
      return prepare_pool(context, p);
    }
    Result<StepFunction> operator()(const program::ResizeParams& p) const {
      return prepare_resize(context, p);
    }
    Result<StepFunction> operator()(const program::SumParams& p) const {
      return prepare_sum(context, p);
    }
    Result<StepFunction> operator()(const program::ConcatParams& p) const {
      return prepare_concat(context, p);
    }
    Result<StepFunction> operator()(const program::TableParams& p) const {
      return prepare_table(context, p);
    }
    Result<StepFunction> operator()(const program::OpParams& p) const {
      return prepare_op(context, p);
    }
  };
  return std::visit(Prepare{context}, context.step.params);
}

}  // namespace rk::runtime::host
