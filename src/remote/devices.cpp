// SPDX-License-Identifier: Apache-2.0
#include "remote/devices.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"

namespace rk::remote {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

Device with_secrets(std::string id, std::string address) {
  return {std::move(id),           std::move(address),        variable("RKNN_TOKEN_FILE"),
          variable("RKNN_TLS_CA"), variable("RKNN_TLS_CERT"), variable("RKNN_TLS_KEY")};
}

Result<std::vector<Device>> from_environment() {
  std::vector<Device> out;
  const std::string list = variable("RKNN_DEVICES");
  for (size_t from = 0; from < list.size();) {
    const size_t end = std::min(list.find(',', from), list.size());
    const std::string_view entry = trimmed(std::string_view(list).substr(from, end - from));
    from = end + 1;
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    const std::string_view where =
        equals == std::string_view::npos ? entry : trimmed(entry.substr(equals + 1));
    const auto address = full_address(where);
    if (!address.ok()) return address.status().with_context("RKNN_DEVICES");
    std::string id(equals == std::string_view::npos ? entry : trimmed(entry.substr(0, equals)));
    out.push_back(with_secrets(std::move(id), *address));
  }
  return out;
}

std::string text_member(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

Result<std::vector<Device>> from_file() {
  const std::string path = device_file();
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return std::vector<Device>();
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path, kMaxJsonBytes));
  const auto json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!json.ok()) return json.status().with_context(path);
  std::vector<Device> out;
  const auto list = json->find("devices");
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& entry = *list->at(i);
    const auto address = full_address(text_member(entry, "address"));
    if (!address.ok()) return address.status().with_context(str(path, ": device ", i));
    Device device{text_member(entry, "id"),         *address,
                  text_member(entry, "token_file"), text_member(entry, "tls_ca"),
                  text_member(entry, "tls_cert"),   text_member(entry, "tls_key")};
    if (device.id.empty()) device.id = device.address;
    out.push_back(std::move(device));
  }
  return out;
}

Status write_devices(const std::vector<Device>& devices) {
  Json list = Json::array();
  for (const Device& device : devices) {
    Json entry = Json::object({{"id", device.id}, {"address", device.address}});
    const std::pair<const char*, const std::string&> files[] = {{"token_file", device.token_file},
                                                                {"tls_ca", device.tls_ca},
                                                                {"tls_cert", device.tls_cert},
                                                                {"tls_key", device.tls_key}};
    for (const auto& [key, path] : files) {
      if (!path.empty()) entry.set(key, path);
    }
    list.push(std::move(entry));
  }
  const std::string path = device_file();
  if (path.empty())
    return io_error("there is no home folder: set RKNN_DEVICE_FILE to a file for the devices");
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string text = write_json(Json::object({{"devices", list}}), 2) + "\n";
  return write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace

Result<std::string> full_address(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("unix:") && text.size() > 5) return std::string(text);
  const auto refuse = [&](std::string_view why) {
    return invalid_argument(str("'", text, "' is no device address: ", why,
                                "; give HOST, HOST:PORT, [IPv6]:PORT or unix:PATH"));
  };
  if (text.empty()) return refuse("it is empty");
  if (text.find_first_of(" \t/@") != std::string_view::npos)
    return refuse("it has characters that no host has");
  std::string_view host = text, port;
  if (text.front() == '[') {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse("']' is missing");
    host = text.substr(0, end + 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return refuse("':PORT' is expected after ']'");
    port = rest.empty() ? rest : rest.substr(1);
    if (rest == ":") return refuse("the port is missing");
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (text.find(':', colon + 1) != std::string_view::npos)
      return refuse("an IPv6 address stands in brackets");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.empty() || port.empty()) return refuse("host or port is missing");
  }
  if (port.empty()) return str(host, ":", kDefaultPort);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number < 1 || number > 65535)
    return refuse("a port is a number from 1 to 65535");
  return str(host, ":", number);
}

std::string device_file() {
  if (const std::string given = variable("RKNN_DEVICE_FILE"); !given.empty()) return given;
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    return folder + "/openrknn/devices.json";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/openrknn/devices.json";
}

Result<std::vector<Device>> known_devices() {
  RK_ASSIGN(std::vector<Device> out, from_environment());
  RK_ASSIGN(std::vector<Device> listed, from_file());
  for (Device& device : listed) {
    if (std::ranges::find(out, device.id, &Device::id) == out.end())
      out.push_back(std::move(device));
  }
  return out;
}

Status add_device(const Device& device) {
  RK_ASSIGN(std::vector<Device> devices, from_file());
  std::erase_if(devices, [&](const Device& d) { return d.id == device.id; });
  devices.push_back(device);
  return write_devices(devices);
}

Status remove_device(std::string_view id) {
  RK_ASSIGN(std::vector<Device> devices, from_file());
  if (std::erase_if(devices, [&](const Device& d) { return d.id == id; }) == 0)
    return invalid_argument(str("'", device_file(), "' has no device '", id, "'"));
  return write_devices(devices);
}

Result<Device> find_device(std::string_view id) {
  RK_ASSIGN(const std::vector<Device> devices, known_devices());
  if (id.empty()) {
    if (devices.size() == 1) return devices.front();
    if (devices.empty()) {
      return Status(
          Code::kUnavailable,
          "no device is known: give device_id, set RKNN_DEVICES or call `rknn device add`");
    }
    std::string names;
    for (const Device& device : devices) names += str(names.empty() ? "" : ", ", device.id);
    return invalid_argument(
        str("More than one device is connected, set device_id to one of: ", names));
  }
  for (const Device& device : devices) {
    if (device.id == id || device.address == id) return device;
  }
  // A serial number of adb is no host: nothing is looked up for a word that could be one.
  const bool word = id.find_first_of(".:[") == std::string_view::npos && id != "localhost";
  if (word) {
    std::string names;
    for (const Device& device : devices) names += str(names.empty() ? "" : ", ", device.id);
    return Status(Code::kUnavailable,
                  str("'", id, "' is neither a known device (", names.empty() ? "none" : names,
                      ") nor an address like 10.0.0.5 or host:port"));
  }
  const auto address = full_address(id);
  if (!address.ok()) return address.status().with_context(str("device_id '", id, "'"));
  for (const Device& device : devices) {
    if (device.address == *address) return device;
  }
  return with_secrets(std::string(id), *address);
}

}  // namespace rk::remote
