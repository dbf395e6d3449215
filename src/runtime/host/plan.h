// SPDX-License-Identifier: Apache-2.0
// The host plan: how one variant of a verified Program runs on this CPU. Made once per loaded model and shared by all
// its sessions; it never changes afterwards. What a session owns is an arena of `arena_bytes` and its scratch tensors.
//
// Note: host layouts and offsets are not the chip's. An activation is either plain row-major in its
// logical shape or blocked by 16 channels (kernels/layout/blocked.h), whatever ProgramTensor::layout says.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "ops/registry.h"
#include "program/program.h"
#include "runtime/host/packed_constants.h"
#include "runtime/host/scratch.h"
#include "runtime/session/convert.h"

namespace rk::runtime::host {

struct HostTensor {
  bool blocked = false;
  bool interleaved =
      false;              // [n][h][w][c]: a picture for first layers alone; neither: [n][c][h][w]
  bool in_arena = false;  // inputs, outputs and what steps write
  uint64_t size_bytes = 0;
  uint64_t offset_in_arena = 0;     // multiple of 64
  int32_t parent = program::kNone;  // lies inside this tensor (aliases.h)
  uint64_t offset_in_parent = 0;
  Buffer constant;  // a constant that is an operand of a step or a model output, in host layout
};

// What a step needs while it runs.
struct StepCall {
  std::span<const HostTensor> tensors;
  uint8_t* arena = nullptr;
  ThreadPool* pool = nullptr;
  ScratchTensors* scratch = nullptr;
  int cores = 1;  // of the chip that share the steps they can share

  // A constant may be read only; verify() has made sure that no step writes one.
  template <typename T>
  T* data(int32_t tensor) const {
    const HostTensor& host = tensors[static_cast<size_t>(tensor)];
    uint8_t* const bytes =
        host.in_arena ? arena + host.offset_in_arena : const_cast<uint8_t*>(host.constant.data());
    return reinterpret_cast<T*>(bytes);
  }
  int threads() const { return pool != nullptr ? pool->threads() : 1; }
  // Splits `units` pieces of about `cost` cycles each; see split_grain() for `together`.
  void parallel(int64_t units, int64_t cost, const std::function<void(IndexRange)>& work,
                int64_t together = 1) const;
  // The same for work whose units are `tiles` times `rows` with the rows innermost, core by core: each core has its
  // rows of every tile. `core_rows` is Step::core_rows; where `rows` are not those of the output, it has no say.
  struct Rows {
    int64_t tiles = 1;
    int64_t rows = 1;
    int64_t cost = 1;  // of one unit
    int64_t together = 1;
    bool one_part = false;  // for each thread
  };
  void parallel_rows(const Rows& shape, std::span<const int32_t> core_rows,
                     const std::function<void(IndexRange)>& work) const;
};

// Units that a thread takes at once from `units` of about `cost` cycles each; all of them: not worth a hand-over. Short
// work is cut into one part per thread, because each further part costs a start; long work into pieces of at least
// `together` units, which are dealt out as threads get to them, and so that threads have as many where that matters.
int64_t split_grain(int64_t units, int64_t cost, int64_t together, int threads);

// A step bound to its kernel, constants included. Data-dependent trouble (an index out of range) is the only failure.
using StepFunction = std::function<Status(const StepCall&)>;

struct HostPlan {
  std::vector<HostTensor> tensors;  // as Variant::tensors
  std::vector<StepFunction> steps;  // as Variant::steps
  uint64_t arena_bytes = 0;
};

// The program must have passed verify(). Failures name the step. `constants` serves all plans of one program;
// `operators` outlives the plan.
Result<HostPlan> make_plan(const program::Program& program, const program::Variant& variant,
                           PackedConstants& constants,
                           const OpRegistry& operators = ops::registry());

// A tensor of the plan as convert() wants it. `data` is its place.
ElementView host_view(const program::ProgramTensor& tensor, const HostTensor& host, uint8_t* data);

}  // namespace rk::runtime::host
