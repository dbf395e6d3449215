// SPDX-License-Identifier: Apache-2.0
// Loading, duplicating and ending contexts, and the choice of cores.
#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_environment.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "capi/memory.h"
#include "runtime/device/core_mask.h"
#include "runtime/device/status_page.h"
#include "runtime/report/dump.h"
#include "runtime/report/memory_table.h"

namespace rk::capi {
namespace {

constexpr uint32_t kInfoOnly = RKNN_FLAG_COLLECT_MODEL_INFO_ONLY;

// A model inside a larger file or buffer. The extend structure is often uninitialized apart from the field a flag
// calls for, so its place is read only where the header says it counts.
struct ModelPlace {
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // 0: up to the end
};

Result<ModelPlace> model_place(const rknn_init_extend* extend, bool is_path, uint32_t flag) {
  const bool counts = is_path || (flag & RKNN_FLAG_MODEL_BUFFER_ZERO_COPY) != 0;
  if (extend == nullptr || !counts || (flag & RKNN_FLAG_SHARE_WEIGHT_MEM) != 0) return ModelPlace{};
  if (extend->real_model_offset < 0) {
    return invalid_argument(str("real_model_offset ", extend->real_model_offset, " is negative"));
  }
  return ModelPlace{static_cast<uint64_t>(extend->real_model_offset), extend->real_model_size};
}

Result<ByteSpan> cut(ByteSpan bytes, const ModelPlace& place) {
  if (place.offset_bytes > bytes.size() || place.size_bytes > bytes.size() - place.offset_bytes) {
    return invalid_argument(str("real_model_offset ", place.offset_bytes, " and real_model_size ",
                                place.size_bytes, " lie outside the ", bytes.size(),
                                " bytes given"));
  }
  const ByteSpan rest = bytes.subspan(static_cast<size_t>(place.offset_bytes));
  return place.size_bytes == 0 ? rest : rest.first(static_cast<size_t>(place.size_bytes));
}

// The image is used where it lies when the library itself holds that memory; the caller may then destroy it at any
// time. Memory of another origin could vanish, so it is copied.
Result<std::shared_ptr<const runtime::LoadedModel>> load_in_place(
    ByteSpan image, const runtime::LoadOptions& options) {
  const std::shared_ptr<runtime::DeviceMemory> memory = memory_around(image);
  if (memory == nullptr) {
    constexpr std::string_view kText =
        "RKNN_FLAG_MODEL_BUFFER_ZERO_COPY: the model does not lie in memory made by an "
        "rknn_create_mem call";
    if (options.device.strict) return invalid_argument(std::string(kText));
    log(LogLevel::kWarning, str(kText, ", which a board needs; it is copied"));
  }
  if (memory == nullptr || !memory->keeps_data())
    return runtime::LoadedModel::from_bytes(image, options);
  return runtime::LoadedModel::from_image(image, memory, options);
}

// The model whose weights are shared.
Result<std::shared_ptr<const runtime::LoadedModel>> find_donor(const rknn_init_extend* extend) {
  if (extend == nullptr) {
    return invalid_argument(
        "RKNN_FLAG_SHARE_WEIGHT_MEM needs extend.ctx, the context that has the weights");
  }
  auto donor = find_context(extend->ctx);
  if (!donor.ok()) return donor.status().with_context("RKNN_FLAG_SHARE_WEIGHT_MEM, extend.ctx");
  if ((*donor)->model().dynamic())
    return unsupported("a dynamic-shape model does not share its weights: load it again");
  return (*donor)->description().shared_model();
}

Result<std::shared_ptr<const runtime::LoadedModel>> load(const void* model, uint32_t size,
                                                         uint32_t flag,
                                                         const rknn_init_extend* extend) {
  runtime::LoadOptions options;
  RK_ASSIGN(options.device, runtime::device_from_environment());
  options.info_only = (flag & kInfoOnly) != 0;
  program::Program donor;
  if ((flag & RKNN_FLAG_SHARE_WEIGHT_MEM) != 0) {
    RK_ASSIGN(const auto model_of_donor, find_donor(extend));
    RK_ASSIGN(donor, model_of_donor->complete_program());
    options.weights_from = &donor;
  }
  RK_ASSIGN(const ModelPlace place, model_place(extend, size == 0, flag));
  if (size != 0) {
    RK_ASSIGN(const ByteSpan bytes, cut({static_cast<const uint8_t*>(model), size}, place));
    if ((flag & RKNN_FLAG_MODEL_BUFFER_ZERO_COPY) != 0) return load_in_place(bytes, options);
    return runtime::LoadedModel::from_bytes(bytes, options);
  }
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(static_cast<const char*>(model)));
  RK_ASSIGN(const ByteSpan bytes, cut(file, place));
  return runtime::LoadedModel::from_bytes(bytes, options);
}

// A board without enough memory fails so; applications are written against this line and this code.
Status check_memory_limit(const runtime::LoadedModel& model) {
  const std::optional<uint64_t> limit = runtime::memory_limit();
  const program::ChipMemory& memory = model.memory();
  if (!limit || memory.total() <= *limit) return ok_status();
  return out_of_memory(str(
      "failed to allocate fd, ret: -1, errno: 12, errstr: Cannot allocate memory: the model needs ",
      memory.total(), " bytes (weights ", memory.weight_bytes, ", internal ", memory.internal_bytes,
      ", commands ", memory.command_bytes, "), RKNN_MEM_LIMIT leaves ", *limit));
}

Result<rknn_context> open_context(std::shared_ptr<const runtime::LoadedModel> model,
                                  uint32_t flag) {
  RK_TRY(check_memory_limit(*model));
  runtime::SessionOptions options;
  options.prior_gpu = (flag & RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU) != 0;
  options.collect_perf = (flag & RKNN_FLAG_COLLECT_PERF_MASK) != 0 || log_level() >= kLayerTable;
  RK_ASSIGN(std::unique_ptr<runtime::Session> session,
            runtime::Session::create(std::move(model), options));
  if (log_level() >= kLayerDumps)
    session->set_observer(runtime::make_dumper(*session, runtime::dump_folder()));
  auto context = std::make_shared<Context>(std::move(session), flag);
  context->custom_ops.add_plugins(context->session());
  if ((flag & RKNN_FLAG_ENABLE_SRAM) != 0) {
    context->sram =
        runtime::SramShare::take(context->model().chip(), context->model().internal_bytes());
  }
  if (log_level() >= kMemoryTable) {
    log(LogLevel::kDebug, "\n" + runtime::memory_table(context->model(), context->sram.bytes()));
  }
  runtime::note_context(context->model().chip());
  return add_context(std::move(context));
}

Status init(rknn_context* context, const void* model, uint32_t size, uint32_t flag,
            const rknn_init_extend* extend) {
  if (context == nullptr) return invalid_argument("context is NULL");
  read_log_environment();
  if (model == nullptr)
    return invalid_argument("model is NULL: give a file image and its size, or a path and size 0");
  if ((flag & RKNN_FLAG_SHARE_SRAM) != 0 && (flag & RKNN_FLAG_ENABLE_SRAM) == 0)
    return invalid_argument("RKNN_FLAG_SHARE_SRAM needs RKNN_FLAG_ENABLE_SRAM");
  constexpr uint32_t kKnownFlags = (RKNN_FLAG_MODEL_BUFFER_ZERO_COPY << 1) - 1;
  if ((flag & ~kKnownFlags) != 0) {
    log(LogLevel::kWarning, str("rknn_init: flag has bits that mean nothing here: ",
                                flag & ~kKnownFlags, "; they are ignored"));
  }
  auto loaded = load(model, size, flag, extend);
  if (!loaded.ok()) {
    log(LogLevel::kError, "rknn_init, load model failed!");
    return loaded.status();
  }
  if ((flag & RKNN_FLAG_SHARE_WEIGHT_MEM) != 0 && (*loaded)->dynamic())
    return unsupported("a dynamic-shape model does not share weights: load it without the flag");
  RK_ASSIGN(*context, open_context(std::move(loaded).value(), flag));
  return ok_status();
}

}  // namespace
}  // namespace rk::capi

