"""Texts and digests of rows, the same as those of test/support/worlds/table-rows.ts for equal rows only."""

import hashlib
import struct
from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def text_of(value, kind):
    if value is None:
        return "\0"
    if kind == "time":
        return str((value - EPOCH) // timedelta(microseconds=1))
    if kind == "probability":
        return struct.pack(">d", value).hex()
    if kind in ("count", "day"):
        return str(value)
    return value


def digest_of(rows, columns):
    """Does not depend on the order of the rows. `columns`: [{name, type}], with the types of schemas/tables.ts."""
    texts = ["\x1f".join(text_of(row[c["name"]], c["type"]) for c in columns) for row in rows]
    hashes = sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)
    return hashlib.sha256("".join(hashes).encode()).hexdigest()
