// SPDX-License-Identifier: Apache-2.0
#include "format/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/crc32.h"

namespace rk::format {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<uint8_t> region() {
  std::vector<uint8_t> out(128);
  std::copy_n("RKNN", 4, out.begin() + 4);
  return out;
}

std::string refusal(const std::vector<uint8_t>& file) {
  const Result<Container> container = split_container(file);
  return container.ok() ? "accepted" : container.status().message();
}

TEST(Crc32Test, MatchesTheCheckValueOfTheCatalogue) {
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xCBF43926u);
  EXPECT_EQ(crc32({}), 0u);
}

TEST(ContainerTest, JoinsAndSplitsAllFourParts) {
  const std::vector<uint8_t> payload = bytes_of("our program");
  const std::vector<uint8_t> file = join_container(region(), "{\"a\":1}", payload);
  EXPECT_EQ(file.size(), 0x40 + 128 + 8 + 7 + 24 + payload.size());
  const Result<Container> container = split_container(file);
  ASSERT_TRUE(container.ok()) << container.status().message();
  EXPECT_EQ(container->version, 6u);
  EXPECT_EQ(container->flatbuffer_offset, 0x40u);
  EXPECT_EQ(container->flatbuffer.size(), 128u);
  EXPECT_EQ(container->json, "{\"a\":1}");
  ASSERT_TRUE(container->section.has_value());
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), container->section->payload.begin()));
}

TEST(ContainerTest, WritesTheHeaderFieldsWhereTheFactSheetSaysThem) {
  const std::vector<uint8_t> file = join_container(region(), "{}", {});
  EXPECT_EQ(std::string(file.begin(), file.begin() + 4), "RKNN");
  EXPECT_EQ(load<uint32_t>(&file[4]), 0u);
  EXPECT_EQ(load<uint64_t>(&file[8]), 6u);
  EXPECT_EQ(load<uint64_t>(&file[0x10]), 128u);
  EXPECT_EQ(std::string(file.begin() + 0x44, file.begin() + 0x48), "RKNN");
  EXPECT_EQ(load<uint64_t>(&file[0x40 + 128]), 2u);
  EXPECT_EQ(file.size(), 0x48 + 128 + 2u);
}

TEST(ContainerTest, VersionOneHasNoReservedBytesInItsHeader) {
  std::vector<uint8_t> file = join_container(region(), "{}", {});
  file.erase(file.begin() + 0x18, file.begin() + 0x40);
  file[8] = 1;
  const Result<Container> container = split_container(file);
  ASSERT_TRUE(container.ok()) << container.status().message();
  EXPECT_EQ(container->version, 1u);
  EXPECT_EQ(container->flatbuffer_offset, 0x18u);
  EXPECT_EQ(container->json, "{}");
}

TEST(ContainerTest, AcceptsABareFlatbufferAndForeignBytesAfterTheTrailer) {
  const Result<Container> bare = split_container(region());
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare->version, 0u);
  std::vector<uint8_t> file = join_container(region(), "{}", {});
  file.insert(file.end(), {1, 2, 3});
  const Result<Container> container = split_container(file);
  ASSERT_TRUE(container.ok());
  EXPECT_FALSE(container->section.has_value());
}

TEST(ContainerTest, SaysWhatAForeignFileIs) {
  EXPECT_THAT(refusal({}), HasSubstr("it is empty"));
  EXPECT_THAT(refusal(bytes_of("hello, world, no model")),
              HasSubstr("Invalid RKNN format! not a .rknn file: 22 bytes"));
  EXPECT_THAT(refusal(bytes_of("CYPTRKNN and the rest")), HasSubstr("encrypted"));
  EXPECT_THAT(refusal(bytes_of("RKNX and the rest of it")), HasSubstr("RKNN3"));
  EXPECT_THAT(refusal(bytes_of("VPMN and the rest of it")), HasSubstr("first RKNN Toolkit"));
  EXPECT_THAT(refusal(bytes_of("\x1c___TFL3 and the rest")), HasSubstr("TFLite"));
  EXPECT_THAT(refusal(bytes_of("\x08\x07\x12\x07pytorch\x1a\x05"
                               "2.1.0")),
              HasSubstr("ONNX"));
}

