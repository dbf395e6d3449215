// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/select.h"

#include "base/log.h"

namespace rk::runtime::host {

bool wants_blocked(const program::Step& step) {
  return std::holds_alternative<program::ConvParams>(step.params) ||
         std::holds_alternative<program::PoolParams>(step.params) ||
         std::holds_alternative<program::ResizeParams>(step.params);
}

bool is_packed_operand(const program::Step& step, size_t input) {
  return std::holds_alternative<program::ConvParams>(step.params) && (input == 1 || input == 2);
}

bool explains() { return log_level() >= 4; }

void explain(const StepContext& context, std::string_view way, std::string_view refusals) {
  if (!explains()) return;
  const auto layouts = [&](const std::vector<int32_t>& tensors) {
    std::string out;
    for (const int32_t tensor : tensors) {
      if (tensor == program::kNone) continue;
      const program::ProgramTensor& type = context.variant.tensors[static_cast<size_t>(tensor)];
      if (type.is_constant()) continue;
      const HostTensor& host = context.host(tensor);
      out += str(out.empty() ? "" : ", ", to_string(type.dtype), " ", to_string(type.shape),
                 host.blocked       ? " blocked"
                 : host.interleaved ? " interleaved"
                                    : " plain");
    }
    return out;
  };
  log(LogLevel::kDebug,
      str("step '", context.step.name, "' (", context.step.type, "): ", way, "; ",
          layouts(context.step.inputs), " -> ", layouts(context.step.outputs), refusals));
}

Result<StepFunction> select_kernel(const StepContext& context) {
  struct Prepare {
    const StepContext& context;
    Result<StepFunction> operator()(const program::ConvParams& p) const {
      explain(context, "by the convolution kernel", "");
      return prepare_conv(context, p);
    }
    Result<StepFunction> operator()(const program::PoolParams& p) const {
      explain(context, "by the pooling kernel", "");
      return prepare_pool(context, p);
    }
    Result<StepFunction> operator()(const program::ResizeParams& p) const {
      explain(context, "by the resizing kernel", "");
      return prepare_resize(context, p);
    }
    Result<StepFunction> operator()(const program::SumParams& p) const {
      explain(context, "by the summing kernel", "");
      return prepare_sum(context, p);
    }
    Result<StepFunction> operator()(const program::ConcatParams& p) const {
      explain(context, "by copies of parts", "");
      return prepare_concat(context, p);
    }
    Result<StepFunction> operator()(const program::TableParams& p) const {
      explain(context, "by the file's table", "");
      return prepare_table(context, p);
    }
    Result<StepFunction> operator()(const program::OpParams& p) const {
      return prepare_op(context, p);
    }
  };
  return std::visit(Prepare{context}, context.step.params);
}

}  // namespace rk::runtime::host
