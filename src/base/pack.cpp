#include "base/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/hash.h"

namespace passnet {

namespace {

constexpr std::string_view kMagic = "passnet pack 1\n\n";   // 16 bytes, at the start and at the end
constexpr std::uint32_t kBlockMagic = 0x4b4c4250;           // PBLK
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;  // a block is closed once it holds so much
constexpr std::uint64_t kRawLimit = kFileLimit + (std::uint64_t{64} << 20);
constexpr int kLevel = 3;

struct BlockHeader {
  std::uint32_t magic, folders;
  std::uint64_t packed, raw;  // bytes
  std::uint64_t hash;         // of the packed bytes
};

// One folder. Its record in the block: file count, then (name size, file size, name) each, then the bytes.
struct IndexEntry {
  std::uint64_t name_at, block_at, record_at;  // in the names, the file, the block
  std::uint32_t name_size, unused;
};

struct Footer {
  std::uint64_t index_at, folders, names_size, hash;  // hash: of index and names
  char magic[16];
};

Error broken(const std::string& path, std::string_view what) {
  return {Code::io,
          {path, 0, 0, {}},
          fmt::format("the pack is damaged: {}", what),
          {"make it again with 'passnet data pack', or copy it again"}};
}

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads of a byte string that may be cut short or lie: false instead of a step too far.
class Reader {
 public:
  Reader(std::string_view bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}
  template <class T>
  bool get(T& out) {
    std::string_view view;
    if (!take(sizeof out, view)) return false;
    std::memcpy(&out, view.data(), sizeof out);
    return true;
  }
  bool take(std::uint64_t size, std::string_view& out) {
    if (at_ > bytes_.size() || size > bytes_.size() - at_) return false;
    out = bytes_.substr(at_, size);
    at_ += size;
    return true;
  }
  std::uint64_t at() const { return at_; }

