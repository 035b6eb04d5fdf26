"""Write THIRD-PARTY-LICENSES: the licence texts of the crates linked into the compiled module, and of data.

Run without arguments to write the file anew, with --check to only say whether it is up to date.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "THIRD-PARTY-LICENSES"

# Where wheels are made for: a crate that only other targets need is in no wheel.
TARGETS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
RULE = "=" * 80

HEADER = """\
The compiled module of rushlight contains code of the crates listed below, and the package data of others.
Each text stands once, under the names of the crates that ship it.
This file is written by tools/third_party_licenses.py.
"""


# What is not a crate: its name and what it is for, its licence, and the text of that.
JOE_AND_KUO = """\
Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:

    * Redistributions of source code must retain the above copyright
      notice, this list of conditions and the following disclaimer.

    * Redistributions in binary form must reproduce the above copyright
      notice, this list of conditions and the following disclaimer in the
      documentation and/or other materials provided with the distribution.

    * Neither the names of the copyright holders nor the names of the
      University of New South Wales and the University of Waikato
      and its contributors may be used to endorse or promote products derived
      from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY
EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY
DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND
ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."""
DATA = [("Direction numbers of Sobol sequences (_sobol_directions.bin)", "BSD-3-Clause", JOE_AND_KUO)]


def cargo_metadata(target: str) -> dict:
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def is_compile_time_only(package: dict) -> bool:
    """A procedural macro runs inside the compiler, so neither it nor what it uses is linked."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def linked_crates(metadata: dict) -> dict[str, dict]:
    """The crates reached from the extension module over normal dependencies, by package id."""
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [id for id in metadata["workspace_members"] if packages[id]["name"] == "rushlight-bindings"]
    linked: dict[str, dict] = {}
    while waiting:
        current = waiting.pop()
        if current in linked or is_compile_time_only(packages[current]):
            continue
        linked[current] = packages[current]
        waiting += [
            dependency["pkg"]
            for dependency in edges[current]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    return {id: package for id, package in linked.items() if package["source"] is not None}


def licence_texts(package: dict) -> list[str]:
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and LICENCE_FILE.match(file.name))
    return ["\n".join(file.read_text("utf-8").strip().splitlines()) for file in files]


def render(packages: list[dict]) -> str:
    lines = [HEADER]
    holders: dict[str, list[str]] = {}
    without_text = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        lines.append(f"  {name}: {package['license']}")
        texts = licence_texts(package)
        for text in texts:
            holders.setdefault(text, []).append(name)
        if not texts:
            authors = ", ".join(package["authors"]) or "its contributors"
            without_text.append(f"  {name} ({authors}; {package['repository']})")
    for name, licence, text in DATA:
        lines.append(f"  {name}: {licence}")
        holders[text] = [name]
    if without_text:
        lines += ["\nPublished without the text of its licence, which is the one named above:", *without_text]
    # Texts that are nearly the same stand beside each other, where archives find what they have in common.
    for text, names in sorted(holders.items(), key=lambda item: (len(item[0]), item[0])):
        lines += ["", RULE, *names, RULE, "", text]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


def main() -> int:
    packages: dict[str, dict] = {}
    for target in TARGETS:
        packages |= linked_crates(cargo_metadata(target))
    text = render(sorted(packages.values(), key=lambda package: (package["name"], package["version"])))
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(text, "utf-8")
        print(f"{OUTPUT.name}: {len(packages)} crates")
        return 0
    if not OUTPUT.exists() or OUTPUT.read_text("utf-8") != text:
        print(f"{OUTPUT.name} is out of date: run python tools/third_party_licenses.py")
        return 1
    print(f"{OUTPUT.name} is up to date: {len(packages)} crates")
    return 0


if __name__ == "__main__":
    sys.exit(main())
