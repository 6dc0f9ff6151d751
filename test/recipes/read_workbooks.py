"""Reads the workbooks in this folder with four libraries. Prints the cells that each finds, as JSON: library, file, sheet, rows."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import pandas
import python_calamine
import xlsx2csv


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


def with_xlsx2csv(path):
    # Without quotes, its CSV does not show which carriage returns belong to a cell.
    workbook = xlsx2csv.Xlsx2csv(path, quoting=csv.QUOTE_ALL)
    sheets = {}
    for index, sheet in enumerate(workbook.workbook.sheets, start=1):
        output = io.StringIO()
        workbook.convert(output, sheetid=index)
        sheets[sheet["name"]] = list(csv.reader(io.StringIO(output.getvalue(), newline="")))
    return sheets


def with_pandas(path):
    sheets = pandas.read_excel(path, sheet_name=None, header=None, dtype=str, keep_default_na=False)
    return {name: frame.values.tolist() for name, frame in sheets.items()}


csv.field_size_limit(1_000_000)
libraries = {"openpyxl": with_openpyxl, "calamine": with_calamine, "xlsx2csv": with_xlsx2csv, "pandas": with_pandas}
paths = [str(path) for path in Path().glob("*.xlsx")]
print(json.dumps({name: {path: read(path) for path in paths} for name, read in libraries.items()}))
