#include "npy.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool fail(const std::string& path, const char* why) {
  fprintf(stderr, "cannot read '%s': %s\n", path.c_str(), why);
  return false;
}

// The text behind 'key': in the header, or nullptr.
const char* value_of(const std::string& header, const char* key) {
  const size_t at = header.find(std::string("'") + key + "':");
  if (at == std::string::npos) return nullptr;
  const char* text = header.c_str() + at + strlen(key) + 3;
  while (*text == ' ') ++text;
  return text;
}

}  // namespace

size_t NpyArray::item_size() const {
  return type.size() < 3 ? 0 : static_cast<size_t>(atoi(type.c_str() + 2));
}

size_t NpyArray::elements() const {
  size_t count = 1;
  for (uint32_t extent : shape) count *= extent;
  return count;
}

bool read_npy(const std::string& path, NpyArray* array) {
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(path, "no such file, or no right to read it");
  std::vector<uint8_t> all;
  uint8_t block[65536];
  for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;) {
    all.insert(all.end(), block, block + got);
  }
  fclose(file);
  if (all.size() < 10 || memcmp(all.data(), "\x93NUMPY\x01", 7) != 0) {
    return fail(path, "it is not an .npy file of version 1");
  }
  const size_t header_size = all[8] + 256u * all[9];
  if (all.size() < 10 + header_size) return fail(path, "it ends within its header");
  const std::string header(all.begin() + 10, all.begin() + 10 + static_cast<long>(header_size));
  const char* const type = value_of(header, "descr");
  const char* const order = value_of(header, "fortran_order");
  const char* shape = value_of(header, "shape");
  if (type == nullptr || order == nullptr || shape == nullptr || *type != '\'' || *shape != '(') {
    return fail(path, "its header is damaged");
  }
  array->type = std::string(type + 1, strcspn(type + 1, "'"));
  if (array->type[0] == '>') return fail(path, "it is big-endian");
  if (strncmp(order, "False", 5) != 0) return fail(path, "it is in Fortran order");
  array->shape.clear();
  for (++shape; *shape != ')' && *shape != '\0';) {
    char* end = nullptr;
    const unsigned long extent = strtoul(shape, &end, 10);
    if (end == shape || extent > 0x7fffffff) return fail(path, "its shape is damaged");
    array->shape.push_back(static_cast<uint32_t>(extent));
    for (shape = end; *shape == ',' || *shape == ' ';) ++shape;
  }
  array->bytes.assign(all.begin() + 10 + static_cast<long>(header_size), all.end());
  if (array->item_size() == 0 || array->bytes.size() / array->item_size() != array->elements() ||
      array->bytes.size() % array->item_size() != 0) {
    return fail(path, "its size does not fit its shape");
  }
  return true;
}

bool write_npy(const std::string& path, const NpyArray& array) {
  std::string shape;
  for (uint32_t extent : array.shape) shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + array.type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const uint8_t start[10] = {0x93,
                             'N',
                             'U',
                             'M',
                             'P',
                             'Y',
                             1,
                             0,
                             static_cast<uint8_t>(header.size() & 255),
                             static_cast<uint8_t>(header.size() >> 8)};
  FILE* file = fopen(path.c_str(), "wb");
  bool ok = file != nullptr && fwrite(start, sizeof start, 1, file) == 1 &&
            fwrite(header.data(), header.size(), 1, file) == 1 &&
            fwrite(array.bytes.data(), 1, array.bytes.size(), file) == array.bytes.size();
  if (file != nullptr && fclose(file) != 0) ok = false;
  if (!ok) fprintf(stderr, "cannot write '%s'\n", path.c_str());
  return ok;
}
