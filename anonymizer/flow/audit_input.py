"""The part of an audit that the owner of the data can do: a release compared with the input that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.adversary_view import reconstructed, same_values
from anonymizer.attacks.generalized_values import meaning_of
from anonymizer.audit.claims import ABSENT
from anonymizer.config.attribute import Role
from anonymizer.config.model import Config, Origin
from anonymizer.data.relation import Relation
from anonymizer.data.source import sha256_of
from anonymizer.errors import InputError
from anonymizer.flow.audit_checks import AuditCase
from anonymizer.flow.constraints import required_size
from anonymizer.flow.prepare import job_of, open_as, read_attributes
from anonymizer.loss.base import all_losses
from anonymizer.model.adversary import Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import SensitiveCodes, released
from anonymizer.model.counting import count
from anonymizer.model.recoding import (
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
)
from anonymizer.model.table import SUPPRESSED, QuasiIdentifier, Table
from anonymizer.release.folder import RECODING

TextArray = NDArray[np.object_]

AGGREGATING = ("microaggregation",)
"""Algorithms whose published numbers stand for no value of the input, so that records cannot be matched."""


def check_input(case: AuditCase, report: Path) -> bool:
    """Compare a release with the input, where the report is the internal one and the input is at hand.

    Parameters
    ----------
    report: where the report lies.

    Returns
    -------
    Whether every released value was compared.

    Raises
    ------
    InputError: the input cannot be read as the config says.
    """
    if case.appended:
        return False
    folder = _folder_of_input(case, report)
    if folder is None:
        return False
    config = case.config.located(Origin(str(report), folder))
    with _opened_input(config) as source:
        _check_facts(case, source)
        compared = _check_untouched(case, source)
        job = job_of(config, source, read_attributes(config, source))
        if job.problem.source is not None:
            return False
        table = job.problem.table
        columns = [each.column for each in table.quasi_identifiers]
        for column in (*columns, *(each.column for each in table.sensitive)):
            case.mitigates.compare(("attributes", column.name, "type"), column.type.value)
        if case.mitigates.get(("search", "algorithm")) in AGGREGATING:
            return False
        matched = _matched(case, table)
        if matched is None:
            return False
        if not case.in_groups:
            _check_losses(case, table, matched)
        return compared and not case.in_groups


def check_recoding_file(case: AuditCase, report: Path) -> None:
    """Compare the hash of the file that further records are recoded by, where it lies beside the report.

    Parameters
    ----------
    report: where the report lies.
    """
    mitigates, key = case.mitigates, ("recoding_file",)
    path = report.parent / RECODING
    if not mitigates.internal or not path.is_file():
        return
    mitigates.expect((), key)
    if mitigates.get(key) is not ABSENT:
        mitigates.compare((*key, "path"), RECODING)
        mitigates.compare((*key, "sha256"), sha256_of(path))


def _folder_of_input(case: AuditCase, report: Path) -> Path | None:
    """Return the folder that the path of the input starts from, None where the input is not at hand."""
    mitigates, given = case.mitigates, case.config.input.path
    if given is None or "://" in given or not mitigates.internal:
        return None
    sha256 = mitigates.get(("input", "sha256"))
    for folder in (report.parent.parent, report.parent, Path()):
        path = folder / given
        if path.is_file() and sha256_of(path) == sha256:
            return folder
    return None


@contextmanager
def _opened_input(config: Config) -> Iterator[Relation]:
    with open_as(config, config.folder / str(config.input.path)) as relation:
        yield relation


def _check_facts(case: AuditCase, source: Relation) -> None:
    mitigates = case.mitigates
    mitigates.compare(("input", "sha256"), source.sha256)
    mitigates.compare(("input", "path"), case.config.input.path)
    mitigates.agree(("config", "input", "path"))
    mitigates.compare(("input", "rows"), source.rows)
    mitigates.compare(("input", "columns"), len(source.columns))
    mitigates.compare(("input", "separator"), source.separator)


def _check_untouched(case: AuditCase, source: Relation) -> bool:
    """Compare the columns that are released as they are; tell whether they are in the release."""
    release, roles = case.relations[0], case.config.attributes
    removed = source.rows - release.rows
    for name in release.columns:
        if name not in roles or (roles[name].role is Role.QUASI_IDENTIFIER and not case.in_groups):
            continue
        if source.changed_records(name, release) != (0, removed):
            raise InputError(f"{release.name}: column '{name}' does not hold the values of the input")
    return True


@dataclass(frozen=True, eq=False)
class _Matched:
    """Which records of the input became which of the release.

    Attributes
    ----------
    table: of the input, its combinations in parts.
    owner: combination of each part, shape (parts,), ascending.
    published: combination of the release for each part, -1 for records that are not in it, shape (parts,).
    """

    table: Table
    owner: IntArray
    published: IntArray


def _matched(case: AuditCase, table: Table) -> _Matched | None:
    """Find a record of the input for every record of the release, each another one; None where there is none.

    The values of the one stand for those of the other, and sensitive values are the same.
    """
    own = case.scene.release
    meanings = [
        _meaning(case, each, own.labels[own.names.index(each.name)]) for each in table.quasi_identifiers
    ]
    published = [own.codes[:, own.names.index(each.name)] for each in table.quasi_identifiers]
    columns = [table.codes[:, place] for place in range(len(published))]
    for each in () if case.in_groups else table.sensitive:
        codes = table.sensitive_codes(each.name)
        meanings.append(same_values(SensitiveCodes(each, codes.astype(np.int64)), own.sensitive[each.name]))
        published.append(own.sensitive[each.name].codes.astype(np.int32))
        columns.append(codes)
    links = reconstructed(
        meanings, (np.column_stack(columns), table.counts), (np.column_stack(published), own.counts)
    )
    lacking = own.records - links.records
    if lacking:
        raise InputError(
            f"{own.source}: {lacking:,} records stand for no record of the input that no other stands for"
        )
    return _parts(table, links)


def _meaning(case: AuditCase, attribute: QuasiIdentifier, labels: Sequence[str | None]) -> ValueCoverage:
    """Return what published texts stand for, by the recoding of the report.

    A tree may repeat a label on several levels for other values, so the text alone does not tell.
    """
    read = meaning_of(attribute, labels, case.config.input.missing)
    level = case.mitigates.get(("recoding", "levels", attribute.name))
    own = _values_by_node(attribute)
    if type(level) is int and 0 <= level <= attribute.hierarchy.height:
        own = _values_at(attribute, level)
    parts = [
        own[label] if label in own and label != SUPPRESSED else read.values[start:end]
        for label, start, end in zip(labels, read.starts[:-1], read.starts[1:], strict=True)
    ]
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return replace(read, starts=starts, values=np.concatenate(parts).astype(np.int64))


def _values_at(attribute: QuasiIdentifier, level: int) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label of a level stands for."""
    nodes = attribute.nodes(level)
    labels = attribute.column.texts if level == 0 else attribute.hierarchy.labels
    names = labels if level == 0 else [labels[node] for node in nodes.tolist()]
    own: dict[str | None, list[int]] = {}
    for code, name in enumerate(names):
        own.setdefault(name, []).append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in own.items()}


