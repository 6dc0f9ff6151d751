"""The parameters of requests, as the caller gives them and as the service reads them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, TypeAlias

Value: TypeAlias = str | int | bool | date | datetime
Parameter: TypeAlias = Value | Iterable[Value] | None
"""The value of a query parameter. A collection repeats the parameter, and None leaves it out."""
OWN = ("survey", "after", "count", "format", "pageSize")
"""Parameters that the client sets itself."""
FILTERS = ("since", "until", "question_ref", "shortcode", "userid")


def query(parameters: Mapping[str, Parameter]) -> list[tuple[str, str]]:
    """Return the parameters as the service reads them. Raises ValueError; see `texts`."""
    return [(name, text) for name, values in texts(parameters).items() for text in values]


def texts(parameters: Mapping[str, Parameter]) -> dict[str, list[str]]:
    """Return the values of each parameter as texts, without those that are None.

    Raises ValueError for an empty collection, which would select everybody, and for a value that is
    not text, an integer or a time, which would select nobody.
    """
    found = {}
    for name, parameter in parameters.items():
        if parameter is None:
            continue
        values: Iterable[object] = [parameter]
        if isinstance(parameter, Iterable) and not isinstance(parameter, str | bytes):
            values = parameter
        found[name] = [_text(name, value) for value in values]
        if not found[name]:
            raise ValueError(f"{name} is empty: leave it out to select everything")
    return found


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"{name}: a datetime needs a time zone, for example tzinfo=timezone.utc")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(operator.index(value))  # also of an integer of numpy
    except TypeError:
        kind = type(value).__name__
        raise ValueError(
            f"{name} must be text, an integer or a time, not {kind}: {value!r:.80}"
        ) from None