TEST(ContainerTest, RefusesFirstGenerationFilesInsideTheSameShell) {
  std::vector<uint8_t> old = region();
  std::copy_n("VPMN", 4, old.begin());
  EXPECT_THAT(refusal(join_container(old, "{}", {})), HasSubstr("first RKNN Toolkit"));
}

TEST(ContainerTest, SplitsTheBodyOfSmallChips) {
  const std::vector<uint8_t> flat = region();
  std::vector<uint8_t> body(64);
  const auto word = [&](size_t i, uint32_t value) { std::memcpy(&body[4 * i], &value, 4); };
  const std::vector<uint32_t> sizes = {static_cast<uint32_t>(flat.size()), 64, 1, 16, 4096, 8, 24};
  for (size_t i = 0; i < sizes.size(); ++i) word(i, sizes[i]);
  for (const auto& [count, value] : {std::pair{64, 't'}, {16, 'r'}, {24, 'h'}, {8, 'w'}})
    body.insert(body.end(), static_cast<size_t>(count), static_cast<uint8_t>(value));
  body.insert(body.end(), flat.begin(), flat.end());
  const auto wrap = [&] {
    std::vector<uint8_t> padded = body;
    std::vector<uint8_t> file = {'R', 'K', 'N', 'N', 0, 0, 0, 0, 4, 0x10, 0, 0, 0, 0, 0, 0};
    const uint64_t size = padded.size();
    file.resize(0x40);
    std::memcpy(&file[0x10], &size, 8);
    file.insert(file.end(), padded.begin(), padded.end());
    file.insert(file.end(), {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'});
    return file;
  };
  const std::vector<uint8_t> file = wrap();
  const Result<Container> split = split_container(file);
  ASSERT_TRUE(split.ok()) << split.status().message();
  ASSERT_TRUE(split->small.has_value());
  EXPECT_EQ(split->small->tasks.size(), 40u);
  EXPECT_EQ(split->small->register_words[0], 'r');
  EXPECT_EQ(split->small->helpers.size(), 24u);
  EXPECT_EQ(split->small->weights[7], 'w');
  EXPECT_EQ(split->small->internal_bytes, 4096u);
  EXPECT_EQ(split->json, "{}");
  EXPECT_TRUE(std::equal(flat.begin(), flat.end(), split->flatbuffer.begin()));
  word(5, 9);
  EXPECT_THAT(refusal(wrap()), HasSubstr("do not fill its"));
}

TEST(ContainerTest, RefusesUnknownVersionsNamingThem) {
  std::vector<uint8_t> file = join_container(region(), "{}", {});
  file[8] = 9;
  EXPECT_THAT(refusal(file), HasSubstr("Invalid RKNN model version 9: container versions 1, 2,"));
  file[15] = 0x80;
  EXPECT_THAT(refusal(file), HasSubstr("container version"));
}

TEST(ContainerTest, RefusesEveryTruncation) {
  const std::vector<uint8_t> file = join_container(region(), "{}", bytes_of("payload"));
  const size_t section_start = 0x48 + 128 + 2;
  for (size_t size = 0; size < file.size(); ++size) {
    const Result<Container> container = split_container(ByteSpan(file).first(size));
    // Cut inside the section's magic the rest is foreign bytes, which are ignored.
    const bool foreign_tail = size >= section_start && size < section_start + 8;
    EXPECT_EQ(container.ok(), foreign_tail) << size;
  }
}

TEST(ContainerTest, RefusesSizesThatWrapAround) {
  std::vector<uint8_t> file = join_container(region(), "{}", {});
  std::fill_n(file.begin() + 0x10, 8, uint8_t{0xFF});
  EXPECT_THAT(refusal(file), HasSubstr(".rknn flatbuffer region: truncated"));
  file = join_container(region(), "{}", {});
  std::fill_n(file.begin() + 0x40 + 128, 8, uint8_t{0xFF});
  EXPECT_THAT(refusal(file), HasSubstr(".rknn JSON trailer: truncated"));
}

TEST(ContainerTest, NoticesADamagedSection) {
  std::vector<uint8_t> file = join_container(region(), "{}", bytes_of("payload"));
  file.back() ^= 1;
  EXPECT_THAT(refusal(file), HasSubstr("section is damaged"));
  file = join_container(region(), "{}", bytes_of("payload"));
  file[0x48 + 128 + 2 + 8] = 7;
  EXPECT_THAT(refusal(file), HasSubstr("version 7"));
}

}  // namespace
}  // namespace rk::format
