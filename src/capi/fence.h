// SPDX-License-Identifier: Apache-2.0
// Fences as far as a PC has them. On a board they are sync_file descriptors of the kernel; both those and the event
// descriptors used here become readable when the work before them is done, so poll(2) serves for either.
#pragma once

#include <memory>

#include "base/status.h"
#include "capi/context.h"

namespace rk::capi {

// Told once when a frame is done. Copies share one event.
class Fence {
 public:
  Fence() = default;  // nobody waits
  static Result<Fence> make();
  // A descriptor of the caller's own, to poll and close.
  Result<int> for_caller() const;
  void signal() const;

 private:
  struct Event;
  std::shared_ptr<const Event> event_;
};

// Returns once `fd` is readable; at once for -1. kInvalidArgument for what is not a descriptor, kTimeout after a while.
Status wait_for_fence(int fd);

// Flags about fences need an extend structure.
Status check_fence_flags(const Context& context, const rknn_run_extend* extend);

}  // namespace rk::capi
