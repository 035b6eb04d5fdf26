"""What `make docs` adds to the pages of docs/: those of the root, the reference, and sentences of the tests.

mkdocs calls the functions that begin with `on_`; nobody else needs them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OF_THE_ROOT = (
    "README.md",
    "ARCHITECTURE.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
)
MODULES = (
    "",
    "amp",
    "autograd",
    "autograd.functional",
    "compiler",
    "distributed",
    "distributions",
    "fft",
    "func",
    "inspection",
    "library",
    "linalg",
    "nn",
    "nn.functional",
    "nn.init",
    "optim",
    "optim.lr_scheduler",
    "optimize",
    "profiler",
    "signal.windows",
    "special",
    "utils.checkpoint",
    "utils.data",
)
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def pages_of_the_root() -> dict[str, str]:
    """The pages that stand in the root of the repository, by name."""
    return {name: (ROOT / name).read_text("utf-8") for name in OF_THE_ROOT}


def with_links_in_the_site(text: str) -> str:
    """Lead links from and to the root's pages to where they are in the site; of others the text stays."""
    written = {page.name for page in (ROOT / "docs").glob("*.md")} | set(OF_THE_ROOT)

    def lead(found: re.Match[str]) -> str:
        shown, target, place = found.groups()
        name = target.removeprefix("../").removeprefix("docs/")
        if name in written or name.startswith("pictures/"):
            return f"[{shown}]({name}{place or ''})"
        return shown

    return LINK.sub(lead, text)


def is_own(test: ast.AST) -> bool:
    """Whether a test, or all of its file, is marked as one that is not asked of torch."""
    return any(isinstance(node, ast.Attribute) and node.attr == "own" for node in ast.walk(test))


def sentences_of_own_tests() -> str:
    """What tests that are not asked of torch say, as a list by folders."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        body = ast.parse(path.read_text("utf-8")).body
        whole = any(isinstance(node, ast.Assign) and is_own(node) for node in body)
        for node in body:
            is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            if is_test and (whole or any(map(is_own, node.decorator_list))):
                sentence = node.name.removeprefix("test_").replace("_", " ")
                found.setdefault(path.parent.name, []).append(f"- {sentence}")
    return "\n\n".join(f"### {folder}\n\n" + "\n".join(lines) for folder, lines in found.items())


def entry(name: str, thing: object) -> str:
    """What the reference says of a function or a class: how it is called, and its docstring."""
    try:
        form = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        form = "(…)" if callable(thing) else ""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    prose, mark, session = text.partition(">>> ")
    example = f"\n\n```python\n{mark}{session.rstrip()}\n```" if mark else ""
    return f"## {name}\n\n```python\n{name}{form}\n```\n\n{textwrap.dedent(prose).strip()}{example}\n"


def reference() -> dict[str, str]:
    """A page a module: every public name, with what its docstring says."""
    pages = {}
    for short in MODULES:
        name = f"rushlight.{short}".rstrip(".")
        module = importlib.import_module(name)
        public = [one for one in sorted(getattr(module, "__all__", [])) if not one.startswith("_")]
        things = [(one, getattr(module, one)) for one in public]
        told = [entry(one, thing) for one, thing in things if callable(thing)]
        about = inspect.cleandoc(module.__doc__ or "").partition("\n")[0]
        pages[f"reference/{name}.md"] = f"# {name}\n\n{about}\n\n" + "\n".join(told)
    return pages


def on_config(config):  # type: ignore[no-untyped-def]
    """Name the pages of the reference in the site's contents."""
    names = [f"rushlight.{short}".rstrip(".") for short in MODULES]
    pages = [{name: f"reference/{name}.md"} for name in names]
    config["nav"] = [{"Reference": pages} if "Reference" in part else part for part in config["nav"]]
    return config


def on_files(files, config):  # type: ignore[no-untyped-def]
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File

    for name, text in (pages_of_the_root() | reference()).items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):  # type: ignore[no-untyped-def]
    """Put sentences of the tests where a page asks for them, and lead links into the site."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    asked = "<!-- sentences of the tests -->"
    return with_links_in_the_site(markdown).replace(
        asked, sentences_of_own_tests() if asked in markdown else asked
    )
