"""The steps of a search, and which of them say what each constraint measured.

Measuring takes a pass over the records. It is done for a step that is accepted, at once; for the step that
was refused last, which is known at the end; for all others if every step is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anonymizer.model.recoding import Step

Explain = Callable[[Step], Step]
"""Returns a step with what each constraint measured, and whatever else takes as long."""


class StepLog(list[Step]):
    """The steps of a search in their order.

    Parameters
    ----------
    explained: whether steps are read; without it none is measured.
    every: whether every step is measured.
    """

    def __init__(self, *, explained: bool = True, every: bool = False) -> None:
        super().__init__()
        self._explained = explained
        self._every = explained and every
        # Place and candidate of the step that was refused last, unless it is measured already.
        self._last: tuple[int, object, Explain] | None = None

    @property
    def every(self) -> bool:
        """Whether every step is measured."""
        return self._every

    def note(self, step: Step, explain: Explain, *, measured: bool | None = None) -> None:
        """Log a step of a candidate that can be measured.

        Parameters
        ----------
        explain: measures the candidate; kept until another one is refused.
        measured: whether it is measured at once; by default, if it is accepted.
        """
        self.append(step)
        if self._every or (self._explained and (step.accepted if measured is None else measured)):
            self[-1] = explain(step)
            self._last = self._last if step.accepted else None
        elif not step.accepted:
            self.refused(explain)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Forget the steps within."""
        number, last = len(self), self._last
        yield
        del self[number:]
        self._last = last

    def refused(self, explain: Explain) -> None:
        """Let the last step be measured at the end, unless something else is refused before."""
        if self._every:
            self[-1] = explain(self[-1])
        elif self._explained:
            self._last = len(self) - 1, self[-1].candidate, explain

    def ended(self) -> tuple[Step, ...]:
        """Return the steps at the end of the search; the one that was refused last is measured."""
        last, self._last = self._last, None
        if last is not None:
            place, candidate, explain = last
            # Steps may have been taken back.
            if place < len(self) and self[place].candidate is candidate:
                self[place] = explain(self[place])
        return tuple(self)
