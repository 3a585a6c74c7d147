"""The modules of the package import each other one way, in functions too."""

import ast
from pathlib import Path

import libperm

FOLDER = Path(libperm.__file__).parent


def imported_by(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "libperm":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("libperm."):
            yield node.module.split(".")[1]


def test_there_is_no_circle():
    imports = {file.stem: set(imported_by(file)) for file in FOLDER.glob("*.py") if file.stem != "__init__"}
    imports = {name: others & imports.keys() for name, others in imports.items()}
    assert len(imports) > 30
    assert sum(map(len, imports.values())) > 100
    while imports:
        lowest = {name for name, others in imports.items() if not others}
        assert lowest, f"these import each other: {sorted(imports)}"
        imports = {name: others - lowest for name, others in imports.items() if name not in lowest}
