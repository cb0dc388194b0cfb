// Passes as files: one file a pass, or files that share one wrapper through routes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "author/author.h"
#include "base/file.h"
#include "base/text.h"
#include "pass/load.h"

namespace passnet::author {

namespace {

constexpr std::string_view kStored =
    "@triton.jit\ndef stored(value, like_ptr):  # as eager keeps it between two operators\n"
    "    return value.to(like_ptr.dtype.element_ty).to(tl.float32)\n\n\n";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `from`_kernel becomes `to`_kernel, wherever it starts a word.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
  const std::string what = from + "_kernel";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, what.size(), what) == 0 && (at == 0 || !is_word(text[at - 1]))) {
      out += to + "_kernel";
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string shape_text(const std::vector<std::int64_t>& sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

// A question that only the graphs of `mine` answer with yes, among those of `others`.
std::string guard(const std::vector<std::string>& names, const Variant& mine,
                  const std::vector<const Variant*>& others) {
  const auto values = [&](const Variant& v, std::size_t i, bool dtype) {
    std::set<std::string> out;
    for (const auto& seen : v.seen)
      out.insert(dtype ? fmt::format("torch.{}", dtype_row(seen[i].dtype).name) : shape_text(seen[i].sizes));
    return out;
  };
  for (const bool dtype : {true, false})
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto own = values(mine, i, dtype);
      bool apart = true;
      for (const Variant* o : others)
        for (const std::string& v : values(*o, i, dtype)) apart &= !own.contains(v);
      if (!apart) continue;
      const std::string list = fmt::format("({}{})", fmt::join(own, ", "), own.size() == 1 ? "," : "");
      return dtype ? fmt::format("{}.dtype in {}", names[i], list)
                   : fmt::format("tuple({}.shape) in {}", names[i], list);
    }
  std::set<std::string> all;
  for (const auto& seen : mine.seen) {
    std::vector<std::string> shapes;
    for (const Seen& s : seen) shapes.push_back(shape_text(s.sizes));
    all.insert(fmt::format("({}{})", text_join(shapes, ", "), shapes.size() == 1 ? "," : ""));
  }
  std::vector<std::string> asked;
  for (const std::string& n : names) asked.push_back(fmt::format("tuple({}.shape)", n));
  return fmt::format("({}{}) in ({}{})", text_join(asked, ", "), asked.size() == 1 ? "," : "", fmt::join(all, ", "),
                     all.size() == 1 ? "," : "");
}

std::string kernels_text(const AuthoredPass& pass) {
  std::string out;
  for (std::size_t v = 0; v < pass.variants.size(); ++v)
    out += renamed(pass.variants[v].kernels, "fused",
                   v == 0 ? pass.wrapper : fmt::format("{}_variant_{}", pass.wrapper, v + 1));
  return out;
}

std::string wrapper_text(const AuthoredPass& pass) {
  std::string out = fmt::format("def {}({}):\n", pass.wrapper, text_join(pass.parameters, ", "));
  for (std::size_t v = 0; v < pass.variants.size(); ++v) {
    const bool last = v + 1 == pass.variants.size();
    std::vector<const Variant*> others;
    for (std::size_t o = v + 1; o < pass.variants.size(); ++o) others.push_back(&pass.variants[o]);
    if (!last) out += fmt::format("    if {}:\n", guard(pass.parameters, pass.variants[v], others));
    const std::string kernel = v == 0 ? pass.wrapper : fmt::format("{}_variant_{}", pass.wrapper, v + 1);
    for (const std::string& line : pass.variants[v].lines)
      out += (last ? "    " : "        ") + renamed(line, "fused", kernel) + "\n";
  }
  return out;
}

bool any(const AuthoredPass& pass, bool Variant::*flag) {
  return std::any_of(pass.variants.begin(), pass.variants.end(), [&](const Variant& v) { return v.*flag; });
}

std::string head(const std::string& imports, bool libdevice) {
  std::string out = "import torch\n" + imports + "import triton\nimport triton.language as tl\n";
  if (libdevice) out += "from triton.language.extra import libdevice\n";
  return out;
}

std::string arguments_text(const AuthoredPass& pass, const std::string& route) {
  std::vector<std::string> values = pass.parameters;
  if (!route.empty()) values.push_back(json_string(route));
  return fmt::format("def replacement_args({}):\n    return ({}{})\n", text_join(pass.parameters, ", "),
                     text_join(values, ", "), values.size() == 1 ? "," : "");
}

}  // namespace

