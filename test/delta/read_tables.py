"""Reads a Delta table with deltalake and with polars and prints the rows that each of them finds, as JSON.

Input, as JSON on standard input:
    url: the table; storage_options: how to reach it; version: the version to read, null for the latest;
    columns: [{name, type}], in the order of a row's text, with the types of schemas/tables.ts;
    equal: {column: value or null}: for each, counts the rows that have the value, skipping files by their bounds.
"""

import json
import os
import sys
from datetime import date, datetime, timezone

import polars
import pyarrow
import pyarrow.compute
from deltalake import DeltaTable
from row_texts import digest_of

PARSERS = {"time": datetime.fromisoformat, "day": date.fromisoformat, "count": int, "probability": float}


def value_of(text, kind):
    """The value of a column of this type for a text of `equal`."""
    return None if text is None else PARSERS.get(kind, str)(text)


def seen(rows, columns):
    """The number of rows, and a digest of them that does not depend on their order."""
    days = sorted({str(row["recorded_date"]) for row in rows})
    misplaced = sum(row["recorded_at"].astimezone(timezone.utc).date() != row["recorded_date"] for row in rows)
    return {"rows": len(rows), "digest": digest_of(rows, columns), "days": days, "misplaced": misplaced}


def statistics(table):
    """The statistics of each data file, by which a reader may skip it."""
    actions = pyarrow.table(table.get_add_actions(flatten=True)).to_pylist()
    return sorted(
        (
            {
                "path": action["path"],
                "rows": action["num_records"],
                "sizeBytes": action["size_bytes"],
                "recordedDate": str(action["partition.recorded_date"]),
                "minValues": bounds(action, "min."),
                "maxValues": bounds(action, "max."),
                "nullCount": bounds(action, "null_count."),
            }
            for action in actions
        ),
        key=lambda action: action["path"],
    )


def bounds(action, prefix):
    values = {name[len(prefix) :]: value for name, value in action.items() if name.startswith(prefix)}
    return {
        name: value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, date)
        else value
        for name, value in values.items()
        if value is not None
    }


def main():
    request = json.load(sys.stdin)
    url, options, version = request["url"], request["storage_options"], request["version"]
    table = DeltaTable(url, version=version, storage_options=options)
    frame = polars.read_delta(url, version=version, storage_options=options)
    fields = json.loads(table.schema().to_json())["fields"]
    answer = {
        "version": table.version(),
        "schema": [[field["name"], field["type"], field["nullable"]] for field in fields],
        "partitioned_by": table.metadata().partition_columns,
        "files": statistics(table),
        "deltalake": seen(table.to_pyarrow_table().to_pylist(), request["columns"]),
        "polars": seen(frame.to_dicts(), request["columns"]),
        "polars_types": {name: str(kind) for name, kind in frame.schema.items()},
        "equal": {},
    }
    kinds = {column["name"]: column["type"] for column in request["columns"]}
    for column, text in request["equal"].items():
        value = value_of(text, kinds[column])
        lazy = polars.scan_delta(url, version=version, storage_options=options)
        answer["equal"][column] = {
            "deltalake": table.to_pyarrow_table(
                filters=pyarrow.compute.field(column).is_null() if value is None else [(column, "=", value)]
            ).num_rows,
            "polars": lazy.filter(polars.col(column).eq_missing(value)).collect().height,
        }
    json.dump(answer, sys.stdout)
    sys.stdout.flush()


main()
# Ends at once, because the readers' native threads are still running and may abort an interpreter that shuts down.
os._exit(0)
