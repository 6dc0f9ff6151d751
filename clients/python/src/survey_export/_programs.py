"""What Stata and SPSS allow: the names of variables, the lengths of labels and of texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

STATA_RESERVED = re.compile(
    r"aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue|default"
    r"|delegate|delete|do|double|else|eltypedef|end|enum|explicit|export|external|float|for|friend"
    r"|function|global|goto|if|in|inline|int|local|long|NULL|pragma|protected|quad|rowvector|short"
    r"|str\d+|strL|typedef|typename|using|virtual|with"
)
"""Stata's manual, [U] 11.3, and the words of Mata, which pandas does not accept as names either."""
NOT_IN_STATA = re.compile(r"\W|[\x80-\xbf]")
"""pandas accepts no letters from U+0080 to U+00BF, such as "ª"."""
SPSS_RESERVED = re.compile("ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH", re.IGNORECASE)
"""SPSS's Command Syntax Reference, "Variable Names"."""
NOT_IN_SPSS = re.compile(r"[^\w.$#@]")
"""SPSS allows accents too, R's haven does not."""


def bytes_of(text: str) -> int:
    return len(text.encode())


@dataclass(frozen=True)
class Program:
    """What the files of a program can hold."""

    program: str
    not_in_name: re.Pattern[str]
    reserved: re.Pattern[str]
    same_name: Callable[[str], str]
    """Equal for names that the program takes for the same."""
    size: Callable[[str], int]
    """The size of a name or a variable label, in the unit of the following limits."""
    name_limit: int
    label_limit: int
    value_labels_limit: Callable[[int], int]
    """The bytes of a value label, given how many the variable has."""
    text_limit: int
    """The bytes of a text."""

    def name_of(self, column: str) -> str:
        """Return the column's name without what the program does not allow, but not cut.

        A name begins with a letter, since both programs give other characters at the start a
        meaning of their own (Stata: [U] 11.3), and does not end with a period.
        """
        name = self.not_in_name.sub("_", column).rstrip(".")
        return name if name[:1].isalpha() and not self.reserved.fullmatch(name) else f"v{name}"


STATA = Program(
    "Stata",
    NOT_IN_STATA,
    STATA_RESERVED,
    str,
    len,
    32,
    80,
    lambda labels: 32_000 // labels - 1,
    2_000_000_000,
)
"""https://www.stata.com/manuals/rlimits.pdf: 32 characters in a name, 80 in a variable label,
32,000 bytes in a value label (pandas: in all of a variable, with a byte after each), and
2,000,000,000 bytes in a strL.
"""

SPSS = Program(
    "SPSS", NOT_IN_SPSS, SPSS_RESERVED, str.casefold, bytes_of, 64, 255, lambda labels: 120, 32_767
)
"""SPSS's Command Syntax Reference: 64 bytes in a name ("Variable Names"), 255 in a variable label
(256 in newer versions, "VARIABLE LABELS"), 120 in a value label ("VALUE LABELS"), and 32,767 in a
text ("String Variable Formats"). The case of a name does not count.
"""


def unique_names(columns: list[str], program: Program) -> list[str]:
    """Return a name that the program allows for each column. Equal names get a number."""
    names = [program.name_of(column) for column in columns]
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    # Columns whose names can stay come first, so that no other column takes their names.
    for position in sorted(range(len(names)), key=lambda each: names[each] != columns[each]):
        whole = names[position]
        name = cut(whole, program.name_limit, program.size).rstrip(".")
        base = program.same_name(name)
        while program.same_name(name) in taken:
            numbers[base] = numbers.get(base, 1) + 1
            suffix = f"_{numbers[base]}"
            name = cut(whole, program.name_limit - len(suffix), program.size) + suffix
        taken.add(program.same_name(name))
        names[position] = name
    return names


def cut_label(text: str, limit: int, size: Callable[[str], int]) -> str:
    """Return the text as one line, which ends with an ellipsis if it had to be cut."""
    line = " ".join(part.strip() for part in text.splitlines())
    return line if size(line) <= limit else f"{cut(line, limit - size('…'), size)}…"


def cut(text: str, limit: int, size: Callable[[str], int]) -> str:
    """Return the beginning of the text that is within the limit."""
    return text[:limit] if size is len else text.encode()[:limit].decode(errors="ignore")
