"""Signed releases: what was altered, exchanged, left out or added is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

import anonymizer as an
from anonymizer.audit.case import ReleaseAudit
from anonymizer.audit.signed import check_signatures
from anonymizer.errors import InputError
from anonymizer.release.signature import SIGNATURE, PublicKey, Signer
from tests.run.commands import Job, assert_message, call, csv_bytes, people, snapshot


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "desk").mkdir()
    return Job(tmp_path / "desk")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job whose release is signed, for tests that change nothing in its folder."""
    job = Job(tmp_path_factory.mktemp("signed"))
    signed(job)
    return job


@pytest.fixture
def own(desk: Job, tmp_path: Path) -> Job:
    """Return a copy of the job whose release is signed, to be changed."""
    return desk.copied(tmp_path / "own")


def pem(key: Ed25519PrivateKey | X25519PrivateKey, password: bytes = b"") -> bytes:
    protection = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection)


def public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def with_key(folder: Path, number: int = 1, name: str = "release.key") -> Path:
    path = folder / name
    path.write_bytes(pem(key(number)))
    path.chmod(0o600)
    path.with_suffix(".pub").write_bytes(public(key(number)))
    return path


def signed(job: Job, number: int = 1) -> Path:
    """Write a signed release; return its file."""
    with_key(job.folder, number)
    job.config["sign"] = {"key": "file:release.key"}
    done = call("run", job.write().file, "--overwrite")
    assert done.code == 0, done.err
    fingerprint = PublicKey.read(job.folder / "release.pub").fingerprint
    assert f"Signed with the key {fingerprint}\n" in done.out
    return job.release


def findings(report: Path, key: Path) -> list[str]:
    """Return what an audit says of signatures alone: without counting the release, in a tenth of the time."""
    found = ReleaseAudit()
    check_signatures(report, key, found)
    found.conclude()
    assert not found.verified
    return found.findings


def test_a_signed_release_is_verified_with_the_key(own: Job) -> None:
    job, release = own, own.release
    before = snapshot(job.output / "share")
    assert set(before) == {*json.loads(before[SIGNATURE])["parts"], SIGNATURE}
    done = call("audit", release, "--key", job.folder / "release.pub")
    assert (done.code, done.out.splitlines()[0]) == (0, "VERIFIED")
    assert "signed: " in done.out
    found = an.audit(release, key=job.folder / "release.pub")
    assert found.verified
    assert found.signature is not None
    assert found.signature["valid"]
    assert "release.key" not in json.loads(before["report.public.json"])
    assert b"release.key" not in b"".join(before.values())
    signed(job)
    assert snapshot(job.output / "share") == before


def test_without_the_key_it_is_said_that_anybody_could_have_signed(desk: Job) -> None:
    found = an.audit(desk.release)
    assert found.verified
    assert "whose key signed it (--key)" in found.not_checked


