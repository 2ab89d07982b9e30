"""Reads Parquet files with pyarrow and with polars, and prints a digest of the rows that each of them finds, as JSON.

Input, as JSON on standard input: a list of {path, columns: [{name, type}]}, with the types of schemas/tables.ts.
"""

import json
import os
import sys

import polars
import pyarrow.parquet
from row_texts import digest_of

answers = [
    {
        "pyarrow": digest_of(pyarrow.parquet.read_table(file["path"]).to_pylist(), file["columns"]),
        "polars": digest_of(polars.read_parquet(file["path"]).to_dicts(), file["columns"]),
    }
    for file in json.load(sys.stdin)
]
json.dump(answers, sys.stdout)
sys.stdout.flush()
# Ends at once, because the readers' native threads are still running and may abort an interpreter that shuts down.
os._exit(0)
