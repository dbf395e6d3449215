// SPDX-License-Identifier: Apache-2.0
// The copying flow: set inputs, run, get outputs.
#include <algorithm>
#include <span>

#include "base/log.h"
#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "runtime/perf.h"

namespace rk::capi {
namespace {

using runtime::CallerFormat;
using runtime::Session;

// Clients leave `index` 0 in every entry. When as many entries come as the model has tensors, position tells as well.
bool indices_are_distinct(std::span<const rknn_input> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (inputs[i].index == inputs[k].index) return false;
    }
  }
  return true;
}

Result<CallerFormat> input_format(const rknn_input& input, const std::string& name) {
  CallerFormat format;
  format.pass_through = input.pass_through != 0;
  if (format.pass_through) return format;  // type and fmt need not be set then
  const auto dtype = from_rknn_type(input.type);
  const auto layout = from_rknn_format(input.fmt);
  if (!dtype || !layout) {
    return Status(Code::kInvalidInput,
                  str("input '", name, "': type ", static_cast<int>(input.type), " or fmt ",
                      static_cast<int>(input.fmt), " cannot be given"));
  }
  format.dtype = *dtype;
  format.format = *layout;
  return format;
}

Status set_inputs(Session& session, std::span<const rknn_input> inputs) {
  const size_t count = session.input_count();
  if (inputs.size() > count) {
    return invalid_argument(str(inputs.size(), " inputs given, the model has ", count));
  }
  const bool by_position = inputs.size() == count && !indices_are_distinct(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const rknn_input& input = inputs[i];
    const size_t index = by_position ? i : input.index;
    if (index >= count) {
      return Status(Code::kInvalidInput,
                    str("input index ", index, "; the model has ", count, " inputs"));
    }
    const std::string name = session.input_attr(index).name;
    if (input.buf == nullptr)
      return Status(Code::kInvalidInput, str("input '", name, "': buf is NULL"));
    RK_ASSIGN(const CallerFormat format, input_format(input, name));
    RK_TRY(session.set_input(index, format, input.buf, input.size));
  }
  return ok_status();
}

struct Wanted {
  size_t index = 0;
  CallerFormat format;
  uint64_t needed_bytes = 0;
  void* buffer = nullptr;
  bool lent = false;
};

Result<Wanted> check_output(const Session& session, const rknn_output& output, size_t position,
                            bool by_position) {
  Wanted out;
  out.index = by_position ? position : output.index;
  if (out.index >= session.output_count()) {
    return Status(Code::kInvalidOutput, str("output index ", out.index, "; the model has ",
                                            session.output_count(), " outputs"));
  }
  const runtime::TensorAttr attr = session.output_attr(out.index);
  out.format.dtype = output.want_float != 0 ? DType::kF32 : attr.dtype;
  out.format.format = runtime::TensorFormat::kUndefined;
  RK_ASSIGN(out.needed_bytes, session.output_bytes(out.index, out.format));
  if (output.is_prealloc == 0) return out;
  if (output.buf == nullptr) {
    return Status(Code::kInvalidOutput,
                  str("output '", attr.name, "': is_prealloc is set and buf is NULL"));
  }
  if (output.size < out.needed_bytes) {
    return Status(Code::kInvalidOutput, str("output '", attr.name, "': buf has ", output.size,
                                            " bytes, ", out.needed_bytes, " are needed"));
  }
  out.buffer = output.buf;
  return out;
}

Status fill(Context& context, std::vector<Wanted>& wanted) {
  for (Wanted& w : wanted) {
    if (w.buffer == nullptr) {
      RK_ASSIGN(w.buffer, context.outputs.lend(w.index, w.needed_bytes));
      w.lent = true;
    }
    RK_TRY(context.session->get_output(w.index, w.format, w.buffer, w.needed_bytes));
  }
  return ok_status();
}

Status get_outputs(Context& context, std::span<rknn_output> outputs) {
  const Session& session = *context.session;
  const bool by_position = outputs.size() == session.output_count();
  if (outputs.size() > session.output_count()) {
    return invalid_argument(
        str(outputs.size(), " outputs asked for, the model has ", session.output_count()));
  }
  if (!session.has_run())
    return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    RK_ASSIGN(Wanted one, check_output(session, outputs[i], i, by_position));
    wanted.push_back(one);
  }
  if (Status status = fill(context, wanted); !status.ok()) {
    for (const Wanted& w : wanted) {
      if (w.lent) context.outputs.take_back(w.buffer);
    }
    return status;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].index = static_cast<uint32_t>(wanted[i].index);
    if (!wanted[i].lent) continue;
    outputs[i].buf = wanted[i].buffer;
    outputs[i].size = static_cast<uint32_t>(wanted[i].needed_bytes);
  }
  return ok_status();
}

}  // namespace
}  // namespace rk::capi

using rk::Status;
using rk::capi::find_context;
using rk::capi::guarded;

int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[]) {
  return guarded("rknn_inputs_set", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    if (inputs == nullptr || n_inputs == 0) return rk::invalid_argument("no inputs are given");
    return rk::capi::set_inputs(locked.session(), {inputs, n_inputs});
  });
}

int rknn_run(rknn_context context, rknn_run_extend*) {
  return guarded("rknn_run", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    RK_TRY(locked.session().run());
    if (rk::log_level() >= rk::capi::kLayerTable && locked.session().options().collect_perf) {
      rk::log(rk::LogLevel::kDebug, "\n" + rk::runtime::perf_table(locked.session()));
    }
    return rk::ok_status();
  });
}

int rknn_wait(rknn_context context, rknn_run_extend*) {
  return guarded("rknn_wait", [&]() -> Status {
    RK_TRY(find_context(context).status());
    return rk::unsupported("no chip supports it: rknn_run returns when the frame is done");
  });
}

int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[],
                     rknn_output_extend*) {
  return guarded("rknn_outputs_get", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    if (outputs == nullptr || n_outputs == 0) return rk::invalid_argument("no outputs are given");
    return rk::capi::get_outputs(*locked, {outputs, n_outputs});
  });
}

int rknn_outputs_release(rknn_context context, uint32_t n_ouputs, rknn_output outputs[]) {
  return guarded("rknn_outputs_release", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    if (outputs == nullptr) return rk::ok_status();
    const size_t count = std::min<size_t>(n_ouputs, locked.session().output_count());
    for (size_t i = 0; i < count; ++i) {
      if (outputs[i].is_prealloc != 0) continue;
      locked->outputs.take_back(outputs[i].buf);
      outputs[i].buf = nullptr;  // so that releasing twice cannot hit a buffer lent anew
    }
    return rk::ok_status();
  });
}
