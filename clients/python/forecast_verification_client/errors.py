"""What the client raises: refusals of the service, and what does not stand under the keys of its log."""

from collections.abc import Sequence
from typing import NamedTuple

from .api import Fault
from .caller import printable


class Refusal(Exception):
    """A refusal of the service, in its own words. Branch on `type`, such as `question-closed`."""

    def __init__(self, status: int, type: str, detail: str, errors: Sequence[Fault] = ()) -> None:
        lines = [detail, *(f"{fault['pointer']}: {fault['detail']}" for fault in errors)]
        super().__init__("\n".join(map(printable, lines)))
        self.status, self.type, self.errors = status, type.split("/")[-1], errors


class Evidence(NamedTuple):
    """A text that was read and the proof that it was checked by, enough for anyone to check it again."""

    # Of the record, or of the call that submitted.
    path: str
    # The text that does not stand, exactly as it came.
    body: str
    # Its proof, or its receipt in Base64; None where there was none.
    proof: str | None = None
    # The release that the record names; None for a submission.
    release: int | None = None


class NotVerified(Exception):
    """Something that was read does not stand under the keys of the log. `reason` is the check that failed."""

    def __init__(self, reason: str, evidence: Evidence) -> None:
        what = f"{evidence.path} of release {evidence.release} does not stand"
        if evidence.release is None:
            what = f"{evidence.path}: the service says that it took a forecast whose receipt does not stand"
        super().__init__(printable(f"{what}: {reason}"))
        self.reason, self.evidence = printable(reason), evidence
