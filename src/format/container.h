// SPDX-License-Identifier: Apache-2.0
// The outermost shell of a .rknn file: header, flatbuffer region, JSON trailer, and the section of
// our own that follows the trailer. Nothing is copied: the parts are spans into the caller's bytes.
// Only sizes and the section's checksum are judged here; what the parts mean is the business of
// vendor_model.h and reader.h.
//
//   0x00  "RKNN", four zero bytes
//   0x08  u64 container version     1, 2, 6 and 0x1004 are known
//   0x10  u64 D                     bytes of the flatbuffer region
//   0x18  40 reserved bytes         versions above 1 only
//   ....  D bytes                   flatbuffer with the file identifier "RKNN"
//   ....  u64 J, J bytes            JSON trailer
//   ....  optional section: "OPENRKNN", u32 version, u32 crc32 of the payload, u64 size, payload
//
// Version 0x1004 (RV1103, RV1106, RV1103B, RV1106B, RK2118) has a body in place of the flatbuffer region: sixteen u32
// {flatbuffer, tasks in bytes, tasks, register words in bytes, internal memory, weights, helpers, 0...}, then tasks,
// register words, helpers, weights and the flatbuffer without gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format {

inline constexpr uint32_t kContainerVersion = 6;
// The section's form: 2 is members in order, 3 is tagged records (record_codec.h). Every version from
// the oldest on is read; the newest is written. A new member of a struct needs no new version.
inline constexpr uint32_t kOldestSectionVersion = 2;
inline constexpr uint32_t kSectionVersion = 3;
inline constexpr std::string_view kFlatIdentifier = "RKNN";

// The part of the file only we read. Its checksum has been verified.
struct Section {
  uint32_t version = kSectionVersion;
  ByteSpan payload;
};

inline constexpr uint32_t kSmallContainerVersion = 0x1004;

// What version 0x1004 keeps beside its flatbuffer.
struct SmallBody {
  ByteSpan tasks, register_words, helpers, weights;
  uint32_t internal_bytes = 0;
};

struct Container {
  uint32_t version = kContainerVersion;  // 0 for a bare flatbuffer without header and trailer
  size_t flatbuffer_offset = 0;          // of the region in the file
  ByteSpan flatbuffer;
  std::string_view json;  // empty for a bare flatbuffer
  std::optional<SmallBody> small;
  std::optional<Section> section;
};

// Splits a file. The error says what the bytes are when they are something else we know: an
// encrypted or first-generation .rknn, an RKNN3 file, an ONNX or TFLite model.
Result<Container> split_container(ByteSpan file);

// The whole file. An empty payload leaves our section out. The region of version 6 is a flatbuffer
// made with FlatWriter, so its size is a multiple of 64; that of version 0x1004 is a body
// (small_writer.h).
std::vector<uint8_t> join_container(ByteSpan region, std::string_view json,
                                    ByteSpan section_payload, uint32_t version = kContainerVersion);

}  // namespace rk::format
