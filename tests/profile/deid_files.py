"""Project files as ARX writes them, made by the tests themselves."""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

QI, SENSITIVE = "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"
IDENTIFYING, INSENSITIVE = "IDENTIFYING_ATTRIBUTE", "INSENSITIVE_ATTRIBUTE"


@dataclass(frozen=True)
class Described:
    """A column of a project; ``further`` are other elements of its description."""

    role: str = QI
    kind: str = "String"
    levels: Sequence[Sequence[str]] | None = None
    further: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """A project to write."""

    columns: Mapping[str, Described]
    records: Sequence[Sequence[str]]
    title: tuple[str, str] = ("Made", "by a test")
    models: Sequence[str] = ("2-anonymity",)
    metric: str = "Loss (0.5/1.0/1.0)"
    function: str = "GEOMETRIC_MEAN"
    limit: str = "1.0"
    weights: Mapping[str, str] = field(default_factory=dict)
    suppressed: Sequence[str] = (QI,)
    selected: Sequence[int] | None = None
    separator: str = ";"
    version: str = "3.9.2"
    vocabulary: str | None = "2.0"
    config: str = ""
    encoding: str = "utf-8"

    def members(self) -> dict[str, bytes]:
        """Return the files of the zip."""
        rows = self._csv([[*self.columns], *self.records])
        found = {
            "metadata.xml": self._metadata(),
            "project.dat": b"\xac\xed\x00\x05p",
            "project.xml": element(
                "project",
                name=self.title[0],
                separator=self.separator,
                escape='"',
                description=self.title[1],
                historySize="200",
            ),
            "data/input.csv": rows,
            "input/config.dat": self._objects(),
            "input/config.xml": self._config(),
            "input/definition.xml": self._definition(),
        }
        for name, column in self.columns.items():
            if column.levels is not None:
                found[f"input/hierarchies/{name}.csv"] = self._csv(column.levels)
        return {**found, "output/config.xml": self._config(), "lattice.xml": b"<lattice></lattice>"}

    def write(self, path: Path, changed: Mapping[str, bytes | None] | None = None) -> Path:
        """Write the zip, with some members changed or left out."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**self.members(), **(changed or {})}.items():
                if content is not None:
                    archive.writestr(name, content)
        return path

    def _csv(self, rows: Sequence[Sequence[str]]) -> bytes:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=self.separator, lineterminator="\n").writerows(rows)
        return stream.getvalue().encode(self.encoding)

    def _metadata(self) -> bytes:
        words = {} if self.vocabulary is None else {"vocabulary": self.vocabulary}
        return element("metadata", version=self.version, **words)

    def _config(self) -> bytes:
        weights = "".join(
            _nested("attributeWeight", attribute=name, weight=weight) for name, weight in self.weights.items()
        )
        types = "".join(_leaf("type", each) for each in self.suppressed)
        models = "".join(_leaf("criterion", each) for each in self.models)
        parts = [
            _leaf("suppressTuplesInNonAnonymousOutput", "true"),
            f"<suppressedAttributeTypes>{types}</suppressedAttributeTypes>",
            _leaf("practicalMonotonicity", "false"),
            _leaf("relativeMaxOutliers", self.limit),
            _leaf("metric", self.metric),
            f"<attributeWeights>{weights}</attributeWeights>",
            f"<criteria>{models}</criteria>" if models else "",
            self.config,
        ]
        return f"<config>{''.join(parts)}</config>".encode()

    def _definition(self) -> bytes:
        return f"<definition>{''.join(map(self._described, self.columns))}</definition>".encode()

    def _described(self, name: str) -> str:
        column = self.columns[name]
        tree = {} if column.levels is None else {"ref": f"hierarchies/{name}.csv", "min": "All", "max": "All"}
        own = {"name": name, "type": column.role, "datatype": column.kind, **tree, **column.further}
        return _nested("assigment", **own)

    def _objects(self) -> bytes:
        metric = java_object("org.Metric", {"function": java_enum("org.Function", self.function)})
        config = java_object("org.ARXConfiguration", {"metric": metric})
        rows = len(self.records)
        places = range(rows) if self.selected is None else self.selected
        bits = np.zeros(-(-rows // 64) * 64, bool)
        bits[[*places]] = True
        words = np.packbits(bits, bitorder="little").view("<i8")
        own = {"length": rows, "size": int(bits.sum()), "array": java_longs(words.tolist())}
        subset = java_object("org.RowSet", own)
        return JAVA + java_object("org.ModelConfiguration", {"config": config, "researchSubset": subset})


def element(name: str, /, **leaves: str) -> bytes:
    """Return an XML file with an element of texts."""
    return _nested(name, **leaves).encode()


def _nested(name: str, /, **leaves: str) -> str:
    inside = "".join("\t" + _leaf(each, text) for each, text in leaves.items())
    return f"<{name}>\n{inside}</{name}>\n"


def _leaf(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>\n"


# Java's serialization

JAVA = b"\xac\xed\x00\x05"


def utf(text: str) -> bytes:
    """Return a text behind its length."""
    return struct.pack(">H", len(text.encode())) + text.encode()


def java_class(name: str, fields: Mapping[str, str], flags: int = 2) -> bytes:
    """Return the description of a class with fields of types such as ``I`` and ``Ljava/lang/Object;``."""
    described = b"".join(
        kind[:1].encode() + utf(field) + (b"t" + utf(kind) if kind[0] in "[L" else b"")
        for field, kind in fields.items()
    )
    return b"r" + utf(name) + bytes(8) + struct.pack(">BH", flags, len(fields)) + described + b"xp"


def java_object(name: str, values: Mapping[str, Any]) -> bytes:
    """Return an object whose fields are whole numbers or other objects."""
    kinds = {key: "I" if isinstance(value, int) else "Ljava/lang/Object;" for key, value in values.items()}
    parts = [struct.pack(">i", value) if isinstance(value, int) else value for value in values.values()]
    return b"s" + java_class(name, kinds) + b"".join(parts)


def java_enum(kind: str, name: str) -> bytes:
    """Return a constant of an enum."""
    return b"~" + java_class(kind, {}, 0x12) + b"t" + utf(name)


def java_longs(values: Sequence[int]) -> bytes:
    """Return an array of long numbers."""
    return b"u" + java_class("[J", {}) + struct.pack(f">i{len(values)}q", len(values), *values)
