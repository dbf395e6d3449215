// numpy's .npy files, version 1, little-endian, C order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct NpyArray {
  std::string type;             // numpy's: "|u1", "<f4", "<i8", ...
  std::vector<uint32_t> shape;  // empty: one element
  std::vector<uint8_t> bytes;
  size_t item_size() const;
  size_t elements() const;
};

// False, with a line on standard error, when the file cannot be read or is not of this kind.
bool read_npy(const std::string& path, NpyArray* array);
bool write_npy(const std::string& path, const NpyArray& array);
