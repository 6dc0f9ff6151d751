"""The line on a terminal that shows what a program is doing."""

from __future__ import annotations

import sys


class Line:
    """A line on stderr that each text replaces, if stderr is a terminal."""

    def __init__(self, is_shown: bool | None = None) -> None:
        # A Windows program without a console has no stderr.
        self._is_shown = bool(sys.stderr and sys.stderr.isatty()) if is_shown is None else is_shown
        self._text = ""

    def show(self, text: str) -> None:
        """Replace what the line has."""
        if self._is_shown and text != self._text:
            rest = " " * (len(self._text) - len(text))
            self._text = text  # first, since an interrupt can come while it is printed
            print(f"\r{text}{rest}", end="" if text else "\r", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the text there, and begin another line."""
        if self._text:
            print(file=sys.stderr)
            self._text = ""
