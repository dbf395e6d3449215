// SPDX-License-Identifier: Apache-2.0
// A model in memory: the Program and its host plan with packed weights. Immutable apart from a store of unused arenas,
// reference-counted, shared by every session on it (rknn_dup_context), so sessions may end in any order.
#pragma once

#include <memory>
#include <vector>

#include "ops/registry.h"
#include "program/program.h"
#include "runtime/arena_cache.h"
#include "runtime/backends/cpu/plan.h"
#include "runtime/device.h"
#include "runtime/memory.h"

namespace rk::runtime {

struct LoadOptions {
  Device device;
  bool info_only = false;  // no plan is made: the model can be asked about and not run
  // Where steps by IR definition find their operators; null: the standard ones. With custom ones (ops/custom.h) it
  // outlives the model.
  const OpRegistry* operators = nullptr;
};

class LoadedModel {
 public:
  // A .rknn image; it is copied.
  static Result<std::shared_ptr<const LoadedModel>> from_bytes(ByteSpan file,
                                                               const LoadOptions& options);
  // The same without a copy: the image lies in `memory`, which the model keeps.
  static Result<std::shared_ptr<const LoadedModel>> from_image(
      ByteSpan file, std::shared_ptr<const DeviceMemory> memory, const LoadOptions& options);
  // A Program made in this process (the toolkit's simulator). Verified here.
  static Result<std::shared_ptr<const LoadedModel>> from_program(program::Program program,
                                                                 const LoadOptions& options);

  const program::Program& program() const { return program_; }
  const program::Variant& variant() const { return program_.main_variant(); }
  const target::Target& chip() const { return *chip_; }
  const Device& device() const { return device_; }
  bool can_run() const { return plan_ != nullptr; }
  const cpu::HostPlan& plan() const { return *plan_; }  // only when can_run()

  const DeviceMemory* image_memory() const {
    return image_memory_.get();
  }  // null: the file was copied

  ArenaCache& arenas() const { return arenas_; }

  // As the chip needs them: constants rounded up to 64 bytes, and the arena of the chip's memory plan.
  uint64_t weight_bytes() const;
  uint64_t internal_bytes() const { return variant().arena_bytes; }

 private:
  LoadedModel() = default;
  static Result<std::shared_ptr<LoadedModel>> make(program::Program program,
                                                   const LoadOptions& options);
  program::Program program_;
  const target::Target* chip_ = nullptr;
  Device device_;
  std::shared_ptr<const DeviceMemory> image_memory_;
  std::unique_ptr<const cpu::HostPlan> plan_;
  mutable ArenaCache arenas_;
};

}  // namespace rk::runtime
