// SPDX-License-Identifier: Apache-2.0
// Register lists of our own files, executed by the emulator, beside the same nodes executed as a Program:
//
//   own_lists FILE.rknn[=VENDOR.rknn] ...      written by rknn convert --for-board; the vendor's file of the same network
//   own_lists --float16 FILE.rknn[=VENDOR.rknn] ...      the same of float16 files
//   own_lists --tasks KIND FILE.rknn ...       of another chip: nodes without a list are counted and not judged
//
// And each file read as a vendor's would be, without our section: the lifted steps must give the same bytes. Nodes that
// the vendor's compiler leaves to the CPU, by name, need no list.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "base/file.h"
#include "format/container.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "tests/interop/places.h"
#include "tests/vendor/node_check.h"
#include "tests/vendor/session_run.h"

namespace rk::interop {
namespace {

struct Paths {
  size_t files = 0, tensors = 0, different = 0;
  std::vector<std::string> refused;
};

// Any int8; float16 numbers between -2 and 2.
std::vector<std::vector<uint8_t>> random_inputs(const format::FileGraph& graph) {
  std::mt19937 random(11);
  std::vector<std::vector<uint8_t>> inputs;
  for (const int32_t i : graph.inputs) {
    const format::FileTensor& tensor = graph.tensors[static_cast<size_t>(i)];
    size_t count = 1;
    for (const int32_t extent : tensor.shape) count *= static_cast<size_t>(extent);
    std::vector<uint8_t> bytes(count * byte_size(tensor.dtype));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    for (size_t at = 0; tensor.dtype == DType::kF16 && at < bytes.size(); at += 2) {
      const auto half = static_cast<uint16_t>((random() & 0x83ff) | (random() % 8 + 8) << 10);
      std::memcpy(bytes.data() + at, &half, sizeof half);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// With and without our section: every tensor that both ways compute.
Status compare_paths(const std::vector<uint8_t>& file, Paths& paths) {
  RK_ASSIGN(const format::Container container, format::split_container(file));
  if (!container.section) return invalid_model("the file has no section of ours");
  // Our section follows the trailer.
  const auto* const end =
      reinterpret_cast<const uint8_t*>(container.json.data()) + container.json.size();
  const std::vector<uint8_t> bare(file.data(), end);
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

// "Reshape:446_rs" and "Reshape:446-rs" of the vendor's compiler stand for "Reshape:446".
std::string plain_name(const std::string& name) {
  const size_t end = name.size();
  const bool split =
      end > 3 && (name.compare(end - 3, 3, "_rs") == 0 || name.compare(end - 3, 3, "-rs") == 0);
  return split ? name.substr(0, end - 3) : name;
}

// Names of nodes that a file runs on the CPU.
Result<std::set<std::string>> cpu_nodes(const std::string& path) {
  std::set<std::string> names;
  if (path.empty()) return names;
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  RK_ASSIGN(const format::FileModel model, format::read_model(ByteSpan(file)));
  for (const format::FileNode& node : model.graphs.front().nodes) {
    if (node.processor == program::Processor::kCpu) names.insert(plain_name(node.name));
  }
  return names;
}

struct Placement {
  size_t nodes = 0, listed = 0, on_cpu = 0;
  std::map<std::string, size_t> absent;  // by type
};

void count_nodes(const format::FileGraph& graph, const std::set<std::string>& cpu,
                 Placement& placement) {
  for (const format::FileNode& node : graph.nodes) {
    if (node.type.ends_with("Operator")) continue;
    const bool has_list = !node.task_counts.empty() && node.task_counts.front() != 0;
    if (!has_list && cpu.contains(plain_name(node.name))) {
      ++placement.on_cpu;
      continue;
    }
    ++placement.nodes;
    placement.listed += has_list;
    if (!has_list) ++placement.absent[node.type];
  }
}

void run_in_places(const std::string& path, const std::vector<uint8_t>& file, PlaceReport& places) {
  const auto model = format::read_model(ByteSpan(file));
  const Status status = model.ok()
                            ? check_places(path, file, random_inputs(model->graphs.front()), places)
                            : model.status();
  if (!status.ok())
    std::printf("not run in places: %s: %s\n", path.c_str(), status.message().c_str());
}

bool print_places(const char* kind, size_t files, const PlaceReport& places) {
  for (const std::string& finding : places.findings) std::printf("place: %s\n", finding.c_str());
  const bool good = places.good() && places.files == files && places.runs == places.schedules;
  std::printf(
      "FIGURE %s in the places of the file, on one, two and three cores: pairs of features needed "
      "together that share bytes, "
      "lists that write beyond "
      "their tensor, operands spoiled, int8 results unlike the Program's (behind float16 numbers: "
      "more than a step), results of two and three cores unlike those of one | %zu, %zu of %zu, "
      "%zu of %zu, %zu of %zu, %zu of %zu "
      "(%zu features, %zu of %zu runs, %zu of %zu files) | 0, 0, 0, 0, 0, all runs | %s\n",
      kind, places.pairs_shared, places.lists_beyond, places.lists, places.spoiled, places.operands,
      places.unlike, places.results, places.shared_unlike, places.shared_results, places.features,
      places.runs, places.schedules, places.files, files, good ? "ok" : "SHORT");
  return good;
}

struct Findings {
  vendor::Report lists;
  Paths paths;
  Placement placement;
  PlaceReport places;
};

Status look_at(const std::string& argument, Findings& found) {
  const std::string path = argument.substr(0, argument.find('='));
  RK_ASSIGN(const std::set<std::string> cpu,
            cpu_nodes(path == argument ? "" : argument.substr(path.size() + 1)));
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  RK_ASSIGN(const format::FileModel model, format::read_model(ByteSpan(file)));
  count_nodes(model.graphs.front(), cpu, found.placement);
  const Status status =
      vendor::check_nodes(path, "own", file, found.lists, vendor::PlainOperands::kAsStored);
  if (!status.ok()) std::printf("not executed: %s: %s\n", path.c_str(), status.message().c_str());
  run_in_places(path, file, found.places);
  const Status both = compare_paths(file, found.paths);
  if (!both.ok())
    std::printf("not read as a vendor's: %s: %s\n", path.c_str(), both.message().c_str());
  return ok_status();
}

// Results of float16 nodes are compared within the bars of tests/vendor/node_check.cpp.
bool print_lists(const std::string& kind, size_t files, const vendor::Report& report) {
  for (const auto& [type, t] : report.kinds) {
    std::printf("%-26s %4zu tasks, %4zu executed, %4zu nodes, %4zu equal, %llu bytes differ\n",
                type.c_str(), t.tasks, t.executed, t.nodes, t.equal_nodes,
                static_cast<unsigned long long>(t.different));
  }
  for (const std::string& difference : report.differences)
    std::printf("different: %s\n", difference.c_str());
  for (const auto& [reason, count] : report.not_modeled)
    std::printf("not modeled: %zu: %s\n", count, reason.c_str());
  for (const auto& [reason, count] : report.not_compared)
    std::printf("not compared: %zu: %s\n", count, reason.c_str());
  const vendor::Tally& t = report.total;
  const bool equal = t.tasks != 0 && t.compared == t.tasks && t.different + t.far_floats == 0;
  std::printf(
      "FIGURE %s, lists: bytes of %zu tasks of %zu files that the emulator computes unlike the "
      "Program; float16 numbers farther than 2e-3 of the peak from it | %llu of %llu; %llu of %llu "
      "(%zu of %zu tasks compared) | 0, 0, all compared | %s\n",
      kind.c_str(), t.tasks, files, static_cast<unsigned long long>(t.different),
      static_cast<unsigned long long>(t.bytes), static_cast<unsigned long long>(t.far_floats),
      static_cast<unsigned long long>(t.floats), t.compared, t.tasks, equal ? "ok" : "SHORT");
  return equal;
}

int run(const std::string& kind, bool judges_nodes, const std::vector<std::string>& files) {
  Findings found;
  for (const std::string& argument : files) {
    const Status status = look_at(argument, found);
    if (status.ok()) continue;
    std::cerr << status.message() << "\n";
    return 2;
  }
  const bool equal = print_lists(kind, files.size(), found.lists);
  const Paths& paths = found.paths;
  const bool same = paths.files == files.size() && paths.different == 0;
  std::printf(
      "FIGURE %s, read as a vendor's: outputs unlike those through our section | %zu of %zu "
      "(%zu of %zu files) | 0, all files | %s\n",
      kind.c_str(), paths.different, paths.tensors, paths.files, files.size(),
      same ? "ok" : "SHORT");
  const Placement& placement = found.placement;
  for (const auto& [type, count] : placement.absent)
    std::printf("without a list: %zu of type %s\n", count, type.c_str());
  const bool complete = placement.listed == placement.nodes || !judges_nodes;
  if (judges_nodes) {
    std::printf(
        "FIGURE %s: nodes with a register list | %zu of %zu (%zu more are nodes of the CPU in "
        "the vendor's file too) | all | %s\n",
        kind.c_str(), placement.listed, placement.nodes, placement.on_cpu,
        complete ? "ok" : "SHORT");
  } else {
    std::printf("COUNT %s, nodes with a register list: %zu of %zu\n", kind.c_str(),
                placement.listed, placement.nodes);
  }
  const bool placed = print_places(kind.c_str(), files.size(), found.places);
  return equal && same && complete && placed ? 0 : 1;
}

}  // namespace
}  // namespace rk::interop

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool halves = !files.empty() && files[0] == "--float16";
  const bool other = files.size() > 1 && files[0] == "--tasks";
  const std::string kind = halves  ? "own float16 files"
                           : other ? "own files for " + files[1]
                                   : std::string("own files");
  files.erase(files.begin(), files.begin() + (halves ? 1 : other ? 2 : 0));
  if (files.empty()) {
    std::cerr << "usage: own_lists [--float16 | --tasks KIND] FILE.rknn[=VENDOR.rknn] ...\n";
    return 2;
  }
  return rk::interop::run(kind, !other, files);
}
