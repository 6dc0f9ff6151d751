"""Reads the workbooks in this folder with three libraries. Prints the cells that each finds, as JSON: library, file, sheet, rows."""

import json
from pathlib import Path

import openpyxl
import pandas
import python_calamine


def with_openpyxl(path):
    sheets = {}
    for sheet in openpyxl.load_workbook(path):
        assert sheet.freeze_panes == "A2"
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is not None:
                    number_format = "@" if isinstance(cell.value, str) else "General"
                    assert (cell.number_format, cell.font.b) == (number_format, cell.row == 1), cell.coordinate
        assert all(8 <= column.width <= 60 for column in sheet.column_dimensions.values())
        sheets[sheet.title] = list(sheet.iter_rows(values_only=True))
    return sheets


def with_calamine(path):
    workbook = python_calamine.CalamineWorkbook.from_path(path)
    return {name: workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names}


def with_pandas(path):
    sheets = pandas.read_excel(path, sheet_name=None, header=None, dtype=str, keep_default_na=False)
    return {name: frame.values.tolist() for name, frame in sheets.items()}


libraries = {"openpyxl": with_openpyxl, "calamine": with_calamine, "pandas": with_pandas}
paths = [str(path) for path in Path().glob("*.xlsx")]
print(json.dumps({name: {path: read(path) for path in paths} for name, read in libraries.items()}))