 private:
  std::string_view bytes_;
  std::uint64_t at_;
};

bool parse_record(Reader& in, PackedFolder& out) {
  std::uint32_t count = 0;
  if (!in.get(count)) return false;
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t name_size = 0;
    std::uint64_t size = 0;
    std::string_view name;
    if (!in.get(name_size) || !in.get(size) || !in.take(name_size, name)) return false;
    out.push_back({std::string(name), {}});
    sizes.push_back(size);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string_view bytes;
    if (!in.take(sizes[i], bytes)) return false;
    out[i].bytes = bytes;
  }
  return true;
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool read(std::uint64_t at, void* out, std::size_t size) const {
    auto* bytes = static_cast<char*>(out);
    while (size > 0) {
      const ssize_t n = ::pread(fd_, bytes, size, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes += n;
      at += static_cast<std::uint64_t>(n);
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  std::uint64_t size() const {
    struct stat info {};
    return ::fstat(fd_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  }

 private:
  int fd_;
};

// A block's own bytes, unpacked; nothing where it is not whole.
std::optional<std::string> read_block(const Descriptor& file, std::uint64_t at, std::uint64_t end,
                                      BlockHeader& header) {
  if (at > end || end - at < sizeof header || !file.read(at, &header, sizeof header)) return std::nullopt;
  if (header.magic != kBlockMagic || header.packed > end - at - sizeof header || header.raw > kRawLimit)
    return std::nullopt;
  std::string packed(header.packed, '\0');
  if (!file.read(at + sizeof header, packed.data(), packed.size()) || hash64(packed) != header.hash)
    return std::nullopt;
  std::string raw(header.raw, '\0');
  if (ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()) != raw.size()) return std::nullopt;
  return raw;
}

class MappedPack final : public Pack {
 public:
  MappedPack(std::string path, std::string absolute) : path_(std::move(path)), absolute_(std::move(absolute)) {}
  ~MappedPack() override {
    if (map_ != nullptr) ::munmap(map_, map_size_);
  }
  MappedPack(const MappedPack&) = delete;
  MappedPack& operator=(const MappedPack&) = delete;

  Result<std::monostate> load() {
    const Descriptor file(open_file());
    if (file.get() < 0)
      return Error{Code::io, {path_, 0, 0, {}}, fmt::format("cannot open: {}", std::strerror(errno)), {}};
    const std::uint64_t size = file.size();
    char magic[16] = {};
    if (size < kMagic.size() + sizeof footer_ || !file.read(0, magic, sizeof magic) ||
        std::string_view(magic, sizeof magic) != kMagic)
      return broken(path_, "it does not begin as a pack does");
    if (!file.read(size - sizeof footer_, &footer_, sizeof footer_) ||
        std::string_view(footer_.magic, sizeof footer_.magic) != kMagic)
      return broken(path_, "its end is missing");
    const std::uint64_t end = size - sizeof footer_;
    if (footer_.index_at > end || footer_.folders > (end - footer_.index_at) / sizeof(IndexEntry) ||
        footer_.names_size != end - footer_.index_at - footer_.folders * sizeof(IndexEntry))
      return broken(path_, "its index does not fit");
    if (end == footer_.index_at) return std::monostate{};
    const std::uint64_t page = footer_.index_at & ~std::uint64_t{4095};
    map_size_ = end - page;
    map_ = ::mmap(nullptr, map_size_, PROT_READ, MAP_PRIVATE, file.get(), static_cast<off_t>(page));
    if (map_ == MAP_FAILED) {
      map_ = nullptr;
      return Error{Code::environment, {path_, 0, 0, {}}, fmt::format("cannot map: {}", std::strerror(errno)), {}};
    }
    const char* index = static_cast<const char*>(map_) + (footer_.index_at - page);
    if (hash64({index, end - footer_.index_at}) != footer_.hash) return broken(path_, "its index has changed");
    entries_ = index;
    names_ = {index + footer_.folders * sizeof(IndexEntry), footer_.names_size};
    return std::monostate{};
  }

  std::size_t size() const override { return footer_.folders; }
  std::string_view name(std::size_t index) const override {
    const IndexEntry e = entry(index);
    if (e.name_at > names_.size() || e.name_size > names_.size() - e.name_at) return {};
    return names_.substr(e.name_at, e.name_size);
  }
  std::optional<std::size_t> find(std::string_view folder) const override {
    std::size_t low = 0, high = size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (name(middle) < folder)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == size() || name(low) != folder) return std::nullopt;
    return low;
  }

  Result<PackedFolder> read(std::size_t index) override {
    const IndexEntry e = entry(index);
    const std::shared_ptr<const std::string> raw = block(e.block_at);
    PackedFolder out;
    Reader in(raw == nullptr ? std::string_view() : std::string_view(*raw), e.record_at);
    if (raw == nullptr || !parse_record(in, out))
      return broken(path_, fmt::format("the block of '{}' is not what was written", name(index)));
    return out;
  }

 private:
  IndexEntry entry(std::size_t index) const {
    IndexEntry out{};
    std::memcpy(&out, entries_ + index * sizeof out, sizeof out);
    return out;
  }

  // Opened for each block: a worker that is forked off closes the files that it was not given.
  int open_file() const { return ::open(absolute_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

  // The last block stays unpacked: a folder's files, and often the next folder's, lie in it.
  std::shared_ptr<const std::string> block(std::uint64_t at) {
    {
      const std::lock_guard hold(mutex_);
      if (block_ != nullptr && block_at_ == at) return block_;
    }
    BlockHeader header{};
    const Descriptor file(open_file());
    if (file.get() < 0) return nullptr;
    auto raw = read_block(file, at, footer_.index_at, header);
    if (!raw) return nullptr;
    const std::lock_guard hold(mutex_);
    block_at_ = at;
    return block_ = std::make_shared<const std::string>(std::move(*raw));
  }

  std::string path_, absolute_;  // for messages; for opening, wherever the process is by then
  Footer footer_{};
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  const char* entries_ = nullptr;
  std::string_view names_;
  std::mutex mutex_;
  std::uint64_t block_at_ = 0;
  std::shared_ptr<const std::string> block_;
};

class FileWriter final : public PackWriter {
 public:
  explicit FileWriter(std::string path)
      : path_(std::move(path)),
        part_(path_ + ".part"),
        file_(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}

  Result<std::monostate> start() {
    if (file_.get() < 0)
      return Error{Code::io, {part_, 0, 0, {}}, fmt::format("cannot open: {}", std::strerror(errno)), {}};
    const std::uint64_t size = file_.size();
    char magic[16] = {};
    const bool begun =
        size >= kMagic.size() && file_.read(0, magic, sizeof magic) && std::string_view(magic, sizeof magic) == kMagic;
    end_ = begun ? kMagic.size() : 0;
    while (begun && recover(size)) {
    }
    if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0 ||
        ::lseek(file_.get(), static_cast<off_t>(end_), SEEK_SET) < 0)
      return failed();
    if (!begun) return write(kMagic);
    return std::monostate{};
  }

  bool contains(const std::string& folder) const override { return folders_.contains(folder); }

  Result<std::monostate> add(const std::string& folder, const PackedFolder& files) override {
    if (folders_.contains(folder)) return std::monostate{};
    // A reader refuses larger blocks; counts and sizes of names have 32 bits.
    std::uint64_t bytes = sizeof(std::uint32_t) + folder.size();
    for (const PackedFile& f : files)
      bytes += sizeof(std::uint32_t) + sizeof(std::uint64_t) + f.name.size() + f.bytes.size();
    if (bytes > kRawLimit)
      return Error{Code::limit,
                   {folder, 0, 0, {}},
                   fmt::format("a folder of {} bytes is too large for a pack; the limit is {}", bytes, kRawLimit),
                   {}};
    if (bytes > kRawLimit - raw_.size())
      if (auto flushed = flush(); !flushed) return flushed;
    folders_.emplace(folder, Place{end_, raw_.size()});
    names_ += folder;
    names_ += '\n';
    ++count_;
    put(raw_, static_cast<std::uint32_t>(files.size()));
    for (const PackedFile& f : files) {
      put(raw_, static_cast<std::uint32_t>(f.name.size()));
      put(raw_, static_cast<std::uint64_t>(f.bytes.size()));
      raw_ += f.name;
    }
    for (const PackedFile& f : files) raw_ += f.bytes;
    return raw_.size() < kBlockBytes ? Result<std::monostate>(std::monostate{}) : flush();
  }

  Result<std::monostate> finish() override {
    if (auto flushed = flush(); !flushed) return flushed;
    Footer footer{end_, folders_.size(), 0, 0, {}};
    std::string index, names;
    for (const auto& [name, place] : folders_) {
      put(index, IndexEntry{names.size(), place.block_at, place.record_at, static_cast<std::uint32_t>(name.size()), 0});
      names += name;
    }
    footer.names_size = names.size();
    index += names;
    footer.hash = hash64(index);
    std::memcpy(footer.magic, kMagic.data(), kMagic.size());
    put(index, footer);
    if (auto written = write(index); !written) return written;
    if (::fsync(file_.get()) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0) return failed();
    return std::monostate{};
  }

 private:
  struct Place {
    std::uint64_t block_at, record_at;
  };

  Error failed() const {
    return {Code::io, {part_, 0, 0, {}}, fmt::format("cannot write: {}", std::strerror(errno)), {}};
  }
  Result<std::monostate> write(std::string_view bytes) {
    if (!file_.write(bytes)) return failed();
    end_ += bytes.size();
    return std::monostate{};
  }

  // The names first, then the records: a block's list is all that is needed to find its folders again.
  Result<std::monostate> flush() {
    if (count_ == 0) return std::monostate{};
    std::string packed(ZSTD_compressBound(raw_.size()), '\0');
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), raw_.data(), raw_.size(), kLevel);
    if (ZSTD_isError(size) != 0) return Error{Code::internal, {}, ZSTD_getErrorName(size), {}};
    packed.resize(size);
    std::string out;
    put(out, BlockHeader{kBlockMagic, count_, packed.size(), raw_.size(), hash64(packed)});
    out += packed;
    put(out, static_cast<std::uint64_t>(names_.size()));
    put(out, hash64(names_));
    out += names_;
    raw_.clear();
    names_.clear();
    count_ = 0;
    return write(out);
  }

  // The next block of a part that an earlier writer left; false at the end of what is whole.
  bool recover(std::uint64_t size) {
    BlockHeader header{};
    const auto raw = read_block(file_, end_, size, header);
    if (!raw) return false;
    const std::uint64_t names_at = end_ + sizeof header + header.packed;
    std::uint64_t about[2] = {};  // size and hash
    if (size - names_at < sizeof about || !file_.read(names_at, about, sizeof about) ||
        about[0] > size - names_at - sizeof about)
      return false;
    std::string names(about[0], '\0');
    if (!file_.read(names_at + sizeof about, names.data(), names.size()) || hash64(names) != about[1]) return false;
    Reader in(*raw, 0);
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t line = names.find('\n', at);
      PackedFolder ignored;
      const std::uint64_t record_at = in.at();
      if (line == std::string::npos || !parse_record(in, ignored)) return false;
      folders_.emplace(names.substr(at, line - at), Place{end_, record_at});
      at = line + 1;
    }
    end_ = names_at + sizeof about + names.size();
    return true;
  }

