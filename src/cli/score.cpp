// passnet score: S(t), ES(t) and AS of a run, a JSONL file or a log of the original's grammar.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "bench/results.h"
#include "bench/score.h"
#include "cli/command.h"
#include "cli/validators.h"

namespace passnet::cli {

namespace {

using nlohmann::ordered_json;

struct Options {
  std::string path, interpretation = "default", candidate;
  ScoreOptions score;
  bool json = false;
};

ordered_json json_of(const CandidateResults& results, const ScoreCard& card) {
  ordered_json s, es, statuses = ordered_json::object();
  for (int t = kTightest; t <= card.score.last_t; ++t) {
    s[std::to_string(t)] = card.score.s[step_of(t)];
    es[std::to_string(t)] = card.score.es[step_of(t)];
  }
  for (const auto& [status, count] : results.statuses()) statuses[std::string(status_name(status))] = count;
  ordered_json out = {{"S", s}, {"ES", es}};
  if (card.score.as) out["AS"] = *card.score.as;
  out["statuses"] = statuses;
  return out;
}

std::string counted(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

void print_one(const CandidateResults& results, const ScoreCard& card) {
  fmt::print("{}: {}, {}\n\n", text_printable(results.candidate), counted(results.tasks().size(), "task"),
             counted(card.graphs, "graph"));
  if (card.score.as) fmt::print("AS        {:.4f}\n", *card.score.as);
  for (std::size_t i = 0; i < kFastThan.size(); ++i) fmt::print("fast_{:<5}{:.4f}\n", kFastThan[i], card.fast[i]);
  fmt::print("right     {:.4f}\nslower    {:.4f}\n\n   t    S(t)   ES(t)\n", card.right, card.slower);
  for (int t = kTightest; t <= card.score.last_t; ++t)
    fmt::print("{:>4}  {:.4f}  {:.4f}\n", t, card.score.s[step_of(t)], card.score.es[step_of(t)]);
  fmt::print("\n");
  for (const auto& [status, count] : results.statuses()) fmt::print("{:<16}{:>6}\n", status_name(status), count);
}

// A row a figure, a column a candidate.
void print_many(const std::vector<const CandidateResults*>& results, const std::vector<ScoreCard>& cards) {
  std::vector<std::size_t> widths;
  const auto line = [&](std::string_view name, auto&& value) {
    fmt::print("{:<16}", name);
    for (std::size_t i = 0; i < results.size(); ++i) fmt::print("  {:>{}}", value(i), widths[i]);
    fmt::print("\n");
  };
  for (const CandidateResults* r : results) widths.push_back(std::max<std::size_t>(r->candidate.size(), 8));
  line("", [&](std::size_t i) { return text_printable(results[i]->candidate); });
  const auto figure = [](double v) { return fmt::format("{:.4f}", v); };
  if (cards[0].score.as) line("AS", [&](std::size_t i) { return figure(*cards[i].score.as); });
  for (std::size_t k = 0; k < kFastThan.size(); ++k)
    line(fmt::format("fast_{}", kFastThan[k]), [&](std::size_t i) { return figure(cards[i].fast[k]); });
  line("right", [&](std::size_t i) { return figure(cards[i].right); });
  line("slower", [&](std::size_t i) { return figure(cards[i].slower); });
  for (int t = kTightest; t <= cards[0].score.last_t; ++t)
    line(fmt::format("ES({})", t), [&](std::size_t i) { return figure(cards[i].score.es[step_of(t)]); });
  line("tasks", [&](std::size_t i) { return std::to_string(results[i]->tasks().size()); });
  line("graphs", [&](std::size_t i) { return std::to_string(cards[i].graphs); });
  for (const StatusRow& row : status_rows()) {
    const auto count = [&](std::size_t i) {
      const auto all = results[i]->statuses();
      const auto it = all.find(row.status);
      return it == all.end() ? std::size_t{0} : it->second;
    };
    bool any = false;
    for (std::size_t i = 0; i < results.size(); ++i) any = any || count(i) > 0;
    if (any) line(row.name, count);
  }
}

// What a pipe gives, as a file without a name: readers look at a file's begin first, and then read it whole.
class PipedFile {
 public:
  explicit PipedFile(const std::string& path) {
    const int in = path == "-" || path == "/dev/stdin" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    fd_ = ::memfd_create("score", MFD_CLOEXEC);
    bool good = in >= 0 && fd_ >= 0;
    std::vector<char> block(1 << 16);
    std::size_t size = 0;
    for (ssize_t n = 1; good && n != 0;) {
      n = ::read(in, block.data(), block.size());
      if (n < 0 && errno == EINTR) continue;
      size += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      good = n >= 0 && size <= kFileLimit && ::write(fd_, block.data(), static_cast<std::size_t>(n)) == n;
    }
    const int error = errno;
    if (in > STDIN_FILENO) ::close(in);
    if (size > kFileLimit)
      fail({Code::limit, {path, 0, 0, {}}, fmt::format("more than {} bytes", kFileLimit), {"write them to a file"}});
    if (!good) fail({Code::io, {path, 0, 0, {}}, fmt::format("cannot read: {}", std::strerror(error)), {}});
  }
  ~PipedFile() { ::close(fd_); }
  PipedFile(const PipedFile&) = delete;
  PipedFile& operator=(const PipedFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_ = -1;
};

bool is_piped(const std::string& path) {
  struct stat info {};
  return path == "-" || path == "/dev/stdin" ||
         (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

Results read_results(const std::string& path) {
  if (!is_piped(path)) return results_read(path).take();
  const std::string shown = path == "-" ? "standard input" : path;
  const PipedFile file(path);
  const auto named = [&](std::string& text) {
    for (std::size_t at = 0; (at = text.find(file.path(), at)) != std::string::npos; at += shown.size())
      text.replace(at, file.path().size(), shown);
  };
  auto out = results_read(file.path());
  if (!out) {
    Error e = std::move(out.error());
    named(e.where.file);
    named(e.message);
    for (std::string& note : e.notes) named(note);
    fail(std::move(e));
  }
  for (std::string& note : out->notes) named(note);
  const std::string number = file.path().substr(file.path().rfind('/') + 1);
  for (CandidateResults& c : out->candidates)  // a log's own name is its file's
    if (c.candidate == number) c.candidate = path == "-" ? "stdin" : path.substr(path.rfind('/') + 1);
  return out.take();
}

int run(Options o) {
  o.score.interpretation = *interpretation_from_name(o.interpretation);
  const Results all = read_results(o.path);
  for (const std::string& note : all.notes) fmt::print(stderr, "warning: {}\n", note);
  std::vector<const CandidateResults*> results;
  std::vector<ScoreCard> cards;
  std::vector<std::string> names;
  for (const CandidateResults& r : all.candidates) {
    names.push_back(r.candidate);
    if (!o.candidate.empty() && r.candidate != o.candidate) continue;
    results.push_back(&r);
    cards.push_back(score_card(r.tasks(), o.score));
  }
  if (results.empty())
    fail({Code::usage,
          {},
          fmt::format("no candidate '{}' in '{}'", o.candidate, o.path),
          {"there are: " + text_join(names, ", ")}});
  if (!o.json) {
    if (results.size() == 1)
      print_one(*results[0], cards[0]);
    else
      print_many(results, cards);
    return kOk;
  }
  ordered_json out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results.size() == 1)
      out = json_of(*results[i], cards[i]);
    else
      out[results[i]->candidate] = json_of(*results[i], cards[i]);
  }
  fmt::print("{}\n", out.dump(1, ' ', true, ordered_json::error_handler_t::replace));
  return kOk;
}

}  // namespace

void add_score(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("score", "S(t), ES(t) and AS of a run, a JSONL file of records, or a log");
  command
      ->add_option("path", options->path,
                   "Run folder, records.jsonl, or a log of the original's grammar; - is standard input")
      ->required()
      ->type_name("RUN|LOG");
  command->add_option("--interpretation", options->interpretation, "From which t an error is forgiven")
      ->check(CLI::IsMember({"default", "mismatch_extended"}))
      ->capture_default_str();
  command->add_option("--p", options->score.p, "Penalty of what is slower than eager: it counts s^(p+1)")
      ->check(between(0, 100))
      ->capture_default_str();
  command->add_option("--b", options->score.b, "What a failure counts")->check(between(0, 1))->capture_default_str();
  command->add_option("--candidate", options->candidate, "Only this one of a run's candidates");
  command->add_flag("--json", options->json,
                    "One document: S, ES, AS, statuses; with several candidates an object by their names");
  command->footer(
      "A task's score is over its graphs, a run's the geometric mean over its tasks; a log is one task unless its\n"
      "lines '[Config] task:' say otherwise. fast_p: the share of graphs that are right at t = -5 and more than p "
      "times "
      "as\nfast as eager; right: the share right at t = -5; slower: right there, but slower than eager.");
  command->callback([=, &outcome] { outcome.code = run(*options); });
}

}  // namespace passnet::cli
