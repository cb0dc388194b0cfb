#include "agent/session.h"

#include <fmt/format.h>

#include "agent/feedback.h"
#include "agent/tools.h"
#include "author/process.h"
#include "base/json.h"
#include "base/text.h"
#include "pass/load.h"

namespace passnet::agent {

namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos && !from.empty(); at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Its beginning and its end, with a line that says how much lies between.
std::string shortened(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t head = limit * 2 / 3, tail = text.size() - limit / 3;
  while (head > 0 && (static_cast<unsigned char>(text[head]) & 0xC0) == 0x80) --head;  // not inside a character
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) ++tail;
  return fmt::format("{}\n... {} bytes left out ...\n{}", text.substr(0, head), tail - head, text.substr(tail));
}

}  // namespace

Session::Session(Task task, std::unique_ptr<Workspace> workspace, Judge& judge, SessionOptions options)
    : task_(std::move(task)),
      workspace_(std::move(workspace)),
      judge_(judge),
      options_(options),
      editor_(*workspace_) {}

Result<std::size_t> Session::graph(const std::string& name) const {
  const std::vector<std::string> names = graph_names(task_);
  if (name.empty()) return std::size_t{0};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name || "graphs/" + names[i] == name) return i;
  return Error{
      Code::usage,
      {},
      fmt::format("no graph is called '{}'; there are {}", text_printable(name.substr(0, 200)), text_join(names, ", ")),
      {}};
}

// Nobody needs to know where on this machine the folder lies.
std::string Session::hide_paths(std::string text) const {
  const std::vector<std::string> names = graph_names(task_);
  replace_all(text, workspace_->root() + "/", "");
  for (std::size_t i = 0; i < names.size(); ++i) {
    replace_all(text, task_.graphs[i] + "/", "graphs/" + names[i] + "/");
    replace_all(text, task_.graphs[i] + ":", "graphs/" + names[i] + ":");
  }
  return text;
}

ToolResult Session::call(std::string_view name, const nlohmann::json& arguments) {
  ToolResult result;
  const auto refuse = [&](std::string why) {
    result.text = "ERROR: " + std::move(why);
    result.error = true;
  };
  const Tool* tool = tool_find(name);
  if (tool == nullptr) {
    std::vector<std::string> names;
    for (const Tool& t : tools()) names.emplace_back(t.name);
    refuse(fmt::format("no tool is called '{}'; there are {}", text_printable(name.substr(0, 100)),
                       text_join(names, ", ")));
  } else if (const auto misfit = tool_misfit(*tool, arguments)) {
    refuse(fmt::format("{}: {}", name, *misfit));
  } else {
    nlohmann::json given = nlohmann::json::object();
    for (const auto& [key, value] : arguments.items())
      if (!value.is_null()) given[key] = value;
    try {
      tool->run(*this, given, result);
    } catch (const Failure& failure) {
      if (code_kind(failure.error.code) == ErrorKind::environment) throw;
      refuse(failure.error.code == Code::usage ? failure.error.message : error_text(failure.error));
    } catch (const std::exception& error) {  // a bug of ours: this call's, not the session's end
      refuse(fmt::format("internal error: {}", error.what()));
    }
  }
  edited_ = edited_ || !result.changes.empty();
  result.text = hide_paths(std::move(result.text));
  if (tool == nullptr || !tool->whole) result.text = shortened(std::move(result.text), options_.result_limit);
  // Bytes that are no UTF-8 would break every record that they come into.
  result.text = nlohmann::json::parse(json_string(result.text)).get<std::string>();
  return result;
}

ToolResult Session::call_text(std::string_view tool, std::string_view arguments) {
  const std::string_view text = text_trim(arguments);
  // Some models write nothing where there is no argument.
  const nlohmann::json parsed = json_read(text.empty() ? "{}" : text);
  if (!parsed.is_discarded()) return call(tool, parsed);
  ToolResult result;
  result.error = true;
  result.text = fmt::format("ERROR: {}: the arguments are not valid JSON: {}", text_printable(tool.substr(0, 100)),
                            text_printable(text.substr(0, 200)));
  return result;
}

ToolResult Session::evaluate(bool verify_only, bool full) {
  const std::string order = std::string(kPassDir) + "/" + kOutputOrder;
  if (workspace_->kind(order) != Workspace::Kind::file)
    fail(Code::usage, order +
                          " does not exist: write a JSON array of the names of your pass files, in the order to apply, "
                          "as [\"MyPass\"]");
  const auto verdict = judge_.judge(task_, workspace_->pass_dir(), verify_only, options_.evaluation_seconds, cancelled);
  ToolResult result;
  if (!verdict) fail(Code::limit, "the evaluation was given up");
  FeedbackContext context{
      task_, workspace_->pass_dir(), verify_only ? 0 : judge_.copy_rate(), {}, judge_.options().evaluate.match};
  if (best_) context.best = best_->score;
  result.text = feedback(*verdict, context, full ? Detail::full : Detail::brief);
  result.score = verdict->score;
  result.correct = verdict->correct();
  if (!result.score) return result;
  edited_ = false;
  result.improved = verdict->matched() && (!best_ || *result.score > best_->score);
  if (result.improved) keep(*result.score, result.correct);
  return result;
}

Result<Files> Session::author_files(bool measure) {
  return guarded([&] {
    const std::string name = measure ? ".author_measured" : ".author";
    std::unique_ptr<TimeTurn> alone;
    if (measure) alone = std::make_unique<TimeTurn>(judge_.turn());
    const std::string folder = workspace_->root() + "/" + name;
    Files out;
    if (!author::author_in_process(task_.graphs, folder, measure, judge_.options().threads,
                                   judge_.options().evaluate.device)
             .take())
      return out;
    for (const std::string& file : workspace_->list(name, 1).take())
      out[kPassDir + file.substr(name.size())] = workspace_->read(file).take();
    return out;
  });
}

void Session::keep(double score, bool correct) { best_ = Best{score, correct, workspace_->passes()}; }

void Session::repeat(const ToolResult& result) {
  editor_.repeat(result.changes, result.undone).take();
  edited_ = (edited_ || !result.changes.empty()) && !result.score;
  if (result.improved) keep(result.score.value_or(0), result.correct);
}

void Session::restore_best() {
  if (best_) workspace_->set_passes(best_->files).take();
}

}  // namespace passnet::agent
