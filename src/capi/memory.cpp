// SPDX-License-Identifier: Apache-2.0
// Memory objects and zero copy. Every rknn_tensor_mem that comes back is looked up before it is touched: clients
// destroy memory twice, after its context, or never made it.
#include "capi/memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "base/checked_math.h"
#include "base/log.h"
#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "runtime/device/iommu.h"

namespace rk::capi {
namespace {

using runtime::DeviceMemory;

struct MemoryEntry {
  std::unique_ptr<rknn_tensor_mem> description;
  std::shared_ptr<DeviceMemory> memory;
  uint32_t maker = 0;  // the context it was made with; 0: none
  runtime::IommuShare iommu;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const rknn_tensor_mem*, MemoryEntry> entries;
};

// Leaked on purpose, like the table of contexts.
Registry& registry() {
  static auto* const registry = new Registry;
  return *registry;
}

Result<rknn_tensor_mem*> add_memory(rknn_context maker, std::shared_ptr<DeviceMemory> memory,
                                    const rknn_tensor_mem& description) {
  // What matmul contexts allocate lies in the address space they chose.
  runtime::IommuShare iommu;
  if (const auto domain = matmul_domain(maker)) {
    RK_ASSIGN(iommu, runtime::IommuShare::take(*domain, memory->size_bytes()));
  }
  auto owned = std::make_unique<rknn_tensor_mem>(description);
  rknn_tensor_mem* const key = owned.get();
  const std::lock_guard lock(registry().mutex);
  registry().entries[key] = {std::move(owned), std::move(memory), static_cast<uint32_t>(maker),
                             std::move(iommu)};
  return key;
}

// Memory belongs to no context, but a wrong handle is worth an error.
Status check_context(rknn_context handle) {
  return matmul_domain(handle) ? ok_status() : find_context(handle).status();
}

Result<rknn_tensor_mem*> create(rknn_context maker, uint64_t size_bytes, bool cacheable = true) {
  RK_ASSIGN(std::shared_ptr<DeviceMemory> memory, DeviceMemory::allocate(size_bytes));
  memory->set_cacheable(cacheable);
  rknn_tensor_mem description{};
  description.virt_addr = memory->data();
  description.phys_addr = memory->phys_addr();
  description.fd = memory->fd();
  description.size = static_cast<uint32_t>(size_bytes);
  description.flags = RKNN_TENSOR_MEMORY_FLAGS_ALLOC_INSIDE;
  return add_memory(maker, std::move(memory), description);
}

Result<rknn_tensor_mem*> create_from_fd(rknn_context maker, int32_t fd, void* virt_addr,
                                        uint32_t size, int32_t offset) {
  if (fd < 0 || size == 0 || offset < 0) {
    return invalid_argument(
        str("fd ", fd, ", size ", size, ", offset ", offset, ": none may be negative, size not 0"));
  }
  const auto start = static_cast<uint64_t>(offset);
  std::shared_ptr<DeviceMemory> memory;
  if (virt_addr != nullptr) {
    memory = DeviceMemory::wrap(virt_addr, start + size, fd);
  } else {
    RK_ASSIGN(memory, DeviceMemory::map(fd, size, start));
  }
  rknn_tensor_mem description{};
  description.virt_addr = memory->data();
  description.fd = fd;
  description.offset = offset;
  description.size = size;
  description.flags = RKNN_TENSOR_MEMORY_FLAGS_FROM_FD;
  return add_memory(maker, std::move(memory), description);
}

// Memory of ours by its simulated address; null when there is none that holds `size` bytes from there on.
std::shared_ptr<DeviceMemory> find_phys(uint64_t phys_addr, uint64_t size) {
  const std::lock_guard lock(registry().mutex);
  for (const auto& [key, entry] : registry().entries) {
    const DeviceMemory& memory = *entry.memory;
    if (memory.phys_addr() == 0 || phys_addr < memory.phys_addr()) continue;
    const uint64_t offset = phys_addr - memory.phys_addr();
    if (offset <= memory.size_bytes() && size <= memory.size_bytes() - offset) return entry.memory;
  }
  return nullptr;
}

Result<rknn_tensor_mem*> create_from_phys(rknn_context maker, uint64_t phys_addr, void* virt_addr,
                                          uint32_t size) {
  if (size == 0) return invalid_argument("size is 0");
  std::shared_ptr<DeviceMemory> memory;
  if (virt_addr != nullptr) {
    memory = DeviceMemory::wrap(virt_addr, size, -1);
  } else {
    std::shared_ptr<DeviceMemory> whole = find_phys(phys_addr, size);
    if (whole == nullptr) {
      return invalid_argument(
          "virt_addr is NULL and no memory of an rknn_create_mem call has this physical address: "
          "there is no device that could reach it");
    }
    const uint64_t offset = phys_addr - whole->phys_addr();
    memory = DeviceMemory::part_of(std::move(whole), offset, size);
  }
  rknn_tensor_mem description{};
  description.virt_addr = memory->data();
  description.phys_addr = phys_addr;
  description.fd = -1;
  description.size = size;
  description.flags = RKNN_TENSOR_MEMORY_FLAGS_FROM_PHYS;
  return add_memory(maker, std::move(memory), description);
}

Status destroy(const rknn_tensor_mem* mem) {
  if (mem == nullptr) return ok_status();
  MemoryEntry entry;  // ends outside the lock
  const std::lock_guard lock(registry().mutex);
  const auto it = registry().entries.find(mem);
  if (it == registry().entries.end()) {
    return invalid_argument("mem was not made by an rknn_create_mem call, or is destroyed already");
  }
  entry = std::move(it->second);
  entry.memory->release();
  registry().entries.erase(it);
  return ok_status();
}

// Which tensor an attribute belongs to. The structure does not say input or output; names do, and where an input and
// an output share one, the shape does.
struct Tensor {
  bool input = false;
  size_t index = 0;
};

bool same_shape(const rknn_tensor_attr& a, const runtime::TensorAttr& b) {
  return a.n_dims == b.dims.size() && std::equal(b.dims.begin(), b.dims.end(), a.dims);
}

bool any_shape(const rknn_tensor_attr& attr, const runtime::Session& session,
               const Tensor& tensor) {
  for (const auto view :
       {runtime::AttrView::kPlain, runtime::AttrView::kNative, runtime::AttrView::kNativeNhwc}) {
    const auto own = tensor.input ? session.input_attr(tensor.index, view)
                                  : session.output_attr(tensor.index, view);
    if (same_shape(attr, own)) return true;
  }
  return false;
}

Result<Tensor> find_tensor(const rknn_tensor_attr& attr, const runtime::Session& session) {
  const std::string name(attr.name, strnlen(attr.name, sizeof attr.name));
  std::vector<Tensor> candidates;
  const auto add = [&](bool input, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::string own = input ? session.input_attr(i).name : session.output_attr(i).name;
      const bool matches =
          name.empty() ? attr.index == i : name == own.substr(0, RKNN_MAX_NAME_LEN - 1);
      if (matches) candidates.push_back({input, i});
    }
  };
  add(true, session.input_count());
  add(false, session.output_count());
  if (candidates.empty()) {
    return invalid_argument(
        str("no input or output is named '", name, "': take attr from rknn_query"));
  }
  for (const Tensor& candidate : candidates) {
    if (candidate.index == attr.index && any_shape(attr, session, candidate)) return candidate;
  }
  return candidates.front();
}

// The attribute as the query answers that the caller's came from, as far as its shape tells.
runtime::TensorAttr queried(const rknn_tensor_attr& attr, const runtime::Session& session,
                            const Tensor& tensor) {
  const auto of = [&](runtime::AttrView view) {
    return tensor.input ? session.input_attr(tensor.index, view)
                        : session.output_attr(tensor.index, view);
  };
  for (const auto view : {runtime::AttrView::kNative, runtime::AttrView::kNativeNhwc}) {
    if (runtime::TensorAttr own = of(view); same_shape(attr, own)) return own;
  }
  return of(runtime::AttrView::kPlain);
}

// What the rows of a bound picture are taken to be.
void log_rows(const runtime::TensorAttr& attr, const runtime::CallerFormat& caller) {
  if (log_level() < kLayerTable || attr.w_stride == 0 || attr.dims.size() != 4) return;
  const uint64_t pixel_bytes = uint64_t{attr.dims[3]} * byte_size(caller.dtype);
  log(LogLevel::kDebug,
      str("rknn_set_io_mem, input '", attr.name, "': width ", attr.dims[2], ", w_stride ",
          attr.w_stride, ", line bytes ", attr.dims[2] * pixel_bytes, ", stride bytes ",
          attr.w_stride * pixel_bytes));
}

Status bind(Context& context, const rknn_tensor_mem* mem, const rknn_tensor_attr* attr) {
  runtime::Session& session = context.session();
  RK_ASSIGN(const Place place, find_memory(mem));
  if (attr == nullptr) return invalid_argument("attr is NULL");
  if (context.strict() && context.sets_inputs) {
    return invalid_argument(
        "the context was given inputs by rknn_inputs_set: a board does not "
        "take both flows; use one of them");
  }
  RK_ASSIGN(const Tensor tensor, find_tensor(*attr, session));
  const auto dtype = from_rknn_type(attr->type);
  const auto format = from_rknn_format(attr->fmt);
  if (!dtype || !format) {
    return invalid_argument(str("'", attr->name, "': type ", static_cast<int>(attr->type),
                                " or fmt ", static_cast<int>(attr->fmt), " cannot be bound"));
  }
  runtime::CallerFormat caller;
  caller.dtype = *dtype;
  caller.format = *format;
  caller.pass_through = attr->pass_through != 0;
  caller.h_stride = attr->h_stride;
  if (tensor.input) log_rows(queried(*attr, session, tensor), caller);
  if (context.validator.enabled()) {
    context.validator.bound({tensor.input, queried(*attr, session, tensor), caller, attr->w_stride,
                             attr->size, place.memory, place.size_bytes});
  }
  RK_TRY(tensor.input ? session.bind_input(tensor.index, caller, place.memory, place.offset_bytes,
                                           place.size_bytes)
                      : session.bind_output(tensor.index, caller, place.memory, place.offset_bytes,
                                            place.size_bytes));
  context.binds_memory = true;
  return ok_status();
}

// Weight and internal memory: checked and kept, as the host plan has its own.
Status keep(const rknn_tensor_mem* mem, uint64_t needed_bytes,
            std::shared_ptr<DeviceMemory>& slot) {
  RK_ASSIGN(const Place place, find_memory(mem));
  if (place.size_bytes < needed_bytes) {
    return invalid_argument(str("the memory has ", place.size_bytes,
                                " bytes, RKNN_QUERY_MEM_SIZE says ", needed_bytes));
  }
  slot = place.memory;
  return ok_status();
}

Status check_flag(const Context& context, uint32_t flags, std::string_view names) {
  if (context.has_flag(flags) || !context.strict()) return ok_status();
  return invalid_argument(str("the context was not made with ", names));
}

}  // namespace

