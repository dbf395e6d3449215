// SPDX-License-Identifier: Apache-2.0
// rknn_query. Clients compiled with older headers pass smaller structures: exactly the bytes they have are written,
// and no field but `index` is read, because the rest is often uninitialized.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "runtime/report/perf.h"
#include "runtime/version.h"

namespace rk::capi {
namespace {

using runtime::AttrView;

// Where the answer goes.
struct Answer {
  void* info = nullptr;
  uint32_t size = 0;
  bool strict = false;
};

// `oldest` is the size of the structure in the oldest header that has it.
template <typename T>
Status write(const Answer& answer, const T& value, size_t oldest) {
  const size_t least = answer.strict ? sizeof(T) : oldest;
  if (answer.size < least) {
    return invalid_argument(
        str("info_len(", answer.size, ") < ", least, " bytes of the structure asked for"));
  }
  const size_t copied = std::min<size_t>(answer.size, sizeof(T));
  std::memcpy(answer.info, &value, copied);
  std::memset(static_cast<uint8_t*>(answer.info) + copied, 0, answer.size - copied);
  return ok_status();
}

// Everything up to and including `scale`: what the first headers had.
constexpr size_t kOldestAttr = offsetof(rknn_tensor_attr, w_stride);

Status answer_attr(const Answer& answer, const runtime::Session& session, bool input,
                   AttrView view) {
  if (answer.size < kOldestAttr) {
    return invalid_argument(str("info_len(", answer.size, ") < sizeof(rknn_tensor_attr)(",
                                sizeof(rknn_tensor_attr), ")"));
  }
  uint32_t index = 0;
  std::memcpy(&index, answer.info, sizeof index);
  const size_t count = input ? session.input_count() : session.output_count();
  if (index >= count) {
    return invalid_argument(
        str(input ? "input" : "output", " index ", index, "; the model has ", count));
  }
  return write(
      answer,
      to_rknn_attr(input ? session.input_attr(index, view) : session.output_attr(index, view)),
      kOldestAttr);
}

// What the context itself allocates on the chip: all but what its caller brings.
uint64_t allocated_bytes(const Context& context) {
  const runtime::LoadedModel& model = context.model();
  if (context.has_flag(RKNN_FLAG_MEM_ALLOC_OUTSIDE)) return 0;
  const program::ChipMemory& memory = model.memory();
  const uint64_t constants = memory.weight_bytes + memory.command_bytes;
  if (context.has_flag(RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE)) return constants;
  const uint64_t internal = memory.internal_bytes;
  return constants + internal - std::min(internal, context.sram.bytes());
}

Status answer_mem_size(const Answer& answer, const Context& context) {
  const runtime::LoadedModel& model = context.model();
  rknn_mem_size out{};
  out.total_weight_size =
      static_cast<uint32_t>(std::min<uint64_t>(model.weight_bytes(), UINT32_MAX));
  out.total_internal_size =
      static_cast<uint32_t>(std::min<uint64_t>(model.internal_bytes(), UINT32_MAX));
  out.total_dma_allocated_size = allocated_bytes(context);
  if (context.has_flag(RKNN_FLAG_ENABLE_SRAM)) {
    out.total_sram_size =
        static_cast<uint32_t>(std::min<uint64_t>(runtime::sram_capacity(model.chip()), UINT32_MAX));
    out.free_sram_size = static_cast<uint32_t>(
        std::min<uint64_t>(runtime::free_sram_bytes(model.chip()), UINT32_MAX));
  }
  return write(answer, out, 2 * sizeof(uint32_t));
}

// Where the model lies, for models that were loaded in place.
Status answer_device_memory(const Answer& answer, const runtime::LoadedModel& model) {
  const runtime::DeviceMemory* const memory = model.image_memory();
  if (memory == nullptr) {
    return unsupported(
        "RKNN_QUERY_DEVICE_MEM_INFO: the model was copied. Load it with "
        "RKNN_FLAG_MODEL_BUFFER_ZERO_COPY from memory of rknn_create_mem");
  }
  rknn_tensor_mem out{};
  out.virt_addr = memory->data();
  out.phys_addr = memory->phys_addr();
  out.fd = memory->fd();
  out.size = static_cast<uint32_t>(std::min<uint64_t>(memory->size_bytes(), UINT32_MAX));
  out.flags = RKNN_TENSOR_MEMORY_FLAGS_ALLOC_INSIDE;
  return write(answer, out, sizeof out);
}

Status answer_perf_detail(const Answer& answer, Context& context) {
  const runtime::Session& session = context.session();
  if ((context.flags & RKNN_FLAG_COLLECT_PERF_MASK) == 0) {
    return invalid_argument(
        "RKNN_QUERY_PERF_DETAIL needs a context made with RKNN_FLAG_COLLECT_PERF_MASK");
  }
  if (!session.has_run()) return invalid_argument("RKNN_QUERY_PERF_DETAIL: there is no run yet");
  std::string text = runtime::perf_table(session, {});
  RK_TRY(write(answer, rknn_perf_detail{}, sizeof(rknn_perf_detail)));
  context.perf_text = std::move(text);
  return write(answer, rknn_perf_detail{context.perf_text.data(), context.perf_text.size()},
               sizeof(rknn_perf_detail));
}

Status answer_range(const Answer& answer, const runtime::LoadedModel& model) {
  if (!model.dynamic())
    return unsupported("RKNN_QUERY_INPUT_DYNAMIC_RANGE: the model has static shapes");
  uint32_t index = 0;
  if (answer.size < sizeof(rknn_input_range)) {
    return invalid_argument(str("info_len(", answer.size, ") < sizeof(rknn_input_range)(",
                                sizeof(rknn_input_range), ")"));
  }
  std::memcpy(&index, answer.info, sizeof index);
  const std::vector<program::Variant>& variants = model.program().variants;
  const size_t count = variants.front().inputs.size();
  if (index >= count)
    return invalid_argument(str("input index ", index, "; the model has ", count));
  const auto out = std::make_unique<rknn_input_range>();
  for (const program::Variant& variant : variants) {
    const auto tensor = static_cast<size_t>(variant.inputs[index]);
    const runtime::TensorAttr attr =
        runtime::input_attr(variant.tensors[tensor], index, AttrView::kPlain);
    if (out->shape_number == RKNN_MAX_DYNAMIC_SHAPE_NUM) break;
    std::copy(attr.dims.begin(), attr.dims.end(), out->dyn_range[out->shape_number++]);
    out->index = index;
    out->fmt = static_cast<rknn_tensor_format>(attr.format);
    out->n_dims = static_cast<uint32_t>(attr.dims.size());
    copy_text(out->name, sizeof out->name, attr.name);
  }
  return write(answer, *out, sizeof *out);
}

// The small chips' library has no such query.
bool only_on_large_chips(rknn_query_cmd cmd) {
  return cmd == RKNN_QUERY_PERF_DETAIL || cmd == RKNN_QUERY_PERF_RUN ||
         (cmd >= RKNN_QUERY_INPUT_DYNAMIC_RANGE && cmd <= RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR);
}

Status query(Context& context, rknn_query_cmd cmd, const Answer& answer) {
  if (context.strict() && context.has_flag(RKNN_FLAG_COLLECT_MODEL_INFO_ONLY) &&
      cmd != RKNN_QUERY_MEM_SIZE) {
    return invalid_argument(
        "a context with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY answers RKNN_QUERY_MEM_SIZE only");
  }
  const runtime::Session& session = context.session();
  const runtime::LoadedModel& model = session.model();
  const bool small = model.device().small_chip_rules(model.chip());
  if (small && only_on_large_chips(cmd)) {
    return unsupported(str("query command ", static_cast<int>(cmd),
                           " does not exist in the runtime of ", model.chip().name));
  }
  switch (cmd) {
    case RKNN_QUERY_IN_OUT_NUM:
      return write(answer,
                   rknn_input_output_num{static_cast<uint32_t>(session.input_count()),
                                         static_cast<uint32_t>(session.output_count())},
                   sizeof(rknn_input_output_num));
    case RKNN_QUERY_INPUT_ATTR:
      return answer_attr(answer, session, true, small ? AttrView::kNative : AttrView::kPlain);
    case RKNN_QUERY_CURRENT_INPUT_ATTR:
      return answer_attr(answer, session, true, AttrView::kPlain);
    case RKNN_QUERY_OUTPUT_ATTR:
    case RKNN_QUERY_CURRENT_OUTPUT_ATTR:
      return answer_attr(answer, session, false, AttrView::kPlain);
    case RKNN_QUERY_NATIVE_INPUT_ATTR:
    case RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR:
      return answer_attr(answer, session, true, AttrView::kNative);
    case RKNN_QUERY_NATIVE_OUTPUT_ATTR:
    case RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR:
      return answer_attr(answer, session, false, AttrView::kNative);
    case RKNN_QUERY_NATIVE_NHWC_INPUT_ATTR:
      return answer_attr(answer, session, true, AttrView::kNativeNhwc);
    case RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR:
      return answer_attr(answer, session, false, AttrView::kNativeNhwc);
    case RKNN_QUERY_PERF_DETAIL:
      return answer_perf_detail(answer, context);
    case RKNN_QUERY_PERF_RUN:
      return write(answer, rknn_perf_run{session.run_duration_us()}, sizeof(rknn_perf_run));
    case RKNN_QUERY_SDK_VERSION: {
      rknn_sdk_version out{};
      copy_text(out.api_version, sizeof out.api_version, runtime::kRuntimeVersion);
      copy_text(out.drv_version, sizeof out.drv_version, runtime::kDriverVersion);
      return write(answer, out, sizeof out);
    }
    case RKNN_QUERY_MEM_SIZE:
      return answer_mem_size(answer, context);
    case RKNN_QUERY_CUSTOM_STRING: {
      rknn_custom_string out{};
      copy_text(out.string, sizeof out.string, model.program().custom_string);
      return write(answer, out, sizeof out);
    }
    case RKNN_QUERY_DEVICE_MEM_INFO:
      return answer_device_memory(answer, model);
    case RKNN_QUERY_INPUT_DYNAMIC_RANGE:
      return answer_range(answer, model);
    default:
      return invalid_argument(str("query command ", static_cast<int>(cmd), " does not exist"));
  }
}

}  // namespace
}  // namespace rk::capi

int rknn_query(rknn_context context, rknn_query_cmd cmd, void* info, uint32_t size) {
  return rk::capi::guarded("rknn_query", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(context));
    if (info == nullptr) return rk::invalid_argument("info is NULL");
    return rk::capi::query(*locked, cmd, {info, size, locked->strict()});
  });
}
