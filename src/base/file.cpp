#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/pack.h"
#include "base/text.h"

namespace passnet {

namespace {

Error io_error(const std::string& path, std::string what) { return {Code::io, {path, 0, 0, {}}, std::move(what), {}}; }
// What cannot be written is the machine's to mend.
Error write_error(const std::string& path, std::string what) {
  return {Code::environment, {path, 0, 0, {}}, std::move(what), {}};
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

bool file_exists(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return true;
  return errno == ENOTDIR && pack_has_file(path);
}

bool file_is_link(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

Result<std::string> file_read(const std::string& path, std::size_t limit) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const int error = errno;
    if (error == ENOTDIR)  // some part of the path is a file: a pack, perhaps
      if (auto packed = pack_read_file(path, limit)) return std::move(*packed);
    return io_error(path, fmt::format("cannot open: {}", std::strerror(error)));
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return io_error(path, fmt::format("cannot stat: {}", std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) return io_error(path, "not a regular file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > limit)
    return Error{Code::limit, {path, 0, 0, {}}, fmt::format("file of {} bytes; the limit is {}", size, limit), {}};
  std::string out(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(file.fd, out.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path, fmt::format("cannot read: {}", std::strerror(errno)));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  return out;
}

Result<std::monostate> file_write(const std::string& path, std::string_view bytes) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      const int why = errno;
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      return write_error(path, fmt::format("cannot write: {}", std::strerror(why)));
    }
  }
  std::error_code code;
  std::filesystem::rename(temporary, path, code);
  if (code) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return write_error(path, fmt::format("cannot rename: {}", code.message()));
  }
  return std::monostate{};
}

Result<std::monostate> folder_make(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return write_error(path, fmt::format("cannot make the folder: {}", code.message()));
  return std::monostate{};
}

Result<std::vector<std::string>> file_read_list(const std::string& path) {
  auto text = file_read(path);
  if (!text) return std::move(text.error());
  if (text->starts_with("\xef\xbb\xbf")) text->erase(0, 3);  // some editors put it in front of UTF-8
  std::vector<std::string> out;
  for (const std::string_view line : text_lines(*text)) {
    const std::string_view entry = text_trim(line);
    if (!entry.empty() && entry.front() != '#') out.emplace_back(entry);
  }
  return out;
}

Where where_in_file(const std::string& path, std::uint32_t line, std::uint32_t column) {
  Where out{path, line, column, {}};
  const auto text = file_read(path);
  if (!text || line == 0) return out;
  const auto lines = text_lines(*text);
  if (line <= lines.size()) out.text = std::string(lines[line - 1].substr(0, 4096));
  return out;
}

}  // namespace passnet
