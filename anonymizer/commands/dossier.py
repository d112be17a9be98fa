"""The command dossier: a report, a template and answers, read and made into a paper and a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from anonymizer.audit.claims import parse_report
from anonymizer.audit.reported import read_content
from anonymizer.commands.dossier_forms import GENERAL, Answers, FiguresOfRelease, RunOfRelease, Template
from anonymizer.config.document import Document, OversizedNumber, check_size, decoded, parse_yaml
from anonymizer.config.section import Section, dotted
from anonymizer.config.written import comment, text
from anonymizer.data.source import is_url, sha256_of
from anonymizer.errors import ConfigError, ConfigProblem, InputError, OutputError, listed, shown, suggestion
from anonymizer.release.folder import DECISIONS, DOSSIER, PUBLIC_REPORT, REPORT, SHARE
from anonymizer.release.signature import OF_SHARE, SIGNATURE, Signer
from anonymizer.report.dossier import DATES, QUESTIONS, Dossier, Review
from anonymizer.system import check_file, write_whole

ANSWERS = "dossier.yaml"

Form = TypeVar("Form", bound=Section)

_PACKAGE = "anonymizer.report"
_BEGINNING, _SUFFIX = "dossier.", ".yaml"


@dataclass(frozen=True)
class Made:
    """What the command has written, and what is left to people.

    Attributes
    ----------
    folder: of the files.
    written: their names; dossier.yaml only where it was not there.
    blanks: keys of questions without an answer.
    asked: the number of questions.
    review: thresholds and open points.
    changed: whether the answers are about another release.
    """

    folder: Path
    written: Sequence[str]
    blanks: Sequence[str]
    asked: int
    review: Review
    changed: bool

    @property
    def is_signed(self) -> bool:
        """Whether the key of the release has signed the files, too."""
        return SIGNATURE in self.written

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "folder": self.folder.as_posix(),
            "written": list(self.written),
            "release_changed": self.changed,
            "not_answered": list(self.blanks),
            "open_points": [
                {"point": each.what, "decision": each.decision or None} for each in self.review.points
            ],
            "thresholds": [
                {"asks": each.asks, "source": each.source, "met": each.met} for each in self.review.thresholds
            ],
        }


def dossier(release: Path, template: str | None = None) -> Made:
    """Write the dossier of a release beside its report.

    Parameters
    ----------
    release: its folder, or its report.
    template: name or path; None for that of dossier.yaml, or ``general``.

    Raises
    ------
    InputError: the report, the template or the answers are missing, damaged or do not belong together.
    """
    path = _report_of(release)
    folder, content = path.parent, _read_report(path)
    _check_released(folder, content)
    there = folder / ANSWERS
    document = _yaml(there) if there.exists() or there.is_symlink() else None
    given = None if document is None else _validated(Answers, document).to_dict()
    name = template if template is not None else GENERAL if given is None else given["template"]
    found = _template(name, Path() if template is not None else folder)
    if given is not None and template is not None:
        _check_same(there, given["template"], template, folder)
    own_name = name if template is None else _named(template, folder)
    sha = content["release"]["sha256"]
    answers = _complete(given or {"template": own_name, "release_sha256": sha})
    made = Dossier(
        content,
        sha256_of(path),
        {"preset": None, **found.to_dict()},
        answers,
        given is not None and given.get("release_sha256") not in (None, sha),
    )
    if document is not None:
        _check_known(document, made)
    return _written(path, made, first=given is None)


def _report_of(release: Path) -> Path:
    """Return the internal report of a release.

    Raises
    ------
    InputError: there is none.
    """
    check_file(release)
    if release.is_dir():
        found = release / REPORT
        if found.is_file():
            return found
        if (release / PUBLIC_REPORT).is_file():
            raise InputError(f"{release}: is what may be handed over; give the folder that holds it")
        raise InputError(f"{release}: has no {REPORT}; give the folder that run wrote")
    if not release.exists():
        raise InputError(f"{release}: no such folder; give the folder of a release, or its {REPORT}")
    if release.suffix.lower() != ".json":
        raise InputError(f"{release}: is not a report; give the folder of the release, or its {REPORT}")
    return release


def _read_report(path: Path) -> dict[str, Any]:
    """Return the content of an internal report of a release.

    Raises
    ------
    InputError: it is damaged, public, of another version, or of a run without a release.
    """
    read = read_content(path)
    content = read if isinstance(read, dict) else {}
    accepted = f"give the {REPORT} of a run that ended with a release"
    if content and "steps" not in content and "release" in content:
        raise InputError(f"{path}: is the public report; {accepted}, which is beside the folder {SHARE}")
    if content.get("status") in ("infeasible", "undecided"):
        raise InputError(f"{path}: its run released nothing ({content['status']}); {accepted}")
    version = content.get("schema")
    writer = content.get("environment")
    by = writer.get("anonymizer") if isinstance(writer, dict) else None
    if content and version != 1:
        raise InputError(f"{path}: schema {shown(version)}; accepted: 1; run the config again")
    remedy = f"{accepted}; one by another version{f' ({by})' if by else ''} has to be run again"
    for part in (RunOfRelease, FiguresOfRelease):
        parse_report(part, path, path.read_bytes(), remedy)
    return content


def _check_released(folder: Path, content: Mapping[str, Any]) -> None:
    """Check that the released files are those of the report, where they are beside it.

    Raises
    ------
    InputError: one has changed.
    """
    release = content["release"]
    for own in (release, release.get("sensitive_table")):
        place = own and own["path"]
        if not place or is_url(place) or own["sha256"] is None or "#" in place:
            continue
        file = folder / place
        if file.exists() and sha256_of(file) != own["sha256"]:
            raise InputError(
                f"{file}: is not the file of {REPORT}, whose SHA-256 is {own['sha256'][:12]}…; run the "
                "config again, or put back the file that it wrote"
            )


def templates() -> dict[str, Any]:
    """Return the templates of the package by name."""
    folder = files(_PACKAGE).joinpath("templates")
    names = (each for each in folder.iterdir() if each.name.startswith(_BEGINNING))
    return {
        each.name.removeprefix(_BEGINNING).removesuffix(_SUFFIX): each
        for each in names
        if each.name.endswith(_SUFFIX)
    }


def _template(name: str, folder: Path) -> Template:
    """Return a template by its name, or from a file.

    Raises
    ------
    InputError: there is none, or it is damaged.
    """
    own = templates()
    if name in own:
        return _validated(Template, _parsed(f"template {name}", own[name].read_bytes()))
    path = folder / name
    if path.suffix.lower() not in (".yaml", ".yml") and not path.exists():
        raise InputError(
            f"template {shown(name)}: there is none; accepted: {listed(sorted(own), 'or')}, or a YAML file"
        )
    return _validated(Template, _yaml(path))


def _named(template: str, folder: Path) -> str:
    """Return a template as dossier.yaml names it: a file by its path from there, if it is below."""
    if template in templates():
        return template
    path = Path(template).absolute()
    below = path.is_relative_to(folder.absolute())
    return (path.relative_to(folder.absolute()) if below else path).as_posix()


def _check_same(path: Path, there: str, asked: str, folder: Path) -> None:
    """Check that answers were written for the template that is asked for.

    Raises
    ------
    InputError: they were written for another.
    """
    if _named(asked, folder) != there and asked != there:
        raise InputError(
            f"{path}: template: {shown(there)}, and --template {asked} asks for another; write template: "
            f"{_named(asked, folder)} there and remove the answers that it does not ask for, or move the "
            "file away"
        )


def _yaml(path: Path) -> Document:
    try:
        content = check_file(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give a YAML file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give a YAML file") from None
    return _parsed(str(path), content)


def _parsed(name: str, content: bytes) -> Document:
    """Return the data of a YAML file.

    Raises
    ------
    ConfigError: it is not UTF-8, not YAML or not a mapping.
    """
    try:
        data, lines = parse_yaml(decoded(content, name), name)
    except OversizedNumber as error:
        raise ConfigError(name, [ConfigProblem("", str(error))]) from None
    check_size(name, data, lines)
    if not isinstance(data, dict):
        found = "the file is empty" if data is None else f"{shown(data)} at the top"
        remedy = "a mapping of keys and answers; remove the file, and dossier writes it anew"
        raise ConfigError(name, [ConfigProblem("", f"{found}; accepted: {remedy}")])
    return Document(name, Path(), data, lines)


def _validated(kind: type[Form], document: Document) -> Form:
    """Return a document as settings.

    Raises
    ------
    ConfigError: with every problem, by line.
    """
    try:
        return kind.model_validate(document.data)
    except ValidationError as error:
        found = [(line["loc"], line["msg"]) for line in error.errors(include_url=False)]
        problems = [ConfigProblem(dotted(place), what, document.line(place)) for place, what in found]
        raise ConfigError(document.name, sorted(problems, key=lambda each: each.line or 0)) from None


def _complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers with every key, blanks as empty texts."""
    blank = dict.fromkeys([*QUESTIONS, *DATES], "")
    return {"release_sha256": None, "answers": {}, "columns": {}, "open_points": [], **blank, **given}


