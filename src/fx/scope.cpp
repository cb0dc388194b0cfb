#include "fx/scope.h"

namespace passnet {

void ImportScope::add(const py::Stmt& statement) {
  if (statement.kind == py::StmtKind::import) {
    for (const py::Alias& alias : statement.aliases) {
      if (!alias.as.empty())
        names_[alias.as] = alias.name;
      else {
        const std::string_view root = alias.name.substr(0, alias.name.find('.'));
        names_[root] = root;
      }
    }
  } else if (statement.kind == py::StmtKind::import_from && statement.level == 0) {
    for (const py::Alias& alias : statement.aliases)
      names_[alias.as.empty() ? alias.name : alias.as] = std::string(statement.name) + "." + std::string(alias.name);
  }
}

std::string_view ImportScope::find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? std::string_view{} : std::string_view(it->second);
}

std::string ImportScope::resolve(const py::Expr& expr) const {
  if (expr.kind == py::ExprKind::name) return std::string(find(expr.text));
  if (expr.kind != py::ExprKind::attribute) return {};
  std::string head = resolve(*expr.items[0]);
  if (head.empty()) return {};
  return head.append(".").append(expr.text);
}

}  // namespace passnet
