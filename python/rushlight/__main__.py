"""Run a program in which `import torch` means rushlight: `python -m rushlight program.py argument ...`.

`-m module` and `-c code` are understood as Python itself does. Programs that it starts inherit the meaning.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from .as_torch import activate, inherit

_USAGE = "usage: python -m rushlight [-m module | -c code | program.py] [argument ...]"


def _fresh_main(**named: Any) -> dict[str, Any]:
    """Make the module that the program runs in, and return its names."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__builtins__=__builtins__, **named)
    return vars(main)


def _run_code(code: str) -> None:
    sys.path[0] = ""
    exec(compile(code, "<string>", "exec", dont_inherit=True), _fresh_main())


def _run_module(name: str) -> None:
    import runpy

    _fresh_main()
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _run_file(path: str) -> None:
    if os.path.isdir(path) or path.endswith((".pyz", ".zip")):
        import runpy

        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as failure:
        sys.exit(f"python -m rushlight: can't open file {path!r}: {failure.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    exec(compile(source, path, "exec", dont_inherit=True), _fresh_main(__file__=path))


def main() -> None:
    """Do what the command line says."""
    given = sys.argv[1:]
    if not given or given[0] in ("-h", "--help"):
        print(_USAGE)
        return
    run, shown = {"-c": (_run_code, "-c"), "-m": (_run_module, "-m")}.get(given[0][:2], (_run_file, given[0]))
    if run is not _run_file:
        # As Python takes it: `-m module` or `-mmodule`.
        given = [given[0][2:], *given[1:]] if given[0][2:] else given[1:]
    if not given or (run is _run_file and given[0].startswith("-")):
        sys.exit(_USAGE)
    activate()
    inherit()
    sys.argv[:] = [shown, *given[1:]]
    run(given[0])


if __name__ == "__main__":
    main()
