#include "agent/tools.h"

#include <fmt/format.h>

#include <map>

#include "agent/feedback.h"
#include "base/text.h"
#include "fx/folder.h"
#include "fx/printer.h"
#include "ops/lower.h"
#include "pass/load.h"
#include "pass/match_text.h"

namespace passnet::agent {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

void file_editor(Session& s, const json& arguments, ToolResult& result) {
  result.text = s.editor().run(arguments, result.changes).take();
  result.undone = arguments.at("command") == "undo_edit";
}

void pass_evaluator(Session& s, const json& arguments, ToolResult& result) {
  result = s.evaluate(arguments.value("verify_only", false), arguments.value("detail", "brief") == "full");
}

void match_explain(Session& s, const json& arguments, ToolResult& result) {
  const std::string only = arguments.value("pass", "");
  const std::string& path = s.task().graphs[s.graph(arguments.value("graph", "")).take()];
  const Graph graph = read_graph_folder(path, {.metas = false}).take().graph;
  bool found = false;
  for (const std::string& file : pass_files(s.workspace().pass_dir())) {
    if (!only.empty() && !file.ends_with("/" + only + ".py")) continue;
    result.text += explain_file(file, graph, s.judge().options().evaluate.match, kMostAttempts);
    found = true;
  }
  if (!found) fail(Code::usage, fmt::format("no pass '{}' is listed in {}", text_printable(only), kOutputOrder));
}

void author_suggest(Session& s, const json& arguments, ToolResult& result) {
  const Files files = s.author_files(arguments.value("measure", false) && s.options().author_measures).take();
  if (files.empty()) {
    result.text = "The author finds nothing to gain here: no pass is expected to be faster than eager.";
    return;
  }
  result.text = "The built-in author's passes. Create each file with file_editor to use them.\n";
  for (const auto& [path, text] : files) result.text += fmt::format("=== {} ({} bytes)\n{}\n", path, text.size(), text);
}

std::string inputs_text(const GraphFolder& folder) {
  std::string out;
  for (std::size_t i = 0; i < folder.inputs.size(); ++i) {
    const TensorMeta& meta = folder.metas[static_cast<std::size_t>(folder.inputs[i])];
    out += fmt::format("{}: {} [{}]\n", folder.graph.nodes[i].name, dtype_row(meta.dtype).name,
                       fmt::join(meta.shape, ", "));
  }
  return out;
}

void read_graph(Session& s, const json& arguments, ToolResult& result) {
  using Print = std::string (*)(const GraphFolder&);
  static const std::map<std::string, Print> kStages = {
      {"model", [](const GraphFolder& f) { return print_model(f.graph, PrintStyle::plain); }},
      {"program", [](const GraphFolder& f) { return program_text(lower_graph(f.graph).take()); }},
      {"inputs", inputs_text},
  };
  const std::string stage = arguments.value("stage", "");
  const std::size_t g = s.graph(arguments.value("graph", "")).take();
  const GraphFolder folder = read_graph_folder(s.task().graphs[g]).take();
  if (stage.empty())
    result.text = fmt::format("The task's graphs: {}\nInputs of {}:\n{}\n{}", fmt::join(graph_names(s.task()), ", "),
                              graph_names(s.task())[g], inputs_text(folder), kStages.at("model")(folder));
  else
    result.text = kStages.at(stage)(folder);
}

constexpr Tool kTools[] = {
    {"file_editor",
     "View, create and edit text files of the task's folder. Files in pass_dir/ may be changed, the rest is read only. "
     "`create` cannot overwrite a file; `str_replace` needs an old_str that occurs exactly once; `insert` puts new_str "
     "after insert_line; `undo_edit` takes the last edit of a file back.",
     R"({"type":"object","properties":{
       "command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"],"description":"What to do."},
       "path":{"type":"string","description":"A file or folder, relative to the task's folder: pass_dir/MyPass.py."},
       "file_text":{"type":"string","description":"create: the text of the new file."},
       "old_str":{"type":"string","description":"str_replace: the text to be replaced, exactly as it is in the file."},
       "new_str":{"type":"string","description":"str_replace, insert: the new text."},
       "insert_line":{"type":"integer","description":"insert: the line after which the text goes; 0 is the beginning."},
       "view_range":{"type":"array","items":{"type":"integer"},"description":"view: first and last line, from 1; -1 is the end."}},
       "required":["command","path"],"additionalProperties":false})",
     false, file_editor},
    {"pass_evaluator",
     "Evaluate pass_dir/ on all graphs of the task: match, check, compare with eager, time, score. The best scored "
     "state "
     "of pass_dir/ is the submission.",
     R"({"type":"object","properties":{
       "detail":{"type":"string","enum":["brief","full"],"description":"full: every error, tolerances, kernels, stages."},
       "verify_only":{"type":"boolean","description":"Only check correctness, without waiting for the clock; no score."}},
       "required":[],"additionalProperties":false})",
     false, pass_evaluator},
    {"match_explain",
     "Say where the patterns of pass_dir/ occur in a graph, or why they do not: the first difference, both lines, "
     "advice.",
     R"({"type":"object","properties":{
       "graph":{"type":"string","description":"A graph's name; default: the first."},
       "pass":{"type":"string","description":"A pass's name (the file without .py); default: all."}},
       "required":[],"additionalProperties":false})",
     false, match_explain},
    {"author_suggest", "Show the passes that the built-in author would write for this task: a correct starting point.",
     R"({"type":"object","properties":{
       "measure":{"type":"boolean","description":"Choose by measured times instead of the cost model, where that is allowed; slower."}},
       "required":[],"additionalProperties":false})",
     true, author_suggest},
    {"read_graph", "Show a graph of the task: its inputs and its model; or one stage alone.",
     R"({"type":"object","properties":{
       "graph":{"type":"string","description":"A graph's name; default: the first."},
       "stage":{"type":"string","enum":["model","program","inputs"],"description":"model: the Python text; program: the ATen calls; inputs: names, dtypes, shapes."}},
       "required":[],"additionalProperties":false})",
     false, read_graph},
};

