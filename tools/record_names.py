"""Record where torch has what stands elsewhere here: `PY tools/record_names.py`, with a Python that has both.

Writes python/rushlight/_files/torch_names.txt: a module of rushlight, the module of torch, and the names that it
has from there. What has the same name in both is left out, and so is what only one of them has.
"""

import contextlib
import sys
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

PACKAGE = Path(__file__).parents[1] / "python"
HEADER = """\
# Where torch has what stands elsewhere here: a module here, the module there, names. See `_files/torch_names.py`.
# Written by tools/record_names.py.
"""


def rooms(package):
    """Every module of the package, by name."""
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith(("._rushlight", ".__main__")):
            import_module(found.name)
    begun = f"{package.__name__}."
    return {
        name: room for name, room in sys.modules.items() if name == package.__name__ or name.startswith(begun)
    }


def known(rooms):
    """What the package has of its own, and under which names: by where it was written."""
    found = defaultdict(list)
    for place, room in rooms.items():
        for name in dir(room):
            thing = getattr(room, name, None)
            module, own = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
            if callable(thing) and own and "." not in own and str(module).partition(".")[0] == "rushlight":
                found[module, own].append((place, name))
    return found


def lookup(module, name):
    with contextlib.suppress(Exception):
        return getattr(import_module(module), name)
    return None


def torch_place(module, name, places):
    """The module in which torch has it under this name, if that is one in which it can be found here too."""
    ours = lookup(*places[0])
    shown = sorted(
        {place for place, name_there in places if name_there == name},
        key=lambda place: (place != module, place.count("."), place),
    )
    said = [getattr(lookup("torch" + place[9:], name), "__module__", None) for place in shown]
    for place in [*map(str, said), *("torch" + place[9:] for place in shown)]:
        is_theirs = place.partition(".")[0] == "torch" and lookup(place, name) is not None
        if is_theirs and lookup("rushlight" + place[5:], name) is ours:
            return place
    return None


def main():
    sys.path.insert(0, str(PACKAGE))
    warnings.simplefilter("ignore")
    import rushlight
    import torch  # noqa: F401

    rows = defaultdict(list)
    for (module, name), places in known(rooms(rushlight)).items():
        place = torch_place(module, name, places)
        if place is not None and place[5:] != module[9:]:
            rows[module, place].append(name)
    lines = [" ".join([*key, *sorted(names)]) for key, names in sorted(rows.items())]
    (PACKAGE / "rushlight" / "_files/torch_names.txt").write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