using rk::Status;
using rk::capi::find_context;
using rk::capi::guarded;

int rknn_init(rknn_context* context, void* model, uint32_t size, uint32_t flag,
              rknn_init_extend* extend) {
  return guarded("rknn_init", [&] { return rk::capi::init(context, model, size, flag, extend); });
}

int rknn_dup_context(rknn_context* context_in, rknn_context* context_out) {
  return guarded("rknn_dup_context", [&]() -> Status {
    if (context_in == nullptr || context_out == nullptr)
      return rk::invalid_argument("a context pointer is NULL");
    std::shared_ptr<const rk::runtime::LoadedModel> model;
    uint32_t flags = 0;
    {
      RK_ASSIGN(const auto context, find_context(*context_in));
      RK_TRY(rk::capi::check_call_exists(*context));
      if (context->model().program().variants.size() > 1) {
        return rk::unsupported("a dynamic-shape model cannot be duplicated: load it again");
      }
      model = context->description().shared_model();
      flags = context->flags;
    }
    RK_ASSIGN(*context_out, rk::capi::open_context(std::move(model), flags));
    return rk::ok_status();
  });
}

int rknn_destroy(rknn_context context) {
  return guarded("rknn_destroy", [&]() -> Status {
    RK_ASSIGN(const auto removed, rk::capi::remove_context(context));
    {
      // A frame in another thread ends first: the callbacks below free what it uses.
      const std::lock_guard busy(removed->mutex);
      removed->session();
      removed->custom_ops.clear();
    }
    if (!removed->validator.enabled()) return rk::ok_status();
    const std::lock_guard lock(removed->mutex);
    removed->validator.destroyed(removed->outputs.outstanding(), rk::capi::memories_of(context));
    return rk::ok_status();
  });
}

int rknn_set_core_mask(rknn_context context, rknn_core_mask core_mask) {
  return guarded("rknn_set_core_mask", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    const rk::runtime::LoadedModel& model = locked->model();
    const auto mask = static_cast<uint32_t>(core_mask);
    const bool single_core = model.program().single_core;
    RK_TRY(rk::runtime::check_core_mask(model.chip(), mask, single_core));
    const bool several = (mask & (mask - 1)) != 0;
    locked->core_mask = single_core && several ? uint32_t{RKNN_NPU_CORE_AUTO} : mask;
    locked.session().set_cores(rk::runtime::shared_cores(model.chip(), mask, single_core),
                               rk::runtime::first_core(mask));
    return rk::ok_status();
  });
}

int rknn_set_batch_core_num(rknn_context context, int core_num) {
  return guarded("rknn_set_batch_core_num", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    const rk::target::Target& chip = locked->model().chip();
    if (chip.npu_cores < 2) {
      return Status(rk::Code::kTargetMismatch, rk::str(chip.name, " has one NPU core"));
    }
    if (core_num < 1 || core_num > chip.npu_cores) {
      return rk::invalid_argument(
          rk::str("core_num ", core_num, "; ", chip.name, " has ", chip.npu_cores, " cores"));
    }
    if (locked->model().program().batch == 1 && locked->strict()) {
      return rk::invalid_argument(
          "the model has a batch of 1: convert it with rknn_batch_size to use several cores");
    }
    locked.session().set_batch_lanes(core_num);
    return rk::ok_status();
  });
}
