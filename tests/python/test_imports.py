"""The modules of the package import each other one way, in functions too."""

import ast
import re
from pathlib import Path

import libperm

FOLDER = Path(libperm.__file__).parent


def name_of(file):
    return ".".join(("libperm", *file.relative_to(FOLDER).with_suffix("").parts))


def imported_by(file):
    """Modules, and what may be one: a name that is imported from a package."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


FILES = {name_of(file): file for file in FOLDER.rglob("*.py") if file.stem != "__init__"}
IMPORTS = {name: set(imported_by(file)) & FILES.keys() for name, file in FILES.items()}


def test_there_is_no_circle():
    imports = dict(IMPORTS)
    assert len(imports) > 30
    assert sum(map(len, imports.values())) > 100
    while imports:
        lowest = {name for name, others in imports.items() if not others}
        assert lowest, f"these import each other: {sorted(imports)}"
        imports = {name: others - lowest for name, others in imports.items() if name not in lowest}


def test_the_core_needs_no_public_module():
    for name, others in IMPORTS.items():
        if name.startswith("libperm._core."):
            assert all(other.startswith("libperm._core.") for other in others), (name, others)


def test_the_core_says_what_is_where():
    guide = set(re.findall(r"\w+", (FOLDER / "_core" / "__init__.py").read_text()))
    inside = [name.rpartition(".")[2] for name in FILES if name.startswith("libperm._core.")]
    assert [name for name in inside if name not in guide] == []
