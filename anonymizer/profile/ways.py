"""Other drafts of a file whose first one would lose more than half of its detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.config.written import comment, flow, text

HALF = 0.5
"""Loss above which a draft is of little use."""


@dataclass(frozen=True)
class Way:
    """A draft that was tried.

    Attributes
    ----------
    what: it does, in words that begin a sentence.
    gives_up: what one has less of by it, in words.
    loss: of its release, in the quasi-identifiers that stay.
    width: quasi-identifiers of the first draft.
    left_out: those of them that it leaves out.
    sections: keys of the config that it changes, in the draft that is written.
    taken: whether it is the draft that is written.
    """

    what: str
    gives_up: str
    loss: float
    width: int
    left_out: int = 0
    sections: Mapping[str, Any] = field(default_factory=dict, hash=False)
    taken: bool = False

    @property
    def of_all(self) -> float:
        """The loss in all of them, each one that is left out as wholly lost."""
        return (self.loss * (self.width - self.left_out) + self.left_out) / self.width

    def measured(self) -> str:
        """Return the losses in words."""
        beside = f", {self.of_all:.3f} if what is left out counts as lost" if self.left_out else ""
        return f"loss {self.loss:.3f}{beside}"


def ways_note(ways: Sequence[Way]) -> str | None:
    """Return what the first draft would have lost, and what was taken; None if it loses less than half."""
    if not ways:
        return None
    first = ways[0]
    (taken,) = (way for way in ways if way.taken)
    lost = f"A release of all {first.what} would lose {first.loss:.3f} of their detail, more than half."
    if taken is first:
        return f"{lost} No way that loses less than half was found; others are at the end of the config."
    others = len(ways) - 1
    return (
        f"{lost} This draft {taken.what}: {taken.measured()}. {taken.gives_up}. "
        f"{'The other way is' if others == 1 else f'{others} other ways are'} at the end of the config."
    )


def ways_in_text(ways: Sequence[Way]) -> Iterator[str]:
    """Yield the ways that were not taken as comments, each with the lines of the config to put in."""
    others = [way for way in ways if not way.taken]
    if not others:
        return
    yield from comment(
        "Other ways, each measured by a run of it; put its lines in place of those with the same keys:"
    )
    for number, way in enumerate(others, start=1):
        keep = "keep all " if way is ways[0] else ""
        yield from comment(f"{number}. {keep}{way.what}: {way.measured()}. {way.gives_up}.")
        for key, section in way.sections.items():
            if key == "attributes":
                yield "#   attributes:"
                yield from (f"#     {text(name)}: {flow(own)}" for name, own in section.items())
            else:
                yield f"#   {key}: {flow(section)}"
