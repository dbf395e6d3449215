#include "rknn_app.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

struct TypeName {
  rknn_tensor_type type;
  const char* npy;
};

const TypeName kTypes[] = {
    {RKNN_TENSOR_FLOAT32, "<f4"}, {RKNN_TENSOR_FLOAT16, "<f2"}, {RKNN_TENSOR_INT8, "|i1"},
    {RKNN_TENSOR_UINT8, "|u1"},   {RKNN_TENSOR_INT16, "<i2"},   {RKNN_TENSOR_UINT16, "<u2"},
    {RKNN_TENSOR_INT32, "<i4"},   {RKNN_TENSOR_UINT32, "<u4"},  {RKNN_TENSOR_INT64, "<i8"},
    {RKNN_TENSOR_BOOL, "|b1"},
};

bool is_real(const rknn_tensor_attr& attr) {
  return attr.type == RKNN_TENSOR_FLOAT32 || attr.type == RKNN_TENSOR_FLOAT16 ||
         attr.qnt_type == RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC || attr.qnt_type == RKNN_TENSOR_QNT_DFP;
}

bool find_type(const std::string& npy, rknn_tensor_type* type) {
  for (const TypeName& name : kTypes) {
    if (npy != name.npy) continue;
    *type = name.type;
    return true;
  }
  return false;
}

std::string shape_text(const uint32_t* dims, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return "[" + text + "]";
}

// Rows of a picture in bound memory are w_stride pixels apart.
bool has_rows(const rknn_tensor_attr& attr) {
  return attr.n_dims == 4 && attr.fmt == RKNN_TENSOR_NHWC;
}

uint32_t row_pixels(const rknn_tensor_attr& attr) { return std::max(attr.w_stride, attr.dims[2]); }
uint32_t sample_rows(const rknn_tensor_attr& attr) { return std::max(attr.h_stride, attr.dims[1]); }

}  // namespace

std::string npy_type(rknn_tensor_type type) {
  for (const TypeName& name : kTypes) {
    if (name.type == type) return name.npy;
  }
  return "";
}

template <typename Call>
auto RknnApp::timed(const char* name, Call call) -> decltype(call()) {
  const auto start = std::chrono::steady_clock::now();
  auto result = call();
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  CallTime& time = times_[name];
  if (time.calls == 0) order_.push_back(name);
  time.least_ms = time.calls == 0 ? ms : std::min(time.least_ms, ms);
  time.total_ms += ms;
  ++time.calls;
  return result;
}

bool RknnApp::check(const char* name, int code) const {
  if (code == RKNN_SUCC) return true;
  fprintf(stderr, "%s failed with %d\n", name, code);
  return false;
}

RknnApp::~RknnApp() {
  if (context_ == 0) return;
  for (rknn_tensor_mem* memory : input_memory_) rknn_destroy_mem(context_, memory);
  for (rknn_tensor_mem* memory : output_memory_) rknn_destroy_mem(context_, memory);
  rknn_destroy(context_);
}

bool RknnApp::query_attributes(rknn_query_cmd input_query, rknn_query_cmd output_query) {
  const auto query = [&](rknn_query_cmd command, std::vector<rknn_tensor_attr>* attributes) {
    for (size_t i = 0; i < attributes->size(); ++i) {
      rknn_tensor_attr& attr = (*attributes)[i];
      memset(&attr, 0, sizeof attr);
      attr.index = static_cast<uint32_t>(i);
      const int code =
          timed("rknn_query", [&] { return rknn_query(context_, command, &attr, sizeof attr); });
      if (!check("rknn_query", code)) return false;
    }
    return true;
  };
  return query(input_query, &inputs_) && query(output_query, &outputs_);
}

bool RknnApp::init(const std::string& model_file) {
  std::string path = model_file;  // the call takes a pointer to non-const
  if (!check("rknn_init",
             timed("rknn_init", [&] { return rknn_init(&context_, &path[0], 0, 0, nullptr); }))) {
    fprintf(stderr, "the model is '%s'\n", path.c_str());
    return false;
  }
  rknn_sdk_version version;
  memset(&version, 0, sizeof version);
  if (rknn_query(context_, RKNN_QUERY_SDK_VERSION, &version, sizeof version) == RKNN_SUCC) {
    printf("librknnrt %s, driver %s\n", version.api_version, version.drv_version);
  }
  rknn_input_output_num count;
  memset(&count, 0, sizeof count);
  if (!check("rknn_query", timed("rknn_query", [&] {
               return rknn_query(context_, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count);
             }))) {
    return false;
  }
  inputs_.resize(count.n_input);
  outputs_.resize(count.n_output);
  return query_attributes(RKNN_QUERY_INPUT_ATTR, RKNN_QUERY_OUTPUT_ATTR);
}

bool RknnApp::choose_shapes(const std::vector<NpyArray>& arrays) {
  std::vector<rknn_tensor_attr> wanted = inputs_;
  bool same = true;
  for (size_t i = 0; i < wanted.size() && i < arrays.size(); ++i) {
    const std::vector<uint32_t>& shape = arrays[i].shape;
    if (shape.size() != wanted[i].n_dims) continue;  // set_input() refuses it
    same = same && std::equal(shape.begin(), shape.end(), wanted[i].dims);
    std::copy(shape.begin(), shape.end(), wanted[i].dims);
  }
  if (same) return true;
  const int code = timed("rknn_set_input_shapes", [&] {
    return rknn_set_input_shapes(context_, static_cast<uint32_t>(wanted.size()), wanted.data());
  });
  if (code != RKNN_SUCC) {
    fprintf(stderr, "the model does not take inputs of these shapes: ");
    return check("rknn_set_input_shapes", code);
  }
  return query_attributes(RKNN_QUERY_CURRENT_INPUT_ATTR, RKNN_QUERY_CURRENT_OUTPUT_ATTR);
}

