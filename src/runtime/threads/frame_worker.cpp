// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/frame_worker.h"

#include <unistd.h>

#include <system_error>
#include <utility>

namespace rk::runtime {

struct FrameWorker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<Status()> frame;  // guarded by mutex, like all below; empty: idle
  Status status;
  bool stop = false;
  std::thread thread;
  pid_t process = getpid();
};

FrameWorker::FrameWorker() : state_(std::make_unique<State>()) {}

// In a forked child the thread is gone and the lock may be held by it: what was there is left alone for good.
FrameWorker::State& FrameWorker::state() {
  if (state_->process != getpid()) {
    auto fresh = std::make_unique<State>();
    if (state_->frame) {
      fresh->status = Status(Code::kUnavailable,
                             "the process was forked while a frame ran, which the child does not "
                             "see the end of: wait for frames before fork()");
    }
    static_cast<void>(state_.release());
    state_ = std::move(fresh);
  }
  return *state_;
}

FrameWorker::~FrameWorker() {
  if (state_->process != getpid()) {
    static_cast<void>(state_.release());
    return;
  }
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return !state_->frame; });
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

Status FrameWorker::start(std::function<Status()> frame) {
  State& s = state();
  {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return !s.frame; });
    try {
      if (!s.thread.joinable()) s.thread = std::thread([&s] { work(s); });
    } catch (const std::system_error& error) {
      return {Code::kUnavailable, str("no thread for an asynchronous frame: ", error.what())};
    }
    s.frame = std::move(frame);
  }
  s.changed.notify_all();
  return ok_status();
}

void FrameWorker::wait() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return !s.frame; });
}

bool FrameWorker::wait_for(std::chrono::milliseconds limit) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  return s.changed.wait_for(lock, limit, [&] { return !s.frame; });
}

Status FrameWorker::take_status() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return std::exchange(s.status, ok_status());
}

void FrameWorker::work(State& s) {
  std::unique_lock lock(s.mutex);
  while (true) {
    s.changed.wait(lock, [&] { return s.frame || s.stop; });
    if (!s.frame) return;
    lock.unlock();
    Status status;
    try {
      status = s.frame();  // nobody replaces it before it is cleared below
    } catch (const std::exception&) {
      status =
          Status(Code::kOutOfMemory, {});  // the only thing that is thrown; a text needs memory
    }
    lock.lock();
    s.status = std::move(status);
    s.frame = nullptr;
    s.changed.notify_all();
  }
}

}  // namespace rk::runtime
