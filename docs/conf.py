"""Configuration of Sphinx for `make docs`, which writes the generated pages first."""

import re
from pathlib import Path
from typing import Any

from jsii._runtime import JSIIMeta
from sphinx.application import Sphinx

project = "ultracluster"
release = "dev"  # docs/site_build.py passes the version
html_title = "ultracluster"
html_theme = "furo"
html_show_copyright = False
html_show_sourcelink = False
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["requirements.*", "_templates", "questions.yaml"]
templates_path = ["_templates"]
myst_heading_anchors = 4
# The search then needs no requests, and works from the file system.
html_show_search_summary = False
html_static_path = ["_static"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
copybutton_prompt_text = "$ "
autodoc_default_options = {
    "members": True,
    "special-members": "__init__",
    # Members that pydantic adds to a model.
    "exclude-members": "model_config, model_post_init",
}
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "separated"


def _hide_signature_of_jsii(
    app: Sphinx, what: str, name: str, value: object, *_: object
) -> tuple[str, None] | None:
    """Hide the signature of a construct class: jsii makes it ``(*args, **kwargs)``; that of ``__init__`` is shown."""
    del app, name
    return ("", None) if what == "class" and isinstance(value, JSIIMeta) else None


def _let_the_keyboard_scroll(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Make wide code, tables and pictures focusable, so that the keyboard can scroll them (WCAG 2.1.1)."""
    del app, page, template, doctree
    if body := context.get("body"):
        body = body.replace("<pre>", '<pre tabindex="0">')
        body = re.sub(r'<p>(?=<img [^>]*\.svg")', '<p class="picture" tabindex="0">', body)
        context["body"] = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')


def setup(app: Sphinx) -> None:
    """Register what no setting can express."""
    app.connect("html-page-context", _let_the_keyboard_scroll)
    app.connect("autodoc-process-signature", _hide_signature_of_jsii)
