// SPDX-License-Identifier: Apache-2.0
// rknn device: what a board's kernel nodes (version, load, mm) would show for the processes that simulate an NPU now.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "base/file.h"
#include "kernels/dispatch.h"
#include "remote/client.h"
#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "runtime/device/device.h"
#include "runtime/device/status_page.h"
#include "runtime/version.h"
#include "toolkit/version.h"

namespace rk::tools {
namespace {

const std::vector<OptionDef> kOptions = {
    {"--interval", "", "MS", "how long the load is watched, default 500"},
    {"--token-file", "", "FILE", "add: the first line is the token that the server asks for"},
    {"--tls-ca", "", "FILE", "add: certificate that signed the server's; makes the connection TLS"},
    {"--tls-cert", "", "FILE", "add: certificate of this client"},
    {"--tls-key", "", "FILE", "add: and its key"},
    {"--kernels", "", "", "list the compute kernels and which of them this CPU uses"},
    {"--help", "-h", "", "this text"},
};

constexpr int64_t kSramPage = 4096;

struct Reading {
  std::string chip;
  std::array<uint64_t, runtime::kStatusCores> busy_us{};
  uint64_t sram_bytes = 0;
  uint64_t frames = 0;
};
using Readings = std::map<std::string, Reading>;  // by process id

std::optional<Reading> read_page(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes(sizeof(runtime::StatusPage));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
  const auto at = [&](size_t offset) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  if (std::memcmp(bytes.data(), runtime::kStatusMagic, sizeof runtime::kStatusMagic) != 0)
    return std::nullopt;
  Reading out;
  const char* const chip = bytes.data() + offsetof(runtime::StatusPage, chip);
  out.chip.assign(chip, strnlen(chip, sizeof(runtime::StatusPage::chip)));
  for (size_t i = 0; i < runtime::kStatusCores; ++i)
    out.busy_us[i] = at(offsetof(runtime::StatusPage, busy_us) + i * sizeof(uint64_t));
  out.sram_bytes = at(offsetof(runtime::StatusPage, sram_bytes));
  out.frames = at(offsetof(runtime::StatusPage, frames));
  return out;
}

// Every process of ours that has used the library. Others' processes cannot be looked into.
Readings read_all() {
  Readings out;
  std::error_code error;
  const std::string wanted = std::string("/memfd:") + runtime::kStatusPageName;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    const std::string id = process.path().filename();
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const auto& file : std::filesystem::directory_iterator(process.path() / "fd", error)) {
      const auto target = std::filesystem::read_symlink(file.path(), error);
      if (error || !target.string().starts_with(wanted)) continue;
      if (auto reading = read_page(file.path()); reading && !reading->chip.empty())
        out[id] = std::move(*reading);
    }
  }
  return out;
}

void print_sram(const target::Target& chip, uint64_t used_bytes) {
  if (chip.sram_bytes == 0) return;
  const uint64_t used = std::min<uint64_t>(used_bytes, static_cast<uint64_t>(chip.sram_bytes));
  const auto pages = static_cast<uint64_t>(chip.sram_bytes / kSramPage);
  // As the driver says it in dmesg. A simulated board's region lies nowhere: it starts at 0.
  const auto whole = static_cast<unsigned long long>(chip.sram_bytes);
  std::printf("RKNPU: sram region: [0x%016llx, 0x%016llx), sram size: 0x%llx\n", 0ULL, whole,
              whole);
  const uint64_t taken = (used + kSramPage - 1) / kSramPage;
  std::printf("SRAM bitmap: \"*\" - used, \".\" - free (1bit = 4KB)\n");
  for (uint64_t row = 0; row * 32 < pages; ++row) {
    std::string cells;
    for (uint64_t page = row * 32; page < std::min(pages, row * 32 + 32); ++page)
      cells += page < taken ? '*' : '.';
    std::printf("[%03llu] [%s]\n", static_cast<unsigned long long>(row), cells.c_str());
  }
  std::printf("SRAM total size: %lld, used: %llu, free: %llu\n",
              static_cast<long long>(chip.sram_bytes), static_cast<unsigned long long>(used),
              static_cast<unsigned long long>(static_cast<uint64_t>(chip.sram_bytes) - used));
}

void print_chip(const target::Target& chip, const Readings& before, const Readings& after,
                double interval_us) {
  std::printf("\n%s (%d NPU core%s", std::string(chip.name).c_str(), chip.npu_cores,
              chip.npu_cores == 1 ? "" : "s");
  if (chip.time.npu_mhz != 0) std::printf(", assumed clock %d MHz", chip.time.npu_mhz);
  std::printf(")\n");
  std::array<double, runtime::kStatusCores> busy{};
  uint64_t sram = 0;
  for (const auto& [id, now] : after) {
    const auto earlier = before.find(id);
    if (now.chip != chip.name) continue;
    sram += now.sram_bytes;
    std::printf("  process %s: %llu frames so far\n", id.c_str(),
                static_cast<unsigned long long>(now.frames));
    if (earlier == before.end()) continue;
    for (size_t i = 0; i < busy.size(); ++i)
      busy[i] += static_cast<double>(now.busy_us[i] - earlier->second.busy_us[i]);
  }
  const auto percent = [&](size_t core) {
    return static_cast<int>(std::clamp(100 * busy[core] / interval_us, 0.0, 100.0));
  };
  std::printf("NPU load: ");
  if (chip.npu_cores == 1) std::printf(" %d%%", percent(0));
  for (int core = 0; chip.npu_cores > 1 && core < chip.npu_cores; ++core)
    std::printf(" Core%d: %2d%%,", core, percent(static_cast<size_t>(core)));
  std::printf("\n");
  print_sram(chip, sram);
}

