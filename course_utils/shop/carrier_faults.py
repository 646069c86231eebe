"""Faults of the carrier's service, switched on for a lesson or a test: which is due at which request."""

import threading
from dataclasses import dataclass, replace
from typing import Literal, get_args

Kind = Literal["status", "slow", "trickle", "truncated", "length", "html", "drop", "killed"]


@dataclass(frozen=True)
class Fault:
    """One fault. times: for how many requests (None: until `clear`); after: how many are spared first.

    path: only requests whose address begins so, query included. The other fields belong to one kind each:
    status and retry_after to "status", seconds to "slow" and "trickle", by (bytes) to "length".
    """

    kind: Kind
    times: int | None = 1
    after: int = 0
    path: str = "/"
    status: int = 500
    retry_after: float | None = None
    seconds: float = 3.0
    by: int = 100

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"There is no fault {self.kind!r}: use a status such as 500 or 429, or one of "
                f"{', '.join(kind for kind in get_args(Kind) if kind != 'status')}."
            )
        if not 400 <= self.status <= 599:
            raise ValueError(f"A status from 400 to 599 is a fault, not {self.status!r}.")
        if self.times is not None and self.times < 1:
            raise ValueError(f"times must be at least 1, or None for until clear(), not {self.times!r}.")
        if self.after < 0 or self.seconds < 0 or self.by == 0 or (self.retry_after or 0) < 0:
            raise ValueError("after, seconds and retry_after must not be below 0, and by must not be 0.")


class Faults:
    """The faults that are switched on, in that order; safe to change while the service runs."""

    def __init__(self) -> None:
        self._on: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._on.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._on.clear()

    def due(self, address: str) -> Fault | None:
        """Return the fault for a request to `address`, and count it; None where there is none."""
        with self._lock:
            for place, fault in enumerate(self._on):
                if not address.startswith(fault.path):
                    continue
                if fault.after:
                    self._on[place] = replace(fault, after=fault.after - 1)
                    return None
                if fault.times == 1:
                    del self._on[place]
                elif fault.times is not None:
                    self._on[place] = replace(fault, times=fault.times - 1)
                return fault
        return None
