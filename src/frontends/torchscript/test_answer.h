// SPDX-License-Identifier: Apache-2.0
// Answers of the helper program (answer.h), put together by tests.
#pragma once

#include <string>
#include <vector>

#include "frontends/torchscript/answer.h"

namespace rk::frontends::torchscript {

struct TestDatum {
  ByteWriter out;

  static TestDatum of_none() {
    TestDatum datum;
    datum.out.write(uint8_t{0});
    return datum;
  }
  static TestDatum of_int(int64_t number) {
    TestDatum datum;
    datum.out.write(uint8_t{2});
    datum.out.write(number);
    return datum;
  }
  static TestDatum of_double(double number) {
    TestDatum datum;
    datum.out.write(uint8_t{3});
    datum.out.write(number);
    return datum;
  }
  static TestDatum of_text(const std::string& text) {
    TestDatum datum;
    datum.out.write(uint8_t{4});
    datum.out.write_string(text);
    return datum;
  }
  static TestDatum of_floats(const std::vector<float>& values) {
    TestDatum datum;
    datum.out.write(uint8_t{5});
    datum.out.write(uint8_t{1});
    datum.out.write_vector(std::vector<int64_t>{static_cast<int64_t>(values.size())});
    datum.out.write(uint32_t{0});
    datum.out.write(uint32_t{0});
    datum.out.write(int64_t{-1});
    datum.out.write(static_cast<uint64_t>(values.size() * sizeof(float)));
    for (const float value : values) datum.out.write(value);
    return datum;
  }
  static TestDatum of_pair(const TestDatum& a, const TestDatum& b) {
    TestDatum datum;
    datum.out.write(uint8_t{7});
    datum.out.write(uint32_t{2});
    datum.out.write_bytes(a.out.bytes());
    datum.out.write_bytes(b.out.bytes());
    return datum;
  }
};

// Values are numbers; value N of a node is called "vN".
class TestAnswer {
 public:
  void input(uint32_t id, const std::string& name, const std::string& type = "Tensor") {
    inputs_.write(id);
    inputs_.write_string(name);
    inputs_.write_string(type);
    inputs_.write(uint8_t{0});  // no default
    ++input_count_;
  }
  void node(const std::string& kind, const std::vector<uint32_t>& inputs,
            const std::vector<uint32_t>& outputs, const TestDatum* datum = nullptr) {
    nodes_.write_string(kind);
    nodes_.write_string("");
    nodes_.write_vector(inputs);
    nodes_.write(static_cast<uint32_t>(outputs.size()));
    for (const uint32_t id : outputs) {
      nodes_.write(id);
      nodes_.write_string(str("v", id));
      nodes_.write_string("Tensor");
    }
    nodes_.write(static_cast<uint8_t>(datum != nullptr));
    if (datum != nullptr) nodes_.write_bytes(datum->out.bytes());
    nodes_.write(uint32_t{0});  // blocks
    ++node_count_;
  }
  void constant(uint32_t id, const TestDatum& datum) { node("prim::Constant", {}, {id}, &datum); }
  void get_state(uint32_t id, const std::string& path, const TestDatum& start) {
    const TestDatum datum = TestDatum::of_pair(TestDatum::of_text(path), start);
    node("state::get", {}, {id}, &datum);
  }
  void set_state(const std::string& path, uint32_t id) {
    const TestDatum datum = TestDatum::of_text(path);
    node("state::set", {id}, {}, &datum);
  }
  std::vector<uint8_t> bytes(const std::vector<uint32_t>& outputs) const {
    ByteWriter out;
    out.write_bytes({reinterpret_cast<const uint8_t*>(kAnswerMagic.data()), kAnswerMagic.size()});
    out.write(input_count_);
    out.write_bytes(inputs_.bytes());
    out.write(node_count_);
    out.write_bytes(nodes_.bytes());
    out.write_vector(outputs);
    return out.release();
  }

 private:
  ByteWriter inputs_, nodes_;
  uint32_t input_count_ = 0, node_count_ = 0;
};

}  // namespace rk::frontends::torchscript
