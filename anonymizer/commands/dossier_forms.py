"""The forms of the files that a dossier reads: a template, the answers, and the parts of a report.

A value that does not fit is refused with its key, and what is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, field_validator, model_validator

from anonymizer.attacks.base import ATTACKS
from anonymizer.attacks.vulnerability import Aim
from anonymizer.audit.reported import ReportedConstraint
from anonymizer.config.section import Section
from anonymizer.errors import shown, suggestion
from anonymizer.plugins import Exact
from anonymizer.presets.preset import PRESETS
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.report.dossier import DATES, QUESTIONS

GENERAL = "general"
"""The template where nobody names one."""

LONGEST_ANSWER, LONGEST_DECISION, LONGEST_REASON = 500, 240, 120
"""Maximum numbers of characters, with which the page stays a paper that people read."""


MOST_QUESTIONS = 8
"""Maximum number of criteria and questions of a template."""


def _at_most(longest: int) -> Callable[[Any], Any]:
    """Return a check of the length of a text: nothing is an empty one, a number stays as it is."""

    def checked(value: Any) -> Any:
        words = "" if value is None else str(value) if _is_scalar(value) else value
        if isinstance(words, str) and len(words.strip()) > longest:
            raise ValueError(
                f"a text of {len(words.strip()):,} characters; accepted: at most {longest:,}; put the rest "
                "into an annex and name it here"
            )
        return words.strip() if isinstance(words, str) else words

    return checked


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, bool | Mapping | list | tuple)


Answer = Annotated[str, BeforeValidator(_at_most(LONGEST_ANSWER))]
Decision = Annotated[str, BeforeValidator(_at_most(LONGEST_DECISION))]
Reason = Annotated[str, BeforeValidator(_at_most(LONGEST_REASON))]

Question = Annotated[str, BeforeValidator(_at_most(240)), Field(min_length=1)]
Source = Annotated[str, BeforeValidator(_at_most(160)), Field(min_length=1)]
Title = Annotated[str, BeforeValidator(_at_most(100)), Field(min_length=1)]
About = Annotated[str, BeforeValidator(_at_most(600))]


def _a_day(value: Any) -> Any:
    """Return a date as a text; nothing is an empty one.

    Raises
    ------
    ValueError: there is no such day.
    """
    if value in (None, ""):
        return ""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"{shown(value)} is not a day; accepted: a date such as 2027-02-28") from None


Day = Annotated[str, BeforeValidator(_a_day)]


class AskedQuestion(Section):
    """A question of a template."""

    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$", examples=["other_releases"])
    asks: Question
    source: Source | None = Field(default=None, description="document and section")


def _an_attack(name: str) -> str:
    """Return the name of an attack, with or without a target.

    Raises
    ------
    ValueError: there is none.
    """
    attack, colon, target = name.partition(":")
    if attack not in ATTACKS:
        raise ValueError(f"unknown attack {shown(attack)}; {suggestion(attack, ATTACKS)}")
    if colon and target not in list(Aim):
        raise ValueError(f"unknown target {shown(target)}; {suggestion(target, list(Aim))}")
    return name


NamedAttack = Annotated[str, AfterValidator(_an_attack)]


class AskedCriterion(AskedQuestion):
    """A criterion of a template, with what measures it."""

    name: Title
    attacks: tuple[NamedAttack, ...] = Field(description="ATTACK or ATTACK:TARGET, as in a report")
    question: Literal["singling-out", "linkability", "inference"] | None = Field(default=None)


class AskedThreshold(Section):
    """A threshold of a template."""

    asks: Question
    source: Source = Field(description="document and section")
    constraint: str | None = Field(default=None, description="a model of the config")
    attack: NamedAttack | None = Field(default=None, description="ATTACK or ATTACK:TARGET")
    exposure: Literal["unique", "below_k"] | None = Field(default=None)
    at_most: Exact | None = Field(default=None)
    at_least: Exact | None = Field(default=None)

    @field_validator("constraint")
    @classmethod
    def _is_a_model(cls, name: str | None) -> str | None:
        if name is not None and name not in PRIVACY_MODELS:
            raise ValueError(f"unknown privacy model {shown(name)}; {suggestion(name, PRIVACY_MODELS)}")
        return name

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if sum(each is not None for each in (self.constraint, self.attack, self.exposure)) != 1:
            raise ValueError("needs one of the keys constraint, attack, exposure")
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("needs one of the keys at_most, at_least")
        return self


class Template(Section):
    """What a kind of release asks: a file of its own, dated, with its sources."""

    name: Title
    title: Title
    dated: Day = Field(description="the day of the document that it follows")
    about: About = Field(default="")
    preset: str | None = Field(default=None, description="whose rules are thresholds")
    criteria: tuple[AskedCriterion, ...] = Field(default=())
    questions: tuple[AskedQuestion, ...] = Field(default=())
    thresholds: tuple[AskedThreshold, ...] = Field(default=())
    signatures: Annotated[tuple[Title, ...], Field(min_length=1, max_length=3)] = Field(
        default=("Prepared by", "Decided by")
    )

    @field_validator("dated")
    @classmethod
    def _is_dated(cls, day: str) -> str:
        if not day:
            raise ValueError("has no day; accepted: a date such as 2027-02-28")
        return day

    @field_validator("preset")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None and name not in PRESETS:
            raise ValueError(f"{shown(name)}; {suggestion(name, PRESETS)}")
        return name

    @model_validator(mode="after")
    def _asks_once(self) -> Self:
        seen = {*QUESTIONS, *DATES}
        number = len(self.criteria) + len(self.questions)
        if number > MOST_QUESTIONS:
            raise ValueError(
                f"{number} criteria and questions; accepted: at most {MOST_QUESTIONS}, as six pages hold no "
                "more"
            )
        for each in (*self.criteria, *self.questions):
            if each.key in seen:
                raise ValueError(f"the key {each.key} is asked twice; choose another")
            seen.add(each.key)
        return self


class PointAnswer(Section):
    """A decision about an open point."""

    point: str
    decision: Decision = ""


class Answers(Section):
    """What people have answered: dossier.yaml."""

    template: str = Field(default=GENERAL, min_length=1)
    release_sha256: str | None = Field(default=None)
    purpose: Answer = ""
    recipient: Answer = ""
    legal_basis: Answer = ""
    contract: Answer = ""
    environment: Answer = ""
    risk_before: Answer = ""
    decides: Answer = ""
    decided_on: Day = ""
    expires: Day = ""
    answers: dict[str, Answer] = Field(default_factory=dict)
    columns: dict[str, Reason] = Field(default_factory=dict)
    open_points: tuple[PointAnswer, ...] = Field(default=())

    @model_validator(mode="after")
    def _expires_later(self) -> Self:
        if self.decided_on and self.expires and self.expires < self.decided_on:
            raise ValueError(f"expires on {self.expires}, before it is decided on {self.decided_on}")
        return self


class _Attack(BaseModel):
    attack: str
    knowledge: dict[str, Any]
    success: float
    baseline: float
    low: float
    high: float
    records: int
    ceiling: float | None
    tail: dict[str, float] | None
    tail_baseline: dict[str, float] | None
    details: dict[str, Any] = Field(default_factory=dict)


class _Row(BaseModel):
    threat: str
    claimed_by: list[str]
    success: float | None
    baseline: float | None
    contradicted: bool


class _Constraint(ReportedConstraint):
    verifiable_from_release: bool


class _Scenario(BaseModel):
    sentence: str
    known: Any
    constraints: list[_Constraint]


class _Attribute(BaseModel):
    role: str
    type: str | None


class _Objective(BaseModel):
    metric: str


class _Suppression(BaseModel):
    limit: float
    method: str


class _Config(BaseModel):
    input: dict[str, Any]
    attributes: dict[str, dict[str, Any]]
    objective: _Objective
    suppression: _Suppression


class _Column(BaseModel):
    column: str
    role: str
    treatment: str | None
    changed: str | None
    finding: list[str] | None


class _Input(BaseModel):
    path: str | None
    sha256: str | None
    rows: int
    columns: int


class _Release(BaseModel):
    path: str | None
    sha256: str | None
    rows: int
    suppressed_records: int
    classes: int


class _Environment(BaseModel):
    anonymizer: str
    python: str
    packages: dict[str, str]


class _Finding(BaseModel):
    sentence: str
    because: str
    remedy: str


class _Shares(BaseModel):
    unique: float
    below_k: float


class _Exposure(_Shares):
    unit: str
    with_sensitive: _Shares
    sentence: str | None
    findings: list[_Finding]
    left_out: list[str]
    unused: list[str]


class RunOfRelease(BaseModel):
    """The parts of an internal report about its run that a dossier needs."""

    version: int = Field(alias="schema", strict=True, ge=1, le=1)
    status: str
    interrupted: bool
    warnings: list[str]
    config: _Config
    attributes: dict[str, _Attribute]
    input: _Input
    search: dict[str, Any]
    steps: list[dict[str, Any]]
    environment: _Environment


class FiguresOfRelease(BaseModel):
    """The parts of an internal report about the release that a dossier needs."""

    release: _Release
    columns: list[_Column]
    constraints: list[_Constraint]
    scenarios: dict[str, _Scenario] = Field(default_factory=dict)
    loss: dict[str, float | None]
    attacks: list[_Attack]
    attack_matrix: list[_Row]
    utility: list[dict[str, Any]]
    exposure: _Exposure | None = None
