"""Files that are not what the service wrote."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from zipfile import ZipFile

SHEET = "xl/worksheets/sheet1.xml"
HEADERS = (b"parent_surveyid,", b"userid,", b"surveyid,", b"column,")
RECORDS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "none": lambda records: [],
    "one missing": lambda records: records[:3] + records[4:],
    "one twice": lambda records: records[:4] + records[3:],
    "one twice and one missing": lambda records: records[:4] + records[3:4] + records[5:],
    "one again": lambda records: records + records[:1],
    "one again and one missing": lambda records: records[:9] + records[:1] + records[10:],
    "two exchanged": lambda records: records[1::-1] + records[2:],
    "reversed": lambda records: records[::-1],
    "a comma more": lambda records: [b"," + record for record in records],
}
BODIES: dict[str, Callable[[bytes], bytes]] = {
    "half of its bytes": lambda body: body[: len(body) // 2],
    "an error": lambda body: b'{"error":{"message":"busy"}}\n',
    "a text": lambda body: b"PK is not enough\n",
    "an object": lambda body: b'{"a":"b"}\n',
    "nothing": lambda body: b"",
    "other quotes": lambda body: body.replace(b",NA,", b',"NA",').replace(b"food", b'"food"'),
    "another ad_id": lambda body: body.replace(b",12,", b",13,"),
}


def lie_of(name: str, lie: str) -> Callable[[bytes], bytes]:
    """Return what alters the records of a file, or replaces it."""
    if lie in BODIES:
        return BODIES[lie]

    def of_text(body: bytes) -> bytes:
        lines = re.findall(rb'(?:[^"\n]+|"[^"]*")*\n', body) if "csv" in name else body.splitlines(keepends=True)
        header = lines[: body.startswith(HEADERS)]
        return b"".join([*header, *RECORDS[lie](lines[len(header) :])])

    def of_workbook(body: bytes) -> bytes:
        altered = io.BytesIO()
        with ZipFile(io.BytesIO(body)) as source, ZipFile(altered, "w") as target:
            for part in source.namelist():
                content = source.read(part)
                if part == SHEET:
                    header, *rows = re.findall(rb"<row .*?</row>", content, re.DOTALL)
                    content = content.replace(b"".join([header, *rows]), b"".join([header, *RECORDS[lie](rows)]))
                target.writestr(part, content)
        return altered.getvalue()

    return of_workbook if name.endswith(".xlsx") else of_text