def _check_known(document: Document, made: Dossier) -> None:
    """Check that answers are to questions of the template and about columns of the input.

    Raises
    ------
    ConfigError: some are not.
    """
    asked = [each["key"] for part in ("criteria", "questions") for each in made.template[part]]
    columns = [each["column"] for each in made.content["columns"]]
    problems = []
    for section, names, what in (
        ("answers", asked, f"template {made.template['name']} does not ask for it"),
        ("columns", columns, "the input has no such column"),
    ):
        for key in made.answers[section]:
            if key not in names:
                where = (section, key)
                remedy = suggestion(key, names) if names else "remove it"
                problems.append(ConfigProblem(dotted(where), f"{what}; {remedy}", document.line(where)))
    if problems:
        raise ConfigError(document.name, problems)


def _written(path: Path, made: Dossier, *, first: bool) -> Made:
    """Write the files of a dossier beside its report, none if one cannot be made."""
    from anonymizer.model.report import to_json  # noqa: PLC0415 - --help needs none of it
    from anonymizer.report.dossier_page import dossier_page  # noqa: PLC0415
    from anonymizer.report.dossier_record import record  # noqa: PLC0415

    try:
        review = Review.of(made)
        contents = {DECISIONS: to_json(record(made, review)), DOSSIER: dossier_page(made, review)}
    except InputError as error:
        # A plug-in that is not installed, or a name that none has.
        raise InputError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # What a page looks up in a config or in details has no model above.
        raise InputError(
            f"{path}: is damaged, its parts do not fit together; give the report as run wrote it"
        ) from error
    folder, signer = path.parent, _signer(path, made.content)
    if first:
        contents = {ANSWERS: questions_text(made, review), **contents}
    for name in contents:
        if (folder / name).is_dir():
            raise OutputError(
                f"{folder / name}: is a folder; move it away, as the file of this name goes there"
            )
    for name, content in contents.items():
        write_whole(folder / name, content, private=True)
    if signer is not None:
        signed = signer.signature(folder, [DECISIONS, DOSSIER, REPORT, OF_SHARE])
        write_whole(folder / SIGNATURE, signed, private=True)
        contents[SIGNATURE] = ""
    return Made(folder, list(contents), made.blanks(), len(made.asked()), review, made.changed)


