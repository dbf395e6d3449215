// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace rk {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Status system_failure(const std::string& path, std::string_view action, int error) {
  return io_error(
      str("'", path, "': cannot ", action, ": ", std::generic_category().message(error)));
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path, uint64_t limit_bytes) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return system_failure(path, "open", errno);
  struct stat info {};
  if (fstat(fileno(file.get()), &info) != 0) return system_failure(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return system_failure(path, "read", EISDIR);

  constexpr uint64_t kStep = uint64_t{1} << 16;
  const uint64_t hint = info.st_size > 0 ? static_cast<uint64_t>(info.st_size) : 0;
  std::vector<uint8_t> bytes;
  size_t used = 0;
  for (;;) {
    // One byte more than the hint, so that the end is seen without growing again.
    const uint64_t wanted = used == 0 ? hint + 1 : std::max(uint64_t{used} * 2, kStep);
    bytes.resize(static_cast<size_t>(std::min(wanted, limit_bytes + 1)));
    used += std::fread(bytes.data() + used, 1, bytes.size() - used, file.get());
    if (std::ferror(file.get()) != 0) return system_failure(path, "read", errno);
    if (used > limit_bytes) {
      return out_of_memory(str("'", path, "' is longer than the limit of ", limit_bytes, " bytes"));
    }
    if (used < bytes.size()) break;
  }
  bytes.resize(used);
  return bytes;
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  File file(std::fopen(path.c_str(), "wbe"));
  if (file == nullptr) return system_failure(path, "create", errno);
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
    return system_failure(path, "write", errno);
  }
  // A full disk may show only now.
  if (std::fclose(file.release()) != 0) return system_failure(path, "write", errno);
  return ok_status();
}

}  // namespace rk