Result<Place> find_memory(const rknn_tensor_mem* mem) {
  if (mem == nullptr) return invalid_argument("mem is NULL");
  const std::lock_guard lock(registry().mutex);
  const auto it = registry().entries.find(mem);
  if (it == registry().entries.end()) {
    return invalid_argument("mem was not made by an rknn_create_mem call, or is destroyed");
  }
  const std::shared_ptr<DeviceMemory>& memory = it->second.memory;
  const int64_t offset = mem->offset;
  if (offset < 0 || static_cast<uint64_t>(offset) > memory->size_bytes()) {
    return invalid_argument(
        str("offset ", offset, " lies outside the memory of ", memory->size_bytes(), " bytes"));
  }
  return Place{memory, static_cast<uint64_t>(offset),
               memory->size_bytes() - static_cast<uint64_t>(offset)};
}

std::shared_ptr<DeviceMemory> memory_around(ByteSpan bytes) {
  const std::lock_guard lock(registry().mutex);
  for (const auto& [key, entry] : registry().entries) {
    const DeviceMemory& memory = *entry.memory;
    const auto begin = reinterpret_cast<uintptr_t>(memory.data());
    const auto from = reinterpret_cast<uintptr_t>(bytes.data());
    if (from < begin || from - begin > memory.size_bytes()) continue;
    if (bytes.size() <= memory.size_bytes() - (from - begin)) return entry.memory;
  }
  return nullptr;
}

