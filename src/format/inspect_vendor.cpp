// SPDX-License-Identifier: Apache-2.0
// Each report is made as Json once; the text form prints that.
#include "format/inspect_vendor.h"

#include <iomanip>
#include <map>

#include "format/container.h"
#include "format/inspect.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"

namespace rk::format {
namespace {

using program::TensorKind;

constexpr size_t kMaxCommands = size_t{1} << 22;  // of one report

std::string hex(uint64_t value, int digits = 0) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setw(digits) << std::setfill('0') << value;
  return out.str();
}

std::string units_text(uint32_t units) {
  constexpr std::pair<uint32_t, const char*> kNames[] = {
      {1, "CNA"},       {2, "UNIT_2000"}, {4, "CORE"},     {8, "DPU"},
      {16, "DPU_RDMA"}, {32, "PPU"},      {64, "PPU_RDMA"}};
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((units & bit) != 0) out += str(out.empty() ? "" : "+", name);
  }
  return out.empty() ? "none" : out;
}

struct Opened {
  Container container;
  FileModel model;
};

Result<Opened> open(ByteSpan file) {
  Opened out;
  RK_ASSIGN(out.container, split_container(file));
  RK_ASSIGN(out.model, read_model(out.container));
  return out;
}

Json task_json(const TaskLists& lists, size_t index) {
  const Task& task = lists.tasks()[index];
  return Json::object({{"index", index},
                       {"node", task.node},
                       {"units", units_text(task.units)},
                       {"enable_mask", task.units},
                       {"commands", task.command_count},
                       {"first_word", task.first_word}});
}

Json schedules_json(const TaskLists& lists) {
  Json out = Json::array();
  for (const Schedule& schedule : lists.schedules()) {
    Json lanes = Json::array();
    for (const Lane& lane : schedule.lanes) {
      std::map<std::string, int64_t> by_units;
      for (size_t i = 0; i < lane.task_count; ++i) {
        ++by_units[units_text(lists.tasks()[lane.first_task + i].units)];
      }
      Json kinds = Json::object();
      for (const auto& [units, count] : by_units) kinds.set(units, count);
      lanes.push(Json::object({{"first_task", lane.first_task},
                               {"tasks", lane.task_count},
                               {"by_units", std::move(kinds)}}));
    }
    out.push(Json::object({{"cores", schedule.cores}, {"lanes", std::move(lanes)}}));
  }
  return out;
}

std::string list_text(const std::vector<int32_t>& values) {
  std::string out;
  for (const int32_t value : values) out += str(out.empty() ? "" : ",", value);
  return out;
}

std::string attribute_text(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) {
        if constexpr (requires { value.begin(); } &&
                      !std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          std::string out;
          for (const auto& element : value) out += str(out.empty() ? "" : ",", element);
          return out;
        } else {
          return str(value);
        }
      },
      attribute.value);
}

std::string params_text(const FileParams& params) {
  if (const auto* p = std::get_if<FileConvParams>(&params)) {
    return str("kernel ", list_text(p->kernel_shape), " stride ", list_text(p->strides), " pads ",
               list_text(p->pads), " dilation ", list_text(p->dilations), " group ", p->group);
  }
  if (const auto* p = std::get_if<FileConcatParams>(&params)) return str("axis ", p->axis);
  if (const auto* p = std::get_if<FileArgMaxParams>(&params)) return str("axis ", p->axis);
  if (const auto* p = std::get_if<FileResizeParams>(&params)) {
    return str(p->mode, " ", p->coordinate_mode, " ", p->nearest_mode);
  }
  if (const auto* p = std::get_if<FileOperatorParams>(&params)) {
    std::string out;
    for (const Attribute& attribute : p->attributes)
      out += str(out.empty() ? "" : " ", attribute.name, " ", attribute_text(attribute));
    return out;
  }
  if (const auto* p = std::get_if<FileUnknownParams>(&params)) return str("table ", int{p->tag});
  return "-";
}

