// SPDX-License-Identifier: Apache-2.0
// A folder of .npy files by value name. The analysis keeps tensors here instead of in memory, so that a model's memory
// use does not grow with the number of its layers.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ir/tensor.h"

namespace rk::analysis {

// A file name per value name: without characters that a file system may refuse, and each only once.
class FileNames {
 public:
  const std::string& of(const std::string& value_name);
  // "name file" per line, in the order they were asked for.
  std::string map_text() const { return text_; }

 private:
  std::map<std::string, std::string, std::less<>> names_;
  std::set<std::string> taken_;
  std::string text_;
};

class TensorFolder {
 public:
  // kIo when it cannot be made.
  static Result<TensorFolder> make(const std::filesystem::path& path);
  // Removed, with what it holds, when the object dies.
  static Result<TensorFolder> temporary();
  TensorFolder(TensorFolder&& other) noexcept;
  TensorFolder& operator=(TensorFolder&&) = delete;
  ~TensorFolder();

  // The error names the file, also when the disk is full.
  Status put(const std::string& file, const Tensor& tensor);
  // The same numbers (float32) as text, one a line, in a file of that name that ends in .txt.
  Status put_text(const std::string& file, const Tensor& tensor);
  // Nothing when it was never put.
  Result<std::optional<Tensor>> get(const std::string& file) const;

 private:
  explicit TensorFolder(std::filesystem::path path, bool remove)
      : path_(std::move(path)), remove_(remove) {}
  std::filesystem::path path_;
  bool remove_ = false;
  std::set<std::string> files_;
};

// kIo with both figures when the file system of `folder` cannot hold `bytes` more.
Status check_space(const std::filesystem::path& folder, uint64_t bytes);

}  // namespace rk::analysis