def _signer(path: Path, content: Mapping[str, Any]) -> Signer | None:
    """Return the key that a release was signed with, as its config names it; None for an unsigned one.

    Raises
    ------
    InputError: the key cannot be used, or the release has lost its signature.
    """
    own = content["config"].get("sign")
    if own is None:
        return None
    if not (path.parent / OF_SHARE).is_file():
        raise InputError(
            f"{path.parent / OF_SHARE}: is missing, though the release was signed; run the config again"
        )
    # The config was in a folder that the report does not name, mostly that of the release.
    return Signer.of(own["key"], [path.absolute().parent.parent, path.parent, Path()])


def questions_text(made: Dossier, review: Review) -> str:
    """Return dossier.yaml with every question and no answer."""
    return "\n".join(_lines(made, review)) + "\n"


def _lines(made: Dossier, review: Review) -> Iterator[str]:
    yield from comment(
        "What only people can say about this release. Fill it in and run the command dossier again: it puts "
        "the answers into dossier.html and decisions.json, and leaves this file as it is. Nothing is copied "
        "into share/."
    )
    yield f"template: {text(made.answers['template'])}"
    yield f"release_sha256: {text(made.content['release']['sha256'] or '')}"
    for key, asks in {**QUESTIONS, **DATES}.items():
        yield ""
        yield from comment(asks)
        yield f'{key}: ""'
    asked = [*made.template["criteria"], *made.template["questions"]]
    yield ""
    yield "answers:" if asked else "answers: {}"
    for each in asked:
        source = f" ({each['source']})" if each.get("source") else ""
        yield from comment(f"{each['asks']}{source}", "  ")
        yield f'  {each["key"]}: ""'
    yield ""
    yield from comment("Why each column has its role.")
    yield "columns:" if made.content["columns"] else "columns: {}"
    for each in made.content["columns"]:
        yield f'  {text(each["column"])}: ""   # {each["role"]}'
    yield ""
    yield from comment("What was decided about each open point, by whom, and why.")
    yield "open_points:" if review.points else "open_points: []"
    for point in review.points:
        yield f"  - point: {text(point.what)}"
        yield '    decision: ""'