bool RknnApp::bind(const std::vector<NpyArray>& arrays) {
  const auto bind_one = [&](rknn_tensor_attr* attr, size_t size,
                            std::vector<rknn_tensor_mem*>* to) {
    attr->size = static_cast<uint32_t>(size);  // a board checks the memory by it
    const uint32_t bytes = std::max(attr->size, attr->size_with_stride);
    rknn_tensor_mem* const memory =
        timed("rknn_create_mem", [&] { return rknn_create_mem(context_, bytes); });
    if (memory == nullptr) {
      fprintf(stderr, "rknn_create_mem failed for %u bytes\n", bytes);
      return false;
    }
    to->push_back(memory);
    return check("rknn_set_io_mem",
                 timed("rknn_set_io_mem", [&] { return rknn_set_io_mem(context_, memory, attr); }));
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    rknn_tensor_attr& attr = inputs_[i];
    if (i < arrays.size() && is_real(attr)) {
      // Mean, std and quantization are the runtime's work then.
      attr.type = arrays[i].type == "|u1" ? RKNN_TENSOR_UINT8 : RKNN_TENSOR_FLOAT32;
    }
    const size_t item = npy_type(attr.type).empty() ? 8 : npy_type(attr.type)[2] - '0';
    const size_t elements = has_rows(attr) ? static_cast<size_t>(attr.dims[0]) * sample_rows(attr) *
                                                 row_pixels(attr) * attr.dims[3]
                                           : attr.n_elems;
    if (!bind_one(&attr, elements * item, &input_memory_)) return false;
  }
  for (rknn_tensor_attr& attr : outputs_) {
    if (is_real(attr)) attr.type = RKNN_TENSOR_FLOAT32;
    const size_t item = npy_type(attr.type).empty() ? 8 : npy_type(attr.type)[2] - '0';
    if (!bind_one(&attr, attr.n_elems * item, &output_memory_)) return false;
  }
  return true;
}

bool RknnApp::set_input(size_t i, const NpyArray& array) {
  const rknn_tensor_attr& attr = inputs_[i];
  rknn_tensor_type type;
  if (!find_type(array.type, &type) || type != attr.type || array.shape.size() != attr.n_dims ||
      !std::equal(array.shape.begin(), array.shape.end(), attr.dims)) {
    fprintf(stderr, "input %zu: the array is %s %s, expected %s %s\n", i, array.type.c_str(),
            shape_text(array.shape.data(), array.shape.size()).c_str(), npy_type(attr.type).c_str(),
            shape_text(attr.dims, attr.n_dims).c_str());
    return false;
  }
  rknn_tensor_mem* const memory = input_memory_[i];
  uint8_t* const to = static_cast<uint8_t*>(memory->virt_addr);
  if (has_rows(attr)) {
    const size_t line = array.item_size() * attr.dims[2] * attr.dims[3];
    const size_t stride = array.item_size() * row_pixels(attr) * attr.dims[3];
    const uint8_t* from = array.bytes.data();
    for (size_t n = 0; n < attr.dims[0]; ++n) {
      for (size_t y = 0; y < attr.dims[1]; ++y, from += line) {
        memcpy(to + (n * sample_rows(attr) + y) * stride, from, line);
      }
    }
  } else {
    memcpy(to, array.bytes.data(), array.bytes.size());
  }
  return true;
}

bool RknnApp::run() {
  return check("rknn_run", timed("rknn_run", [&] { return rknn_run(context_, nullptr); }));
}

bool RknnApp::get_output(size_t i, NpyArray* array) {
  const rknn_tensor_attr& attr = outputs_[i];
  array->type = npy_type(attr.type);
  if (array->type.empty()) {
    fprintf(stderr, "output %zu has type %d, which has no place in an .npy file\n", i, attr.type);
    return false;
  }
  array->shape.assign(attr.dims, attr.dims + attr.n_dims);
  const uint8_t* const from = static_cast<const uint8_t*>(output_memory_[i]->virt_addr);
  array->bytes.assign(from, from + attr.n_elems * array->item_size());
  return true;
}

void RknnApp::print_attributes() const {
  const auto print = [](const char* what, const rknn_tensor_attr& attr) {
    printf("%s %u '%s': %s %s, %s, scale %g, zero point %d\n", what, attr.index, attr.name,
           shape_text(attr.dims, attr.n_dims).c_str(), get_format_string(attr.fmt),
           get_type_string(attr.type), attr.scale, attr.zp);
  };
  for (const rknn_tensor_attr& attr : inputs_) print("input", attr);
  for (const rknn_tensor_attr& attr : outputs_) print("output", attr);
}

void RknnApp::print_times() const {
  printf("%-22s %6s %12s %12s\n", "call", "times", "mean ms", "least ms");
  for (const std::string& name : order_) {
    const CallTime& time = times_.at(name);
    printf("%-22s %6d %12.3f %12.3f\n", name.c_str(), time.calls, time.total_ms / time.calls,
           time.least_ms);
  }
}
