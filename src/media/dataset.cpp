// SPDX-License-Identifier: Apache-2.0
#include "media/dataset.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "media/codecs.h"
#include "media/resize.h"

namespace rk::media {
namespace {

constexpr uint64_t kMaxListBytes = uint64_t{64} << 20;
constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (;;) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Opens the file and looks at its first bytes only: a list may name thousands.
Result<DatasetFile> inspect(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) {
    return io_error(str("'", path, "': ", std::generic_category().message(errno)));
  }
  std::array<uint8_t, kMagicBytes> magic = {};
  const size_t size = std::fread(magic.data(), 1, magic.size(), file.get());
  const FileKind kind = sniff(ByteSpan(magic.data(), size));
  if (kind == FileKind::kUnknown) {
    return unsupported(str("'", path, "' is neither a JPEG, PNG, BMP nor .npy file",
                           other_format(ByteSpan(magic.data(), size))));
  }
  return DatasetFile{path, kind == FileKind::kNpy};
}

// A common mistake: the picture itself instead of the list that names it.
Status check_is_text(const std::string& path, ByteSpan bytes) {
  const FileKind kind = sniff(bytes.first(std::min<size_t>(bytes.size(), kMagicBytes)));
  const ByteSpan head = bytes.first(std::min<size_t>(bytes.size(), 4096));
  const bool binary = std::ranges::find(head, uint8_t{0}) != head.end();
  if (kind == FileKind::kUnknown && !binary) return ok_status();
  return invalid_argument(
      str("dataset '", path, "' is ",
          kind == FileKind::kNpy       ? "an .npy array"
          : kind != FileKind::kUnknown ? "a picture"
                                       : "no text",
          "; give a text file with the names of pictures or .npy files, one sample a line"));
}

}  // namespace

Result<Dataset> read_dataset(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path, kMaxListBytes));
  RK_TRY(check_is_text(path, bytes));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Dataset out;
  out.path = path;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> names = split_words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (names.empty()) continue;
    const std::string context = str("'", path, "' line ", line);
    DatasetSample sample{line, {}};
    for (const std::string& name : names) {
      auto file = inspect((folder / name).string());  // an absolute name replaces the folder
      if (!file.ok()) return file.status().with_context(context);
      sample.files.push_back(std::move(*file));
    }
    if (!out.samples.empty() && sample.files.size() != out.samples[0].files.size()) {
      return invalid_argument(str(context, ": ", sample.files.size(), " files, line ",
                                  out.samples[0].line, " has ", out.samples[0].files.size(),
                                  "; each line needs one file for each input"));
    }
    out.samples.push_back(std::move(sample));
  }
  if (out.samples.empty()) {
    return invalid_argument(str("'", path, "' names no files; one sample a line is expected"));
  }
  return out;
}

Result<Picture> load_image_as(const std::string& path, const ImageForm& form) {
  if (form.channels != 1 && form.channels != 3) {
    return invalid_argument(str("'", path, "': pictures have 1 or 3 channels, the input has ",
                                form.channels, "; give it as .npy"));
  }
  RK_ASSIGN(const Picture picture,
            read_picture(path, form.channels == 1 ? Color::kGrey : Color::kRgb));
  auto resized = resize_bilinear(picture, form.width, form.height);
  if (!resized.ok()) return resized.status().with_context(str("'", path, "'"));
  if (form.rgb2bgr && form.channels == 3) {
    std::vector<uint8_t>& pixels = resized->pixels;
    for (size_t i = 0; i + 2 < pixels.size(); i += 3) std::swap(pixels[i], pixels[i + 2]);
  }
  return resized;
}

}  // namespace rk::media
