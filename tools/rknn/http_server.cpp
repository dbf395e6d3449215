// SPDX-License-Identifier: Apache-2.0
#include "rknn/http_server.h"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace rk::tools {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using Stream = beast::tcp_stream;

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr uint32_t kHeaderLimit = 8 << 10;
constexpr int kConnections = 32;

struct Site {
  HttpHandler handler;
  std::string host_by_number, host_by_name;  // what a browser of this machine says
  std::atomic<int> open{0};
};

HttpAnswer refused(int status, std::string_view why) {
  return {status, str(why, "\n"), "text/plain; charset=utf-8"};
}

HttpAnswer answer_of(const Site& site, const http::request<http::string_body>& request) {
  const std::string host(request[http::field::host]);
  if (host != site.host_by_number && host != site.host_by_name)
    return refused(403, "this page is for the browser of the machine it runs on");
  if (request.method() != http::verb::get && request.method() != http::verb::head)
    return refused(405, "only GET and HEAD");
  const std::string target(request.target());
  if (target.empty() || target[0] != '/') return refused(400, "no path");
  const size_t question = target.find('?');
  try {
    return site.handler(target.substr(0, question),
                        question == std::string::npos ? "" : target.substr(question + 1));
  } catch (const std::exception&
               failure) {  // memory that ran out over one model must not end the server
    return refused(500, failure.what());
  }
}

// Counts a connection for as long as it lives, however it ends.
class Counted {
 public:
  explicit Counted(Site& site) : site_(site) {}
  ~Counted() { --site_.open; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Site& site_;
};

http::response<http::string_body> response_of(HttpAnswer answer,
                                              const http::request<http::string_body>& request) {
  http::response<http::string_body> out{http::status(answer.status), request.version()};
  out.set(http::field::content_type, {answer.type.data(), answer.type.size()});
  out.set(http::field::cache_control, "no-store");
  // The page is one file: whatever it should load from elsewhere was not ours.
  out.set(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
      "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  out.set("X-Content-Type-Options", "nosniff");
  out.set("Referrer-Policy", "no-referrer");  // the address holds the token
  out.keep_alive(request.keep_alive());
  const size_t size = answer.body.size();
  if (request.method() != http::verb::head) out.body() = std::move(answer.body);
  out.content_length(size);
  return out;
}

asio::awaitable<void> converse(Stream stream, Site& site) {
  const Counted counted(site);
  boost::system::error_code error;
  beast::flat_buffer buffer(kHeaderLimit);
  for (;;) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kHeaderLimit);
    parser.body_limit(0);
    stream.expires_after(kPatience);
    co_await http::async_read(stream, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, error));
    if (error == http::error::end_of_stream || error == beast::error::timeout) break;
    HttpAnswer answer;
    if (error == http::error::body_limit || error == http::error::header_limit ||
        error == http::error::buffer_overflow) {
      answer = refused(413, "the request is too large");
    } else if (error) {
      answer = refused(400, "this is not an HTTP request");
    } else {
      answer = answer_of(site, parser.get());
    }
    const bool broken = static_cast<bool>(error);
    auto response = response_of(std::move(answer), parser.get());
    if (broken) response.keep_alive(false);
    stream.expires_after(kPatience);
    co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, error));
    if (error || !response.keep_alive()) break;
  }
  stream.socket().shutdown(Tcp::socket::shutdown_send, error);
}

asio::awaitable<void> listen(Tcp::acceptor& acceptor, Site& site) {
  for (;;) {
    boost::system::error_code error;
    Tcp::socket socket =
        co_await acceptor.async_accept(asio::make_strand(acceptor.get_executor()),
                                       asio::redirect_error(asio::use_awaitable, error));
    if (error) {  // no descriptors left, for example: the same again at once would only turn in a circle
      asio::steady_timer pause(acceptor.get_executor(), kAcceptPause);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    if (++site.open > kConnections) {  // closed at once: a browser asks again
      --site.open;
      continue;
    }
    const auto executor = socket.get_executor();
    asio::co_spawn(executor, converse(Stream(std::move(socket)), site), asio::detached);
  }
}

}  // namespace

Status serve_http(uint16_t port, const std::function<void(uint16_t port)>& ready,
                  const HttpHandler& handler) {
  asio::thread_pool threads(3);  // one may build a model while others answer
  Tcp::acceptor acceptor(threads);
  const Tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  boost::system::error_code error;
  acceptor.open(here.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(here, error);
  if (!error) acceptor.listen(kConnections, error);
  if (error) {
    return invalid_argument(str("port ", port, " of 127.0.0.1 cannot be used: ", error.message(),
                                "; give another with --port, or 0 for any"));
  }
  const uint16_t taken = acceptor.local_endpoint().port();
  Site site{handler, str("127.0.0.1:", taken), str("localhost:", taken)};
  ready(taken);
  asio::co_spawn(threads, listen(acceptor, site), asio::detached);
  threads.join();
  return ok_status();
}

Result<std::string> decode_url(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return invalid_argument(str("'%' without two digits in '", text, "'"));
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string encode_url(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace rk::tools
