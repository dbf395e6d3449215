// SPDX-License-Identifier: Apache-2.0
// Runs the frames of one session on a thread of its own, one at a time, while the caller prepares the next or looks at
// the last. The thread starts with the first frame; a context that only runs blocking frames never has one. A forked child
// has no such thread: it starts its own with its first frame, and a frame that ran during the fork ends with an error.
//
// Note: a Session is not thread-safe. Whoever wants to touch it waits for the frame first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/status.h"

namespace rk::runtime {

class FrameWorker {
 public:
  FrameWorker();
  ~FrameWorker();  // lets a running frame end
  FrameWorker(const FrameWorker&) = delete;
  FrameWorker& operator=(const FrameWorker&) = delete;

  // Waits for an earlier frame, then returns at once. What `frame` throws is its status. kUnavailable where no thread can
  // be started.
  Status start(std::function<Status()> frame);

  void wait();
  // False when the frame still runs after that time.
  bool wait_for(std::chrono::milliseconds limit);

  // How the last frame ended. Told once, then OK.
  Status take_status();

 private:
  struct State;
  static void work(State& state);
  State& state();

  std::unique_ptr<State> state_;
};

}  // namespace rk::runtime
