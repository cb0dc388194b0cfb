#include "agent/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/text.h"

namespace passnet::agent {

namespace {

constexpr long kConnectSeconds = 30;

struct Transfer {
  const HttpRequest& request;
  HttpAnswer answer;
  bool too_large = false;
};

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* context) {
  auto& t = *static_cast<Transfer*>(context);
  if (t.answer.body.size() + size * count > kAnswerLimit) {
    t.too_large = true;
    return 0;
  }
  t.answer.body.append(data, size * count);
  return size * count;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* context) {
  auto& t = *static_cast<Transfer*>(context);
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) t.answer.headers.clear();  // of an answer before this one (100 Continue)
  if (const std::size_t colon = line.find(':'); colon != std::string_view::npos && t.answer.headers.size() < 1000) {
    t.answer.headers[text_lower(line.substr(0, colon))] = std::string(text_trim(line.substr(colon + 1)));
  }
  return size * count;
}

int on_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(context)->request.cancelled() ? 1 : 0;
}

}  // namespace

Result<HttpAnswer> http_post(const HttpRequest& request) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) return Error{Code::environment, {}, "libcurl cannot be started", {}};
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  Transfer transfer{request, {}, false};
  CURL* c = curl.get();
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(c, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(c, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(1.0, request.seconds * 1000)));
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(c, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(c, CURLOPT_XFERINFODATA, &transfer);
  const CURLcode code = curl_easy_perform(c);
  long status = 0;
  curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
  transfer.answer.status = static_cast<int>(status);
  if (code == CURLE_OK) return std::move(transfer.answer);
  if (transfer.too_large) return Error{Code::limit, {}, fmt::format("an answer over {} bytes", kAnswerLimit), {}};
  const bool inside = code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING;
  if (inside && status != 0) {
    transfer.answer.whole = false;
    return std::move(transfer.answer);
  }
  return Error{
      Code::io, {}, fmt::format("{}: {}", request.url, reason[0] != '\0' ? reason : curl_easy_strerror(code)), {}};
}

}  // namespace passnet::agent
