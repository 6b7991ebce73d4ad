"""Sphinx settings. ``make docs`` builds the pages; nothing is fetched from the network."""

import re
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from matplotlib.figure import Figure

import isthmus

sys.path.insert(0, str(Path(__file__).parent))  # so that the gallery finds this module

project = "Isthmus"
author = copyright = "The Isthmus developers"
version = release = isthmus.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "sg_execution_times.rst"]
# The bibliography lists what the guide names too, where a label is a plain link to that page.
# A word in a type such as "outputs" may be the name of several attributes; it leads to none then.
suppress_warnings = ["ref.citation", "ref.python"]

myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings give kinds and shapes
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_math_renderer = "mathml"  # drawn by the browser itself: no script, no network
html_theme = "pydata_sphinx_theme"
html_title = "Isthmus"
html_static_path = ["_static"]
html_css_files = ["isthmus.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Isthmus"},
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {
    name: [] for name in ("index", "systems", "command_line", "sharp_bits", "published")
}


def figures_of_the_cell(block, block_vars, gallery_conf):
    """Save the figures that a cell of an example has bound to a name, each of them once.

    ``isthmus.plotting`` makes figures that pyplot does not know, which the gallery's own
    search would not find.
    """
    from sphinx_gallery.scrapers import figure_rst

    names = block_vars["example_globals"]
    paths = block_vars["image_path_iterator"]
    saved = names.setdefault("__saved_figures__", [])
    written = []
    for value in list(names.values()):
        if isinstance(value, Figure) and not any(value is known for known in saved):
            saved.append(value)
            path = next(paths)
            value.savefig(path, dpi=130, bbox_inches="tight")
            written.append(path)
    return figure_rst(written, gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "subsection_order": [
        *(f"../examples/{family}" for family in ("structured", "preimage", "features", "kernels")),
        "*",
    ],
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("conf.figures_of_the_cell",),
    "plot_gallery": True,
    "abort_on_example_error": False,
    "min_reported_time": 5,
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
}


def skip_what_scikit_learn_adds(app, what, name, obj, skip, options):
    """Leave out methods that scikit-learn gives every estimator; its own pages explain them."""
    module = getattr(obj, "__module__", None) or ""
    return True if module.startswith("sklearn") else None


def formula(display):
    """Return a visitor that writes the LaTeX of a node as MathML."""

    def visit(translator, node):
        # What the converter gets wrong: operators in italics, norms as tall as a sum beside them,
        # primes too small to see.
        latex = node.astext().replace(r"\arg\min", r"\operatorname{arg min}")
        latex = re.sub(r"\\operatorname\{([\w ]+)\}", r"\\text{\1}", latex)
        latex = re.sub(r"\\[lr]Vert(?![A-Za-z])", r"\\|", latex)
        if display == "block" and r"\\" in latex:
            latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
        mathml = convert(latex, display=display)
        translator.body.append(re.sub("<mi>(&#x02032;)</mi>", r"<mo>\1</mo>", mathml))
        raise nodes.SkipNode

    return visit, None


def link_to_what_is_built(app, docname, source):
    """Links that lead somewhere on a code host, to a family's page or to the source of a class or
    an example, lead to the class itself and to the example with its picture in the built pages.
    """
    up = "../" * docname.count("/")
    text = re.sub(r"\[`(?:isthmus\.)?([\w.]+)`\]\((?:\.\./)*api/(\w+)\.md\)", _reference, source[0])
    family = docname.removeprefix("api/")
    text = re.sub(
        r"\[`(\w+)`\]\((?:\.\./)+src/isthmus/[\w/]+\.py\)",
        rf"{{py:obj}}`\1 <isthmus.{family}.\1>`",
        text,
    )
    text = re.sub(r"\]\((?:\.\./)+examples/\)", f"]({up}gallery/index.rst)", text)
    source[0] = re.sub(
        r"\]\((?:\.\./)+examples/(\w+)/(plot_\w+)\.py\)", rf"]({up}gallery/\1/\2.rst)", text
    )


def _reference(match):
    name, family = match[1], match[2]
    if family == "reproduce":  # functions of the experiments' own distribution
        return f"{{py:obj}}`{name} <isthmus_experiments.{name}>`"
    if name == family:
        return f"{{py:mod}}`isthmus.{family}`"
    shown = name.removeprefix(f"{family}.")
    return f"{{py:obj}}`{shown} <isthmus.{family}.{shown}>`"


def write_explorer_pages(app, exception):
    """Write the pages of the explorer that the guide shows, beside the built ones."""
    if exception is None and app.builder.format == "html":
        from explorer_pages import write_missing

        write_missing(Path(app.outdir) / "_static" / "explorer")


def setup(app):
    app.connect("build-finished", write_explorer_pages)
    app.connect("source-read", link_to_what_is_built)
    app.add_html_math_renderer("mathml", formula("inline"), formula("block"))
    app.connect("autodoc-skip-member", skip_what_scikit_learn_adds)
