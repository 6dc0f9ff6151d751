"""Responses as dicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ._http import Http
from ._models import Parameter
from ._records import NDJSON
from ._transfer import Transfer


def rows(http: Http, parameters: Mapping[str, Parameter], after: str | None) -> Iterator[dict[str, Any]]:
    """Yield the responses of a selection."""
    for block in Transfer(http, NDJSON, parameters, after).blocks():
        for line in block.splitlines():
            yield json.loads(line)
