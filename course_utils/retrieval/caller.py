"""Who asks: decided by the program that knows the user, never by a prompt nor by a model's argument."""

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["staff", "partner", "customer", "guest"]
# What each role may see of what is meant for an audience; anything else is for nobody.
AUDIENCES: dict[Role, frozenset[str]] = {
    "guest": frozenset({"public"}),
    "customer": frozenset({"public"}),
    "partner": frozenset({"public", "partner"}),
    "staff": frozenset({"public", "partner", "staff"}),
}


@dataclass(frozen=True)
class Caller:
    """Who asks. `user` is a name or, for role "customer", the customer's id."""

    user: str | int
    role: Role = "guest"

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise ValueError(f"role must be one of {', '.join(get_args(Role))}, not {self.role!r}")

    @property
    def audiences(self) -> frozenset[str]:
        """The audiences whose texts this caller may see: of "public", "partner" and "staff"."""
        return AUDIENCES[self.role]


GUEST = Caller("unknown", "guest")
