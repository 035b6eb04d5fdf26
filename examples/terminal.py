"""What the tour needs of a terminal: colours where they are welcome, a progress bar on one line."""

from __future__ import annotations

import os
import shutil
import sys

COLOURS = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
WIDTH = min(96, shutil.get_terminal_size().columns)

STYLES = {
    "title": "1;38;5;215",
    "text": "38;5;250",
    "code": "38;5;117",
    "prompt": "38;5;240",
    "error": "38;5;203",
}


def styled(text: str, style: str) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if COLOURS else text


def title(text: str) -> None:
    print(f"\n{styled(text, 'title')}\n{styled('─' * len(text), 'prompt')}")


def half_block(upper: tuple[int, int, int], lower: tuple[int, int, int]) -> str:
    """One character that shows two pixels, one above the other."""
    front, back = ";".join(map(str, upper)), ";".join(map(str, lower))
    return f"\x1b[38;2;{front};48;2;{back}m▀\x1b[0m"


class ProgressBar:
    """Redraws itself in place on a terminal; elsewhere prints its last state only."""

    def __init__(self, total: int, width: int = 36) -> None:
        self.total = total
        self.width = width

    def show(self, done: int, note: str) -> None:
        if not sys.stdout.isatty() and done < self.total:
            return
        filled = self.width * done // self.total
        bar = styled("━" * filled, "title") + styled("─" * (self.width - filled), "prompt")
        print(f"\r  {bar} {done:>4}/{self.total}  {note}", end="\n" if done == self.total else "", flush=True)
