// SPDX-License-Identifier: Apache-2.0
// Register lists of our own files, executed by the emulator, beside the same nodes executed as a Program:
//
//   own_lists FILE.rknn ...      written by rknn convert --for-board
//
// And each file read as a vendor's would be, without our section: the lifted steps must give the same bytes.
#include <cstdio>
#include <iostream>
#include <random>

#include "base/file.h"
#include "format/container.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "tests/vendor/node_check.h"
#include "tests/vendor/session_run.h"

namespace rk::interop {
namespace {

struct Paths {
  size_t files = 0, tensors = 0, different = 0;
  std::vector<std::string> refused;
};

std::vector<std::vector<uint8_t>> random_inputs(const format::FileGraph& graph) {
  std::mt19937 random(11);
  std::vector<std::vector<uint8_t>> inputs;
  for (const int32_t i : graph.inputs) {
    size_t count = 1;
    for (const int32_t extent : graph.tensors[static_cast<size_t>(i)].shape)
      count *= static_cast<size_t>(extent);
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// With and without our section: every tensor that both ways compute.
Status compare_paths(const std::vector<uint8_t>& file, Paths& paths) {
  RK_ASSIGN(const format::Container container, format::split_container(file));
  if (!container.section) return invalid_model("the file has no section of ours");
  const std::vector<uint8_t> bare =
      format::join_container(container.flatbuffer, container.json, {});
  RK_ASSIGN(const format::FileModel model, format::read_model(ByteSpan(file)));
  const auto inputs = random_inputs(model.graphs.front());
  RK_ASSIGN(const vendor::RunResult own, vendor::run_with_tensors(file, inputs));
  RK_ASSIGN(const vendor::RunResult lifted, vendor::run_with_tensors(bare, inputs));
  ++paths.files;
  for (const int32_t output : model.graphs.front().outputs) {
    const auto a = own.tensors.find(output), b = lifted.tensors.find(output);
    ++paths.tensors;
    if (a == own.tensors.end() || b == lifted.tensors.end()) {
      ++paths.different;
      continue;
    }
    const ByteSpan x = a->second.bytes(), y = b->second.bytes();
    paths.different += !(x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin()));
  }
  return ok_status();
}

int run(const std::vector<std::string>& files) {
  vendor::Report report;
  Paths paths;
  size_t nodes = 0, listed = 0;
  for (const std::string& path : files) {
    const auto file = read_file(path);
    if (!file.ok()) {
      std::cerr << file.status().message() << "\n";
      return 2;
    }
    const auto model = format::read_model(ByteSpan(*file));
    if (model.ok()) {
      for (const format::FileNode& node : model->graphs.front().nodes) {
        if (node.type.ends_with("Operator")) continue;
        ++nodes;
        listed += !node.task_counts.empty() && node.task_counts.front() != 0;
      }
    }
    const Status status = vendor::check_nodes(path, "own", *file, report);
    if (!status.ok()) std::printf("not executed: %s: %s\n", path.c_str(), status.message().c_str());
    const Status both = compare_paths(*file, paths);
    if (!both.ok())
      std::printf("not read as a vendor's: %s: %s\n", path.c_str(), both.message().c_str());
  }
  for (const auto& [kind, t] : report.kinds) {
    std::printf("%-26s %4zu tasks, %4zu executed, %4zu nodes, %4zu equal, %llu bytes differ\n",
                kind.c_str(), t.tasks, t.executed, t.nodes, t.equal_nodes,
                static_cast<unsigned long long>(t.different));
  }
  for (const std::string& difference : report.differences)
    std::printf("different: %s\n", difference.c_str());
  for (const auto& [reason, count] : report.not_modeled)
    std::printf("not modeled: %zu: %s\n", count, reason.c_str());
  const vendor::Tally& t = report.total;
  const bool equal = t.tasks != 0 && t.compared == t.tasks && t.different == 0;
  std::printf(
      "FIGURE own lists: bytes of %zu tasks of %zu files that the emulator computes unlike the "
      "Program | %llu of %llu "
      "(%zu of %zu tasks compared) | 0, all compared | %s\n",
      t.tasks, files.size(), static_cast<unsigned long long>(t.different),
      static_cast<unsigned long long>(t.bytes), t.compared, t.tasks, equal ? "ok" : "SHORT");
  const bool same = paths.files == files.size() && paths.different == 0;
  std::printf(
      "FIGURE own files read as a vendor's: outputs unlike those through our section | %zu of %zu "
      "(%zu of %zu files) | "
      "0, all files | %s\n",
      paths.different, paths.tensors, paths.files, files.size(), same ? "ok" : "SHORT");
  const bool complete = listed == nodes;
  std::printf(
      "FIGURE own files: nodes with a register list | %zu of %zu | all that the vendor places on "
      "the NPU | %s\n",
      listed, nodes, complete ? "ok" : "SHORT");
  return equal && same && complete ? 0 : 1;
}

}  // namespace
}  // namespace rk::interop

int main(int argc, char** argv) {
  const std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) {
    std::cerr << "usage: own_lists FILE.rknn ...\n";
    return 2;
  }
  return rk::interop::run(files);
}
