// SPDX-License-Identifier: Apache-2.0
// What users hand to the toolkit beside models: the options of every method as JSON, and the files of hybrid
// quantization.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "tests/fuzz/target.h"
#include "toolkit/hybrid_data.h"
#include "toolkit/quantization_cfg.h"
#include "toolkit/rknn_toolkit_c.h"

namespace rk::fuzz {
namespace {

// A file for readers that take a path, in memory.
class TextFile {
 public:
  explicit TextFile(Bytes bytes) : path_(str("/dev/shm/openrknn-fuzz-", getpid())) {
    ok_ = write_file(path_, bytes).ok();
  }
  ~TextFile() { std::remove(path_.c_str()); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  bool ok() const { return ok_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool ok_ = false;
};

}  // namespace

void fuzz_hybrid(Bytes bytes) {
  const TextFile file(bytes);
  if (!file.ok()) return;
  (void)toolkit::read_hybrid_data(file.path());
  (void)toolkit::read_cfg(file.path());
}

// The first byte names the method, the rest is its options. Methods that read or write files named in the options are
// left out.
void fuzz_options(Bytes bytes) {
  static constexpr const char* kMethods[] = {"config",
                                             "build",
                                             "init_runtime",
                                             "eval_perf",
                                             "eval_memory",
                                             "get_sdk_version",
                                             "list_support_target_platform"};
  if (bytes.empty()) return;
  const std::string options(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1);
  rknn_toolkit* const toolkit = rknn_toolkit_create(nullptr, 0);
  (void)rknn_toolkit_call(toolkit, kMethods[bytes[0] % std::size(kMethods)], options.c_str(),
                          nullptr, 0);
  (void)rknn_toolkit_result();
  (void)rknn_toolkit_error();
  rknn_toolkit_destroy(toolkit);
}

}  // namespace rk::fuzz
