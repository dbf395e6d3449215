// What happens before and after a run.
#pragma once

#include <string>

#include "npy.h"
#include "rknn_api.h"

// A .npy array, or a binary PPM or PGM picture stretched (bilinear) to the size of the input. False, with a line on
// standard error, when it cannot be used.
bool load_input(const std::string& path, const rknn_tensor_attr& attr, NpyArray* array);

// Bytes that look like a picture, for timing without data: 32-bit linear congruential numbers.
NpyArray make_input(const rknn_tensor_attr& attr);

// The largest elements of an output with their places.
void print_largest(const NpyArray& array, const std::string& name, int count);

struct Difference {
  bool comparable = false;  // types and shapes are the same
  bool same_bytes = false;
  double cosine = 0;
  double largest = 0;  // of |a - b|
};
Difference compare(const NpyArray& a, const NpyArray& b);
