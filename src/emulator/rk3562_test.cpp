// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "emulator/emulator.h"
#include "target/rk3562_registers.h"

namespace rk::emulator {
namespace {

struct Tile {
  uint32_t rows = 0, fetched = 0, first = 0, write = 0, address = 0;
};

// Rows of 160 atoms that take 80 entries of a ring of 3584, as in yolov5s.
target::RegisterFile registers_of(const Tile& tile) {
  target::RegisterFile out;
  const auto set = [&](uint16_t offset, uint32_t value) { out.write({0, value, offset}); };
  const uint32_t keeps = tile.rows != tile.fetched ? 0x80000000 : 0;
  set(0x1018, keeps | 0x180707);
  set(0x102c, 160U << 16 | tile.rows);
  set(0x103c, 80U << 16 | tile.first);
  set(0x1040, 3584U << 16 | tile.write);
  set(0x1078, 160U << 16 | tile.fetched);
  set(0x1088, tile.address);
  set(0x1090, 640);
  return out;
}

constexpr uint32_t kRow = 160 * 16, kStart = 0x10000;

TEST(BufferedRows, ATileMayUseRowsThatTheTileBeforeFetched) {
  BufferedRows rows;
  EXPECT_TRUE(rows.fetch(registers_of({44, 44, 0, 0, kStart})).ok());
  EXPECT_TRUE(rows.fetch(registers_of({43, 42, 0xd70, 0xdc0, kStart + 44 * kRow})).ok());
  EXPECT_TRUE(rows.fetch(registers_of({43, 42, 0xc90, 0xce0, kStart + 86 * kRow})).ok());
}

TEST(BufferedRows, RefusesRowsThatAreNotInTheBuffer) {
  BufferedRows rows;
  const Tile next{43, 42, 0xd70, 0xdc0, kStart + 44 * kRow};
  EXPECT_EQ(rows.fetch(registers_of(next)).code(), Code::kInvalidModel);  // nothing was fetched
  ASSERT_TRUE(rows.fetch(registers_of({44, 44, 0, 0, kStart})).ok());
  Tile other = next;
  other.address += kRow;  // a row is left out
  EXPECT_EQ(rows.fetch(registers_of(other)).code(), Code::kInvalidModel);
  other = next;
  other.first = other.write = 0;  // not where the rows are
  EXPECT_EQ(rows.fetch(registers_of(other)).code(), Code::kInvalidModel);
  EXPECT_EQ(rows.fetch(registers_of({45, 45, 0, 0, kStart})).code(),
            Code::kInvalidModel);  // more than the ring holds
  EXPECT_TRUE(rows.fetch(registers_of(next)).ok());
}

}  // namespace
}  // namespace rk::emulator
