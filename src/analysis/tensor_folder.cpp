// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_folder.h"

#include <unistd.h>

#include <atomic>
#include <charconv>

#include "base/file.h"
#include "base/npy.h"
#include "quant/samples.h"

namespace rk::analysis {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxStem = 200;  // file systems take 255 bytes

std::string mib(uint64_t bytes) { return str((bytes + (1 << 20) - 1) >> 20, " MiB"); }

}  // namespace

const std::string& FileNames::of(const std::string& value_name) {
  const auto known = names_.find(value_name);
  if (known != names_.end()) return known->second;
  std::string stem = value_name.substr(0, kMaxStem);
  for (char& c : stem) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                      c == '.' || c == '+';
    if (!fits) c = '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, 1, '_');
  std::string file = stem + ".npy";
  for (int i = 1; !taken_.insert(file).second; ++i) file = str(stem, "_", i, ".npy");
  text_ += str(value_name, " ", file, "\n");
  return names_.emplace(value_name, std::move(file)).first->second;
}

Result<TensorFolder> TensorFolder::make(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return io_error(str("cannot make folder '", path.string(), "': ", error.message()));
  return TensorFolder(path, false);
}

Result<TensorFolder> TensorFolder::temporary() {
  static std::atomic<uint64_t> next = 0;
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return io_error(str("there is no folder for temporary files: ", error.message()));
  RK_ASSIGN(TensorFolder made, make(base / str("rknn_analysis_", ::getpid(), "_", next++)));
  made.remove_ = true;
  return made;
}

TensorFolder::TensorFolder(TensorFolder&& other) noexcept
    : path_(std::move(other.path_)), remove_(other.remove_), files_(std::move(other.files_)) {
  other.remove_ = false;
}

TensorFolder::~TensorFolder() {
  std::error_code ignored;
  if (remove_) fs::remove_all(path_, ignored);
}

Status TensorFolder::put(const std::string& file, const Tensor& tensor) {
  NpyArray array;
  array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  const ByteSpan bytes = tensor.bytes();
  array.bytes.assign(bytes.begin(), bytes.end());
  RK_TRY(write_npy((path_ / file).string(), array));
  files_.insert(file);
  return ok_status();
}

Status TensorFolder::put_text(const std::string& file, const Tensor& tensor) {
  std::string text;
  for (const float x : tensor.span<float>()) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, x);
    text.append(digits, end.ptr);
    text += '\n';
  }
  fs::path path = path_ / file;
  path.replace_extension(".txt");
  return write_file(path.string(),
                    std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Result<std::optional<Tensor>> TensorFolder::get(const std::string& file) const {
  if (!files_.contains(file)) return std::optional<Tensor>();
  RK_ASSIGN(Tensor tensor, quant::load_npy_tensor((path_ / file).string()));
  return std::optional(std::move(tensor));
}

Status check_space(const fs::path& folder, uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= bytes) return ok_status();
  return io_error(str("accuracy_analysis would write ", mib(bytes), " (", bytes, " bytes) to '",
                      folder.string(), "', where ", mib(space.available),
                      " are free; make room, choose another output_dir, or pass none"));
}

}  // namespace rk::analysis
