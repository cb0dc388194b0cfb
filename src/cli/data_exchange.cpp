// passnet data pack, unpack, import, export: the same graphs in folders, packs, JSON lines and Parquet.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/progress.h"
#include "data/sink.h"

namespace passnet::cli {

namespace {

struct ExchangeOptions {
  GraphSelection selection;
  std::vector<std::string> rows;  // .jsonl and .parquet files
  std::string out;
  int jobs = 0;
};

constexpr std::size_t kBatch = 256;  // graphs read at once, in parallel; then written in order

class Exchange {
 public:
  explicit Exchange(const std::string& out) : out_(out), sink_(data::open_sink(out).take()) {}

  void graphs(const std::vector<std::string>& paths, int jobs) {
    const std::vector<std::string> names = graph_names(paths);
    Progress progress("graphs", paths.size(), false);
    for (std::size_t begin = 0; begin < paths.size(); begin += kBatch) {
      const std::size_t count = std::min(kBatch, paths.size() - begin);
      std::vector<std::optional<Result<data::GraphFiles>>> read(count);
      parallel_run(jobs, count, [&](std::size_t i) {
        if (!sink_->contains(names[begin + i])) read[i] = data::read_graph_files(paths[begin + i]);
      });
      for (std::size_t i = 0; i < count; ++i) {
        if (!read[i])
          ++kept_;
        else if (!*read[i])
          complain(paths[begin + i], read[i]->error());
        else
          add({names[begin + i], std::move(**read[i])});
        progress.step(failed_);
      }
    }
  }

  void rows(const std::string& file) {
    std::string lines = file;
    if (file.ends_with(".parquet")) {
      lines = out_ + ".rows";
      data::parquet_to_rows(file, lines).take();
    }
    data::read_rows(lines, [&](std::size_t line, Result<data::GraphRow> row) {
      if (!row)
        complain(fmt::format("{}:{}", file, line), row.error());
      else if (sink_->contains(row->name))
        ++kept_;
      else
        add(*row);
    }).take();
    std::error_code ignored;
    if (lines != file) std::filesystem::remove(lines, ignored);
  }

  int finish() {
    sink_->finish().take();
    fmt::print("{} graph{} in {}{}, {} failed\n", written_ + kept_, written_ + kept_ == 1 ? "" : "s", out_,
               kept_ > 0 ? fmt::format(" ({} were there)", kept_) : "", failed_);
    return failed_ == 0 ? kOk : kFailed;
  }

 private:
  void add(const data::GraphRow& row) {
    sink_->add(row).take();
    ++written_;
  }
  void complain(const std::string& where, const Error& error) {
    fmt::print(stderr, "{}: {}\n", where, text_printable(error_line(error)));
    ++failed_;
  }

  std::string out_;
  std::unique_ptr<data::GraphSink> sink_;
  std::size_t written_ = 0, kept_ = 0, failed_ = 0;
};

int from_graphs(const ExchangeOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  Exchange exchange(o.out);
  exchange.graphs(graphs, o.jobs);
  return exchange.finish();
}

int import(const ExchangeOptions& o) {
  const bool has_graphs = !o.selection.paths.empty() || !o.selection.lists.empty();
  if (!has_graphs && o.rows.empty())
    fail(
        {Code::usage, {}, "nothing to import", {"name --rows FILE (.jsonl, .parquet), --list FILE, or graph folders"}});
  const std::vector<std::string> graphs = has_graphs ? o.selection.resolve() : std::vector<std::string>();
  Exchange exchange(o.out);
  if (has_graphs) exchange.graphs(graphs, o.jobs);
  for (const std::string& file : o.rows) exchange.rows(file);
  return exchange.finish();
}

std::shared_ptr<ExchangeOptions> add_command(CLI::App& data, Outcome& outcome, const char* name, const char* help,
                                             const char* out_help, const char* footer,
                                             int (*run)(const ExchangeOptions&)) {
  auto o = std::make_shared<ExchangeOptions>();
  CLI::App* command = data.add_subcommand(name, help);
  o->selection.add_options(*command);
  command->add_option("--out", o->out, out_help)->required()->type_name("PATH");
  add_jobs(*command, o->jobs, "Graphs");
  command->footer(footer);
  command->callback([=, &outcome] { outcome.code = run(*o); });
  return o;
}

int pack(const ExchangeOptions& o) {
  ExchangeOptions packed = o;
  if (!packed.out.ends_with(".pack")) fail({Code::usage, {}, "a pack's name ends with .pack", {}});
  return from_graphs(packed);
}

constexpr const char* kOut = "A folder, or a file that ends with .pack, .jsonl or .parquet";
constexpr const char* kNames = "Names leave out the folder that all graphs are in. A run that was killed is continued.";

}  // namespace

void add_data_exchange(CLI::App& data, Outcome& outcome) {
  add_command(data, outcome, "pack", "Put graph folders into one indexed, compressed, checksummed file",
              "The pack: a file that ends with .pack",
              "Every command reads a pack like a folder: passnet graph run corpus.pack/resnet/3_9, passnet data stats\n"
              "corpus.pack. A killed run leaves FILE.part, which the next one continues.",
              pack);
  add_command(data, outcome, "unpack", "Write the graphs of packs (or lists) as folders", "Where the folders go",
              kNames, from_graphs);
  add_command(data, outcome, "export", "Write graphs for others: as folders, JSON lines or Parquet", kOut,
              "JSON lines and Parquet have a row a graph, and a column of text a file: uid, name, model_py,\n"
              "weight_meta_py, graph_net_json, ...; Hugging Face's datasets load both. Parquet needs pyarrow in the\n"
              "project's Python.",
              from_graphs);
  const auto o = add_command(data, outcome, "import",
                             "Read graphs of others: folders and lists of the original, JSON lines, Parquet", kOut,
                             kNames, import);
  data.get_subcommand("import")
      ->add_option("--rows", o->rows, "Files with a row a graph, as export writes them: .jsonl or .parquet")
      ->type_name("FILE");
}

}  // namespace passnet::cli
