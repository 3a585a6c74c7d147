#!/usr/bin/env python3
"""check_types.py ROOT - no two files define a struct, class, union or enum of one name, namespaces included.

Two in one library are undefined behaviour, which no compiler of one file sees. What stands in an anonymous
namespace is its file's own; a nested type is its outer type's. A kernel's text is a program of its own,
unless C++ includes it.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

FOLDERS = ("include", "preprocess", "jit", "lib", "capi", "bench", "tests")
SUFFIXES = {".h", ".hpp", ".cpp", ".cuh"}

# What is no code; then names, and what opens, ends or parts.
TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*|(?P<token>\w+|::|[{}();=<>,\[\]:])",
    re.DOTALL | re.MULTILINE,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
ATTRIBUTES = re.compile(r"alignas \( [^)]* \)|\[ \[ [^]]* \] \]")
TYPE = re.compile(
    r"(?:struct|class|union|enum(?: class| struct)?) "
    r"(?P<name>[^:(]\S*(?: (?!final\b|: )[^(\s]+)*)(?: final)?(?: : .*)?"
)


def without_brackets(words):
    """Of `template < class T > struct X < T * >`: the template's parameters left out."""
    if words[:1] != ["template"]:
        return words
    depth = 0
    for k, word in enumerate(words[1:], 1):
        depth += (word == "<") - (word == ">")
        if depth == 0:
            return without_brackets(words[k + 1 :])
    return words


def type_named(words):
    """The name, if a `{` behind these words opens a type."""
    words = without_brackets([word for word in words if word != "typedef"])
    match = TYPE.fullmatch(ATTRIBUTES.sub("", " ".join(words)).replace("  ", " "))
    return match and match["name"].replace(" ", "")


def types(text):
    """Names of the types that a file defines for others to see."""
    scope, words = [], []  # namespaces; since the last `;`, `{` or `}`
    inside = 0  # braces of what is no namespace
    for token in (m["token"] for m in TOKENS.finditer(text)):
        if token == "{" and not inside and "namespace" in words:
            scope.append("".join(words[words.index("namespace") + 1 :]))
        elif token == "{" and not inside and words == ["extern"]:  # "C": it is in no namespace
            scope.append(None)
        elif token == "{":
            name = None if inside or "" in scope else type_named(words)
            if name:
                yield "::".join(filter(None, [*scope, name]))
            inside += 1
        elif token == "}" and inside:
            inside -= 1
        elif token == "}" and scope:
            scope.pop()
        elif token and token != ";":
            words.append(token)
            continue
        if token:
            words = []


def texts(root):
    """Of the files that C++ is compiled from."""
    files = sorted(
        file
        for folder in FOLDERS
        for file in (root / folder).rglob("*")
        if file.suffix in SUFFIXES and not file.is_symlink()
    )
    found = {file.relative_to(root): file.read_text() for file in files}
    included = {m[1] for name, text in found.items() if name.suffix != ".cuh" for m in INCLUDE.finditer(text)}
    return {name: text for name, text in found.items() if name.suffix != ".cuh" or str(name) in included}


def main(root):
    places = defaultdict(list)
    for file, text in texts(root).items():
        for name in types(text):
            places[name].append(file)
    twice = {name: files for name, files in sorted(places.items()) if len(files) > 1}
    for name, files in twice.items():
        print(f"{name} is defined in {', '.join(map(str, files))}")
    print(f"{len(places)} types")
    return 1 if twice or not places else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
