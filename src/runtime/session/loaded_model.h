// SPDX-License-Identifier: Apache-2.0
// A model in memory: the Program and its host plans with packed weights. Immutable apart from a store of unused arenas
// and the plans of further shapes, which are made when first asked for; reference-counted, shared by every session on
// it (rknn_dup_context), so sessions may end in any order.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ops/registry.h"
#include "program/memory.h"
#include "program/program.h"
#include "runtime/device/device.h"
#include "runtime/device/memory.h"
#include "runtime/host/plan.h"
#include "runtime/threads/arena_cache.h"

namespace rk::runtime {

struct LoadOptions {
  Device device;
  bool info_only = false;  // no plan is made: the model can be asked about and not run
  // Where steps by IR definition find their operators; null: the standard ones. With custom ones (ops/shared/custom.h) it
  // outlives the model.
  const OpRegistry* operators = nullptr;
  // Whose constants a file without weights takes; null: such a file is refused.
  const program::Program* weights_from = nullptr;
  bool announce = true;  // in the log; one layer of an analysis is not a model that a user loads
};

class LoadedModel {
 public:
  // A .rknn image. It is the caller's again afterwards: weights are packed, and what else is needed is copied.
  static Result<std::shared_ptr<const LoadedModel>> from_bytes(ByteSpan file,
                                                               const LoadOptions& options);
  // The same without a copy: the image lies in `memory`, which the model keeps.
  static Result<std::shared_ptr<const LoadedModel>> from_image(
      ByteSpan file, std::shared_ptr<const DeviceMemory> memory, const LoadOptions& options);
  // A Program made in this process (the toolkit's simulator). Verified here.
  static Result<std::shared_ptr<const LoadedModel>> from_program(program::Program program,
                                                                 const LoadOptions& options);

  // Weights of which the packed form is enough are empty here.
  const program::Program& program() const { return program_; }
  // With all weights, for a model that shares them: those that were let go are made again.
  Result<program::Program> complete_program() const;
  const program::Variant& variant() const { return program_.main_variant(); }
  bool dynamic() const { return program_.variants.size() > 1; }
  const target::Target& chip() const { return *chip_; }
  const Device& device() const { return device_; }
  bool can_run() const { return can_run_; }
  // Of one variant, only when can_run(); stays as long as the model. Safe to call from any thread.
  Result<const host::HostPlan*> plan(size_t variant) const;

  const DeviceMemory* image_memory() const {
    return image_memory_.get();
  }  // null: the file was copied

  ArenaCache& arenas() const { return arenas_; }

  // As the chip needs it (program/memory.h); of a vendor's file, as the file says.
  const program::ChipMemory& memory() const { return memory_; }
  uint64_t weight_bytes() const { return memory_.weight_bytes; }
  uint64_t internal_bytes() const { return memory_.internal_bytes; }

 private:
  LoadedModel() = default;
  static Result<std::shared_ptr<LoadedModel>> make(program::Program program,
                                                   const LoadOptions& options);
  program::Program program_;
  const target::Target* chip_ = nullptr;
  Device device_;
  std::shared_ptr<const DeviceMemory> image_memory_;
  const OpRegistry* operators_ = &ops::registry();
  bool can_run_ = false;
  program::ChipMemory memory_;
  mutable std::mutex plans_mutex_;
  mutable std::vector<std::unique_ptr<const host::HostPlan>>
      plans_;  // by variant; null: not asked for yet
  mutable host::PackedConstants constants_;
  mutable ArenaCache arenas_;
};

}  // namespace rk::runtime