std::string pass_file(const AuthoredPass& pass) {
  std::string out = head(pass.imports, any(pass, &Variant::libdevice));
  out += fmt::format("\n\n{}\n\n{}\n\n", pass.pattern, arguments_text(pass, ""));
  if (any(pass, &Variant::rounds)) out += kStored;
  out += kernels_text(pass);
  out += "@torch.fx.wrap\n" + wrapper_text(pass);
  return out + fmt::format("\n\ndef replacement_func():\n    return {}\n", pass.wrapper);
}

void merge_passes(std::vector<AuthoredPass>& passes) {
  std::vector<AuthoredPass> out;
  for (AuthoredPass& p : passes) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const AuthoredPass& o) {
      return o.pattern_key == p.pattern_key && o.parameters == p.parameters;
    });
    if (same == out.end()) {
      out.push_back(std::move(p));
      continue;
    }
    for (Variant& v : p.variants) {
      const auto equal = std::find_if(same->variants.begin(), same->variants.end(),
                                      [&](const Variant& o) { return o.kernels == v.kernels && o.lines == v.lines; });
      if (equal == same->variants.end()) {
        same->variants.push_back(std::move(v));
        same->alternatives.clear();  // they are of one variant
      } else {
        for (auto& s : v.seen)
          if (std::find(equal->seen.begin(), equal->seen.end(), s) == equal->seen.end()) equal->seen.push_back(s);
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const AuthoredPass& a, const AuthoredPass& b) {
    return a.region.nodes.size() > b.region.nodes.size();
  });
  std::set<std::string> taken{"stored", "fused", "pattern", "replacement_args", "replacement_func"};
  for (AuthoredPass& p : out) {
    const std::string name = p.name, wrapper = p.wrapper;
    for (int i = 2; !taken.insert(p.wrapper).second; ++i) {
      p.name = fmt::format("{}{}", name, i);
      p.wrapper = fmt::format("{}_{}", wrapper, i);
    }
  }
  passes = std::move(out);
}

Result<std::monostate> write_pass_folder(const std::string& folder, const std::vector<AuthoredPass>& passes,
                                         bool single_wrapper) {
  return guarded([&] {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) fail({Code::io, {folder, 0, 0, {}}, "cannot be made: " + error.message(), {}});
    std::vector<std::string> order;
    std::string shared, dispatch;
    bool rounds = false, libdevice = false;
    for (const AuthoredPass& p : passes) {
      order.push_back(json_string(p.name));
      if (!single_wrapper) {
        file_write(folder + "/" + p.name + ".py", pass_file(p)).take();
        continue;
      }
      file_write(folder + "/" + p.name + ".py",
                 fmt::format("import torch\n{}from pass_dir.fused import fused\n\n\n{}\n\n{}\n\ndef "
                             "replacement_func():\n    return fused\n",
                             p.imports, p.pattern, arguments_text(p, p.wrapper)))
          .take();
      rounds |= any(p, &Variant::rounds);
      libdevice |= any(p, &Variant::libdevice);
      shared += kernels_text(p) + wrapper_text(p) + "\n\n";
      std::vector<std::string> values;
      for (std::size_t i = 0; i < p.parameters.size(); ++i) values.push_back(fmt::format("args[{}]", i));
      dispatch += fmt::format("    if route == {}:\n        return {}({})\n", json_string(p.wrapper), p.wrapper,
                              text_join(values, ", "));
    }
    if (single_wrapper && !passes.empty())
      file_write(folder + "/fused.py",
                 head("", libdevice) + "\n\n" + std::string(rounds ? kStored : "") + shared +
                     "@torch.fx.wrap\ndef fused(*args):  # the last argument says which\n    route = args[-1]\n" +
                     dispatch)
          .take();
    file_write(folder + "/" + kOutputOrder, "[" + text_join(order, ", ") + "]\n").take();
    return std::monostate{};
  });
}

}  // namespace passnet::author