  std::string path_, part_;
  Descriptor file_;
  std::uint64_t end_ = 0;  // of what is written; where the open block will begin
  std::string raw_, names_;
  std::uint32_t count_ = 0;
  std::map<std::string, Place> folders_;
};

bool is_regular(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// A path through a pack: the pack's own path and the rest.
struct Through {
  std::string pack, rest;
};
std::optional<Through> find_pack(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string front = path.substr(0, slash);
    struct stat info {};
    if (::stat(front.c_str(), &info) != 0) return std::nullopt;
    if (S_ISREG(info.st_mode)) {
      if (!is_pack(front)) return std::nullopt;
      return Through{front, std::filesystem::path(path.substr(slash + 1)).lexically_normal().string()};
    }
  }
  return std::nullopt;
}

Result<std::shared_ptr<Pack>> open_shared(const std::string& path) {
  struct Opened {
    struct stat info;
    std::shared_ptr<Pack> pack;
  };
  static std::mutex mutex;
  static std::map<std::string, Opened> opened;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Error{Code::io, {path, 0, 0, {}}, std::strerror(errno), {}};
  const std::lock_guard hold(mutex);
  const auto found = opened.find(path);
  if (found != opened.end() && found->second.info.st_ino == info.st_ino &&
      found->second.info.st_mtime == info.st_mtime && found->second.info.st_size == info.st_size)
    return found->second.pack;
  auto pack = pack_open(path);
  if (!pack) return std::move(pack.error());
  opened[path] = {info, std::move(*pack)};
  return opened[path].pack;
}

Result<std::string> read_through(const Through& at, const std::string& path, std::size_t limit) {
  return guarded([&] {
    const std::shared_ptr<Pack> pack = open_shared(at.pack).take();
    const std::size_t slash = at.rest.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : at.rest.substr(0, slash);
    const std::string name = slash == std::string::npos ? at.rest : at.rest.substr(slash + 1);
    if (const auto index = pack->find(folder))
      for (PackedFile& f : pack->read(*index).take())
        if (f.name == name) {
          if (f.bytes.size() > limit) fail({Code::limit, {path, 0, 0, {}}, "file over the limit", {}});
          return std::move(f.bytes);
        }
    fail({Code::io, {path, 0, 0, {}}, "cannot open: no such file in the pack", {}});
  });
}

}  // namespace

