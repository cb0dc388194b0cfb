// What every part of the parser stands on: the tokens, errors with their place, and the arena that keeps the tree.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "py/lexer.h"
#include "py/parser.h"

namespace passnet::py {

class ParserBase {
 public:
  // `depth` is how deep the text stands in others: a field of an f-string is parsed on its own.
  ParserBase(Module& module, std::string_view text, Place begin, bool joined, int depth)
      : module_(module), tokens_(lex(module, text, begin, joined)), joined_(joined), depth_(depth) {}

 protected:
  // ---- tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(std::size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  static bool is(const Token& t, Symbol symbol) { return t.symbol == symbol; }
  bool at(Symbol symbol) const { return now().symbol == symbol; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(Symbol symbol) {
    if (!at(symbol)) return false;
    next();
    return true;
  }
  void expect(Symbol symbol) {
    if (!accept(symbol)) unexpected(fmt::format("'{}'", symbol.text()));
  }
  std::string_view identifier(std::string_view what) {
    if (now().kind != TokenKind::name) unexpected(what);
    return next().text;
  }

  // ---- errors
  static constexpr const char* kSplit = "give a part of it a name, and use the name here";
  [[noreturn]] void error(Place place, std::string message, Code code = Code::syntax,
                          std::vector<std::string> notes = {}) const {
    fail({code, module_.where(place), std::move(message), std::move(notes)});
  }
  [[noreturn]] void unsupported(Place place, std::string_view what, std::string_view instead) const {
    error(place, fmt::format("{} is not supported", what), Code::unsupported, {std::string(instead)});
  }
  [[noreturn]] void unexpected(std::string_view wanted) const {
    const Token& t = now();
    std::string_view got;
    switch (t.kind) {
      case TokenKind::end: got = joined_ ? "the end of the field" : "the end of the file"; break;
      case TokenKind::newline: got = "the end of the line"; break;
      case TokenKind::indent: error(t.place, "unexpected indentation");
      case TokenKind::dedent: got = "the end of the block"; break;
      default: error(t.place, fmt::format("expected {}, found '{}'", wanted, shortened(t.text)));
    }
    error(t.place, fmt::format("expected {}, found {}", wanted, got));
  }
  static std::string shortened(std::string_view text) {  // one short line, whole characters
    constexpr std::size_t kShown = 40;
    std::string_view out = text.substr(0, std::min(text.find('\n'), kShown));
    while (out.size() < text.size() && !out.empty() && (static_cast<unsigned char>(text[out.size()]) & 0xc0) == 0x80)
      out.remove_suffix(1);
    return out.size() < text.size() ? std::string(out) + "..." : std::string(out);
  }

  // `Item` has a name (empty: none) and a place. Pairs are compared while they are few; a set keeps the rest linear.
  template <class Item>
  void check_unique(const std::vector<Item>& items, std::string_view what) const {
    const auto twice = [&](const Item& item) {
      error(item.place, fmt::format("{} '{}' is given twice", what, item.name));
    };
    if (items.size() <= 16) {
      for (std::size_t i = 1; i < items.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (!items[i].name.empty() && items[i].name == items[j].name) twice(items[i]);
      return;
    }
    std::unordered_set<std::string_view> names;
    for (const Item& item : items)
      if (!item.name.empty() && !names.insert(item.name).second) twice(item);
  }

  // ---- the arena
  template <class T>
  Slice<T> keep(const std::vector<T>& items) {
    if (items.empty()) return {};
    T* out = nullptr;
    const Slice<T> slice = Slice<T>::allocate(arena(), items.size(), out);
    std::uninitialized_copy(items.begin(), items.end(), out);
    return slice;
  }
  std::string_view keep_text(std::string_view text) {
    if (text.empty()) return {};
    char* out = static_cast<char*>(arena().allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), out);
    return {out, text.size()};
  }
  template <class... Items>
  Slice<const Expr*> row(Items... items) {
    const Expr** out = nullptr;
    const auto slice = Slice<const Expr*>::allocate(arena(), sizeof...(items), out);
    ((*out++ = items), ...);
    return slice;
  }
  Expr* expr(ExprKind kind, Place place) {
    Expr* e = new (arena().allocate(sizeof(Expr), alignof(Expr))) Expr();
    e->kind = kind;
    e->place = place;
    return e;
  }
  template <std::convertible_to<const Expr*>... Items>
  Expr* expr_of(ExprKind kind, Place place, Items... items) {
    return with_items(expr(kind, place), row(items...));
  }
  Expr* expr_of(ExprKind kind, Place place, const std::vector<const Expr*>& items) {
    return with_items(expr(kind, place), keep(items));
  }
  Expr* with_items(Expr* e, Slice<const Expr*> items) {
    e->items = items;
    for (const Expr* item : items) cover(e, item);
    return e;
  }
  // Keeps the height of `e` above that of one below it.
  void cover(Expr* e, const Expr* below) {
    if (below == nullptr || below->height < e->height) return;
    if (below->height >= kHeightLimit)
      error(e->place, "expression too long or nested too deeply", Code::limit, {kSplit});
    e->height = static_cast<std::uint16_t>(below->height + 1);
  }
  Stmt* stmt(StmtKind kind, Place place) {
    Stmt* s = new (arena().allocate(sizeof(Stmt), alignof(Stmt))) Stmt();
    s->kind = kind;
    s->place = place;
    return s;
  }
  std::pmr::memory_resource& arena() { return module_.state_->arena; }
  void set_body(std::span<const Stmt* const> body) { module_.state_->body = body; }

  struct Deeper {
    explicit Deeper(ParserBase& p) : parser(p) {
      if (++p.depth_ > kDepthLimit) p.error(p.now().place, "nested too deeply", Code::limit, {kSplit});
    }
    ~Deeper() { --parser.depth_; }
    ParserBase& parser;
  };

  Module& module_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool joined_;
  int depth_;
};

}  // namespace passnet::py