bool fits(const json& value, const std::string& type) {
  static const std::map<std::string_view, bool (*)(const json&)> kTypes = {
      {"string", [](const json& v) { return v.is_string(); }},
      {"integer", [](const json& v) { return v.is_number_integer(); }},
      {"boolean", [](const json& v) { return v.is_boolean(); }},
      {"array", [](const json& v) { return v.is_array(); }},
      {"object", [](const json& v) { return v.is_object(); }},
  };
  return kTypes.at(type)(value);
}

}  // namespace

std::span<const Tool> tools() { return kTools; }

const Tool* tool_find(std::string_view name) {
  for (const Tool& tool : kTools)
    if (tool.name == name) return &tool;
  return nullptr;
}

const ordered_json& tool_schema(const Tool& tool) {
  static const auto kSchemas = [] {
    std::map<std::string_view, ordered_json> out;
    for (const Tool& t : kTools) out[t.name] = ordered_json::parse(t.schema);
    return out;
  }();
  return kSchemas.at(tool.name);
}

const ordered_json& tools_for_chat() {
  static const ordered_json kList = [] {
    ordered_json out = ordered_json::array();
    for (const Tool& t : kTools)
      out.push_back({{"type", "function"},
                     {"function", {{"name", t.name}, {"description", t.description}, {"parameters", tool_schema(t)}}}});
    return out;
  }();
  return kList;
}

std::optional<std::string> tool_misfit(const Tool& tool, const json& arguments) {
  if (!arguments.is_object()) return "the arguments are no JSON object";
  const ordered_json& schema = tool_schema(tool);
  const ordered_json& known = schema.at("properties");
  for (const auto& name : schema.at("required"))
    if (!arguments.contains(name.get<std::string>()))
      return fmt::format("missing the argument `{}`", name.get<std::string>());
  for (const auto& [name, value] : arguments.items()) {
    const auto property = known.find(name);
    if (property == known.end()) {
      std::vector<std::string> names;
      for (const auto& [other, ignored] : known.items()) names.push_back(other);
      return fmt::format("no argument is called `{}`; there are {}", text_printable(name.substr(0, 100)),
                         text_join(names, ", "));
    }
    if (value.is_null()) continue;  // some models write null for what they leave out
    const std::string type = property->at("type").get<std::string>();
    if (!fits(value, type)) return fmt::format("the argument `{}` should be of type {}", name, type);
    if (const auto list = property->find("enum");
        list != property->end() && std::find(list->begin(), list->end(), value.get<std::string>()) == list->end())
      return fmt::format("the argument `{}` should be one of {}", name, list->dump());
  }
  return std::nullopt;
}

}  // namespace passnet::agent