def test_an_environment_variable_holds_the_key(own: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job = own
    before = job.output / "share" / SIGNATURE
    content = before.read_bytes()
    job.config["sign"] = {"key": "env:RELEASE_KEY"}
    monkeypatch.setenv("RELEASE_KEY", pem(key(1)).decode())
    assert call("run", job.write().file, "--overwrite").code == 0
    assert before.read_bytes() == content
    monkeypatch.delenv("RELEASE_KEY")
    done = call("run", job.file, "--overwrite")
    assert done.code == 2
    assert_message(done.err, ("sign.key", "environment variable RELEASE_KEY", "not set"))


def test_results_are_saved_signed(job: Job) -> None:
    with_key(job.folder)
    job.config["sign"] = {"key": f"file:{job.folder / 'release.key'}"}
    result = an.anonymize(pd.read_csv(job.write().input, dtype=str), {**job.config, "input": {}})
    result.save(job.folder / "saved")
    assert an.audit(job.folder / "saved" / "share" / "release.csv", key=job.folder / "release.pub").verified


def test_both_files_of_anatomy_are_signed(job: Job) -> None:
    job.config["algorithm"] = "anatomy"
    job.config["constraints"] = [{"model": "l-diversity", "l": 2}]
    signed(job)
    share = job.output / "share"
    tables = sorted(path.name for path in share.glob("*.csv"))
    assert len(tables) >= 2
    assert set(tables) < set(json.loads((share / SIGNATURE).read_text())["parts"])


Alteration = Callable[[Path, Path, Random], str]
"""Alters share/ of a release, given another one; returns the name that the audit should give."""


def parts(share: Path) -> list[str]:
    return sorted(path.name for path in share.iterdir() if path.name != SIGNATURE)


def byte(share: Path, _: Path, random: Random) -> str:
    name = random.choice(parts(share))
    content = bytearray((share / name).read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    (share / name).write_bytes(content)
    return name


def longer(share: Path, _: Path, random: Random) -> str:
    name = random.choice(parts(share))
    with (share / name).open("ab") as file:
        file.write(random.randbytes(random.randint(1, 9)))
    return name


def shorter(share: Path, _: Path, random: Random) -> str:
    name = random.choice(parts(share))
    content = (share / name).read_bytes()
    (share / name).write_bytes(content[: random.randrange(len(content))])
    return name


def missing(share: Path, _: Path, random: Random) -> str:
    # Without the release or its report there is nothing to audit.
    name = random.choice([each for each in parts(share) if each not in ("release.csv", "report.public.json")])
    (share / name).unlink()
    return name


def swapped(share: Path, _: Path, random: Random) -> str:
    one, other = random.sample(parts(share), 2)
    first, second = (share / one).read_bytes(), (share / other).read_bytes()
    (share / one).write_bytes(second)
    (share / other).write_bytes(first)
    return one


def older(share: Path, other: Path, random: Random) -> str:
    changed = [name for name in parts(share) if (other / name).read_bytes() != (share / name).read_bytes()]
    name = random.choice(changed)
    shutil.copy(other / name, share / name)
    return name


def older_signature(share: Path, other: Path, _: Random) -> str:
    shutil.copy(other / SIGNATURE, share / SIGNATURE)
    return "release.csv"


def resigned(share: Path, _: Path, random: Random) -> str:
    (share / "README.txt").write_bytes(random.randbytes(20))
    Signer(key(random.randint(2, 200))).sign(share)
    return SIGNATURE


def relisted(share: Path, _: Path, random: Random) -> str:
    path = share / SIGNATURE
    content = json.loads(path.read_text(encoding="utf-8"))
    name = random.choice(list(content["parts"]))
    if random.random() < 0.5:
        del content["parts"][name]
    else:
        content["parts"][name] = random.randbytes(32).hex()
    path.write_text(json.dumps(content), encoding="utf-8")
    return SIGNATURE


def cut(share: Path, _: Path, random: Random) -> str:
    content = (share / SIGNATURE).read_bytes()
    (share / SIGNATURE).write_bytes(content[: random.randrange(len(content) - 2)])
    return SIGNATURE


def unsigned(share: Path, _: Path, random: Random) -> str:
    (share / SIGNATURE).unlink()
    return SIGNATURE


ALTERATIONS = (
    byte,
    longer,
    shorter,
    missing,
    swapped,
    older,
    older_signature,
    resigned,
    relisted,
    cut,
    unsigned,
)


def test_every_alteration_is_named(desk: Job, own: Job, tmp_path: Path) -> None:
    """Each is in a whole audit once, and then, with other parts and bytes, in a check of signatures."""
    own.config["constraints"][0]["k"] = 4
    own.set("suppression", limit=0.05)
    signed(own)
    before, share = own.release.parent, desk.release.parent
    random, work, key = Random(1), tmp_path / "work", desk.folder / "release.pub"
    for number in range(110):
        alter = ALTERATIONS[number % len(ALTERATIONS)]
        shutil.copytree(share, work)
        name = alter(work, before, random)
        if number < len(ALTERATIONS):
            try:
                found = an.audit(work / "release.csv", key=key)
                said = found.findings
                assert not found.verified, alter.__name__
            except InputError as error:
                # A report that cannot be read is named without an audit.
                said = [str(error)]
        else:
            said = findings(work / "report.public.json", key)
        assert any(name in each for each in said), (alter.__name__, name, said)
        shutil.rmtree(work)


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (None, 0o600, ("release.key", "cannot be read", "No such file")),
        (pem(key(1)), 0o640, ("others can read", "chmod 600")),
        (pem(key(1), b"secret"), 0o600, ("release.key", "protected by a password")),
        (
            pem(X25519PrivateKey.from_private_bytes(b"1" * 32)),
            0o600,
            ("not a private key of Ed25519", "openssl"),
        ),
        (public(key(1)), 0o600, ("not a private key of Ed25519", "openssl genpkey")),
        (b"hello", 0o600, ("not a private key of Ed25519", "openssl genpkey")),
        (b"", 0o600, ("not a private key of Ed25519",)),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(
    content: bytes | None, mode: int, words: tuple[str, ...], job: Job
) -> None:
    job.config["sign"] = {"key": "file:release.key"}
    job.write()
    if content is not None:
        (job.folder / "release.key").write_bytes(content)
        (job.folder / "release.key").chmod(mode)
    done = call("run", job.file)
    assert done.code == 2
    assert_message(done.err, words)
    assert not job.output.exists()


@pytest.mark.parametrize("given", ["release.key", "file:", "env:", "env:A B", pem(key(1)).decode()])
def test_only_a_place_of_a_key_is_accepted(given: str, job: Job) -> None:
    job.config["sign"] = {"key": given}
    done = call("run", job.write().file)
    assert done.code == 2
    assert_message(done.err, ("sign.key", "accepted: file:PATH"))
    assert pem(key(1)).decode().splitlines()[1] not in done.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ("release.pub", "cannot be read")),
        (pem(key(1)), ("is a private key", "openssl pkey -in")),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", ("not a public key of Ed25519",)),
    ],
)
def test_only_a_public_key_checks(
    content: bytes | None, words: tuple[str, ...], desk: Job, tmp_path: Path
) -> None:
    path = tmp_path / "release.pub"
    if content is not None:
        path.write_bytes(content)
    done = call("audit", desk.release, "--key", path)
    assert done.code == 2
    assert_message(done.err, words)


