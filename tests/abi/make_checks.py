# SPDX-License-Identifier: Apache-2.0
"""Turns abi_facts.json into sources whose static assertions hold the headers to it.

Each header gets a source of its own that includes no other header of ours first, so a header that
leans on being included second does not compile. The same text is written as .c and as .cpp.

    make_checks.py FACTS OUT_DIR     writes OUT_DIR/layout_<header>.c, .cpp and layout_main.c, .cpp
"""
import json
import pathlib
import sys


def pointer_to(function_type):
    result, parameters = function_type.split(" (", 1)
    return f"{result} (*)({parameters}"


def declarations(facts):
    """One assertion per fact that the compiler can judge."""
    for name, value in facts["macros"].items():
        if isinstance(value, int):
            yield f"ABI_MACRO({name}, {value});"
        else:  # an attribute: it must be accepted where declarations begin
            yield f"{name} int abi_uses_{name}(void);"
    for name, fact in facts["enums"].items():
        yield f"ABI_ENUM({name}, {fact['size']}, {fact['underlying']});"
        if fact["tag"]:
            yield f"ABI_TAG({name}, enum {fact['tag']});"
        for constant, value in fact["constants"].items():
            yield f"ABI_CONSTANT({constant}, {value});"
    for name, fact in facts["structs"].items():
        yield f"ABI_STRUCT({name}, {fact['size']}, {fact['align']});"
        yield f"ABI_TAG({name}, struct {fact['tag']});"
        for field, field_type, offset, size in fact["fields"]:
            yield f"ABI_FIELD({name}, {field}, {field_type}, {offset}, {size});"
    for name, fact in facts["typedefs"].items():
        yield f"ABI_TYPEDEF({name}, {fact['type']}, {fact['size']});"
    for name, function_type in facts["functions"].items():
        yield f"ABI_FUNCTION({name}, {pointer_to(function_type)});"


def unnamed_value(constants):
    """A value the enum can hold without having a constant for it, or None."""
    limit = 1 << max(constants.values()).bit_length()
    return next((v for v in range(limit) if v not in constants.values()), None)


def texts(facts):
    """One call per text that an inline function returns."""
    for function, fact in facts["inline_functions"].items():
        for constant, text in fact["returns"].items():
            yield f"ABI_TEXT({function}({constant}), {json.dumps(text)})"
        argument = fact["argument"]
        value = unnamed_value(facts["enums"][argument]["constants"])
        if value is not None:
            yield f"ABI_TEXT({function}(({argument}){value}), {json.dumps(fact['otherwise'])})"


def check_name(header):
    return "abi_check_" + header.replace(".h", "")


def header_source(header, facts):
    lines = [f'#include "{header}"', "", '#include "abi_check.h"', ""]
    lines += declarations(facts)
    lines += ["", f"int {check_name(header)}(void);", f"int {check_name(header)}(void) {{"]
    lines += ["  int failures = 0;"]
    lines += [f"  failures += {call};" for call in texts(facts)]
    lines += ["  return failures;", "}", ""]
    return "\n".join(lines)


def main_source(headers):
    lines = [f"int {check_name(header)}(void);" for header in headers]
    calls = " + ".join(f"{check_name(header)}()" for header in headers)
    return "\n".join(lines + ["", f"int main(void) {{ return {calls} == 0 ? 0 : 1; }}", ""])


def main(facts_path, out_dir):
    headers = json.loads(pathlib.Path(facts_path).read_text())["headers"]
    out = pathlib.Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    sources = {f"layout_{h.replace('.h', '')}": header_source(h, f) for h, f in headers.items()}
    sources["layout_main"] = main_source(headers)
    for name, text in sources.items():
        for suffix in ("c", "cpp"):
            (out / f"{name}.{suffix}").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
