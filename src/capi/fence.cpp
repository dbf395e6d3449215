// SPDX-License-Identifier: Apache-2.0
#include "capi/fence.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rk::capi {
namespace {

// A fence that is never signalled must not hang the process for good; boards give up likewise.
constexpr int kPatienceMs = 10'000;

}  // namespace

struct Fence::Event {
  int fd = -1;
  ~Event() {
    if (fd >= 0) close(fd);
  }
};

Result<Fence> Fence::make() {
  auto event = std::make_shared<Event>();
  event->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event->fd < 0) return out_of_memory(str("no descriptor for a fence: ", std::strerror(errno)));
  Fence out;
  out.event_ = std::move(event);
  return out;
}

Result<int> Fence::for_caller() const {
  const int fd = fcntl(event_->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return out_of_memory(str("no descriptor for a fence: ", std::strerror(errno)));
  return fd;
}

void Fence::signal() const {
  if (event_ == nullptr) return;
  const uint64_t one = 1;
  // Cannot fail: the counter is 0 and the descriptor ours.
  [[maybe_unused]] const ssize_t written = write(event_->fd, &one, sizeof one);
}

Status wait_for_fence(int fd) {
  if (fd < 0) return ok_status();
  pollfd wanted{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    return Status(Code::kTimeout,
                  str("fence_fd ", fd, " was not signalled within ", kPatienceMs, " ms"));
  }
  if (ready < 0 || (wanted.revents & POLLNVAL) != 0)
    return invalid_argument(str("fence_fd ", fd, " is not an open file descriptor"));
  return ok_status();
}

Status check_fence_flags(const Context& context, const rknn_run_extend* extend) {
  const bool fences = context.has_flag(RKNN_FLAG_FENCE_IN_OUTSIDE | RKNN_FLAG_FENCE_OUT_OUTSIDE);
  if (!fences || extend != nullptr) return ok_status();
  return invalid_argument(
      "the context was made for fences: rknn_run needs an rknn_run_extend with fence_fd");
}

}  // namespace rk::capi