Json command_json(const FileGraph& graph, const TaskLists& lists, uint64_t word) {
  const target::RegisterCommand command = lists.command(word);
  const target::Register* const known = target::find_register(command.offset);
  Json out = Json::object({{"word", word},
                           {"unit", std::string(target::unit_of_target(command.target))},
                           {"offset", command.offset},
                           {"value", command.value}});
  if (known != nullptr) {
    out.set("register", std::string(known->name));
    out.set("fields", target::describe_fields(*known, command.value));
  }
  if (const auto address = lists.address(word)) {
    out.set("tensor", graph.tensors[static_cast<size_t>(address->tensor)].name);
    out.set("addend", address->addend);
  }
  return out;
}

void print_command(std::ostream& out, const FileGraph& graph, const TaskLists& lists,
                   uint64_t word) {
  const target::RegisterCommand command = lists.command(word);
  const target::Register* const known = target::find_register(command.offset);
  const std::string_view unit = target::unit_of_target(command.target);
  out << "    " << std::setw(6) << word << "  " << hex(command.offset, 4) << "  "
      << (unit.empty() ? hex(command.target) : std::string(unit)) << "."
      << (known ? std::string(known->name) : "?") << " = " << hex(command.value);
  if (known) out << "  " << target::describe_fields(*known, command.value);
  if (const auto address = lists.address(word)) {
    out << "  -> '" << graph.tensors[static_cast<size_t>(address->tensor)].name << "' + "
        << address->addend;
  }
  out << "\n";
}

constexpr uint64_t kTailWords = 4;  // chain address, chain length, prepare, enable

uint64_t end_of_list(const TaskLists& lists, const Task& task) {
  return std::min<uint64_t>(task.first_word + task.command_count + kTailWords, lists.word_count());
}

Status check_amount(const TaskLists& lists) {
  uint64_t total = 0;
  for (const Task& task : lists.tasks()) total += task.command_count + kTailWords;
  if (total <= kMaxCommands) return ok_status();
  return invalid_model(str(total, " register commands are too many to list"));
}

struct Share {
  std::string name;
  uint64_t bytes = 0;
};

std::vector<Share> shares_of(const Opened& opened, ByteSpan file) {
  uint64_t weights = 0, helpers = 0, commands = 0, tasks = 0, other = 0;
  std::vector<bool> counted(opened.model.buffers.size());
  for (const FileGraph& graph : opened.model.graphs) {
    for (const FileTensor& tensor : graph.tensors) {
      if (tensor.buffer == 0 || counted[tensor.buffer]) continue;
      counted[tensor.buffer] = true;
      const uint64_t size = opened.model.buffers[tensor.buffer].data.size();
      if (tensor.kind == kRegisterCommandsKind) {
        commands += size;
      } else if (tensor.kind == kTasksKind) {
        tasks += size;
      } else if (tensor.kind == TensorKind::kHelperConstant) {
        helpers += size;
      } else {
        weights += size;
      }
    }
  }
  for (size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i]) other += opened.model.buffers[i].data.size();
  }
  const uint64_t buffers = weights + helpers + commands + tasks + other;
  const uint64_t flat = opened.container.flatbuffer.size();
  // A damaged file may name the same bytes twice.
  const uint64_t graph = flat > buffers ? flat - buffers : 0;
  const uint64_t trailer = opened.container.json.size();
  const uint64_t section = opened.container.section ? opened.container.section->payload.size() : 0;
  const uint64_t known = flat + trailer + section;
  std::vector<Share> out = {{"weights", weights},
                            {"helper constants", helpers},
                            {"register commands", commands},
                            {"tasks", tasks},
                            {"graph", graph},
                            {"JSON trailer", trailer},
                            {"our section", section},
                            {"headers", file.size() > known ? file.size() - known : 0}};
  if (other != 0) out.push_back({"buffers without a tensor", other});
  return out;
}