Result<std::unique_ptr<Pack>> pack_open(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  auto pack = std::make_unique<MappedPack>(path, ignored ? path : absolute.string());
  if (auto loaded = pack->load(); !loaded) return std::move(loaded.error());
  return std::unique_ptr<Pack>(std::move(pack));
}

Result<std::unique_ptr<PackWriter>> pack_create(const std::string& path) {
  auto writer = std::make_unique<FileWriter>(path);
  if (auto started = writer->start(); !started) return std::move(started.error());
  return std::unique_ptr<PackWriter>(std::move(writer));
}

bool is_pack(const std::string& path) {
  if (!is_regular(path)) return false;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char magic[16] = {};
  return file.get() >= 0 && file.read(0, magic, sizeof magic) && std::string_view(magic, sizeof magic) == kMagic;
}

std::optional<Result<std::string>> pack_read_file(const std::string& path, std::size_t limit) {
  const auto at = find_pack(path);
  if (!at) return std::nullopt;
  return read_through(*at, path, limit);
}

bool pack_has_file(const std::string& path) {
  const auto at = find_pack(path);
  if (!at) return false;
  if (const auto pack = open_shared(at->pack); pack && (*pack)->find(at->rest)) return true;
  return static_cast<bool>(read_through(*at, path, kFileLimit));
}

Result<std::vector<std::string>> pack_folders(const std::string& path) {
  return guarded([&] {
    std::vector<std::string> out;
    std::optional<Through> at = is_pack(path) ? Through{path, ""} : find_pack(path);
    if (!at) return out;
    const std::shared_ptr<Pack> pack = open_shared(at->pack).take();
    while (at->rest.ends_with('/')) at->rest.pop_back();
    const std::string below = at->rest.empty() ? "" : at->rest + "/";
    for (std::size_t i = 0; i < pack->size(); ++i)
      if (pack->name(i) == at->rest || pack->name(i).starts_with(below))
        out.push_back(fmt::format("{}/{}", at->pack, pack->name(i)));
    return out;
  });
}

}  // namespace passnet
