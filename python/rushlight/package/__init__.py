"""Archives that hold objects together with the source of the modules that these need.

>>> import rushlight as torch
>>> import io
>>> file = io.BytesIO()
>>> with torch.package.PackageExporter(file) as exporter:
...     exporter.save_source_string("own.words", "GREETING = 'hello'")
...     exporter.save_pickle("data", "weights.pkl", torch.ones(2))
>>> importer = torch.package.PackageImporter(file)
>>> importer.import_module("own.words").GREETING, importer.load_pickle("data", "weights.pkl")
('hello', tensor([1., 1.]))
"""

from .._module_aliases import add_module_aliases
from ._exporter import EmptyMatchError, PackageExporter, PackagingError
from ._files_shown import Directory
from ._importer import PackageImporter
from ._importers import (
    Importer,
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    is_from_package,
    sys_importer,
)
from ._patterns import GlobGroup

__all__ = [
    "Directory",
    "EmptyMatchError",
    "GlobGroup",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "is_from_package",
    "sys_importer",
]

add_module_aliases(
    globals(),
    {
        "glob_group": {"._patterns": "GlobGroup"},
        "importer": {
            "._importers": "Importer ObjMismatchError ObjNotFoundError OrderedImporter sys_importer"
        },
        "package_exporter": {"._exporter": "EmptyMatchError PackageExporter PackagingError"},
        "package_importer": {"._importer": "PackageImporter"},
        "file_structure_representation": {"._files_shown": "Directory"},
        "_mangling": {"._importers": "demangle is_mangled"},
    },
)
