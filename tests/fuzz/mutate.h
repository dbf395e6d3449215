// SPDX-License-Identifier: Apache-2.0
// Damage to a file, chosen by a seeded generator: the same seed and number give the same file on
// every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rk::fuzz {

// splitmix64: the standard library's distributions differ between implementations.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : next() % limit; }

 private:
  uint64_t state_;
};

struct Range {  // bytes of a file
  size_t begin = 0;
  size_t end = 0;
};

// One to four changes inside `where`: flipped bits, overwritten bytes, aligned words set to
// extremes or moved a little, a varint made huge, bytes inserted, removed, copied, the end cut off.
// `keep_size` leaves out those that move what follows. Returns a description.
std::string mutate(std::vector<uint8_t>& file, Range where, bool keep_size, Random& random);

}  // namespace rk::fuzz
