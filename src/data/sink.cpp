#include "data/sink.h"

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/pack.h"

namespace passnet::data {

namespace {

class FolderSink final : public GraphSink {
 public:
  explicit FolderSink(std::string path) : path_(std::move(path)) {}
  bool contains(const std::string& name) const override { return graph_files_whole(path_ + "/" + name); }
  Result<std::monostate> add(const GraphRow& row) override {
    return write_graph_files(path_ + "/" + row.name, row.files);
  }
  Result<std::monostate> finish() override { return folder_make(path_); }

 private:
  std::string path_;
};

class PackSink final : public GraphSink {
 public:
  explicit PackSink(std::unique_ptr<PackWriter> writer) : writer_(std::move(writer)) {}
  bool contains(const std::string& name) const override { return writer_->contains(name); }
  Result<std::monostate> add(const GraphRow& row) override {
    PackedFolder files;
    for (const GraphFile& f : row.files) files.push_back({f.name, f.text});
    return writer_->add(row.name, files);
  }
  Result<std::monostate> finish() override { return writer_->finish(); }

 private:
  std::unique_ptr<PackWriter> writer_;
};

// Written from the start each time, beside its place, and moved in when it is whole.
class RowSink final : public GraphSink {
 public:
  RowSink(std::string path, bool parquet)
      : path_(std::move(path)),
        part_(path_ + ".part"),
        parquet_(parquet),
        out_(part_, std::ios::binary | std::ios::trunc) {}
  bool contains(const std::string&) const override { return false; }
  Result<std::monostate> add(const GraphRow& row) override {
    out_ << print_row(row);
    if (!out_) return Error{Code::io, {part_, 0, 0, {}}, "cannot write", {}};
    return std::monostate{};
  }
  Result<std::monostate> finish() override {
    out_.close();
    std::error_code code;
    if (parquet_) {
      auto converted = rows_to_parquet(part_, path_);
      std::filesystem::remove(part_, code);
      return converted;
    }
    std::filesystem::rename(part_, path_, code);
    if (code) return Error{Code::io, {path_, 0, 0, {}}, code.message(), {}};
    return std::monostate{};
  }

 private:
  std::string path_, part_;
  bool parquet_;
  std::ofstream out_;
};

}  // namespace

Result<std::unique_ptr<GraphSink>> open_sink(const std::string& path) {
  return guarded([&]() -> std::unique_ptr<GraphSink> {
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    if (!above.empty()) folder_make(above.string()).take();
    if (path.ends_with(".pack")) return std::make_unique<PackSink>(pack_create(path).take());
    if (path.ends_with(".jsonl")) return std::make_unique<RowSink>(path, false);
    if (path.ends_with(".parquet")) return std::make_unique<RowSink>(path, true);
    return std::make_unique<FolderSink>(path);
  });
}

}  // namespace passnet::data
