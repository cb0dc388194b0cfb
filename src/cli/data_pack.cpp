// passnet data pack, unpack: many graph folders in one file, and back.
#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/pack.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/progress.h"
#include "data/graph_files.h"

namespace passnet::cli {

namespace {

struct PackOptions {
  GraphSelection selection;
  std::string out;
  int jobs = 0;
};

constexpr std::size_t kBatch = 256;  // graphs read at once, in parallel; then written in order

std::size_t complain(const std::string& graph, const Error& error) {
  fmt::print(stderr, "{}: {}\n", graph, text_printable(error_line(error)));
  return 1;
}

int pack(const PackOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  const std::vector<std::string> names = graph_names(graphs);
  if (const auto slash = o.out.rfind('/'); slash != std::string::npos && slash > 0)
    folder_make(o.out.substr(0, slash)).take();
  const auto writer = pack_create(o.out).take();
  std::size_t failed = 0, packed = 0, kept = 0;
  Progress progress("graphs", graphs.size(), false);
  for (std::size_t begin = 0; begin < graphs.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, graphs.size() - begin);
    std::vector<std::optional<Result<data::GraphFiles>>> read(count);
    data::parallel_run(o.jobs, count, [&](std::size_t i) {
      if (!writer->contains(names[begin + i])) read[i] = data::read_graph_files(graphs[begin + i]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (!read[i]) {
        ++kept;
      } else if (!*read[i]) {
        failed += complain(graphs[begin + i], read[i]->error());
      } else {
        PackedFolder files;
        for (data::GraphFile& f : **read[i]) files.push_back({std::move(f.name), std::move(f.text)});
        writer->add(names[begin + i], files).take();
        ++packed;
      }
      progress.step(failed);
    }
  }
  writer->finish().take();
  fmt::print("{} graphs in {}{}, {} failed\n", packed + kept, o.out,
             kept > 0 ? fmt::format(" ({} were there)", kept) : "", failed);
  return failed == 0 ? kOk : kFailed;
}

int unpack(const PackOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  const std::vector<std::string> names = graph_names(graphs);
  std::size_t failed = 0, kept = 0, written = 0;
  std::mutex mutex;
  Progress progress("graphs", graphs.size(), false);
  data::parallel_run(o.jobs, graphs.size(), [&](std::size_t i) {
    const std::string folder = o.out + "/" + names[i];
    const bool there = data::graph_files_whole(folder);
    std::optional<Error> error;
    if (!there) {
      auto files = data::read_graph_files(graphs[i]);
      auto done = files ? data::write_graph_files(folder, *files) : Result<std::monostate>(files.error());
      if (!done) error = std::move(done.error());
    }
    const std::lock_guard hold(mutex);
    if (error)
      failed += complain(graphs[i], *error);
    else
      ++(there ? kept : written);
    progress.step(failed);
  });
  fmt::print("{} graphs in {}{}, {} failed\n", written + kept, o.out,
             kept > 0 ? fmt::format(" ({} were there)", kept) : "", failed);
  return failed == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_pack(CLI::App& data, Outcome& outcome) {
  auto p = std::make_shared<PackOptions>();
  CLI::App* command = data.add_subcommand("pack", "Put graph folders into one indexed, compressed, checksummed file");
  p->selection.add_options(*command);
  command->add_option("--out", p->out, "The pack; names in it leave out the folder that all graphs are in")
      ->required()
      ->type_name("FILE");
  command->add_option("--jobs", p->jobs, "Graphs read at once; 0: one a core")->capture_default_str();
  command->footer(
      "Every command reads a pack like a folder: passnet run corpus.pack/resnet/3_9, passnet data stats corpus.pack.\n"
      "A killed run leaves FILE.part, which the next one continues.");
  command->callback([=, &outcome] { outcome.code = pack(*p); });

  auto u = std::make_shared<PackOptions>();
  command = data.add_subcommand("unpack", "Write the graphs of packs (or lists) as folders");
  u->selection.add_options(*command);
  command->add_option("--out", u->out, "Where the folders go")->required()->type_name("DIR");
  command->add_option("--jobs", u->jobs, "Graphs at once; 0: one a core")->capture_default_str();
  command->callback([=, &outcome] { outcome.code = unpack(*u); });
}

}  // namespace passnet::cli
