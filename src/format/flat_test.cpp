// SPDX-License-Identifier: Apache-2.0
// The slot reader against hand-written bytes, the writer against the reader, and both against
// damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/flat_reader.h"
#include "format/flat_writer.h"

namespace rk::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A flatbuffer laid out by hand: root table at 0x14 with vtable at 0x08; slot 0 i32 = 7, slot 1
// absent, slot 2 a string.
std::vector<uint8_t> hand_written() {
  return {
      0x14, 0, 0, 0, 'R', 'K', 'N', 'N',         // root offset, identifier
      0x0A, 0, 0x0C, 0, 0x04, 0, 0, 0, 0x08, 0,  // vtable: 10 bytes, table of 12, slots at 4,
                                                 // -, 8
      0, 0,                                      // padding
      0x0C, 0, 0, 0, 0x07, 0, 0, 0, 0x04, 0, 0,
      0,                              // table: vtable 12 back, slot 0 = 7, slot 2 -> +4
      0x02, 0, 0, 0, 'h', 'i', 0, 0,  // string of 2
  };
}

TEST(FlatReaderTest, ReadsScalarsDefaultsAndStringsOfAHandWrittenTable) {
  const std::vector<uint8_t> bytes = hand_written();
  const FlatRegion region(bytes);
  const Result<FlatTable> root = FlatTable::root(region, "Model");
  ASSERT_TRUE(root.ok()) << root.status().message();
  EXPECT_EQ(root->slot_count(), 3);
  EXPECT_EQ(root->scalar<int32_t>(0, 99).value(), 7);
  EXPECT_EQ(root->scalar<int32_t>(1, 99).value(), 99);
  EXPECT_EQ(root->scalar<int32_t>(40, -1).value(), -1);
  EXPECT_EQ(root->string(2).value(), "hi");
  EXPECT_EQ(root->string(1).value(), std::nullopt);
  EXPECT_TRUE(root->vector<float>(1).value().empty());
}

TEST(FlatReaderTest, NamesTableSlotAndOffsetWhenAVectorRunsPastTheEnd) {
  std::vector<uint8_t> bytes = hand_written();
  bytes[0x20] = 0xFF;  // the string's length
  const FlatRegion region(bytes);
  const Result<FlatTable> root = FlatTable::root(region, "Model");
  ASSERT_TRUE(root.ok());
  const auto text = root->string(2);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().code(), Code::kInvalidModel);
  EXPECT_THAT(text.status().message(),
              HasSubstr("Model slot 2 (table at offset 0x14): vector of 255 elements"));
}

TEST(FlatReaderTest, RefusesFieldsThatLeaveTheirTable) {
  std::vector<uint8_t> bytes = hand_written();
  bytes[0x0C] = 0x0A;  // slot 0 at 10 of a 12-byte table
  const FlatRegion region(bytes);
  const Result<int32_t> value = FlatTable::root(region, "Model")->scalar<int32_t>(0, 0);
  ASSERT_FALSE(value.ok());
  EXPECT_THAT(value.status().message(), HasSubstr("leaves its table of 12 bytes"));
}

TEST(FlatReaderTest, RefusesVtablesOutsideTheRegion) {
  for (const uint8_t distance : {0x60, 0xF0}) {
    std::vector<uint8_t> bytes = hand_written();
    bytes[0x14] = distance;
    bytes[0x17] = distance == 0xF0 ? 0xFF : 0;  // far behind, and far ahead
    const FlatRegion region(bytes);
    EXPECT_FALSE(FlatTable::root(region, "Model").ok());
  }
}

