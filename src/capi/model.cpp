// SPDX-License-Identifier: Apache-2.0
// Loading, duplicating and ending contexts, and the choice of cores.
#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "runtime/dump.h"

namespace rk::capi {
namespace {

constexpr uint32_t kInfoOnly = RKNN_FLAG_COLLECT_MODEL_INFO_ONLY;

// A model inside a larger file or buffer. The extend structure is often uninitialised apart from the field a flag
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

Result<std::shared_ptr<const runtime::LoadedModel>> load(const void* model, uint32_t size,
                                                         uint32_t flag,
                                                         const rknn_init_extend* extend) {
  runtime::LoadOptions options;
  RK_ASSIGN(options.device, runtime::device_from_environment());
  options.info_only = (flag & kInfoOnly) != 0;
  RK_ASSIGN(const ModelPlace place, model_place(extend, size == 0, flag));
  if (size != 0) {
    RK_ASSIGN(const ByteSpan bytes, cut({static_cast<const uint8_t*>(model), size}, place));
    return runtime::LoadedModel::from_bytes(bytes, options);
  }
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(static_cast<const char*>(model)));
  RK_ASSIGN(const ByteSpan bytes, cut(file, place));
  return runtime::LoadedModel::from_bytes(bytes, options);
}

Result<rknn_context> open_context(std::shared_ptr<const runtime::LoadedModel> model,
                                  uint32_t flag) {
  auto context = std::make_shared<Context>();
  context->flags = flag;
  runtime::SessionOptions options;
  options.collect_perf = (flag & RKNN_FLAG_COLLECT_PERF_MASK) != 0 || log_level() >= kLayerTable;
  RK_ASSIGN(context->session, runtime::Session::create(std::move(model), options));
  if (log_level() >= kLayerDumps) {
    runtime::Session& session = *context->session;
    session.set_observer(runtime::make_dumper(session, runtime::dump_folder()));
  }
  return add_context(std::move(context));
}

Status init(rknn_context* context, const void* model, uint32_t size, uint32_t flag,
            const rknn_init_extend* extend) {
  if (context == nullptr) return invalid_argument("context is NULL");
  if (model == nullptr)
    return invalid_argument("model is NULL: give a file image and its size, or a path and size 0");
  if ((flag & RKNN_FLAG_SHARE_WEIGHT_MEM) != 0) {
    return unsupported(
        "models without weights (RKNN_FLAG_SHARE_WEIGHT_MEM) are not supported: use a "
        "dynamic-shape "
        "model or rknn_dup_context");
  }
  auto loaded = load(model, size, flag, extend);
  if (!loaded.ok()) {
    log(LogLevel::kError, "rknn_init, load model failed!");
    return loaded.status();
  }
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
      if (context.session().model().program().variants.size() > 1) {
        return rk::unsupported("a dynamic-shape model cannot be duplicated: load it again");
      }
      model = context.session().shared_model();
      flags = context->flags;
    }
    RK_ASSIGN(*context_out, rk::capi::open_context(std::move(model), flags));
    return rk::ok_status();
  });
}

int rknn_destroy(rknn_context context) {
  return guarded("rknn_destroy", [&] { return rk::capi::remove_context(context); });
}

int rknn_set_core_mask(rknn_context context, rknn_core_mask core_mask) {
  return guarded("rknn_set_core_mask", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    const rk::runtime::LoadedModel& model = locked.session().model();
    const auto mask = static_cast<uint32_t>(core_mask);
    RK_TRY(rk::runtime::check_core_mask(model.chip(), mask, model.program().single_core));
    locked->core_mask = mask;
    return rk::ok_status();
  });
}

int rknn_set_batch_core_num(rknn_context context, int core_num) {
  return guarded("rknn_set_batch_core_num", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(context));
    const rk::target::Target& chip = locked.session().model().chip();
    if (chip.npu_cores < 2) {
      return Status(rk::Code::kTargetMismatch, rk::str(chip.name, " has one NPU core"));
    }
    if (core_num < 1 || core_num > chip.npu_cores) {
      return rk::invalid_argument(
          rk::str("core_num ", core_num, "; ", chip.name, " has ", chip.npu_cores, " cores"));
    }
    return rk::ok_status();
  });
}
