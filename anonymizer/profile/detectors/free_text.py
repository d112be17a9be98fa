"""Free text."""

from __future__ import annotations

from statistics import fmean

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, OFTEN, Detector, Finding, Share, looked_at
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

TEXT_TERMS = (
    *("note", "notes", "comment", "comments", "remark", "remarks", "free text", "freetext", "description"),
    *("message", "narrative", "memo", "feedback", "anamnesis", "bemerkung", "kommentar", "observations"),
)
_WORDS, _CHARACTERS = 5.0, 40.0
TEXTS_DISTINCT = 0.2
FEW_TEXTS = 20


class FreeText(Detector):
    """Sentences that people wrote: whoever wrote them may have named anybody."""

    name = "free text"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Measure how many words and characters the values have, and how many values differ."""
        if column.type is not ValueType.TEXT or column.distinct < 2:
            return None
        among = _among_others(column)
        if among is not None:
            return among
        texts = looked_at(column)
        words = fmean(len(text.split()) for text in texts)
        characters = fmean(map(len, texts))
        named = names_any(column.name, TEXT_TERMS)
        long = words >= _WORDS or (characters >= _CHARACTERS and words >= 2)
        different = column.distinct > FEW_TEXTS and column.distinctness >= TEXTS_DISTINCT
        if not (long and different) and not (named and words >= 2 and column.distinct > FEW_TEXTS):
            return None
        reason = f"{column.distinct:,} different texts of {words:.0f} words on average"
        return Finding(self.name, reason, certain=long and (named or words >= _WORDS))


def _among_others(column: ColumnFacts) -> Finding | None:
    """Return the finding of sentences beside a few short values, which most records may have."""
    sentences = [records for text, records in column.values if len(text.split()) >= _WORDS]
    many = len(sentences) > FEW_TEXTS and len(sentences) >= OFTEN * len(column.values)
    if not many or len(sentences) < TEXTS_DISTINCT * sum(sentences):
        return None
    known = Share(len(sentences), len(column.values))
    reason = f"{known} have {_WORDS:.0f} words or more, in {sum(sentences):,} records"
    return Finding(FreeText.name, reason, certain=len(sentences) >= MOSTLY * len(column.values))
