// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/frame_worker.h"

#include <utility>

namespace rk::runtime {

FrameWorker::~FrameWorker() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !frame_; });
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FrameWorker::start(std::function<Status()> frame) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !frame_; });
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    frame_ = std::move(frame);
  }
  changed_.notify_all();
}

void FrameWorker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !frame_; });
}

bool FrameWorker::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return !frame_; });
}

Status FrameWorker::take_status() {
  const std::lock_guard lock(mutex_);
  return std::exchange(status_, ok_status());
}

void FrameWorker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return frame_ || stop_; });
    if (!frame_) return;
    lock.unlock();
    Status status = frame_();  // nobody replaces it before it is cleared below
    lock.lock();
    status_ = std::move(status);
    frame_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace rk::runtime
