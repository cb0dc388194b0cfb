// The parser's errors, limits and printed forms. What is accepted, and with which tree, compare_ast.py checks against
// CPython; here stand the messages, which are ours.
#include "py/parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "py/printer.h"

namespace passnet::py {
namespace {

std::string first_error(const std::string& source) {
  const Result<Module> module = parse("f.py", source);
  return module ? "parsed" : error_line(module.error());
}

std::string repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

struct Case {
  std::string source;
  std::string error;
};

class ParserErrors : public testing::TestWithParam<Case> {};
TEST_P(ParserErrors, FirstLine) { EXPECT_EQ(first_error(GetParam().source), GetParam().error) << GetParam().source; }

const Case kLexical[] = {
    {"x = 'abc\ny = 1", "f.py:1:5: error[syntax]: string was never closed on its line"},
    {"x = '''abc\ny = 1", "f.py:1:5: error[syntax]: triple-quoted string was never closed"},
    {"x = 'abc", "f.py:1:5: error[syntax]: string was never closed"},
    {"x = (1,\ny = 2\n", "f.py:1:5: error[syntax]: '(' was never closed"},
    {"x = (1]", "f.py:1:7: error[syntax]: ']' does not close the '(' of line 1"},
    {"x = 1)", "f.py:1:6: error[syntax]: unmatched ')'"},
    {"f(\n{)\n", "f.py:2:2: error[syntax]: ')' does not close the '{' of line 2"},
    {"x = 1 \\ \ny", "f.py:1:7: error[syntax]: only a line end may follow a line-joining '\\'"},
    {"x = 1 \\\n", "f.py:1:1: error[syntax]: the file ends after a line-joining '\\'"},
    {"a ? b", "f.py:1:3: error[syntax]: unexpected character '?'"},
    {"a ! b", "f.py:1:3: error[syntax]: unexpected character '!'"},
    {"$x", "f.py:1:1: error[syntax]: unexpected character '$'"},
    {"x = \342\200\234hi\342\200\235", "f.py:1:5: error[syntax]: unexpected character '\342\200\234' (U+201C)"},
    {"x\302\240= 1", "f.py:1:2: error[syntax]: unexpected character '\302\240' (U+00A0)"},
    {std::string("x = 1\000", 6), "f.py:1:6: error[syntax]: unexpected byte 0x00; is this a text file?"},
    {std::string("# \000", 3), "f.py:1:3: error[syntax]: unexpected byte 0x00; is this a text file?"},
    {"x = '\377'", "f.py:1:6: error[syntax]: unexpected byte 0xff; is this a text file?"},
    {"\177ELF\002\001", "f.py:1:1: error[syntax]: unexpected byte 0x7f; is this a text file?"},
    {"\211PNG\r\n\032\n", "f.py:1:1: error[syntax]: unexpected byte 0x89; is this a text file?"},
    {"x = 1abc", "f.py:1:5: error[syntax]: a letter directly after a number"},
    {"x = 0x", "f.py:1:5: error[syntax]: a number is missing its digits"},
    {"x = 0b12", "f.py:1:5: error[syntax]: not a number: '0b12'"},
    {"x = 07", "f.py:1:5: error[syntax]: an integer does not start with 0; octal is 0o..."},
    {"x = 1__0", "f.py:1:5: error[syntax]: a letter directly after a number"},
    {"if a:\n    b\n  c", "f.py:3:3: error[syntax]: this indentation matches no outer block"},
    {"if a:\n\tb\n        c", "f.py:3:9: error[syntax]: tabs and spaces are mixed in the indentation"},
    {"'\\x4'", "f.py:1:1: error[syntax]: a \\x, \\u or \\U escape is too short"},
    {"'\\U00110000'", "f.py:1:1: error[syntax]: a \\U escape is out of range"},
    {"ur'a'", "f.py:1:3: error[syntax]: expected the end of the statement, found ''a''"},
};
INSTANTIATE_TEST_SUITE_P(Lexical, ParserErrors, testing::ValuesIn(kLexical));

const Case kSyntax[] = {
    {"x = ", "f.py:1:5: error[syntax]: expected an expression, found the end of the line"},
    {"x = 1 2", "f.py:1:7: error[syntax]: expected the end of the statement, found '2'"},
    {"f(a b)", "f.py:1:5: error[syntax]: expected ',', found 'b'"},
    {"f(a=1, b)", "f.py:1:8: error[syntax]: a positional argument follows a keyword argument"},
    {"f(**a, *b)", "f.py:1:8: error[syntax]: a '*' argument follows a '**' argument"},
    {"f(a=1, a=2)", "f.py:1:8: error[syntax]: keyword argument 'a' is given twice"},
    {"f(x for x in y, 1)", "f.py:1:3: error[syntax]: a generator argument must stand alone or in brackets"},
    {"f(1)(", "f.py:1:5: error[syntax]: '(' was never closed"},
    {"x = [1, 2", "f.py:1:5: error[syntax]: '[' was never closed"},
    {"if a\n    b", "f.py:1:5: error[syntax]: expected ':', found the end of the line"},
    {"if a:\nb", "f.py:2:1: error[syntax]: expected an indented block, found 'b'"},
    {"  a", "f.py:1:3: error[syntax]: unexpected indentation"},
    {"if a: if b: c", "f.py:1:7: error[syntax]: 'if' needs a line of its own"},
    {"else: a", "f.py:1:1: error[syntax]: expected an expression, found 'else'"},
    {"def f(a, a): pass", "f.py:1:10: error[syntax]: parameter 'a' is given twice"},
    {"def f(a=1, b): pass", "f.py:1:12: error[syntax]: parameter 'b' without a default follows one with a default"},
    {"def f(*): pass", "f.py:1:8: error[syntax]: expected a parameter name, found ')'"},
    {"def f(*a, *b): pass", "f.py:1:11: error[syntax]: '*' comes once in a list of parameters"},
    {"def f(**k, a): pass", "f.py:1:12: error[syntax]: nothing may follow a '**' parameter"},
    {"def f(/): pass", "f.py:1:7: error[syntax]: '/' comes once, after a parameter and before '*'"},
    {"def f(*a=1): pass", "f.py:1:9: error[syntax]: a starred parameter has no default"},
    {"def f(1): pass", "f.py:1:7: error[syntax]: expected a parameter name, found '1'"},
    {"def (a): pass", "f.py:1:5: error[syntax]: expected a function name, found '('"},
    {"class: pass", "f.py:1:6: error[syntax]: expected a class name, found ':'"},
    {"@a\nx = 1", "f.py:2:1: error[syntax]: expected 'def' or 'class' after a decorator, found 'x'"},
    {"try: a\n", "f.py:2:1: error[syntax]: expected 'except' or 'finally', found the end of the file"},
    {"try: a\nexcept A, B: c", "f.py:2:9: error[syntax]: several exception types need brackets"},
    {"try: a\nexcept: b\nexcept A: c", "f.py:2:1: error[syntax]: an 'except:' without a type must be the last"},
    {"f() = 1", "f.py:1:1: error[syntax]: cannot assign to a call"},
    {"a + b = c", "f.py:1:1: error[syntax]: cannot assign to an expression"},
    {"None = 1", "f.py:1:1: error[syntax]: cannot assign to a constant"},
    {"'a' = 1", "f.py:1:1: error[syntax]: cannot assign to a string"},
    {"(a, b) += 1", "f.py:1:1: error[syntax]: cannot assign to a tuple"},
    {"a, b: int", "f.py:1:1: error[syntax]: cannot assign to a tuple"},
    {"x = *a", "f.py:1:5: error[syntax]: a starred expression needs a tuple or a list around it"},
    {"[*a for a in b]", "f.py:1:2: error[syntax]: the element of a comprehension cannot be starred"},
    {"{1, **a}", "f.py:1:5: error[syntax]: '**' is for a dict, and this is a set"},
    {"{1: 2, *a}", "f.py:1:8: error[syntax]: a key of a dict cannot be starred or named"},
    {"{1: 2, 3}", "f.py:1:9: error[syntax]: expected ':', found '}'"},
    {"a if b", "f.py:1:7: error[syntax]: expected 'else', found the end of the line"},
    {"a == not b", "f.py:1:6: error[syntax]: expected an expression, found 'not'"},
    {"lambda (a): 1", "f.py:1:8: error[syntax]: expected a parameter name, found '('"},
    {"for 1 in x: pass", "f.py:1:5: error[syntax]: cannot assign to a number"},
    {"for x y: pass", "f.py:1:7: error[syntax]: expected 'in', found 'y'"},
    {"del f()", "f.py:1:5: error[syntax]: cannot delete a call"},
    {"class A: def f(): pass", "f.py:1:10: error[syntax]: 'def' needs a line of its own"},
    {"f(a)(b", "f.py:1:5: error[syntax]: '(' was never closed"},
    {"with a as 1: pass", "f.py:1:11: error[syntax]: cannot assign to a number"},
    {"from a import ()", "f.py:1:16: error[syntax]: expected a name to import, found ')'"},
    {"from a import b,", "f.py:1:17: error[syntax]: expected a name to import, found the end of the line"},
    {"import", "f.py:1:7: error[syntax]: expected a module name, found the end of the line"},
    {"import a.", "f.py:1:10: error[syntax]: expected a name after '.', found the end of the line"},
    {"x.1", "f.py:1:2: error[syntax]: expected the end of the statement, found '.1'"},
    {"a[]", "f.py:1:3: error[syntax]: expected an expression, found ']'"},
    {"a[1:2:3:4]", "f.py:1:8: error[syntax]: expected ']', found ':'"},
    {"y := 1", "f.py:1:3: error[syntax]: expected the end of the statement, found ':='"},
    {"pass pass", "f.py:1:6: error[syntax]: expected the end of the statement, found 'pass'"},
    {"x = 1;;", "f.py:1:7: error[syntax]: expected an expression, found ';'"},
    {"f'{'", "f.py:1:3: error[syntax]: f-string: '{' was never closed"},
    {"f'{}'", "f.py:1:3: error[syntax]: f-string: an empty field"},
    {"f'}'", "f.py:1:3: error[syntax]: f-string: a single '}' is not allowed; write '}}'"},
    {"f'{a!x}'", "f.py:1:4: error[syntax]: f-string: a conversion is !r, !s or !a"},
    {"f'{a b}'", "f.py:1:6: error[syntax]: expected the end of the field, found 'b'"},
    {"f'{a:{b:{c}}}'", "f.py:1:9: error[syntax]: f-string: fields nested too deeply"},
    {"f'{a#}'", "f.py:1:3: error[syntax]: f-string: a field cannot hold a '#'"},
    {"f\"{x['a]}\"", "f.py:1:3: error[syntax]: f-string: a string inside a field was never closed"},
    {"f'{(a}'", "f.py:1:3: error[syntax]: f-string: '{' was never closed"},
    {"\nx = f'''\n{a} {b c}'''", "f.py:3:8: error[syntax]: expected the end of the field, found 'c'"},
    {"raise A, B", "f.py:1:8: error[syntax]: expected the end of the statement, found ','"},
    {"global 1", "f.py:1:8: error[syntax]: expected a name, found '1'"},
    {"assert", "f.py:1:7: error[syntax]: expected an expression, found the end of the line"},
    {"return return", "f.py:1:8: error[syntax]: expected an expression, found 'return'"},
};
INSTANTIATE_TEST_SUITE_P(Syntax, ParserErrors, testing::ValuesIn(kSyntax));

const Case kUnsupported[] = {
    {"x += yield a", "f.py:1:6: error[unsupported]: yield as a part of an expression is not supported"},
    {"f((yield))", "f.py:1:4: error[unsupported]: yield as a part of an expression is not supported"},
    {"await f()", "f.py:1:1: error[unsupported]: await is not supported"},
    {"x = -await f()", "f.py:1:6: error[unsupported]: await is not supported"},
    {"async def f(): pass", "f.py:1:1: error[unsupported]: async code is not supported"},
    {"async with a: pass", "f.py:1:1: error[unsupported]: async code is not supported"},
    {"[a async for a in b]", "f.py:1:4: error[unsupported]: an async comprehension is not supported"},
    {"@a\nasync def f(): pass", "f.py:2:1: error[unsupported]: async code is not supported"},
    {"match x:\n    case int(): pass", "f.py:2:10: error[unsupported]: a class pattern is not supported"},
    {"match x:\n    case {'a': 1}: pass", "f.py:2:10: error[unsupported]: a dict pattern is not supported"},
    {"type X = int", "f.py:1:1: error[unsupported]: a type statement is not supported"},
    {"def f[T](x): pass", "f.py:1:6: error[unsupported]: a list of type parameters is not supported"},
    {"class A[T]: pass", "f.py:1:8: error[unsupported]: a list of type parameters is not supported"},
    {"x = b'a'", "f.py:1:5: error[unsupported]: a bytes literal is not supported"},
    {"x = rb'a'", "f.py:1:5: error[unsupported]: a bytes literal is not supported"},
    {"try: a\nexcept* A: b", "f.py:2:7: error[unsupported]: except* is not supported"},
    {"'\\N{DASH}'", "f.py:1:1: error[unsupported]: a named character (\\N{...}) is not supported"},
    {"'\\ud800'", "f.py:1:1: error[unsupported]: half a surrogate pair is not supported"},
    {"f\"{'\\n'.join(a)}\"", "f.py:1:3: error[unsupported]: f-string: a backslash inside a field is not supported"},
};
INSTANTIATE_TEST_SUITE_P(Unsupported, ParserErrors, testing::ValuesIn(kUnsupported));

TEST(Parser, ErrorShowsTheLineACaretAndWhatToWrite) {
  const Result<Module> module = parse("f.py", "x = 1\ndef f():\n    await x\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(error_text(module.error()),
            "f.py:3:5: error[unsupported]: await is not supported\n"
            "    3 |     await x\n"
            "      |     ^\n"
            "  note: write a plain function");
}

TEST(Parser, EveryUnsupportedErrorSaysWhatToWriteInstead) {
  for (const Case& c : kUnsupported) {
    const Result<Module> module = parse("f.py", c.source);
    ASSERT_FALSE(module) << c.source;
    EXPECT_EQ(module.error().code, Code::unsupported) << c.source;
    EXPECT_FALSE(module.error().notes.empty()) << c.source;
  }
}

// Deep or long input ends in an error of the limit kind (or parses), never in a crash, and in time linear in its size.
struct LimitCase {
  const char* name;
  std::string source;
  std::string error;
};
TEST(Parser, Limits) {
  const LimitCase cases[] = {
      {"brackets", "x = " + repeat("(", 10'000) + repeat(")", 10'000),
       "f.py:1:205: error[limit]: brackets nested too deeply"},
      {"open brackets", repeat("[", 10'000), "f.py:1:201: error[limit]: brackets nested too deeply"},
      {"nested lists", "x = " + repeat("[", 199) + repeat("]", 199), "f.py:1:104: error[limit]: nested too deeply"},
      {"comprehension", "x = [a" + repeat(" for a in b", 50'000) + "]",
       "f.py:1:11008: error[limit]: a comprehension has too many clauses"},
      {"sum", "x = a" + repeat(" + a", 100'000), "f.py:1:5: error[limit]: expression too long or nested too deeply"},
      {"attributes", "x = a" + repeat(".b", 100'000),
       "f.py:1:5: error[limit]: expression too long or nested too deeply"},
      {"calls", "x = a" + repeat("()", 100'000), "f.py:1:5: error[limit]: expression too long or nested too deeply"},
      {"powers", "x = a" + repeat(" ** a", 100'000), "f.py:1:997: error[limit]: nested too deeply"},
      {"signs", "x = " + repeat("-", 100'000) + "a", "f.py:1:203: error[limit]: nested too deeply"},
      {"nots", "x = " + repeat("not ", 100'000) + "a", "f.py:1:797: error[limit]: nested too deeply"},
      {"lambdas", "x = " + repeat("lambda: ", 100'000) + "a", "f.py:1:1597: error[limit]: nested too deeply"},
      {"conditionals", "x = " + repeat("a if b else ", 100'000) + "a", "f.py:1:2393: error[limit]: nested too deeply"},
      {"elif", "if a: b\n" + repeat("elif a: b\n", 5'000), "f.py:1001:1: error[limit]: too many elif"},
      {"blocks",
       [] {
         std::string out;
         for (int i = 0; i < 1000; ++i) out += std::string(static_cast<std::size_t>(i), ' ') + "if a:\n";
         return out;
       }(),
       "f.py:102:102: error[limit]: blocks nested too deeply"},
      {"keyword heights add up", "f(k=" + repeat("f(k=", 90) + "a" + repeat(")" + repeat(" + a", 500), 90) + ")",
       "f.py:1:357: error[limit]: expression too long or nested too deeply"},
      {"long line", "x = '" + std::string(10 << 20, 'a') + "'",
       "f.py:1:1: error[limit]: line longer than 8388608 bytes; break it inside brackets"},
      {"long list", "x = [" + repeat("1.5,\n", 500'000) + "]", "parsed"},
      {"many keywords",
       [] {
         std::string out = "f(";
         for (int i = 0; i < 100'000; ++i) out += "k" + std::to_string(i) + "=1,";
         return out + ")";
       }(),
       "parsed"},
      {"many fields", "x = f'''" + repeat("{a}\n", 200'000) + "'''", "parsed"},
      {"many quotes in a field", "x = f\"\"\"{'''" + repeat("\"\n", 200'000) + "'''}\"\"\"", "parsed"},
      {"many strings", "x = (" + repeat("'a'\n", 200'000) + ")", "parsed"},
      {"many comments", repeat("# a\n", 500'000), "parsed"},
      {"many withs", repeat("with (a, b): c\n", 50'000), "parsed"},
      {"open withs", repeat("with (a\n", 50'000), "f.py:201:6: error[limit]: brackets nested too deeply"},
      {"joined lines", "x = 1" + repeat("\\\n", 500'000) + "\n", "parsed"},
  };
  for (const LimitCase& c : cases) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(first_error(c.source), c.error) << c.name;
    if (c.error == "parsed") {
      const Module module = parse("f.py", c.source).take();
      const std::string printed = print(module);
      EXPECT_EQ(print(parse("f.py", printed).take()), printed) << c.name;
    }
    // Generous: these take some 0.1 s, and minutes where a step is quadratic.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << c.name;
  }
}

// input -> the canonical spelling
const std::pair<std::string, std::string> kPrinted[] = {
    {"x=(1,\n  2,)", "x = (1, 2)\n"},
    {"with (a as b, c as d): pass", "with a as b, c as d:\n    pass\n"},
    {"with ((a, b)): pass", "with ((a, b)):\n    pass\n"},
    {"def f(a, /, b, *, c=1): pass", "def f(a, /, b, *, c=1):\n    pass\n"},
    {"(x := 1)", "(x := 1)\n"},
    {"x = -9223372036854775808", "x = -9223372036854775808\n"},
    {"x = 1e999, 1e-999, 0x10, 1_0.5", "x = 1e999, 0.0, 16, 10.5\n"},
    {"f(*a or b)", "f(*(a or b))\n"},
    {"x = f'a{b!r:>{c}}'", "x = 'a' f\"\"\"{b!r:>{c}}\"\"\"\n"},
    {"x = f'{a = }'", "x = 'a = ' f\"\"\"{a!r}\"\"\"\n"},
    {"x = f\"{f'{a}'}\"", "x = f\"\"\"{f'''{a}'''}\"\"\"\n"},
    {"x = f'''{'\"' \"'\"}'''", "x = f\"\"\"{'\"' \"'\"}\"\"\"\n"},
    {"x = f'{(lambda: 1)}'", "x = f\"\"\"{(lambda: 1)}\"\"\"\n"},
    {"x = '''a\r\nb'''\r\n", "x = 'a\\nb'\n"},
    {"\xef\xbb\xbfx = 1", "x = 1\n"},
};
TEST(Printer, CanonicalSpelling) {
  for (const auto& [source, printed] : kPrinted) EXPECT_EQ(print(parse("f.py", source).take()), printed) << source;
}

TEST(Parser, PlacesCountBytesFromOne) {
  const Module module = parse("f.py", "é = 'ü', f(\n  a.b)\n").take();
  const Expr& value = *module.body()[0]->value;
  EXPECT_EQ(value.items[0]->place.column, 6U);
  const Expr& call = *value.items[1];
  EXPECT_EQ(call.place.column, 12U);
  EXPECT_EQ(call.items[1]->place.line, 2U);
  EXPECT_EQ(call.items[1]->place.column, 3U);
}

}  // namespace
}  // namespace passnet::py
