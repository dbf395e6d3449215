// SPDX-License-Identifier: Apache-2.0
// Splitting and joining the container. The version rule is the one public viewers use (version >> 8
// is 0 or 0x10), narrowed to the versions whose tables are known.
#include "format/container.h"

#include <algorithm>
#include <tuple>

#include "base/crc32.h"
#include "format/encrypted/encrypted_model.h"

namespace rk::format {
namespace {

constexpr std::string_view kMagic = "RKNN";
constexpr std::string_view kNextGenerationMagic = "RKNX";
constexpr std::string_view kFirstGenerationNetwork = "VPMN";
constexpr std::string_view kSectionMagic = "OPENRKNN";
constexpr size_t kReservedBytes = 40;
// Identifier plus the smallest root table.
constexpr size_t kMinFlatbufferBytes = 16;

bool has_text_at(ByteSpan bytes, size_t offset, std::string_view text) {
  return offset <= bytes.size() && bytes.size() - offset >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(offset),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

Status first_generation() {
  return unsupported(
      "this .rknn was made by the first RKNN Toolkit (RK1808, RK3399Pro, RV1109, RV1126), which is "
      "another format. "
      "Convert the original model again for a RKNPU2 target such as rk3588");
}

// An ONNX file is a protobuf whose first field is ir_version (tag 0x08, a small number), followed
// by producer_name, opset_import or graph.
bool looks_like_onnx(ByteSpan file) {
  if (file.size() < 16 || file[0] != 0x08 || file[1] == 0 || file[1] > 0x20) return false;
  const uint8_t next = file[2];
  return next == 0x12 || next == 0x1A || next == 0x22 || next == 0x2A || next == 0x32 ||
         next == 0x3A || next == 0x42;
}

Status explain_foreign(ByteSpan file) {
  if (is_encrypted(file)) {
    RK_TRY(describe_encrypted(file).status());
    return unsupported(
        "this .rknn is encrypted: it can be run, but not looked into. Use the file from before the "
        "encryption");
  }
  if (has_text_at(file, 0, kNextGenerationMagic)) {
    return unsupported(
        "this file is of the RKNN3 generation (it starts with RKNX), which is another format. "
        "Convert "
        "the original model for a RKNPU2 target such as rk3588");
  }
  if (has_text_at(file, 0, kFirstGenerationNetwork)) return first_generation();
  if (has_text_at(file, 4, "TFL3")) {
    return invalid_model(
        "this is a TFLite model, not a .rknn file. Convert it first: rknn convert");
  }
  if (looks_like_onnx(file)) {
    return invalid_model(
        "this looks like an ONNX model, not a .rknn file. Convert it first: rknn convert");
  }
  // The vendor's words, which people search for.
  if (file.empty()) return invalid_model("Invalid RKNN format! not a .rknn file: it is empty");
  return invalid_model(
      str("Invalid RKNN format! not a .rknn file: ", file.size(),
          " bytes that start with neither the magic RKNN nor a flatbuffer named RKNN"));
}

Result<std::optional<Section>> read_section(ByteReader& in, ByteSpan file) {
  // Bytes after the trailer that do not carry our magic belong to someone else; viewers ignore them
  // and so do we.
  if (!has_text_at(file, in.offset(), kSectionMagic)) return std::optional<Section>();
  RK_TRY(in.seek(in.offset() + kSectionMagic.size()));
  Section section;
  RK_ASSIGN(section.version, in.read<uint32_t>());
  RK_ASSIGN(const uint32_t expected, in.read<uint32_t>());
  RK_ASSIGN(const uint64_t size_bytes, in.read<uint64_t>());
  if (section.version < kOldestSectionVersion || section.version > kSectionVersion) {
    return unsupported(str("the OPENRKNN section has version ", section.version,
                           ", this build reads versions ", kOldestSectionVersion, " to ",
                           kSectionVersion, ". Update, or convert the model again"));
  }
  RK_ASSIGN(section.payload, in.take(size_bytes));
  const uint32_t found = crc32(section.payload);
  if (found != expected) {
    return invalid_model(str("the OPENRKNN section is damaged: its checksum is ", found,
                             ", the file says ", expected, ". Copy or convert the model again"));
  }
  return std::optional<Section>(section);
}

Status check_version(uint64_t version) {
  if (version == 1 || version == 2 || version == 6 || version == kSmallContainerVersion)
    return ok_status();
  return invalid_model(
      str("Invalid RKNN model version ", version,
          ": container versions 1, 2, 6 and 4100 are known (toolkit2 1.1 to 2.5). "
          "If a newer toolkit made this file, convert the model with this one instead"));
}

// The parts of a version 0x1004 body, which must fill it exactly.
Status split_small_body(ByteSpan body, Container& out) {
  ByteReader in(body);
  uint32_t words[16];
  for (uint32_t& word : words) {
    const Result<uint32_t> value = in.read<uint32_t>();
    if (!value.ok()) return value.status().with_context("body of container 0x1004");
    word = *value;
  }
  const auto [flatbuffer, tasks, task_count, registers, internal, weights, helpers] =
      std::tuple(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
  const uint64_t sum = uint64_t{sizeof words} + tasks + registers + helpers + weights + flatbuffer;
  if (sum != body.size() || uint64_t{task_count} * 40 > tasks) {
    return invalid_model(
        str("container 0x1004: its parts (", task_count, " tasks in ", tasks, " bytes, ", registers,
            " of register words, ", helpers, " of helpers, ", weights, " of weights, ", flatbuffer,
            " of flatbuffer) do not fill its ", body.size(), " bytes; the file is damaged"));
  }
  SmallBody small;
  RK_ASSIGN(small.tasks, in.take(tasks));
  small.tasks = small.tasks.first(size_t{task_count} * 40);
  RK_ASSIGN(small.register_words, in.take(registers));
  RK_ASSIGN(small.helpers, in.take(helpers));
  RK_ASSIGN(small.weights, in.take(weights));
  small.internal_bytes = internal;
  out.flatbuffer_offset += in.offset();
  RK_ASSIGN(out.flatbuffer, in.take(flatbuffer));
  out.small = small;
  return ok_status();
}

}  // namespace

Result<Container> split_container(ByteSpan file) {
  Container out;
  if (!has_text_at(file, 0, kMagic)) {
    // CYPTRKNN also has the identifier at byte 4.
    if (!has_text_at(file, 4, kFlatIdentifier) || is_encrypted(file)) {
      return explain_foreign(file);
    }
    out.version = 0;
    out.flatbuffer = file;
    return out;
  }
  ByteReader in(file);
  RK_TRY(in.seek(8).with_context(".rknn header"));
  const auto read_u64 = [&](const char* what) -> Result<uint64_t> {
    const Result<uint64_t> value = in.read<uint64_t>();
    if (!value.ok()) return value.status().with_context(what);
    return *value;
  };
  RK_ASSIGN(const uint64_t version, read_u64(".rknn container version"));
  RK_ASSIGN(const uint64_t region_bytes, read_u64(".rknn flatbuffer size"));
  // A first-generation file has the same header; its region is a compiled OpenVX network.
  if (has_text_at(file, in.offset(), kFirstGenerationNetwork) ||
      has_text_at(file, in.offset() + kReservedBytes, kFirstGenerationNetwork)) {
    return first_generation();
  }
  RK_TRY(check_version(version));
  out.version = static_cast<uint32_t>(version);
  if (version > 1) RK_TRY(in.seek(in.offset() + kReservedBytes).with_context(".rknn header"));
  out.flatbuffer_offset = in.offset();
  const Result<ByteSpan> region = in.take(region_bytes);
  if (!region.ok()) return region.status().with_context(".rknn flatbuffer region");
  out.flatbuffer = *region;
  if (version == kSmallContainerVersion) RK_TRY(split_small_body(*region, out));
  if (out.flatbuffer.size() < kMinFlatbufferBytes ||
      !has_text_at(out.flatbuffer, 4, kFlatIdentifier)) {
    if (region_bytes == 0) return first_generation();
    return invalid_model(
        str("the .rknn file's graph region of ", region_bytes,
            " bytes is not a flatbuffer with the identifier RKNN; the file is damaged"));
  }
  RK_ASSIGN(const uint64_t json_bytes, read_u64(".rknn JSON trailer size"));
  const Result<ByteSpan> json = in.take(json_bytes);
  if (!json.ok()) return json.status().with_context(".rknn JSON trailer");
  out.json = {reinterpret_cast<const char*>(json->data()), json->size()};
  const Result<std::optional<Section>> section = read_section(in, file);
  if (!section.ok()) return section.status().with_context(".rknn section after the trailer");
  out.section = *section;
  return out;
}

std::vector<uint8_t> join_container(ByteSpan region, std::string_view json,
                                    ByteSpan section_payload, uint32_t version) {
  RK_ASSERT(version != kContainerVersion || region.size() % 64 == 0,
            "the flatbuffer region of a version 6 file is a multiple of 64 bytes");
  const auto text = [](std::string_view value) {
    return ByteSpan(reinterpret_cast<const uint8_t*>(value.data()), value.size());
  };
  ByteWriter out;
  out.write_bytes(text(kMagic));
  out.write(uint32_t{0});
  out.write(uint64_t{version});
  out.write(uint64_t{region.size()});
  out.write_bytes(std::vector<uint8_t>(kReservedBytes));
  out.write_bytes(region);
  out.write(uint64_t{json.size()});
  out.write_bytes(text(json));
  if (!section_payload.empty()) {
    out.write_bytes(text(kSectionMagic));
    out.write(kSectionVersion);
    out.write(crc32(section_payload));
    out.write(uint64_t{section_payload.size()});
    out.write_bytes(section_payload);
  }
  return out.release();
}

}  // namespace rk::format
