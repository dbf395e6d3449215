// SPDX-License-Identifier: Apache-2.0
#include "capi/context.h"

#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "base/checked_math.h"

namespace rk::capi {
namespace {

constexpr uint32_t kMaxHandle = 0x7fffffff;

struct Table {
  std::mutex mutex;
  std::unordered_map<uint32_t, std::shared_ptr<Context>> contexts;
  std::unordered_map<uint32_t, std::shared_ptr<MatmulContext>> products;
  uint32_t last = 0;
};

// Leaked on purpose: programs call from threads that outlive static destructors.
Table& table() {
  static auto* const table = new Table;
  return *table;
}

// Under the table's lock. `last` is the newest handle: what is not above it has existed.
Status no_such_context(rknn_context handle, uint32_t last) {
  const auto number = static_cast<uint32_t>(handle);
  if (table().products.contains(number)) {
    return Status(Code::kInvalidContext,
                  str("context ", handle, " is a matmul context: use the rknn_matmul_* calls"));
  }
  if (number == 0 || number > last) {
    return Status(Code::kInvalidContext, str("context ", handle, " was never made"));
  }
  return Status(Code::kInvalidContext,
                str("context ", handle,
                    " is destroyed: a board touches freed memory here. Make sure that no thread "
                    "uses a context after rknn_destroy, and set the handle to 0"));
}

// Under the table's lock.
uint32_t new_handle() {
  uint32_t& last = table().last;
  do {
    last = last == kMaxHandle ? 1 : last + 1;
  } while (table().contexts.contains(last) || table().products.contains(last));
  return last;
}

Status no_such_matmul(rknn_matmul_ctx handle) {
  return Status(Code::kInvalidContext,
                str("matmul context ", handle,
                    " does not exist: it was never made by rknn_matmul_create, or is destroyed"));
}

}  // namespace

rknn_matmul_ctx add_matmul(std::shared_ptr<MatmulContext> context) {
  const std::lock_guard lock(table().mutex);
  const uint32_t handle = new_handle();
  table().products.emplace(handle, std::move(context));
  return handle;
}

Result<std::shared_ptr<MatmulContext>> find_matmul(rknn_matmul_ctx handle) {
  const std::lock_guard lock(table().mutex);
  const auto it = table().products.find(static_cast<uint32_t>(handle));
  if (it == table().products.end()) return no_such_matmul(handle);
  return it->second;
}

Result<std::shared_ptr<MatmulContext>> remove_matmul(rknn_matmul_ctx handle) {
  const std::lock_guard lock(table().mutex);
  const auto it = table().products.find(static_cast<uint32_t>(handle));
  if (it == table().products.end()) return no_such_matmul(handle);
  std::shared_ptr<MatmulContext> context = std::move(it->second);
  table().products.erase(it);
  return context;
}

std::optional<int> matmul_domain(rknn_context handle) {
  const auto context = find_matmul(handle);
  if (!context.ok()) return std::nullopt;
  return (*context)->product.kind().iommu_domain;
}

Result<LockedContext> find_context(rknn_context handle) {
  std::shared_ptr<Context> context;
  {
    const std::lock_guard lock(table().mutex);
    const auto it = table().contexts.find(static_cast<uint32_t>(handle));
    if (it == table().contexts.end()) return no_such_context(handle, table().last);
    context = it->second;
  }
  return LockedContext(std::move(context));
}

rknn_context add_context(std::shared_ptr<Context> context) {
  const std::lock_guard lock(table().mutex);
  const uint32_t handle = new_handle();
  table().contexts.emplace(handle, std::move(context));
  return handle;
}

Result<std::shared_ptr<Context>> remove_context(rknn_context handle) {
  const std::lock_guard lock(table().mutex);
  const auto it = table().contexts.find(static_cast<uint32_t>(handle));
  if (it == table().contexts.end()) return no_such_context(handle, table().last);
  std::shared_ptr<Context> context = std::move(it->second);
  table().contexts.erase(it);
  return context;
}

bool validating() {
  const char* const text = secure_getenv("RKNN_VALIDATE");
  return text != nullptr && *text != '\0' && std::string_view(text) != "0";
}

Status check_call_exists(const Context& context) {
  const runtime::LoadedModel& model = context.model();
  if (!model.device().small_chip_rules(model.chip())) return ok_status();
  return unsupported(str("context config invalid! The runtime of ", model.chip().name,
                         " has no such call: use rknn_set_io_mem"));
}

Result<uint8_t*> OutputPool::lend(size_t output, uint64_t size_bytes) {
  // A pointer is needed even for an output without elements.
  const uint64_t wanted = size_bytes == 0 ? 1 : size_bytes;
  size_t outstanding = 0;
  for (const Entry& entry : lent_) outstanding += entry.output == output;
  const auto fits = [&](const Entry& entry) {
    return entry.output == output && entry.buffer.size() == wanted;
  };
  std::deque<Entry>& source = outstanding >= kMaxLent ? lent_ : idle_;
  for (auto it = source.begin(); it != source.end(); ++it) {
    if (!fits(*it)) continue;
    Entry entry = std::move(*it);
    source.erase(it);
    lent_.push_back(std::move(entry));
    return lent_.back().buffer.data();
  }
  RK_ASSIGN(Buffer buffer, Buffer::try_make(wanted, kMaxObjectBytes));
  lent_.push_back({output, std::move(buffer)});
  return lent_.back().buffer.data();
}

void OutputPool::take_back(const void* data) {
  for (auto it = lent_.begin(); it != lent_.end(); ++it) {
    if (it->buffer.data() != data) continue;
    idle_.push_back(std::move(*it));
    lent_.erase(it);
    return;
  }
}

}  // namespace rk::capi
