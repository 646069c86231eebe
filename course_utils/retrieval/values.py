"""Values of metadata as they are compared: like with like, and what is nothing to compare is None."""

import datetime
import decimal
import math
import numbers
import re
from typing import Any, NamedTuple

import numpy as np

_LARGEST = 2**63 - 1  # of a whole number in SQLite
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Plain(NamedTuple):
    """A value with its kind, so that only like is compared with like: none, flag, number or text."""

    kind: str
    value: Any


def plain(value: Any) -> Plain | None:
    """Return the value as it is compared, or None where it is nothing that compares (a list, NaN)."""
    if isinstance(value, np.generic):
        if isinstance(value, np.datetime64 | np.timedelta64):
            return None
        value = value.item()
    if value is None:
        return Plain("none", None)
    if isinstance(value, bool):
        return Plain("flag", value)
    if isinstance(value, int):
        return Plain("number", int(value)) if abs(value) <= _LARGEST else None
    if isinstance(value, numbers.Real | decimal.Decimal):
        try:
            number = float(value)
        except (OverflowError, ValueError):  # a fraction too large for it, a signalling NaN
            return None
        return None if math.isnan(number) else Plain("number", number)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return Plain("text", value.isoformat())
    # The characters themselves: an enum of texts has a str() of its own.
    return Plain("text", str.__str__(value)) if isinstance(value, str) else None


def day(value: Any) -> str | None:
    """Return a date, or text that is one, as "2026-03-31"; None for anything else."""
    found = plain(value)
    if found is None or found.kind != "text" or not _DAY.fullmatch(found.value):
        return None
    try:
        return datetime.date.fromisoformat(found.value).isoformat()
    except ValueError:
        return None
