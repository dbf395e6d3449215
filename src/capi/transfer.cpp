// SPDX-License-Identifier: Apache-2.0
// The copying flow: set inputs, get outputs.
#include <algorithm>
#include <span>

#include "base/log.h"
#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"

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

// Taken here, but not what a board or the caller means.
void warn_of_input(Context& context, const rknn_input& input, const std::string& name,
                   const CallerFormat& format, uint64_t needed) {
  if (context.warned_of_input || format.pass_through) return;
  std::string text;
  if (input.fmt == RKNN_TENSOR_NC1HWC2) {
    text =
        "fmt NC1HWC2 is the NPU's own layout, for zero-copy memory; rknn_inputs_set takes NHWC "
        "or NCHW on a board";
  } else if (input.size == needed * 2 || input.size == needed * 4) {
    text =
        str("size is ", input.size, ", ", needed, " bytes are read: are the elements wider than ",
            to_string(format.dtype), ", which type says?");
  }
  if (text.empty()) return;
  context.warned_of_input = true;
  log(LogLevel::kWarning, str("rknn_inputs_set, input '", name, "': ", text));
}

Status set_inputs(Context& context, std::span<const rknn_input> inputs) {
  Session& session = context.session();
  const size_t count = session.input_count();
  if (context.strict() && context.binds_memory) {
    return invalid_argument(
        "memory is bound by rknn_set_io_mem: a board does not take "
        "both flows; use one of them");
  }
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
    context.sets_inputs = true;
    RK_ASSIGN(const uint64_t needed, session.input_bytes(index, format));
    warn_of_input(context, input, name, format, needed);
    if (!context.validator.enabled()) continue;
    context.validator.inputs_set(
        {session.input_attr(index), format, input.buf, input.size, needed});
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

// Which frame outputs come from: under RKNN_FLAG_ASYNC_MASK the one before the last, as long as that one runs or ran
// in the background; the first frame has none before it and is waited for.
struct Source {
  const runtime::SavedOutputs* saved = nullptr;  // null: the session
  uint64_t frame = 0;
};

Result<Source> find_source(Context& context) {
  if (context.previous.frame != 0) return Source{&context.previous.outputs, context.previous.frame};
  context.worker.wait();
  RK_TRY(context.worker.take_status());
  if (!context.session().has_run())
    return Status(Code::kInvalidOutput, "there is no result yet: call rknn_run first");
  return Source{nullptr, context.frame};
}

Status fill(Context& context, const Source& source, std::vector<Wanted>& wanted) {
  for (Wanted& w : wanted) {
    if (w.buffer == nullptr) {
      RK_ASSIGN(w.buffer, context.outputs.lend(w.index, w.needed_bytes));
      w.lent = true;
    }
    const Session& session = context.description();
    RK_TRY(source.saved == nullptr
               ? session.get_output(w.index, w.format, w.buffer, w.needed_bytes)
               : session.get_output(w.index, w.format, w.buffer, w.needed_bytes, *source.saved));
  }
  return ok_status();
}

Status get_outputs(Context& context, std::span<rknn_output> outputs, rknn_output_extend* extend) {
  const Session& session = context.description();
  const bool by_position = outputs.size() == session.output_count();
  if (outputs.size() > session.output_count()) {
    return invalid_argument(
        str(outputs.size(), " outputs asked for, the model has ", session.output_count()));
  }
  context.validator.outputs_asked(context.frame != 0);
  RK_ASSIGN(const Source source, find_source(context));
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    RK_ASSIGN(Wanted one, check_output(session, outputs[i], i, by_position));
    wanted.push_back(one);
  }
  if (Status status = fill(context, source, wanted); !status.ok()) {
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
  if (extend != nullptr) extend->frame_id = source.frame;
  return ok_status();
}

Status check_flush(const Context& context, uint32_t flag, std::string_view text) {
  if (!context.has_flag(flag) || !context.strict()) return ok_status();
  return invalid_argument(std::string(text));
}

}  // namespace
}  // namespace rk::capi

using rk::Status;
using rk::capi::find_context;
using rk::capi::guarded;

int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[]) {
  return guarded("rknn_inputs_set", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    RK_TRY(rk::capi::check_call_exists(*locked));
    if (inputs == nullptr || n_inputs == 0) return rk::invalid_argument("no inputs are given");
    RK_TRY(rk::capi::check_flush(
        *locked, RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE,
        "a context with RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE takes inputs by rknn_set_io_mem"));
    return rk::capi::set_inputs(*locked, {inputs, n_inputs});
  });
}

int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[],
                     rknn_output_extend* extend) {
  return guarded("rknn_outputs_get", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    RK_TRY(rk::capi::check_call_exists(*locked));
    if (outputs == nullptr || n_outputs == 0) return rk::invalid_argument("no outputs are given");
    RK_TRY(rk::capi::check_flush(
        *locked, RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE,
        "a context with RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE gives outputs by "
        "rknn_set_io_mem"));
    return rk::capi::get_outputs(*locked, {outputs, n_outputs}, extend);
  });
}

int rknn_outputs_release(rknn_context context, uint32_t n_ouputs, rknn_output outputs[]) {
  return guarded("rknn_outputs_release", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    RK_TRY(rk::capi::check_call_exists(*locked));
    if (outputs == nullptr) return rk::ok_status();
    const size_t count = std::min<size_t>(n_ouputs, locked->description().output_count());
    for (size_t i = 0; i < count; ++i) {
      if (outputs[i].is_prealloc != 0) continue;
      locked->outputs.take_back(outputs[i].buf);
      outputs[i].buf = nullptr;  // so that releasing twice cannot hit a buffer lent anew
    }
    return rk::ok_status();
  });
}
