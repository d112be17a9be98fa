"""Project files of the Java tool ARX (``.deid``), read as plain values.

A project is a zip with the data, a hierarchy for each column, and the settings: as XML, and some of them only
as Java objects. Only members that are known by name are read, and none is written under its own name.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import IO
from xml.etree import ElementTree

import numpy as np

from anonymizer.errors import DataError, plural
from anonymizer.model.arrays import BoolArray
from anonymizer.profile.java_objects import JavaObject, NotJava, read_object
from anonymizer.system import check_file

SUFFIX = ".deid"

DATA = "data/input.csv"
OBJECTS = "input/config.dat"
_METADATA, _PROJECT = "metadata.xml", "project.xml"
_CONFIG, _DEFINITION = "input/config.xml", "input/definition.xml"
_XML_FILES = (_METADATA, _PROJECT, _CONFIG, _DEFINITION)
_READ = (DATA, OBJECTS, *_XML_FILES)
_HIERARCHIES = "input/hierarchies/"

VOCABULARIES = ("1.0", "2.0")
"""Versions of the words of the XML files that are known."""

LARGEST_XML, LARGEST_PART = 1 << 24, 1 << 28
"""Maximum number of bytes of an XML file of the settings, and of the Java objects or a hierarchy."""

LARGEST = 1 << 34
"""Maximum number of bytes of everything that is read."""

DENSEST = 250
"""Maximum of the bytes that a byte of the zip becomes, beyond ``SMALL`` of them: text seldom reaches 50."""

SMALL = 1 << 26

_SET_APART = MappingProxyType(
    {
        "lattice.xml": "the transformations that it tried",
        "lattice.dat": "the transformations that it tried",
        "infoloss.dat": "the transformations that it tried",
        "attributes.dat": "the transformations that it tried",
        "clipboard.xml": "its clipboard",
        "filter.dat": "its filter of transformations",
        "data/output.dat": "its output data",
        "data/output.csv": "its output data",
        "data/output_subset.csv": "its output data",
        "project.dat": "the state of its windows, and its local recoding",
    }
)
"""Members that a new run makes again or does not need, with what they hold."""

_OF_WINDOWS = (
    "escape",
    "quote",
    "linebreak",
    "charset",
    "locale",
    "historySize",
    "snapshotSizeDataset",
    "snapshotSizeSnapshot",
    "initialNodesInViewer",
    "maxNodesInViewer",
    "maxNodesInLattice",
    "selectedAttribute",
    "inputBytes",
)
_OF_COLUMNS = (
    "name",
    "type",
    "datatype",
    "format",
    "locale",
    "response",
    "ref",
    "min",
    "max",
    "microaggregationFunction",
    "microaggregationIgnoreMissingData",
)
_OF_CONFIG = (
    "suppressTuplesInNonAnonymousOutput",
    "suppressedAttributeTypes",
    "relativeMaxOutliers",
    "metric",
    "attributeWeights",
    "criteria",
    "practicalMonotonicity",
)
_OLD_CONFIG = ("criterion", "k", "l", "c", "t", "lDiversityCriterion", "tClosenessCriterion")


@dataclass(frozen=True)
class ProjectColumn:
    """A column as the project describes it, in the words of the tool.

    Attributes
    ----------
    role: such as ``QUASI_IDENTIFYING_ATTRIBUTE``.
    kind: data type, such as ``Integer``.
    form: of its values, such as ``dd.MM.yyyy``, or the values of an ordinal column, one a line.
    locale: language of its values; empty without one.
    hierarchy: the member of the zip with its hierarchy; None without one.
    lowest, highest: levels that may be used; None for all.
    aggregated: function of its microaggregation; empty without one.
    response: whether it is a target of predictions.
    weight: in the loss; None where the project has none.
    """

    name: str
    role: str
    kind: str = "String"
    form: str = ""
    locale: str = ""
    hierarchy: str | None = None
    lowest: int | None = None
    highest: int | None = None
    aggregated: str = ""
    response: bool = False
    weight: Decimal | None = None


@dataclass(frozen=True)
class Selection:
    """The records that a project releases, by their places; the others are only its population."""

    records: BoolArray

    @property
    def size(self) -> int:
        """Number of selected records."""
        return int(np.count_nonzero(self.records))


@dataclass(frozen=True)
class Project:
    """A project, in the words of the tool.

    Attributes
    ----------
    path: of the zip.
    version: of the tool.
    title: name and description.
    separator: of data and hierarchies.
    columns: in the order of the data.
    models: privacy models, such as ``5-anonymity``.
    metric: quality measure, such as ``Loss (0.5/1.0/1.0)``.
    aggregate: how it combines columns, such as ``GEOMETRIC_MEAN``; empty if that is not said.
    limit: share of the records that may be suppressed.
    suppressed: roles of the columns that a suppressed record loses.
    selection: None if all records are selected, or if that cannot be read.
    objects: whether the Java objects could be read.
    unused: what of the project has no meaning here.
    """

    path: Path
    version: str
    title: str
    separator: str
    columns: tuple[ProjectColumn, ...]
    models: tuple[str, ...]
    metric: str
    limit: Decimal
    suppressed: tuple[str, ...]
    aggregate: str = ""
    selection: Selection | None = None
    objects: bool = True
    unused: tuple[str, ...] = field(default=())


def is_project(path: Path) -> bool:
    """Return whether a path names a project file."""
    return path.suffix.lower() == SUFFIX


def read_project(path: Path) -> Project:
    """Read the settings of a project file.

    Raises
    ------
    DataError: no zip, a damaged, encrypted or too large one, no project, without data, of an unknown version.
    """
    with _opened(path) as archive:
        members = archive.namelist()
        _check_project(path, members)
        metadata = _xml(archive, path, _METADATA)
        version, vocabulary = (_text(metadata, key) for key in ("version", "vocabulary"))
        if (vocabulary or VOCABULARIES[0]) not in VOCABULARIES:
            raise DataError(
                f"{path}: its XML has version '{vocabulary}'; accepted: {' and '.join(VOCABULARIES)}, as the "
                "tool writes it up to version 3"
            )
        project = _xml(archive, path, _PROJECT)
        config = _xml(archive, path, _CONFIG)
        definition = _xml(archive, path, _DEFINITION)
        found = Project(
            path,
            version,
            ": ".join(dict.fromkeys(filter(None, (_text(project, "name"), _text(project, "description"))))),
            _separator(project, path),
            _columns(definition, config, path, members),
            tuple(_models(config)),
            _text(config, "metric"),
            _number(path, "relativeMaxOutliers", _text(config, "relativeMaxOutliers") or "0"),
            tuple(each.text or "" for each in config.iterfind("suppressedAttributeTypes/type"))
            or ("QUASI_IDENTIFYING_ATTRIBUTE",),
            unused=tuple(_unused(members, project, config, definition)),
        )
        return _with_objects(found, archive)


def _with_objects(project: Project, archive: zipfile.ZipFile) -> Project:
    """Return a project with what only its Java objects say."""
    try:
        root = read_object(archive.read(OBJECTS)) if OBJECTS in archive.namelist() else None
    except NotJava:
        root = None
    if not isinstance(root, JavaObject):
        return replace(project, objects=False)
    aggregate = _inside(root, "config", "metric", "function")
    project = replace(project, aggregate=aggregate if isinstance(aggregate, str) else "")
    length, bits = (_inside(root, "researchSubset", name) for name in ("length", "array"))
    if not isinstance(length, int) or not isinstance(bits, np.ndarray) or bits.size * 64 < length:
        return project
    records = np.unpackbits(bits.astype("<i8").view(np.uint8), count=length, bitorder="little").astype(bool)
    return project if records.all() or not records.any() else replace(project, selection=Selection(records))


def _inside(value: object, *names: str) -> object:
    """Return a field of a field of an object; None if there is none."""
    for name in names:
        value = value.fields.get(name) if isinstance(value, JavaObject) else None
    return value


@contextmanager
def opened_member(project: Project, member: str) -> Iterator[IO[bytes]]:
    """Open the data or a hierarchy of a project.

    Raises
    ------
    DataError: the zip is damaged.
    """
    with _opened(project.path) as archive, archive.open(member) as content:
        yield content


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip whose members are safe to read."""
    try:
        with zipfile.ZipFile(check_file(path)) as archive:
            _check_members(path, archive.infolist())
            yield archive
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a directory; name a project file in it") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError):
        raise DataError(
            f"{path}: not a project file of ARX, or a damaged one: it is no zip that can be read; save the "
            "project again"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None


def _check_members(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse members that lead out of a folder, are encrypted, or become absurdly large."""
    for each in members:
        name = each.filename.replace("\\", "/")
        if name.startswith("/") or ":" in name.partition("/")[0] or ".." in PurePosixPath(name).parts:
            raise DataError(f"{path}: the name '{each.filename}' in it leads out of its folder; refused")
    needed = [each for each in members if _is_read(each.filename)]
    if any(each.flag_bits & 1 for each in needed):
        raise DataError(f"{path}: is encrypted; save the project without a password")
    size = sum(each.file_size for each in needed)
    packed = sum(each.compress_size for each in needed)
    if size > LARGEST or size > SMALL + DENSEST * packed:
        raise DataError(
            f"{path}: {packed:,} bytes become {size:,}, which no project needs; refused. If it is yours, "
            "export its data as CSV and its hierarchies, and run 'init' on the CSV file"
        )
    limits = {DATA: LARGEST, **dict.fromkeys(_XML_FILES, LARGEST_XML)}
    for each in needed:
        if each.file_size > limits.get(each.filename, LARGEST_PART):
            raise DataError(
                f"{path}: {each.filename} in it has {each.file_size:,} bytes, which no project needs; refused"
            )


def _is_read(member: str) -> bool:
    return member in _READ or member.startswith(_HIERARCHIES)


def _check_project(path: Path, members: Sequence[str]) -> None:
    lacking = [each for each in _XML_FILES if each not in members]
    if _METADATA in lacking or len(lacking) > 1:
        raise DataError(f"{path}: is a zip, but no project file of ARX: it lacks {' and '.join(lacking)}")
    if DATA not in members:
        raise DataError(f"{path}: a project without data; import data in ARX and save it again")
    if lacking:
        raise DataError(f"{path}: a damaged project: it lacks {lacking[0]}; save it again")


def _xml(archive: zipfile.ZipFile, path: Path, member: str) -> ElementTree.Element:
    """Return the root of an XML file; one that declares entities is refused, as the tool declares none."""
    text = decoded(archive.read(member))
    if re.search(r"<!\s*(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise DataError(f"{path}: {member} in it declares a document type or an entity; refused")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise DataError(f"{path}: {member} in it is not XML: {error}; save the project again") from None


def decoded(content: bytes) -> str:
    """Return a text of a project: UTF-8, or what Windows wrote before."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _text(element: ElementTree.Element, key: str) -> str:
    return (element.findtext(key) or "").strip()


def _number(path: Path, key: str, text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > 30 or len(text) > 40:
        raise DataError(f"{path}: {key} is '{text[:60]}'; accepted: a number")
    return number


def _level(path: Path, name: str, text: str) -> int | None:
    if text in ("", "All"):
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise DataError(f"{path}: a level of column '{name}' is '{text[:60]}'; accepted: a number, or All")
    return int(text)


def _separator(project: ElementTree.Element, path: Path) -> str:
    found = project.findtext("separator") or ";"
    found = found if len(found) == 1 else found.strip()
    if len(found) != 1 or found in '"\r\n\0':
        raise DataError(f"{path}: its separator is '{found[:60]}'; accepted: one character")
    return found


def _columns(
    definition: ElementTree.Element, config: ElementTree.Element, path: Path, members: Sequence[str]
) -> tuple[ProjectColumn, ...]:
    weights = {
        _text(each, "attribute"): _number(path, "weight", _text(each, "weight"))
        for each in config.iterfind("attributeWeights/attributeWeight")
    }
    found = []
    for each in definition.iterfind("assigment"):  # sic
        name, ref = _text(each, "name"), _text(each, "ref")
        member = f"input/{ref}"
        found.append(
            ProjectColumn(
                name,
                _text(each, "type") or "IDENTIFYING_ATTRIBUTE",
                _text(each, "datatype") or "String",
                each.findtext("format") or "",
                _text(each, "locale"),
                member if ref and member in members and member.startswith(_HIERARCHIES) else None,
                _level(path, name, _text(each, "min")),
                _level(path, name, _text(each, "max")),
                _text(each, "microaggregationFunction"),
                _text(each, "response") == "true",
                weights.get(name),
            )
        )
    if not found:
        raise DataError(f"{path}: {_DEFINITION} in it describes no column; save the project again")
    return tuple(found)


_OLD_DIVERSITIES = {"DISTINCT": "distinct-{l}", "ENTROPY": "entropy-{l}", "RECURSIVE": "recursive-({c},{l})"}
_OLD_DISTANCES = {"EMD_EQUAL": "equal ground-distance", "EMD_HIERARCHICAL": "hierarchical ground-distance"}


def _models(config: ElementTree.Element) -> Iterator[str]:
    """Yield the privacy models; the first versions had one, with its parameters beside it."""
    for each in config.iterfind("criteria/criterion"):
        yield (each.text or "").strip()
    old = _text(config, "criterion")
    own = {key: _text(config, key) for key in _OLD_CONFIG}
    if old == "K_ANONYMITY":
        yield f"{own['k']}-anonymity"
    elif old == "L_DIVERSITY":
        kind = _OLD_DIVERSITIES.get(own["lDiversityCriterion"])
        yield f"{own['lDiversityCriterion'] if kind is None else kind.format(**own)}-diversity"
    elif old == "T_CLOSENESS":
        kind = _OLD_DISTANCES.get(own["tClosenessCriterion"], own["tClosenessCriterion"])
        yield f"{own['t']}-closeness with {kind}"
    elif old:
        yield old


def _unused(
    members: Sequence[str],
    project: ElementTree.Element,
    config: ElementTree.Element,
    definition: ElementTree.Element,
) -> Iterator[str]:
    """Yield what the project holds that is not read, by name."""
    windows = [each.tag for each in project if each.tag in _OF_WINDOWS]
    if windows:
        yield f"settings of its windows and its search: {', '.join(windows)}"
    held: dict[str, list[str]] = {}
    for member in sorted(members):
        if member.startswith("output/"):
            held.setdefault("the settings of its last run", []).append("output/")
        elif not _is_read(member) and not member.endswith("/"):
            held.setdefault(_SET_APART.get(member, "unknown parts"), []).append(member)
    for what, names in held.items():
        yield f"{what}: {', '.join(dict.fromkeys(names))}"
    known = {*_OF_CONFIG, *_OLD_CONFIG, "removeOutliers", "protectSensitiveAssociations", "suppressionString"}
    strange = [each.tag for each in config if each.tag not in known]
    strange += [each.tag for each in project if each.tag not in (*_OF_WINDOWS, *known, *_TITLE)]
    strange += [tag.tag for each in definition for tag in each if tag.tag not in _OF_COLUMNS]
    if strange:
        names = list(dict.fromkeys(strange))
        yield f"{plural(len(names), 'unknown setting')}: {', '.join(names)}"
    if OBJECTS in members:
        yield (
            f"limits of its search, costs and benefits, rules that hierarchies were built by: {OBJECTS}; "
            "hierarchies are taken as their rows"
        )
    if _text(config, "practicalMonotonicity") == "true":
        yield "practicalMonotonicity: the search here assumes no such thing"
    if _text(config, "protectSensitiveAssociations") == "true":
        yield "protectSensitiveAssociations: has no counterpart here"
    if _text(config, "suppressTuplesInNonAnonymousOutput"):
        yield "suppressTuplesInNonAnonymousOutput: a release that violates a constraint is never written"


_TITLE = ("name", "description", "separator")