def _values_by_node(attribute: QuasiIdentifier) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label stands for where recoding is not full-domain."""
    canonical, labels = distinct_nodes(attribute)
    tree, leaves = attribute.hierarchy, attribute.leaf
    order = np.argsort(leaves, kind="stable")
    nodes = np.unique(canonical)
    starts, ends = (np.searchsorted(leaves[order], each[nodes]) for each in (tree.first_leaf, tree.last_leaf))
    return {
        labels[node]: np.sort(order[start:end])
        for node, start, end in zip(nodes.tolist(), starts, ends, strict=True)
    }


def _parts(table: Table, links: Links) -> _Matched:
    """Return the combinations of a table in parts that became one combination of the release each."""
    left = table.counts - count(links.original, links.counts, table.combinations)
    gone = np.flatnonzero(left)
    owner = np.concatenate([links.original, gone])
    published = np.concatenate([links.release, np.full(len(gone), -1)])
    order = np.argsort(owner, kind="stable")
    counts = np.concatenate([links.counts, left[gone]])[order]
    return _Matched(table.split(owner[order], counts), owner[order], published[order])


def _check_losses(case: AuditCase, table: Table, matched: _Matched) -> None:
    """Compare levels, and every loss that follows from the match, with those of the report."""
    mitigates, own = case.mitigates, case.scene.release
    removed = matched.published < 0
    texts = _texts(own, table, matched)
    kept_suppressed = np.zeros(len(removed), dtype=bool)
    if case.config.suppression.keep_rows:
        kept_suppressed = np.logical_and.reduce([each == SUPPRESSED for each in texts]) & ~removed
    recoding = _recoding(case, matched, texts, (removed | kept_suppressed, removed))
    if recoding is None:
        return
    for column, shown in zip(recoding.published(), texts, strict=True):
        promised = np.array(column.labels, dtype=object)[column.codes]
        if (promised != shown)[~removed].any():
            if recoding.levels is not None:
                what = "the published texts are not of the level that the report says"
                mitigates.refute(("recoding", "levels", column.name), what)
            return
    for name in mitigates.section(("recoding", "levels")):
        mitigates.agree(("recoding", "levels", name))
    losses = all_losses(released(recoding, required_size(case.config)))
    if not _certain(matched, recoding):
        del losses["nonuniform_entropy"]
    for name, loss in losses.items():
        mitigates.compare(("loss", name), loss)


def _texts(own: PublishedTable, table: Table, matched: _Matched) -> list[TextArray]:
    """Return what is published of each part by quasi-identifier; of records that are not in it, anything."""
    found = []
    for each in table.quasi_identifiers:
        position = own.names.index(each.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        found.append(labels[own.codes[np.maximum(matched.published, 0), position]])
    return found


def _recoding(
    case: AuditCase, matched: _Matched, texts: Sequence[TextArray], fate: tuple[BoolArray, BoolArray]
) -> Recoding | None:
    """Return the recoding that publishes the parts so; None where it publishes other than nodes.

    Parameters
    ----------
    fate: which parts are suppressed, and which of these are removed.
    """
    levels = case.mitigates.get(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    if isinstance(levels, Mapping):
        own = [levels.get(each.name) for each in attributes]
        heights = [each.hierarchy.height for each in attributes]
        if any(
            type(level) is not int or not 0 <= level <= height
            for level, height in zip(own, heights, strict=True)
        ):
            case.mitigates.refute(("recoding", "levels"), "has a level that the hierarchy has not")
            return None
        full = FullDomainRecoding(matched.table, [int(level) for level in own if level is not None], *fate)
        return _blanked(case, full, texts, fate[1])
    found = [_nodes(each, shown, fate[0]) for each, shown in zip(attributes, texts, strict=True)]
    nodes = [each for each in found if each is not None]
    if len(nodes) < len(attributes):
        return None
    return NodeRecoding(matched.table, np.column_stack(nodes), *fate)


def _blanked(
    case: AuditCase, full: FullDomainRecoding, texts: Sequence[TextArray], removed: BoolArray
) -> Recoding:
    if case.config.suppression.method.value != "cells":
        return full
    nothing = np.zeros(len(removed), dtype=bool)
    base = FullDomainRecoding(full.table, full.levels, nothing, nothing)
    blanks = np.column_stack([each == SUPPRESSED for each in texts])
    blanks[removed] = True
    return LocalSuppressionRecoding(full.table, base, blanks, removed=removed)


def _nodes(attribute: QuasiIdentifier, shown: TextArray, suppressed: BoolArray) -> CodeArray | None:
    """Return the node of each published text; None where one is not a node of the hierarchy."""
    canonical, labels = distinct_nodes(attribute)
    known = {labels[node]: node for node in np.unique(canonical).tolist()}
    found = [0 if gone else known.get(text) for text, gone in zip(shown, suppressed, strict=True)]
    return None if None in found else np.array(found, dtype=np.int32)


def _certain(matched: _Matched, recoding: Recoding) -> bool:
    """Tell whether the match is the only one as far as it says which values are gone."""
    if not (matched.published < 0).any():
        return True
    if recoding.levels is None:
        return False
    # Where all records that look alike are released, or none, no other match releases other values.
    kept = np.zeros_like(recoding.suppressed)
    everything = FullDomainRecoding(recoding.table, recoding.levels, kept, kept)
    return recoding.merged.table.combinations == everything.merged.table.combinations
