"""Models of repositories, and files from the net.

What a repository offers stands in its `hubconf.py`. A directory of one's own is read where it is
(`source="local"`); others are fetched from GitHub and kept in `get_dir()`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

try:
    from tqdm.auto import tqdm as tqdm  # type: ignore[import-untyped]
except ImportError:
    from ._progress import tqdm as tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"
ENV_GITHUB_TOKEN = "GITHUB_TOKEN"
DEFAULT_CACHE_DIR = "~/.cache"
VAR_DEPENDENCY = "dependencies"
MODULE_HUBCONF = "hubconf.py"
READ_DATA_CHUNK = 128 * 1024
# Eight digits or more of the SHA-256 of a file, in its name.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")

_TRUSTED = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
_directory: str | None = None


def _get_torch_home() -> str:
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """Return the directory of what was fetched.

    >>> import rushlight as torch
    >>> torch.hub.get_dir().endswith("hub")
    True
    """
    return os.path.join(_get_torch_home(), "hub") if _directory is None else _directory


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the directory of what is fetched."""
    global _directory
    _directory = os.path.expanduser(d)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = None,
    verbose: bool = True,
) -> Any:
    """Return the names of what a repository on GitHub (`owner/name[:branch]`) offers."""
    path = _fetched(github, force_reload, skip_validation, trust_repo, "list", verbose)
    with _on_path(path):
        offered = _hubconf(path)
    return [name for name, one in vars(offered).items() if callable(one) and not name.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = None,
) -> str | None:
    """Return the docstring of a model of a repository on GitHub."""
    path = _fetched(github, force_reload, skip_validation, trust_repo, "help", True)
    with _on_path(path):
        return _entry(_hubconf(path), model).__doc__


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str | None = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a model of a repository on GitHub (`source="github"`) or in a directory (`source="local"`).

    >>> import rushlight as torch
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = pathlib.Path(place, "hubconf.py").write_text("def twice(x):\\n    return 2 * x\\n")
    ...     torch.hub.load(place, "twice", 3, source="local")
    6
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    path = str(repo_or_dir)
    if source == "github":
        path = _fetched(path, force_reload, skip_validation, trust_repo, "load", verbose)
    with _on_path(path):
        return _entry(_hubconf(path), model)(*args, **kwargs)


_load_local = load


@contextmanager
def _on_path(path: str) -> Iterator[None]:
    sys.path.insert(0, path)
    try:
        yield
    finally:
        sys.path.remove(path)


