// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace rk {
namespace {

constexpr int kPipeWaitMilliseconds = 10000;

// Closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  // What writing to a network file system failed on may show only here.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

Status system_failure(const std::string& path, std::string_view action, int error) {
  return io_error(
      str("'", path, "': cannot ", action, ": ", std::generic_category().message(error)));
}

// Waits until a pipe has bytes or no writer. Other files never wait.
Status await_bytes(const std::string& path, int file) {
  pollfd waiting{file, POLLIN, 0};
  const int ready = poll(&waiting, 1, kPipeWaitMilliseconds);
  if (ready < 0 && errno != EINTR) return system_failure(path, "read", errno);
  if (ready != 0) return ok_status();
  return io_error(str("'", path, "' is a pipe that nobody wrote to for ",
                      kPipeWaitMilliseconds / 1000, " seconds; give a file"));
}

Status write_all(const std::string& path, int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return ok_status();
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Devices, pipes, and links to them such as /dev/stdout, wherever the latter leads.
bool is_written_in_place(const std::string& path) {
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return true;
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

Status write_in_place(const std::string& path, std::span<const uint8_t> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return system_failure(path, "create", errno);
  RK_TRY(write_all(path, file.get(), bytes));
  return file.close() == 0 ? ok_status() : system_failure(path, "write", errno);
}

// A new file beside `path` under a name that nobody can guess, so that nobody can lay a link there.
int create_beside(const std::string& path, std::string& name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) return -1;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    name = str(folder_of(path), ".openrknn-", text, ".tmp");
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

Status fill(const std::string& path, Descriptor& file, std::span<const uint8_t> bytes,
            Durability durability) {
  // Who may read the old file may read the new one.
  struct stat old {};
  if (lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode) &&
      fchmod(file.get(), old.st_mode & 0777) != 0) {
    return system_failure(path, "create", errno);
  }
  RK_TRY(write_all(path, file.get(), bytes));
  if (durability == Durability::kPower && fsync(file.get()) != 0) {
    return system_failure(path, "write", errno);
  }
  return file.close() == 0 ? ok_status() : system_failure(path, "write", errno);
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path, uint64_t limit_bytes) {
  // O_NONBLOCK: opening a pipe that has no writer yet would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return system_failure(path, "open", errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return system_failure(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return system_failure(path, "read", EISDIR);
  constexpr uint64_t kStep = uint64_t{1} << 16;
  const uint64_t hint = info.st_size > 0 ? static_cast<uint64_t>(info.st_size) : 0;
  std::vector<uint8_t> bytes;
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) {
      // One byte more than the hint, so that the end is seen without growing again.
      const uint64_t wanted = used == 0 ? hint + 1 : std::max(uint64_t{used} * 2, kStep);
      bytes.resize(static_cast<size_t>(std::min(wanted, limit_bytes + 1)));
    }
    if (!S_ISREG(info.st_mode)) RK_TRY(await_bytes(path, file.get()));
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return system_failure(path, "read", errno);
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > limit_bytes) {
      return out_of_memory(str("'", path, "' is longer than the limit of ", limit_bytes, " bytes"));
    }
  }
  bytes.resize(used);
  return bytes;
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes, Durability durability) {
  if (is_written_in_place(path)) return write_in_place(path, bytes);
  std::string beside;
  Descriptor file(create_beside(path, beside));
  if (file.get() < 0) return system_failure(path, "create", errno);
  Status status = fill(path, file, bytes, durability);
  if (status.ok() && rename(beside.c_str(), path.c_str()) != 0) {
    status = system_failure(path, "create", errno);
  }
  if (!status.ok()) {
    unlink(beside.c_str());
    return status;
  }
  if (durability == Durability::kPower) {
    // The new name is in the folder; a file system that cannot say so has no more to give.
    const std::string folder = folder_of(path);
    const Descriptor opened(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.get() >= 0) fsync(opened.get());
  }
  return ok_status();
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  if (stat(a.c_str(), &first) != 0 || stat(b.c_str(), &second) != 0) return false;
  return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace rk
