// SPDX-License-Identifier: Apache-2.0
// Activations that vendor files compute by lookup table: the tables that a node's first tasks load, and the stage that
// its registers describe.
#pragma once

#include "format/vendor/lift_context.h"

namespace rk::format {

// Names that stand for a table, as a type's suffix ("ConvSigmoid") or a node of its own.
bool is_lookup_activation(std::string_view name);

// The node's next task that uses `units`; tables that tasks before it (or itself) load are kept.
struct LoadedTask {
  const Task* task = nullptr;
  std::vector<int16_t> low, high;
};
LoadedTask next_with_tables(LiftContext& context, uint32_t units);

// The stage of the task whose list was applied last.
Result<program::LookupStage> read_lookup_stage(LiftContext& context, const LoadedTask& loaded);

// What the stage makes of v.
int64_t look_up(const program::LookupStage& stage, int64_t v);

}  // namespace rk::format
