"""The belief of an adversary about single persons: a probability for each sensitive value.

Under random worlds, by the deFinetti attack, and by a model that is trained on the release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from anonymizer.attacks.base import CONFIDENCE
from anonymizer.attacks.definetti import Definetti, Features, Groups, Posterior, View
from anonymizer.attacks.inference import STRENGTHS, label_counts
from anonymizer.attacks.joins import spans
from anonymizer.attacks.links import possible_links
from anonymizer.attacks.naive_bayes import NaiveBayes
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.labels import MISSING
from anonymizer.model.recoding import GROUP
from anonymizer.model.table import Column


@dataclass(frozen=True)
class Belief:
    """The probability of one sensitive value for one target.

    Attributes
    ----------
    target: name of the target.
    sensitive, value: the attribute and the value.
    random_worlds: the share of the value in the target's class or bucket; for a value that the target's own
        record lacks, all values are equally likely.
    definetti: by correlations between the classes, with its 95% interval over chains; for a value that the
        target's own record lacks, by the records of its class.
    inference: by naive Bayes trained on the release, None without original records.
    """

    target: str
    sensitive: str
    value: str
    random_worlds: float
    definetti: float
    low: float
    high: float
    inference: float | None


@dataclass(frozen=True, eq=False)
class Targets:
    """Persons in a release.

    Attributes
    ----------
    names: of the targets in messages.
    target, item: pairs of a target and what may be theirs, shape (pairs,), int64: a tuple of an Anatomy
        release, a link of the originals, or a row of the release where features are published texts.
    weight: records of each pair, shape (pairs,), int64, positive.
    original: original row of each pair, shape (pairs,), int64; None without original records.
    """

    names: tuple[str, ...]
    target: IntArray
    item: IntArray
    weight: IntArray
    original: IntArray | None = None

    @property
    def share(self) -> FloatArray:
        """The probability of each pair for its target, shape (pairs,)."""
        sums = np.bincount(self.target, weights=self.weight, minlength=len(self.names))
        return self.weight / sums[self.target]


Person = Mapping[str, str | None]
"""The quasi-identifiers of a target as texts."""


def find_targets(
    adversary: AdversaryView,
    persons: Mapping[str, Person],
    features: Features,
    known: Original | None = None,
) -> Targets:
    """Return the records that may be those of some persons.

    A person is found by the texts of an Anatomy release, with the bucket if it is known, else by those of the
    originals, else by those of the release.

    Parameters
    ----------
    persons: by their names; each has a quasi-identifier of the release, in the spelling of the records that
        are searched.
    features: that the attack compares.
    known: records of the persons, who are in the release as covered by it; None without.

    Raises
    ------
    InputError: nobody has these values, or everybody who has is suppressed.
    """
    original, grouped = adversary.original, adversary.grouped
    by_link = grouped is None and original is not None
    possible = (
        None if known is None else possible_links(known.meanings, known.codes, _codes(adversary, known))
    )
    found = []
    for name, person in persons.items():
        if grouped is not None:
            names, labels = (*grouped.names, GROUP), (*grouped.labels, grouped.groups)
            codes = np.column_stack([grouped.codes, grouped.group])
            rows = _rows(grouped.source, names, labels, codes, name, person)
            found.append((rows, grouped.counts[rows], rows))
        elif original is not None:
            texts = [own.column.texts for own in original.meanings]
            rows = _rows(original.source, original.names, texts, original.codes, name, person)
            links = np.flatnonzero(np.isin(original.links.original, rows))
            if not len(links):
                raise InputError(f"target {name}: has no record in {adversary.release.source}; suppressed")
            item = original.links.release[links] if features is Features.PUBLISHED else links
            found.append((item, original.links.counts[links], original.links.original[links]))
        elif known is not None and possible is not None:
            texts = [own.column.texts for own in known.meanings]
            rows = _rows(known.source, known.names, texts, known.codes, name, person)
            item = np.unique(possible[1][np.isin(possible[0], rows)])
            if not len(item):
                raise InputError(
                    f"target {name}: no record of {adversary.release.source} covers these values"
                )
            found.append((item, adversary.release.counts[item], item))
        else:
            release = adversary.release
            rows = _rows(release.source, release.names, release.labels, release.codes, name, person)
            found.append((rows, release.counts[rows], rows))
    item, weight, source = (np.concatenate(own) for own in zip(*found, strict=True))
    target = np.repeat(np.arange(len(found)), [len(own[0]) for own in found])
    return Targets(tuple(persons), target, item, weight, source if by_link else None)


def _codes(adversary: AdversaryView, known: Original) -> CodeArray:
    release = adversary.release
    return release.codes[:, [release.names.index(name) for name in known.names]]


def _rows(
    source: str,
    names: Sequence[str],
    texts: Sequence[Sequence[str | None]],
    codes: CodeArray | IntArray,
    name: str,
    person: Person,
) -> IntArray:
    """Return the rows with the values of a person, shape (rows,), int64."""
    fits = np.ones(len(codes), dtype=bool)
    known = {own: text for own, text in person.items() if own in names}
    for own, text in known.items():
        position = names.index(own)
        wanted = [code for code, each in enumerate(texts[position]) if (each or MISSING) == (text or MISSING)]
        fits &= np.isin(codes[:, position], wanted)
    if not known or not fits.any():
        values = ", ".join(f"{own} {text}" for own, text in known.items()) or "a quasi-identifier"
        raise InputError(f"target {name}: no record of {source} has {values}; give values of its records")
    return np.flatnonzero(fits)


def beliefs(
    adversary: AdversaryView,
    targets: Targets,
    attack: Definetti,
    random: np.random.Generator,
    hidden: Collection[str] = (),
) -> Iterator[Belief]:
    """Yield the belief in every sensitive value of every target.

    Parameters
    ----------
    attack: says what the adversary knows, and how the posterior is sampled.
    hidden: sensitive attributes whose value is missing in the targets' own records.
    """
    for name in adversary.disclosing.sensitive_names:
        view = attack.view(adversary, name)
        if name in hidden:
            column = adversary.disclosing.sensitive[name].attribute.column
            yield from _of_hidden(view, targets, name, column, float(attack.settings.prior))
            continue
        found = attack.chances(view, random)
        kinds = view.kind[targets.item]
        blind = _of_targets(view.groups, targets, kinds, view.groups.shares)
        chances = [_of_targets(view.groups, targets, kinds, own) for own in found.by_chain]
        low, mean, high = _interval(np.stack(chances), found)
        inferred = _inferred(adversary, view, targets, name)
        texts = adversary.disclosing.sensitive[name].attribute.column.texts
        for position, target in enumerate(targets.names):
            for value in np.flatnonzero(blind[position] > 0).tolist():
                where = position, value
                yield Belief(
                    target,
                    name,
                    texts[value],
                    float(blind[where]),
                    float(mean[where]),
                    float(low[where]),
                    float(high[where]),
                    None if inferred is None else float(inferred[where]),
                )


def _of_hidden(view: View, targets: Targets, name: str, column: Column, prior: float) -> Iterator[Belief]:
    """Yield the belief in each value that the targets' own records may lack.

    Under random worlds each value of the attribute is equally likely, whatever others have. Exchangeable
    records with a Dirichlet prior for the values of each class follow Laplace's rule of succession: the
    records of the class with the value, plus the prior, by all with a value, plus the prior of each value.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861),
    Table 1.
    """
    groups, present = view.groups, column.present
    seen = np.zeros((groups.number, groups.size))
    seen[np.repeat(np.arange(groups.number), np.diff(groups.starts)), groups.values] = groups.value_counts
    seen = seen[groups.group[view.kind[targets.item]], : len(present)] + prior
    chances = np.zeros((len(targets.names), len(present)))
    np.add.at(chances, targets.target, targets.share[:, None] * seen / seen.sum(axis=1, keepdims=True))
    for target, own in zip(targets.names, chances.tolist(), strict=True):
        for value, chance in zip(present, own, strict=True):
            yield Belief(target, name, value, 1 / len(present), chance, chance, chance, None)


def _of_targets(groups: Groups, targets: Targets, kinds: IntArray, chances: FloatArray) -> FloatArray:
    """Return the probability of each value for each target, shape (targets, values).

    Parameters
    ----------
    kinds: of the pairs of ``targets``, shape (pairs,), int64.
    chances: of each entry, shape (entries,).
    """
    found = np.zeros((len(targets.names), groups.size))
    first = groups.first[kinds]
    entry, pair = spans(first, groups.first[kinds + 1] - first)
    where = targets.target[pair], groups.entry_values[entry]
    np.add.at(found, where, targets.share[pair] * chances[entry])
    return found


def _interval(chances: FloatArray, found: Posterior) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return low, mean and high over chains; a point if nothing was drawn."""
    mean: FloatArray = chances.mean(axis=0)
    if found.convergence is None:
        return mean, mean, mean

    error = chances.std(axis=0, ddof=1) / np.sqrt(len(chances))
    reach = scipy.special.stdtrit(len(chances) - 1, (1 + CONFIDENCE) / 2) * error
    return np.maximum(mean - reach, 0), mean, np.minimum(mean + reach, 1)


def _inferred(adversary: AdversaryView, view: View, targets: Targets, name: str) -> FloatArray | None:
    """Return the probability of each value by naive Bayes, shape (targets, values), if it can be known."""
    original, release = adversary.original, adversary.release
    if original is None or targets.original is None or name not in release.sensitive:
        return None
    names = [own for own in view.names if own in original.names]
    positions = [original.names.index(own) for own in names]
    model = NaiveBayes(
        label_counts(release, names, name), [original.meanings[position] for position in positions]
    )
    people = original.codes[targets.original][:, positions].astype(np.int64)
    scores = model.scores(people, STRENGTHS[-1])
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    found = np.zeros((len(targets.names), chances.shape[1]))
    np.add.at(found, targets.target, targets.share[:, None] * chances / chances.sum(axis=1, keepdims=True))
    return found
