"""The site and the man page, by `./dev docs`. Pages link to each other, and to files of the repository, by
relative paths: so they read the same here and where the repository is browsed."""

import re
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer

root = Path(__file__).parents[1]

project = "libperm"
release = re.search(r"project\(perm VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc", "breathe"]

root_doc = "docs/index"
include_patterns = ["*.md", "**/*.md"]
exclude_patterns = ["build", ".*"]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"libperm {release}"
html_additional_pages = {"index": "to_index.html"}
html_show_copyright = False
html_copy_source = False
templates_path = ["templates"]

man_pages = [("docs/command", "perm", "exact permanents of sparse matrices", [], 1)]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False

breathe_projects = {"libperm": str(root / "build" / "docs" / "doxygen")}
breathe_default_project = "libperm"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_show_include = False

nitpicky = True
nitpick_ignore_regex = [
    (r"cpp:identifier", "(Value|Derivative)Range"),  # concepts, which breathe does not show
    ("c:identifier", r"size_t|u?int(32|64)_t"),
    ("cpp:identifier", r"(perm_|PERM_|Eigen).*"),  # of C, and of others
    ("cpp:identifier", r"Owned<.*>"),  # who destroys a handle: within perm.hpp
]

autodoc_typehints = "none"
autodoc_member_order = "bysource"


def setup(app):
    """Classes say that they are of libperm; the order of what they have is that of the modules of _core."""
    orders = ModuleAnalyzer.for_module("libperm")
    orders.analyze()
    for file in (root / "capi" / "python" / "libperm" / "_core").glob("*.py"):
        module = ModuleAnalyzer.for_file(file, f"libperm._core.{file.stem}")
        module.analyze()
        orders.tagorder |= {name: order for name, order in module.tagorder.items() if "." in name}