// Paths of values that differ. Objects by key, arrays by index.
void diff_values(const Json& a, const Json& b, const std::string& path, Json& out) {
  constexpr size_t kMaxEntries = 100'000;
  if (a == b || out.size() >= kMaxEntries) return;
  if (a.is_object() && b.is_object()) {
    for (const Json::Member& member : *a.as_object()) {
      const Json* const other = b.find(member.key);
      diff_values(member.value, other ? *other : Json(),
                  str(path, path.empty() ? "" : ".", member.key), out);
    }
    for (const Json::Member& member : *b.as_object()) {
      if (a.find(member.key) == nullptr) {
        diff_values(Json(), member.value, str(path, path.empty() ? "" : ".", member.key), out);
      }
    }
    return;
  }
  if (a.is_array() && b.is_array() && (a.size() > 8 || a.size() == b.size()) &&
      a.at(0) != nullptr && !a.at(0)->is_number()) {
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const Json *left = a.at(i), *right = b.at(i);
      diff_values(left ? *left : Json(), right ? *right : Json(), str(path, "[", i, "]"), out);
    }
    return;
  }
  out.push(Json::object({{"path", path}, {"first", a}, {"second", b}}));
}

std::map<std::string, ByteSpan> constants_of(const FileModel& model) {
  std::map<std::string, ByteSpan> out;
  for (const FileGraph& graph : model.graphs) {
    for (const FileTensor& tensor : graph.tensors) {
      if (tensor.buffer != 0) out.emplace(tensor.name, model.buffers[tensor.buffer].data);
    }
  }
  return out;
}

Json diff_constants(const FileModel& a, const FileModel& b) {
  Json out = Json::array();
  const auto first = constants_of(a), second = constants_of(b);
  for (const auto& [name, bytes] : first) {
    const auto other = second.find(name);
    if (other == second.end()) continue;  // the tensor list shows it
    const size_t common = std::min(bytes.size(), other->second.size());
    size_t different = std::max(bytes.size(), other->second.size()) - common;
    for (size_t i = 0; i < common; ++i) different += bytes[i] != other->second[i];
    if (different == 0) continue;
    out.push(Json::object({{"name", name},
                           {"first_bytes", bytes.size()},
                           {"second_bytes", other->second.size()},
                           {"different_bytes", different}}));
  }
  return out;
}

}  // namespace

Result<Json> tasks_json(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  Json graphs = Json::array();
  for (const FileGraph& graph : opened.model.graphs) {
    RK_ASSIGN(const TaskLists lists, TaskLists::read(opened.model, graph));
    Json tasks = Json::array();
    for (size_t i = 0; i < lists.tasks().size(); ++i) tasks.push(task_json(lists, i));
    graphs.push(Json::object({{"schedules", schedules_json(lists)}, {"tasks", std::move(tasks)}}));
  }
  return graphs;
}

Result<std::string> tasks_text(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  std::ostringstream out;
  for (const FileGraph& graph : opened.model.graphs) {
    out << "parameters and tasks\n";
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const FileNode& node = graph.nodes[i];
      out << "  " << std::left << std::setw(4) << i << " " << std::setw(16) << node.type << " "
          << params_text(node.params);
      std::string counts;
      for (const uint32_t count : node.task_counts) counts += str(counts.empty() ? "" : ",", count);
      if (!counts.empty()) out << "  tasks [" << counts << "]";
      out << "\n";
    }
    RK_ASSIGN(const TaskLists lists, TaskLists::read(opened.model, graph));
    if (lists.empty()) {
      out << "no register lists\n";
      continue;
    }
    out << "schedules (" << lists.tasks().size() << " tasks, " << lists.word_count()
        << " register words)\n";
    for (const Schedule& schedule : lists.schedules()) {
      out << "  " << schedule.cores << " core" << (schedule.cores == 1 ? "" : "s") << "\n";
      for (size_t core = 0; core < schedule.lanes.size(); ++core) {
        const Lane& lane = schedule.lanes[core];
        std::map<std::string, size_t> by_units;
        for (size_t i = 0; i < lane.task_count; ++i) {
          ++by_units[units_text(lists.tasks()[lane.first_task + i].units)];
        }
        out << "    core " << core << ": tasks " << lane.first_task << ".."
            << lane.first_task + lane.task_count << ":";
        for (const auto& [units, count] : by_units) out << " " << count << " x " << units;
        out << "\n";
      }
    }
  }
  return out.str();
}

