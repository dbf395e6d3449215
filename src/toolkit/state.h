// SPDX-License-Identifier: Apache-2.0
// What a Toolkit holds between its calls: the latest value of each stage. Private to src/toolkit.
#pragma once

#include "ops/registry.h"
#include "quant/samples.h"
#include "toolkit/rknn_toolkit.h"
#include "toolkit/stages.h"

namespace rk::toolkit {

struct Toolkit::State {
  // Custom operators and, last, the registry that knows them all; graphs loaded earlier refer to those before it.
  std::vector<ops::CustomOp> custom_ops;
  std::vector<std::shared_ptr<const OpRegistry>> registries;
  const OpRegistry& registry() const {
    return registries.empty() ? ops::registry() : *registries.back();
  }

  std::optional<Config> config;
  const target::Target* target = nullptr;
  std::unique_ptr<ThreadPool> pool = std::make_unique<ThreadPool>(default_thread_count());
  Setting setting() const { return {*config, *target, pool.get()}; }

  std::optional<Imported> imported;
  std::optional<Calibrated> calibrated;
  std::optional<Built> built;
};

}  // namespace rk::toolkit
