#include "process.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "rknn_app.h"

namespace {

struct Picture {
  int width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

bool fail(const std::string& path, const char* why) {
  fprintf(stderr, "cannot use '%s': %s\n", path.c_str(), why);
  return false;
}

// P6 (RGB) and P5 (gray) with 8 bits a channel.
bool read_pnm(const std::string& path, Picture* picture) {
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(path, "no such file, or no right to read it");
  char kind = 0;
  int limit = 0;
  const bool header =
      fscanf(file, "P%c %d %d %d", &kind, &picture->width, &picture->height, &limit) == 4 &&
      fgetc(file) != EOF && (kind == '5' || kind == '6') && limit == 255 && picture->width > 0 &&
      picture->height > 0 && picture->width <= 16384 && picture->height <= 16384;
  bool whole = false;
  if (header) {
    picture->channels = kind == '6' ? 3 : 1;
    picture->pixels.resize(static_cast<size_t>(picture->width) * picture->height *
                           picture->channels);
    whole =
        fread(picture->pixels.data(), 1, picture->pixels.size(), file) == picture->pixels.size();
  }
  fclose(file);
  if (!header) return fail(path, "it is neither .npy nor a binary PPM or PGM file of 8 bits");
  return whole || fail(path, "it ends early");
}

// Centers of pixels are at half-integers; beyond the border the border's pixel counts.
void stretch(const Picture& from, int width, int height, uint8_t* to) {
  const auto place = [](int i, int count_to, int count_from, int* first, float* part) {
    const float at = std::max(0.0f, (i + 0.5f) * count_from / count_to - 0.5f);
    *first = std::min(static_cast<int>(at), count_from - 1);
    *part = at - *first;
  };
  for (int y = 0; y < height; ++y) {
    int y0;
    float v;
    place(y, height, from.height, &y0, &v);
    const int y1 = std::min(y0 + 1, from.height - 1);
    for (int x = 0; x < width; ++x) {
      int x0;
      float u;
      place(x, width, from.width, &x0, &u);
      const int x1 = std::min(x0 + 1, from.width - 1);
      for (int c = 0; c < from.channels; ++c) {
        const auto at = [&](int row, int column) {
          return static_cast<float>(
              from.pixels[(static_cast<size_t>(row) * from.width + column) * from.channels + c]);
        };
        const float above = at(y0, x0) + (at(y0, x1) - at(y0, x0)) * u;
        const float below = at(y1, x0) + (at(y1, x1) - at(y1, x0)) * u;
        *to++ = static_cast<uint8_t>(above + (below - above) * v + 0.5f);
      }
    }
  }
}

template <typename T>
double element(const NpyArray& array, size_t i) {
  T value;
  memcpy(&value, array.bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

double value_of(const NpyArray& array, size_t i) {
  if (array.type == "<f4") return element<float>(array, i);
  if (array.type == "<i8") return element<int64_t>(array, i);
  if (array.type == "<i4") return element<int32_t>(array, i);
  if (array.type == "<u4") return element<uint32_t>(array, i);
  if (array.type == "<i2") return element<int16_t>(array, i);
  if (array.type == "<u2") return element<uint16_t>(array, i);
  if (array.type == "|i1") return element<int8_t>(array, i);
  return element<uint8_t>(array, i);
}

}  // namespace

bool load_input(const std::string& path, const rknn_tensor_attr& attr, NpyArray* array) {
  if (path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0)
    return read_npy(path, array);
  if (attr.n_dims != 4 || attr.fmt != RKNN_TENSOR_NHWC) {
    return fail(path, "this input is not a picture; give an .npy file");
  }
  Picture picture;
  if (!read_pnm(path, &picture)) return false;
  if (picture.channels != static_cast<int>(attr.dims[3]) || attr.dims[0] != 1) {
    return fail(path, "its number of channels is not the model's");
  }
  array->type = "|u1";
  array->shape.assign(attr.dims, attr.dims + 4);
  array->bytes.resize(array->elements());
  stretch(picture, static_cast<int>(attr.dims[2]), static_cast<int>(attr.dims[1]),
          array->bytes.data());
  return true;
}

NpyArray make_input(const rknn_tensor_attr& attr) {
  NpyArray array;
  const bool real = attr.type == RKNN_TENSOR_FLOAT16 || attr.type == RKNN_TENSOR_FLOAT32 ||
                    attr.qnt_type != RKNN_TENSOR_QNT_NONE;
  array.type = real ? "|u1" : npy_type(attr.type);
  array.shape.assign(attr.dims, attr.dims + attr.n_dims);
  array.bytes.resize(array.elements() * array.item_size());
  if (!real) return array;  // indices: zeros are always legal
  uint32_t state = 1;
  for (uint8_t& byte : array.bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return array;
}

void print_largest(const NpyArray& array, const std::string& name, int count) {
  std::vector<size_t> order(array.elements());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t shown = std::min<size_t>(static_cast<size_t>(count), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<long>(shown), order.end(),
                    [&](size_t a, size_t b) { return value_of(array, a) > value_of(array, b); });
  printf("output '%s', largest elements:\n", name.c_str());
  for (size_t i = 0; i < shown; ++i) printf("  [%zu] %g\n", order[i], value_of(array, order[i]));
}

Difference compare(const NpyArray& a, const NpyArray& b) {
  Difference out;
  out.comparable = a.type == b.type && a.shape == b.shape && a.bytes.size() == b.bytes.size();
  if (!out.comparable) return out;
  out.same_bytes = a.bytes == b.bytes;
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.elements(); ++i) {
    const double x = value_of(a, i), y = value_of(b, i);
    aa += x * x;
    bb += y * y;
    ab += x * y;
    // Written so that a NaN on one side counts as a difference.
    if (!(std::fabs(x - y) <= out.largest)) out.largest = std::fabs(x - y);
  }
  // Two arrays of zeros point the same way.
  out.cosine = out.same_bytes ? 1.0 : aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0.0;
  return out;
}