TEST(FlatWriterTest, RoundTripsEveryKindOfSlot) {
  FlatWriter out;
  FlatFields inner;
  inner.add(0, uint64_t{0x1122334455667788});
  const FlatRef child = out.table(std::move(inner));
  const FlatRef text = out.string("name");
  const FlatRef numbers = out.vector(std::vector<int32_t>{3, -1, 4});
  const FlatRef wide = out.vector(std::vector<uint64_t>{1, 2});
  const FlatRef children = out.refs({child, child});
  FlatFields fields;
  fields.add(0, int8_t{-5});
  fields.add(1, text);
  fields.add(2, numbers);
  fields.add(3, children);
  fields.add(5, uint64_t{42});
  fields.add(6, int32_t{1}, int32_t{1});
  fields.add(7, wide);
  const FlatRef root_ref = out.table(std::move(fields));
  const Result<std::vector<uint8_t>> bytes = std::move(out).finish(root_ref, "RKNN");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->size() % 64, 0u);
  EXPECT_EQ(std::string(bytes->begin() + 4, bytes->begin() + 8), "RKNN");

  const FlatRegion region(*bytes);
  const Result<FlatTable> root = FlatTable::root(region, "Root");
  ASSERT_TRUE(root.ok()) << root.status().message();
  EXPECT_EQ(root->offset() % 4, 0u);
  EXPECT_EQ(root->scalar<int8_t>(0, 0).value(), -5);
  EXPECT_EQ(root->string(1).value(), "name");
  EXPECT_THAT(root->vector<int32_t>(2).value(), ElementsAre(3, -1, 4));
  EXPECT_THAT(root->vector<uint64_t>(7).value(), ElementsAre(1, 2));
  EXPECT_FALSE(root->has(4));
  EXPECT_EQ(root->scalar<uint64_t>(5, 0).value(), 42u);
  EXPECT_FALSE(root->has(6)) << "a default value takes no slot";
  const auto tables = root->tables(3, "Child");
  ASSERT_TRUE(tables.ok());
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ((*tables)[1].scalar<uint64_t>(0, 0).value(), 0x1122334455667788u);
}

TEST(FlatWriterTest, PutsPayloadsOn64ByteBoundariesOfTheRegion) {
  FlatWriter out;
  std::vector<FlatRef> refs;
  for (const size_t size_bytes : {1, 63, 64, 65, 200}) {
    FlatFields fields;
    fields.add(0, out.aligned_bytes(std::vector<uint8_t>(size_bytes, 0xAB)));
    refs.push_back(out.table(std::move(fields)));
  }
  FlatFields fields;
  fields.add(0, out.refs(refs));
  const FlatRef root_ref = out.table(std::move(fields));
  const std::vector<uint8_t> bytes = std::move(out).finish(root_ref, "RKNN").value();
  const FlatRegion region(bytes);
  const auto tables = FlatTable::root(region, "Root")->tables(0, "Buffer").value();
  ASSERT_EQ(tables.size(), 5u);
  for (const FlatTable& table : tables) {
    const ByteSpan payload = table.bytes(0).value();
    EXPECT_EQ((payload.data() - bytes.data()) % 64, 0);
    EXPECT_EQ(payload.back(), 0xAB);
  }
}

TEST(FlatWriterTest, RefusesRegionsAboveTheLimit) {
  FlatWriter out(1024);
  std::vector<FlatRef> refs;
  for (int i = 0; i < 4; ++i) {
    FlatFields fields;
    fields.add(0, out.aligned_bytes(std::vector<uint8_t>(400)));
    refs.push_back(out.table(std::move(fields)));
  }
  FlatFields fields;
  fields.add(0, out.refs(refs));
  const FlatRef root_ref = out.table(std::move(fields));
  const Result<std::vector<uint8_t>> bytes = std::move(out).finish(root_ref, "RKNN");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), Code::kOutOfMemory);
}

TEST(FlatReaderTest, BoundsWhatManyReferencesToOneTableMayDecode) {
  // 100 000 elements that all point to the same table with a 100 KB string: 400 KB of file, 10 GB
  // decoded.
  FlatWriter out;
  FlatFields inner;
  inner.add(0, out.string(std::string(100'000, 'x')));
  const FlatRef child = out.table(std::move(inner));
  FlatFields fields;
  fields.add(0, out.refs(std::vector<FlatRef>(100'000, child)));
  const FlatRef root_ref = out.table(std::move(fields));
  const std::vector<uint8_t> bytes = std::move(out).finish(root_ref, "RKNN").value();
  const FlatRegion region(bytes);
  const auto tables = FlatTable::root(region, "Root")->tables(0, "Child");
  ASSERT_FALSE(tables.ok());
  EXPECT_THAT(tables.status().message(), HasSubstr("the file is damaged"));
}

}  // namespace
}  // namespace rk::format
