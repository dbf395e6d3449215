#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that would disturb one another are never compiled as one: each case is a pair of files and the answer."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cmake"))
import batches  # noqa: E402

OWN = "namespace rk {\nnamespace {\n%s\n}\nint %s() { return 1; }\n}\n"


class Batches(unittest.TestCase):
    def together(self, *texts):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"file{number}.cpp") for number in range(len(texts))]
            for path, text in zip(paths, texts):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return batches.batches_of(paths) == [paths]

    def test_files_with_names_of_their_own(self):
        self.assertTrue(self.together(OWN % ("int a(int x) { return x; }", "f"), OWN % ("int b(int x) { return x; }", "g")))

    def test_one_name_twice(self):
        self.assertFalse(self.together(OWN % ("int a(int x) { return x; }", "f"), OWN % ("int a(int x) { return -x; }", "g")))

    def test_name_that_the_other_file_looks_up(self):
        self.assertFalse(self.together(OWN % ("int a(int x) { return x; }", "f"), "namespace rk { int g() { return a(1L); } }"))

    def test_member_and_qualified_names_are_no_trouble(self):
        self.assertTrue(self.together(OWN % ("int a(int x) { return x; }", "f"),
                                      "namespace rk { int g(S s) { return s.a + other::a(2) + s.p->a; } }"))

    def test_words_in_comments_and_strings_are_no_trouble(self):
        self.assertTrue(self.together(OWN % ("int a(int x) { return x; }", "f"),
                                      'namespace rk { /* a */ const char* g() { return "a" R"(a)"; } }  // a'))

    def test_types_constants_macros_and_enumerators(self):
        user = "namespace rk { int g() { return a; } }"
        for own in ("struct a { int x; };", "constexpr int a = 3;", "#define a 3\n", "enum { b, a };", "using a = int;",
                    "const int a[] = {1, 2};"):
            self.assertFalse(self.together(OWN % (own, "f"), user), own)
        self.assertFalse(self.together("namespace rk { static int a() { return 1; } }", user))

    def test_one_alias_in_both(self):
        alias = "namespace rk {\nusing other::Step;\nint %s(Step s);\n}\n"
        self.assertTrue(self.together(alias % "f", alias % "g"))
        self.assertFalse(self.together(alias % "f", (alias % "g").replace("other", "third")))

    def test_one_alias_beside_a_name_of_a_header(self):
        alias = "namespace rk {\nusing other::Step;\nnamespace reg = other::reg;\nint f(Step s);\n}\n"
        # A header of rk that declares a Step of its own: what `using` names elsewhere is not looked up here.
        with_header = '#include "ir/graph.h"\nnamespace rk { int g(); }\n'
        self.assertIn("Node", batches.names_of("ir/graph.h", "")[0])
        self.assertTrue(self.together(alias.replace("Step", "Node"), with_header))
        self.assertFalse(self.together("namespace rk { static int Node() { return 1; } }\n", with_header))

    def test_namespaces_are_looked_up_before_colons(self):
        alias = "namespace rk {\nnamespace reg = other::reg;\nint f() { return reg::kOne; }\n}\n"
        self.assertTrue(self.together(alias, "namespace rk { int g(int reg) { return reg; } }\n"))
        self.assertFalse(self.together(alias, "namespace rk { int g() { return reg::kTwo; } }\n"))

    def test_directives_are_not_part_of_a_namespace(self):
        opened = "%snamespace rk::part {\nint %s();\n}\nnamespace rk { int %s_() { return part::%s(); } }\n"
        self.assertTrue(self.together(opened % ("", "f", "f", "f"), opened % ("#if A\n#endif\n", "g", "g", "g")))

    def test_code_for_one_instruction_set_and_whole_namespaces(self):
        plain = OWN % ("int b;", "g")
        for text in ("RK_ISA_BEGIN\nint f();\n", "using namespace std;\n", "#pragma GCC optimize(1)\n"):
            self.assertFalse(self.together(text, plain), text)


if __name__ == "__main__":
    unittest.main()
