#include "base/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace passnet {

namespace {

namespace fs = std::filesystem;

// fdatasync: at most so often while lines come, and when the file is closed. The process's death loses nothing
// without it; a power cut loses what is younger than this, and the file stays whole lines but for its last.
constexpr std::chrono::seconds kSyncEvery{2};

Error machine_error(std::string message, int number) {
  return {Code::environment, {}, fmt::format("{}: {}", message, std::strerror(number)), {}};
}

// An open file that closes itself.
struct File {
  int fd = -1;
  explicit File(int f) : fd(f) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
};

std::int64_t read_at(int fd, char* out, std::size_t count, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = ::pread(fd, out + done, count - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return static_cast<std::int64_t>(done);
}

struct flock whole_file() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// The offset behind the last end of line before `size`.
Result<std::uint64_t> last_line_end(int fd, std::uint64_t size, const std::string& path) {
  std::string block(std::size_t{64} << 10, '\0');
  while (size > 0) {
    const std::uint64_t count = std::min<std::uint64_t>(block.size(), size);
    if (read_at(fd, block.data(), count, size - count) != static_cast<std::int64_t>(count))
      return machine_error(fmt::format("cannot read '{}'", path), errno);
    const std::size_t at = std::string_view(block.data(), count).rfind('\n');
    if (at != std::string_view::npos) return size - count + at + 1;
    size -= count;
  }
  return std::uint64_t{0};
}

std::string holder(int fd) {
  struct flock lock = whole_file();
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return "";
  return lock.l_pid > 0 ? fmt::format("process {}", lock.l_pid) : "a process of another machine or container";
}

}  // namespace

Result<std::unique_ptr<LineFile>> LineFile::open(const std::string& folder, const std::string& name, const Whole& whole,
                                                 Alone alone) {
  std::unique_ptr<LineFile> out(new LineFile);
  out->folder_ = folder;
  out->path_ = (fs::path(folder) / name).string();
  if (auto started = out->start(alone); !started) return started.error();
  if (auto mended = out->mend(whole); !mended) return mended.error();
  return out;
}

Result<std::monostate> LineFile::start(Alone alone) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return machine_error(fmt::format("cannot make the folder '{}'", folder_), error.value());
  const std::string lock_path = alone == Alone::in_file ? path_ + ".lock" : (fs::path(folder_) / kLockFile).string();
  lock_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (lock_ < 0) return machine_error(fmt::format("cannot write in '{}'", folder_), errno);
  // A record lock belongs to this process alone: workers that it forks do not keep it when this process dies.
  struct flock lock = whole_file();
  if (::fcntl(lock_, F_SETLK, &lock) != 0) {
    if (errno != EACCES && errno != EAGAIN) return machine_error(fmt::format("cannot lock '{}'", lock_path), errno);
    const std::string who = holder(lock_);
    return Error{Code::environment,
                 {},
                 fmt::format("'{}' is in use by {}", alone == Alone::in_file ? path_ : folder_,
                             who.empty() ? "another process" : who),
                 {"wait for it, or give another folder"}};
  }
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file_ < 0) return machine_error(fmt::format("cannot write '{}'", path_), errno);
  if (const File directory(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); directory.fd >= 0)
    ::fsync(directory.fd);
  return std::monostate{};
}

Result<std::monostate> LineFile::mend(const Whole& is_whole) {
  struct stat status = {};
  if (::fstat(file_, &status) != 0) return machine_error(fmt::format("cannot read '{}'", path_), errno);
  if (!S_ISREG(status.st_mode)) return Error{Code::environment, {}, fmt::format("'{}' is no regular file", path_), {}};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  auto whole = last_line_end(file_, size, path_);
  if (!whole) return whole.error();
  size_ = *whole;
  if (size_ == size) return std::monostate{};
  // A line that lacks only its end is finished work.
  std::string last(std::min<std::uint64_t>(size - size_, kLineLimit), '\0');
  if (last.size() == size - size_ && read_at(file_, last.data(), last.size(), size_) == std::ssize(last) &&
      is_whole(last) && ::write(file_, "\n", 1) == 1) {
    size_ = size + 1;
    return std::monostate{};
  }
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
    return machine_error(fmt::format("cannot cut the torn last line of '{}'", path_), errno);
  cut_ = size - size_;
  return std::monostate{};
}

LineFile::~LineFile() {
  if (file_ >= 0) {
    sync(true);
    ::close(file_);
  }
  if (lock_ >= 0) ::close(lock_);
}

void LineFile::sync(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - synced_ < kSyncEvery) return;
  synced_ = time;
  ::fdatasync(file_);
}

Result<std::monostate> LineFile::append(std::string_view line) {
  const std::lock_guard held(mutex_);
  std::size_t done = 0;
  int number = 0;
  while (done < line.size() && number == 0) {  // once, but for a signal or a disk that becomes full
    const ssize_t n = ::write(file_, line.data() + done, line.size() - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EINTR)
      number = n == 0 ? ENOSPC : errno;
  }
  if (number == 0) {
    size_ += line.size();
    sync(false);
    return std::monostate{};
  }
  Error error = machine_error(fmt::format("cannot write '{}'", path_), number);
  if (done > 0 && ::ftruncate(file_, static_cast<off_t>(size_)) != 0)
    error.notes.push_back(
        fmt::format("its last line is torn and will be cut when the run goes on: {}", std::strerror(errno)));
  return error;
}

std::string line_file_writer(const std::string& folder) {
  const File lock(::open((fs::path(folder) / kLockFile).c_str(), O_RDONLY | O_CLOEXEC));
  return lock.fd < 0 ? "" : holder(lock.fd);
}

Result<std::uint64_t> line_file_scan(const std::string& path, std::uint64_t from,
                                     const std::function<void(Line&&)>& use) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO would wait for a writer
  struct stat status = {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0)
    return Error{Code::io, {}, fmt::format("cannot read '{}': {}", path, std::strerror(errno)), {}};
  if (!S_ISREG(status.st_mode)) return Error{Code::io, {}, fmt::format("'{}' is no regular file", path), {}};
  std::string block(std::size_t{1} << 20, '\0'), line;
  std::uint64_t begin = from, at = from;  // of the line being read; of the block
  std::uint64_t length = 0;               // of that line; `line` holds its first kLineLimit bytes
  std::uint64_t number = 0;
  while (true) {
    const std::int64_t count = read_at(file.fd, block.data(), block.size(), at);
    if (count < 0) return Error{Code::io, {}, fmt::format("cannot read '{}': {}", path, std::strerror(errno)), {}};
    if (count == 0) return begin;
    std::string_view rest(block.data(), static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      if (line.size() < kLineLimit) line.append(part);
      length += part.size();
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      ++number;
      if (length > kLineLimit || !text_trim(line).empty()) use({begin, length + 1, number, line, length > kLineLimit});
      begin += length + 1;
      line.clear();
      length = 0;
    }
  }
}

}  // namespace passnet