std::string feature_names(kernels::CpuFeatures features) {
  std::string names;
  for (kernels::CpuFeatures bit = 1; bit != 0; bit <<= 1) {
    if ((features & bit) == 0) continue;
    names += names.empty() ? "" : " ";
    names += kernels::feature_name(bit);
  }
  return names.empty() ? "-" : names;
}

// One line per variant; '*' before the one an entry point uses. A convolution's choice depends on its filter too.
void print_kernels() {
  std::printf("CPU features: %s\n", feature_names(kernels::cpu_features()).c_str());
  std::printf("in use:       %s\n", feature_names(kernels::allowed_features()).c_str());
  for (const kernels::KernelFamily& family : kernels::kernel_families()) {
    std::printf("%.*s\n", static_cast<int>(family.entry.size()), family.entry.data());
    const kernels::KernelVariant* const best = kernels::find_kernel(family.entry);
    for (const kernels::KernelVariant* const variant : family.variants) {
      const char mark = variant == best ? '*' : variant->allowed() ? '+' : ' ';
      std::printf("  %c %-36.*s %s\n", mark, static_cast<int>(variant->name.size()),
                  variant->name.data(), feature_names(variant->needs).c_str());
    }
  }
  std::printf("* used, + usable here; RKNN_KERNEL limits the choice to a class of CPUs:");
  for (const kernels::CpuTier& tier : kernels::cpu_tiers()) std::printf(" %s", tier.name);
  std::printf("\n");
}

// rknn device list: every known device, and what it answers.
Status list_devices() {
  RK_ASSIGN(const auto devices, remote::known_devices());
  if (devices.empty()) {
    std::printf(
        "no device is known: set RKNN_DEVICES=NAME=HOST:PORT,... or call `rknn device add NAME "
        "HOST[:PORT]`\n");
  }
  for (const remote::Device& device : devices) {
    const auto client = remote::Client::open(device, toolkit::kVersionText, 1000);
    const std::string about =
        !client.ok() ? client.status().message()
                     : str((*client)->hello().chip.empty() ? "simulator" : (*client)->hello().chip,
                           ", rknn_server ", (*client)->hello().server_version, ", librknnrt ",
                           (*client)->hello().library_version);
    std::printf("%-16s %-24s %s\n", device.id.c_str(), device.address.c_str(), about.c_str());
  }
  return ok_status();
}

Status change_devices(const Arguments& args) {
  const std::vector<std::string>& words = args.words();
  if (words[0] == "list" && words.size() == 1) return list_devices();
  if (words[0] == "remove" && words.size() == 2) return remote::remove_device(words[1]);
  if (words[0] == "add" && words.size() == 3) {
    RK_ASSIGN(const std::string address, remote::full_address(words[2]));
    RK_TRY(remote::add_device({words[1], address, args.get("--token-file"), args.get("--tls-ca"),
                               args.get("--tls-cert"), args.get("--tls-key")}));
    std::printf("'%s' is %s (%s)\n", words[1].c_str(), address.c_str(),
                remote::device_file().c_str());
    return ok_status();
  }
  return invalid_argument(
      "expect `rknn device list`, `rknn device add NAME HOST[:PORT]` or `rknn device remove NAME`");
}

}  // namespace

Status device_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf(
        "usage: rknn device [options]                     the simulated NPU of this machine\n"
        "       rknn device list                          devices behind an rknn_server\n"
        "       rknn device add NAME HOST[:PORT] [options]\n"
        "       rknn device remove NAME\n%s",
        help_text(kOptions).c_str());
    return ok_status();
  }
  if (!args.words().empty()) return change_devices(args);
  if (args.has("--kernels")) {
    print_kernels();
    return ok_status();
  }
  RK_ASSIGN(const auto interval, parse_ints("--interval", args.get("--interval", "500")));
  const int64_t ms = interval.empty() ? 500 : std::clamp<int64_t>(interval[0], 1, 60'000);
  const Readings before = read_all();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  const Readings after = read_all();
  std::printf("RKNPU driver: v%s (simulated on the CPU)\n", runtime::kDriverVersion);
  std::map<std::string, const target::Target*> chips;
  for (const auto& [id, reading] : after) {
    if (const auto chip = target::find_target(reading.chip); chip.ok())
      chips[reading.chip] = chip.value();
  }
  if (chips.empty()) {
    RK_ASSIGN(const runtime::Device device, runtime::device_from_environment());
    if (device.chip != nullptr) chips[std::string(device.chip->name)] = device.chip;
    std::printf("no process of this user has a model loaded\n");
  }
  for (const auto& [name, chip] : chips)
    print_chip(*chip, before, after, static_cast<double>(ms) * 1000);
  return ok_status();
}

}  // namespace rk::tools