def _hubconf(path: str) -> ModuleType:
    file = os.path.join(path, MODULE_HUBCONF)
    spec = spec_from_file_location(MODULE_HUBCONF, file)
    if spec is None or spec.loader is None:
        raise AssertionError("Failed to load module specification")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _entry(module: ModuleType, model: str) -> Callable[..., Any]:
    from importlib.util import find_spec

    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [name for name in getattr(module, VAR_DEPENDENCY, None) or () if find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    found: Callable[..., Any] | None = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def _fetched(github: str, force: bool, skip_validation: bool, trust: Any, verb: str, verbose: bool) -> str:
    """Return the directory of a repository, which is fetched if it is not there."""
    owner, name, ref = _parse_repo_info(github)
    os.makedirs(get_dir(), exist_ok=True)
    target = Path(get_dir(), "_".join([owner, name, ref.replace("/", "_")]))
    _check_trust(owner, name, trust, verb)
    if target.exists() and not force:
        if verbose:
            sys.stderr.write(f"Using cache found in {target}\n")
        return str(target)
    shutil.rmtree(target, ignore_errors=True)
    archive = f"{target}.zip"
    try:
        download_url_to_file(f"https://github.com/{owner}/{name}/zipball/{ref}", archive, progress=False)
    except HTTPError as error:
        if error.code == 300:
            warnings.warn(
                f"The ref {ref} is ambiguous: it names a branch and a tag. Say refs/heads/… or refs/tags/….",
                stacklevel=3,
            )
        raise
    with zipfile.ZipFile(archive) as packed:
        inner = packed.namelist()[0].split("/")[0]
        packed.extractall(get_dir())
    os.remove(archive)
    shutil.move(os.path.join(get_dir(), inner), target)
    return str(target)


def _parse_repo_info(github: str) -> tuple[str, str, str]:
    repository, _, ref = github.partition(":")
    owner, _, name = repository.partition("/")
    if ref:
        return owner, name, ref
    # Older repositories say `master` where newer ones say `main`.
    try:
        with urlopen(f"https://github.com/{owner}/{name}/tree/main/"):
            return owner, name, "main"
    except HTTPError as error:
        if error.code == 404:
            return owner, name, "master"
        raise
    except URLError:
        for branch in ("main", "master"):
            if Path(get_dir(), f"{owner}_{name}_{branch}").exists():
                return owner, name, branch
        raise RuntimeError(
            "It looks like there is no internet connection and the repo could not be found in the cache "
            f"({get_dir()})"
        ) from None


def _check_trust(owner: str, name: str, trust: Any, verb: str) -> None:
    """Refuse what is not to be run, or ask whoever sits there."""
    if trust not in (True, False, None, "check"):
        raise ValueError(f"trust_repo must be True, False, None or 'check', got {trust!r}")
    listed = Path(get_dir(), "trusted_list")
    known = listed.read_text("utf-8").split() if listed.exists() else []
    key = f"{owner}_{name}"
    if trust is True or owner in _TRUSTED or key in known:
        pass
    elif trust == "check" or trust is False:
        answer = input(
            f"The repository {owner}_{name} does not belong to the list of trusted repositories and as such "
            "cannot be downloaded. Do you trust this repository and wish to add it to the trusted list of "
            "repositories (y/N)?"
        )
        if answer.lower() not in ("y", "yes"):
            raise Exception("Untrusted repository.")
    else:
        warnings.warn(
            "You are about to download and run code from an untrusted repository. In a future release, this "
            "won't be allowed. To add the repository to your trusted list, change the command to "
            f"{verb}(..., trust_repo=False) and a command prompt will appear asking for an explicit "
            f"confirmation of trust, or {verb}(..., trust_repo=True), which will assume that the prompt is "
            f"to be answered with 'yes'. You can also use {verb}(..., trust_repo='check') which will only "
            "prompt for confirmation if the repo is not already trusted. This will eventually be the default "
            "behaviour",
            stacklevel=4,
        )
        return
    if key not in known:
        listed.write_text("".join(f"{one}\n" for one in [*known, key]), "utf-8")


def download_url_to_file(
    url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Fetch a file, whose SHA-256 has to begin as `hash_prefix` says. It is there whole or not at all."""
    dst = os.path.expanduser(dst)
    agent = {"User-Agent": "torch.hub"}
    token = os.getenv(ENV_GITHUB_TOKEN)
    if token and urlparse(url).hostname in ("github.com", "api.github.com"):
        agent["Authorization"] = f"token {token}"
    digest = hashlib.sha256()
    with urlopen(Request(url, headers=agent)) as answer:
        total = int(answer.headers.get("Content-Length") or 0)
        handle, part = tempfile.mkstemp(prefix=f"{dst}.", suffix=".partial", dir=os.path.dirname(dst) or ".")
        try:
            bar = tqdm(
                total=total or None, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024
            )
            with os.fdopen(handle, "wb") as file, bar:
                while block := answer.read(READ_DATA_CHUNK):
                    file.write(block)
                    digest.update(block)
                    bar.update(len(block))
            if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
                )
            shutil.move(part, dst)
        finally:
            if os.path.exists(part):
                os.remove(part)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> dict[str, Any]:
    """Fetch a file that `save` has written, if it is not there, and load it."""
    from .serialization import load as load_file

    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    try:
        os.makedirs(model_dir)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
    name = file_name or os.path.basename(urlparse(url).path)
    cached = os.path.join(model_dir, name)
    if not os.path.exists(cached):
        sys.stderr.write(f'Downloading: "{url}" to {cached}\n')
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, cached, match.group(1) if match else None, progress=progress)
    loaded: dict[str, Any] = load_file(cached, map_location=map_location, weights_only=weights_only)
    return loaded