def test_a_release_without_a_signature_does_not_pass_a_key(job: Job) -> None:
    assert call("run", job.write().file).code == 0
    done = call("audit", job.release, "--key", with_key(job.folder).with_suffix(".pub"))
    assert done.code == 1
    assert "signature.json: is missing" in done.out
    # Without a key, nothing vouches for the legend.
    assert "README.txt, which no signature covers" in an.audit(job.release).not_checked


def test_a_file_of_somebody_else_is_not_replaced(own: Job) -> None:
    job = own
    (job.output / "share" / SIGNATURE).write_text('{"mine": 1}', encoding="utf-8")
    done = call("run", job.file, "--overwrite")
    assert done.code == 2
    assert_message(done.err, (SIGNATURE, "not part of a release"))


def test_the_key_is_never_in_what_is_replaced(own: Job) -> None:
    job = own
    inside = job.output / "share" / "mine.key"
    shutil.move(job.folder / "release.key", inside)
    job.config["sign"] = {"key": f"file:{inside}"}
    done = call("run", job.write().file, "--overwrite")
    assert done.code == 2
    assert inside.exists()


def test_a_release_that_records_joined_is_signed(desk: Job, job: Job) -> None:
    job.config["apply"] = str(desk.output / "report.json")
    job.data = csv_bytes(people(80, seed=2))
    release = signed(job)
    assert an.audit(release, key=job.folder / "release.pub").verified


def test_what_else_lies_in_the_folder_is_named_and_no_fault(own: Job) -> None:
    job, release = own, own.release
    for name in (".DS_Store", "Thumbs.db", "~$codebook.csv", "notes.txt"):
        (release.parent / name).write_bytes(b"x")
    key = shutil.copy(job.folder / "release.pub", release.parent)
    found = an.audit(release, key=key)
    assert found.verified
    assert [each for each in found.findings if "not signed" in each] == [
        "notes.txt: was not signed; it is no part of this release"
    ]


def test_a_signature_of_other_files_does_not_vouch_for_a_release(own: Job) -> None:
    job, release = own, own.release
    share = release.parent
    parts = {path.name for path in share.iterdir()} - {SIGNATURE}
    text = Signer(key(1)).signature(share, parts - {"report.public.json", "release.csv"})
    (share / SIGNATURE).write_text(text, encoding="utf-8")
    found = an.audit(release, key=job.folder / "release.pub")
    assert not found.verified
    assert any(each.startswith("report.public.json: was not signed") for each in found.findings)


def test_the_legend_tells_how_to_check_a_signature(desk: Job) -> None:
    text = " ".join((desk.release.parent / "README.txt").read_text(encoding="utf-8").split())
    assert "with --key and the file of the public key, which the publisher gives you" in text


def dossier(job: Job) -> Path:
    done = call("dossier", job.output)
    assert done.code == 0, done.err
    assert SIGNATURE in done.out
    return job.output


def test_documents_about_a_release_are_signed_with_it(own: Job, tmp_path: Path) -> None:
    job, release = own, own.release
    older = shutil.copytree(dossier(job), tmp_path / "older")
    assert an.audit(release, key=job.folder / "release.pub").verified
    job.config["constraints"][0]["k"] = 4
    signed(job)
    # They are about the release that was replaced.
    assert not (job.output / "dossier.html").exists()
    assert not (job.output / SIGNATURE).exists()
    assert (job.output / "dossier.yaml").exists()
    done = call("dossier", job.output)
    assert "another release" in done.err
    assert an.audit(release, key=job.folder / "release.pub").verified

    for name in ("dossier.html", "decisions.json", "report.json"):
        content = (job.output / name).read_bytes()
        for other in (content + b" ", (older / name).read_bytes(), b""):
            (job.output / name).write_bytes(other)
            said = findings(job.output / "report.json", job.folder / "release.pub")
            assert any(each.startswith(f"{name}: ") for each in said), name
        (job.output / name).write_bytes(content)
    shutil.copy(older / SIGNATURE, job.output / SIGNATURE)
    found = an.audit(release, key=job.folder / "release.pub")
    assert any("share/signature.json: is of another release" in each for each in found.findings)


def test_a_dossier_needs_the_key_of_its_release(own: Job) -> None:
    job = own
    (job.folder / "release.key").unlink()
    done = call("dossier", job.output)
    assert done.code == 2
    assert_message(done.err, ("release.key", "cannot be read"))
    assert not (job.output / "dossier.html").exists()
