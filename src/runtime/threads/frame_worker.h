// SPDX-License-Identifier: Apache-2.0
// Runs the frames of one session on a thread of its own, one at a time, while the caller prepares the next or looks at
// the last. The thread starts with the first frame; a context that only runs blocking frames never has one.
//
// A newcomer's mistake: a Session is not thread-safe. Whoever wants to touch it waits for the frame first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/status.h"

namespace rk::runtime {

class FrameWorker {
 public:
  FrameWorker() = default;
  ~FrameWorker();  // lets a running frame end
  FrameWorker(const FrameWorker&) = delete;
  FrameWorker& operator=(const FrameWorker&) = delete;

  // Waits for an earlier frame, then returns at once. `frame` must not throw.
  void start(std::function<Status()> frame);

  void wait();
  // False when the frame still runs after that time.
  bool wait_for(std::chrono::milliseconds limit);

  // How the last frame ended. Told once, then OK.
  Status take_status();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Status()> frame_;  // guarded by mutex_, like all below; empty: idle
  Status status_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rk::runtime
