// SPDX-License-Identifier: Apache-2.0
// RK3562: rows that stay in the convolution buffer.
#include "emulator/emulator.h"
#include "target/rk3562_registers.h"

namespace rk::emulator {

namespace here = target::rk3562_reg;
using target::RegisterField;
using target::RegisterFile;

Status BufferedRows::fetch(const RegisterFile& raw) {
  if (raw.get(here::kPicture) != 0) {
    *this = {};
    return ok_status();
  }
  const uint32_t rows = raw.get(RegisterField{"HEIGHT", 0x102c, 0, 15});
  const uint32_t fetched = raw.get(here::kFetchedRows), entries = raw.get(here::kRowEntries);
  const uint32_t ring = raw.get(here::kRingEntries), write = raw.get(here::kWriteEntry);
  const uint32_t address = raw.get(here::kFeatureAddress);
  if (ring == 0 || entries == 0 || fetched > rows || uint64_t{rows} * entries > ring)
    return invalid_model("the rows of a list do not fit the buffer");
  const uint32_t kept = rows - fetched;
  const bool keeps = raw.get(here::kKeepsRows) != 0;
  if (keeps != (kept != 0)) return unsupported("rows of the buffer are used in an unknown way");
  const uint64_t first = (uint64_t{write} + ring - uint64_t{kept} * entries % ring) % ring;
  if (first != raw.get(here::kFirstEntry))
    return invalid_model("a tile does not begin where its rows lie in the buffer");
  if (keeps && (kept > rows_ || address != end_address_ || write != end_entry_ || ring != ring_))
    return invalid_model("a list uses rows that the list before it did not leave in the buffer");
  rows_ = rows;
  ring_ = ring;
  end_address_ =
      address + fetched * raw.get(here::kLine) * (raw.get(here::kSingleLines) != 0 ? 16 : 4);
  end_entry_ = static_cast<uint32_t>((uint64_t{write} + uint64_t{fetched} * entries) % ring);
  return ok_status();
}

}  // namespace rk::emulator