Result<Json> registers_json(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  Json out = Json::array();
  for (const FileGraph& graph : opened.model.graphs) {
    RK_ASSIGN(const TaskLists lists, TaskLists::read(opened.model, graph));
    RK_TRY(check_amount(lists));
    for (size_t i = 0; i < lists.tasks().size(); ++i) {
      const Task& task = lists.tasks()[i];
      Json list = task_json(lists, i);
      Json words = Json::array();
      for (uint64_t word = task.first_word; word < end_of_list(lists, task); ++word) {
        words.push(command_json(graph, lists, word));
      }
      list.set("list", std::move(words));
      out.push(std::move(list));
    }
  }
  return out;
}

Result<std::string> registers_text(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  std::ostringstream out;
  for (const FileGraph& graph : opened.model.graphs) {
    RK_ASSIGN(const TaskLists lists, TaskLists::read(opened.model, graph));
    RK_TRY(check_amount(lists));
    if (lists.empty()) out << "no register lists\n";
    for (size_t i = 0; i < lists.tasks().size(); ++i) {
      const Task& task = lists.tasks()[i];
      const FileNode& node = graph.nodes[task.node];
      out << "  task " << i << ": node " << task.node << " '" << node.name << "' (" << node.type
          << "), " << units_text(task.units) << ", " << task.command_count << " commands\n";
      for (uint64_t word = task.first_word; word < end_of_list(lists, task); ++word) {
        print_command(out, graph, lists, word);
      }
    }
  }
  return out.str();
}

Result<Json> sizes_json(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  Json out = Json::object();
  for (const Share& share : shares_of(opened, file)) out.set(share.name, share.bytes);
  out.set("total", file.size());
  return out;
}

Result<std::string> sizes_text(ByteSpan file) {
  RK_ASSIGN(const Opened opened, open(file));
  std::ostringstream out;
  out << "bytes\n" << std::fixed << std::setprecision(1);
  const auto row = [&](const std::string& name, uint64_t bytes) {
    const double percent = 100.0 * static_cast<double>(bytes) / static_cast<double>(file.size());
    out << "  " << std::left << std::setw(26) << name << std::right << std::setw(12) << bytes
        << std::setw(8) << percent << " %\n";
  };
  for (const Share& share : shares_of(opened, file)) row(share.name, share.bytes);
  row("total", file.size());
  return out.str();
}

Result<Json> diff_json(ByteSpan a, ByteSpan b) {
  RK_ASSIGN(const Json first, inspect_json(a));
  RK_ASSIGN(const Json second, inspect_json(b));
  Json values = Json::array();
  diff_values(first, second, "", values);
  RK_ASSIGN(const Opened first_file, open(a));
  RK_ASSIGN(const Opened second_file, open(b));
  return Json::object({{"values", std::move(values)},
                       {"constants", diff_constants(first_file.model, second_file.model)}});
}

Result<std::string> diff_text(ByteSpan a, ByteSpan b) {
  RK_ASSIGN(const Json diff, diff_json(a, b));
  std::ostringstream out;
  const Json &values = *diff.find("values"), &constants = *diff.find("constants");
  for (const Json& entry : *values.as_array()) {
    out << *entry.find("path")->as_string() << "\n  - " << write_json(*entry.find("first"))
        << "\n  + " << write_json(*entry.find("second")) << "\n";
  }
  for (const Json& entry : *constants.as_array()) {
    out << "constant '" << *entry.find("name")->as_string()
        << "': " << *entry.find("different_bytes")->as_int() << " bytes differ ("
        << *entry.find("first_bytes")->as_int() << " and " << *entry.find("second_bytes")->as_int()
        << " bytes)\n";
  }
  if (values.size() + constants.size() == 0) out << "no difference\n";
  return out.str();
}

}  // namespace rk::format