size_t memories_of(rknn_context context) {
  const std::lock_guard lock(registry().mutex);
  size_t count = 0;
  for (const auto& [key, entry] : registry().entries)
    count += entry.maker == static_cast<uint32_t>(context);
  return count;
}

}  // namespace rk::capi

using rk::Result;
using rk::Status;
using rk::capi::find_context;
using rk::capi::guarded;
using rk::capi::guarded_pointer;

rknn_tensor_mem* rknn_create_mem(rknn_context ctx, uint32_t size) {
  return guarded_pointer<rknn_tensor_mem>("rknn_create_mem", [&]() -> Result<rknn_tensor_mem*> {
    RK_TRY(rk::capi::check_context(ctx));
    return rk::capi::create(ctx, size);
  });
}

rknn_tensor_mem* rknn_create_mem2(rknn_context ctx, uint64_t size, uint64_t alloc_flags) {
  return guarded_pointer<rknn_tensor_mem>("rknn_create_mem2", [&]() -> Result<rknn_tensor_mem*> {
    const bool free_standing = (alloc_flags & RKNN_MEM_FLAG_ALLOC_NO_CONTEXT) != 0;
    if (!free_standing) RK_TRY(rk::capi::check_context(ctx));
    return rk::capi::create(free_standing ? 0 : ctx, size,
                            (alloc_flags & RKNN_FLAG_MEMORY_NON_CACHEABLE) == 0);
  });
}

rknn_tensor_mem* rknn_create_mem_from_fd(rknn_context ctx, int32_t fd, void* virt_addr,
                                         uint32_t size, int32_t offset) {
  return guarded_pointer<rknn_tensor_mem>(
      "rknn_create_mem_from_fd", [&]() -> Result<rknn_tensor_mem*> {
        RK_TRY(rk::capi::check_context(ctx));
        return rk::capi::create_from_fd(ctx, fd, virt_addr, size, offset);
      });
}

rknn_tensor_mem* rknn_create_mem_from_phys(rknn_context ctx, uint64_t phys_addr, void* virt_addr,
                                           uint32_t size) {
  return guarded_pointer<rknn_tensor_mem>(
      "rknn_create_mem_from_phys", [&]() -> Result<rknn_tensor_mem*> {
        RK_TRY(rk::capi::check_context(ctx));
        return rk::capi::create_from_phys(ctx, phys_addr, virt_addr, size);
      });
}

rknn_tensor_mem* rknn_create_mem_from_mb_blk(rknn_context, void*, int32_t) {
  return guarded_pointer<rknn_tensor_mem>(
      "rknn_create_mem_from_mb_blk", []() -> Result<rknn_tensor_mem*> {
        return rk::unsupported("no chip supports it: use rknn_create_mem_from_fd");
      });
}

int rknn_destroy_mem(rknn_context, rknn_tensor_mem* mem) {
  return guarded("rknn_destroy_mem", [&] { return rk::capi::destroy(mem); });
}

int rknn_mem_sync(rknn_context context, rknn_tensor_mem* mem, rknn_mem_sync_mode mode) {
  return guarded("rknn_mem_sync", [&]() -> Status {
    RK_ASSIGN(const rk::capi::Place place, rk::capi::find_memory(mem));
    if (mode < RKNN_MEMORY_SYNC_TO_DEVICE || mode > RKNN_MEMORY_SYNC_BIDIRECTIONAL) {
      return rk::invalid_argument(rk::str("mode ", static_cast<int>(mode), " is not 1, 2 or 3"));
    }
    // One CPU reads and writes: there is nothing to bring in line.
    if (context != 0 && rk::capi::validating() && !rk::capi::matmul_domain(context)) {
      RK_ASSIGN(const auto locked, find_context(context));
      locked->validator.synced(*place.memory, static_cast<int>(mode));
    }
    place.memory->count_sync((mode & RKNN_MEMORY_SYNC_TO_DEVICE) != 0,
                             (mode & RKNN_MEMORY_SYNC_FROM_DEVICE) != 0);
    return rk::ok_status();
  });
}

int rknn_set_io_mem(rknn_context ctx, rknn_tensor_mem* mem, rknn_tensor_attr* attr) {
  return guarded("rknn_set_io_mem", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(ctx));
    return rk::capi::bind(*locked, mem, attr);
  });
}

int rknn_set_weight_mem(rknn_context ctx, rknn_tensor_mem* mem) {
  return guarded("rknn_set_weight_mem", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(ctx));
    RK_TRY(
        rk::capi::check_flag(*locked, RKNN_FLAG_MEM_ALLOC_OUTSIDE, "RKNN_FLAG_MEM_ALLOC_OUTSIDE"));
    locked->validator.weight_or_internal_memory_set();
    return rk::capi::keep(mem, locked->model().weight_bytes(), locked->weight_memory);
  });
}

int rknn_set_internal_mem(rknn_context ctx, rknn_tensor_mem* mem) {
  return guarded("rknn_set_internal_mem", [&]() -> Status {
    RK_ASSIGN(const auto locked, find_context(ctx));
    RK_TRY(rk::capi::check_flag(*locked,
                                RKNN_FLAG_MEM_ALLOC_OUTSIDE | RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE,
                                "RKNN_FLAG_MEM_ALLOC_OUTSIDE or RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE"));
    locked->validator.weight_or_internal_memory_set();
    return rk::capi::keep(mem, locked->model().internal_bytes(), locked->internal_memory);
  });
}
