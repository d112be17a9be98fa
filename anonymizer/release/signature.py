"""Signatures of what is handed over, by a key of the publisher, which ``audit`` checks part by part.

``signature.json`` lists the SHA-256 of each file, its part, and is signed with Ed25519 (RFC 8032). The one in
share/ covers all that is in there. The one beside report.json covers documents about the release, and the
signature in share/, so that documents of another release are noticed. Nothing in a signature is random: equal
files have equal ones.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from anonymizer.data.source import sha256_of
from anonymizer.distribution import installing
from anonymizer.errors import InputError
from anonymizer.system import readable_by_others, same_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE = "signature.json"
OF_SHARE = f"share/{SIGNATURE}"
"""The part of the documents' signature that is the release's own."""

_ALGORITHM = "Ed25519"
_PURPOSE = b"anonymizer: parts of a release, format 1\n"
"""Before what is signed, so that nothing else signed with the key can be taken for it."""

_KEYS = ("algorithm", "public_key", "parts", "signature")

OF_SYSTEMS = ("Thumbs.db", "desktop.ini")
"""Files that systems put into folders, besides hidden ones."""

MADE_BY = "openssl genpkey -algorithm ed25519 -out release.key"


@dataclass(frozen=True, eq=False)
class PublicKey:
    """A key that signatures are checked with.

    Attributes
    ----------
    raw: its 32 bytes.
    """

    raw: bytes

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the key in a file in PEM.

        Raises
        ------
        InputError: no such file, or not the public key of Ed25519.
        """
        with _needing():
            from anonymizer.release.ed25519 import public_key  # noqa: PLC0415 - an extra
        content = _content(path)
        if b"PRIVATE KEY" in content:
            raise InputError(
                f"{path}: is a private key, which only its owner has; give the public one, made by: "
                f"openssl pkey -in {path.name} -pubout -out {path.stem}.pub"
            )
        raw = public_key(content)
        if raw is None:
            raise InputError(f"{path}: is not a public key of {_ALGORITHM} in PEM; ask the publisher for it")
        return cls(raw)

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the key's SHA-256, in groups of four."""
        digits = hashlib.sha256(self.raw).hexdigest()[:16]
        return " ".join(digits[place : place + 4] for place in range(0, 16, 4))

    def signed(self, content: Mapping[str, Any], signature: bytes) -> bool:
        """Return whether a signature of a content is by the owner of the key."""
        with _needing():
            from anonymizer.release.ed25519 import is_signed  # noqa: PLC0415 - an extra
        return is_signed(_message(content), signature, self.raw)


@dataclass(frozen=True, eq=False)
class Signer:
    """A private key."""

    key: Ed25519PrivateKey

    @classmethod
    def of(cls, place: str, folders: Iterable[Path]) -> Self:
        """Return the key at a place, as ``sign.key`` of a config names it.

        Parameters
        ----------
        place: ``file:PATH`` or ``env:NAME``.
        folders: that a path may be relative to, the first with such a file is taken.

        Raises
        ------
        InputError: there is none, others can read its file, it is not a private key of Ed25519 in PEM, or the
            extra ``sign`` is not installed.
        """
        with _needing():
            from anonymizer.release.ed25519 import private_key  # noqa: PLC0415 - an extra
        kind, _, name = place.partition(":")
        if kind == "env":
            where, content = f"environment variable {name}", os.environ.get(name, "").encode()
            if not content:
                raise InputError(f"sign.key: the {where} is not set; it should hold the private key, in PEM")
        else:
            path = _first([folder / name for folder in folders])
            where, content = str(path), _content(path)
            if readable_by_others(path):
                raise InputError(f"{path}: others can read this private key; run: chmod 600 {path}")
        try:
            key = private_key(content)
        except TypeError:
            raise InputError(
                f"sign.key: {where}: the key is protected by a password; give one without, which nobody else "
                f"can read: openssl pkey -in KEY -out release.key"
            ) from None
        if key is None:
            raise InputError(
                f"sign.key: {where}: is not a private key of {_ALGORITHM} in PEM; to make one: {MADE_BY}"
            )
        return cls(key)

    @property
    def public(self) -> PublicKey:
        """The public key that belongs to it."""
        return PublicKey(self.key.public_key().public_bytes_raw())

    def sign(self, folder: Path) -> None:
        """Write the signature of all files of a folder into it."""
        text = self.signature(folder, (each.name for each in folder.iterdir()))
        (folder / SIGNATURE).write_text(text, encoding="utf-8", newline="\n")

    def signature(self, folder: Path, names: Iterable[str]) -> str:
        """Return the text of the signature of files.

        Parameters
        ----------
        names: their paths from the folder.
        """
        parts = {name: sha256_of(folder / name) for name in sorted(names) if name != SIGNATURE}
        content = {"algorithm": _ALGORITHM, "public_key": _text(self.public.raw), "parts": parts}
        signed = {**content, "signature": _text(self.key.sign(_message(content)))}
        return json.dumps(signed, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Signature:
    """The content of a ``signature.json``.

    Attributes
    ----------
    path: of the file.
    public: the key that it says it was made with.
    parts: SHA-256 of each file, by its path from the folder.
    """

    path: Path
    public: PublicKey
    parts: Mapping[str, str]
    _content: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the signature in a file, whether it is right or not.

        Raises
        ------
        InputError: it is no signature.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            public, parts = base64.b64decode(content["public_key"], validate=True), content["parts"]
            base64.b64decode(content["signature"], validate=True)
            hashes = [len(bytes.fromhex(each)) == 32 for each in parts.values()]
            right = content["algorithm"] == _ALGORITHM and len(public) == 32 and all(hashes)
            own = set(content) == set(_KEYS) and all(map(_is_inside, parts))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            right = own = False
        if not (right and own):
            raise InputError(f"{path}: is damaged; it is not a signature as run writes it")
        return cls(path, PublicKey(public), parts, content)

    def strangers(self, key: Path | None) -> list[str]:
        """Return the other files of the folder, but for a key and what systems and programs put there.

        Parameters
        ----------
        key: file of the key that the parts are checked with.
        """
        own = {*self.parts, SIGNATURE, *OF_SYSTEMS}
        others = [each for each in self.path.parent.iterdir() if each.name not in own]
        shown = [each for each in others if not each.name.startswith((".", "~$"))]
        return sorted(each.name for each in shown if key is None or not same_file(each, key))

    def faults(self, key: PublicKey | None) -> Iterator[str]:
        """Yield what is wrong, a line for each part.

        Parameters
        ----------
        key: the publisher's, as the caller knows it; None if the key in the file is believed.
        """
        folder, of = self.path.parent, str(self.path.name)
        if key is not None and key.raw != self.public.raw:
            yield (
                f"{of}: was made with another key ({self.public.fingerprint}) than the one given "
                f"({key.fingerprint})"
            )
            return
        content = {name: self._content[name] for name in _KEYS[:-1]}
        if not self.public.signed(content, base64.b64decode(self._content["signature"])):
            yield f"{of}: was altered: the signature does not fit the parts that it lists"
            return
        origin = {sha256: name for name, sha256 in self.parts.items()}
        for name, sha256 in self.parts.items():
            path = folder / name
            if not path.is_file() or path.is_symlink():
                yield f"{name}: is missing, and was signed"
                continue
            found = sha256_of(path)
            if found == sha256:
                continue
            if found in origin:
                yield f"{name}: has the content that was signed as {origin[found]}"
            elif name == OF_SHARE:
                yield f"{name}: is of another release than the documents beside report.json"
            else:
                yield f"{name}: is not the file that was signed: it was altered, or is of another release"


def is_own_signature(path: Path) -> bool:
    """Return whether a file is a signature as ``Signer`` writes it."""
    try:
        Signature.read(path)
    except InputError:
        return False
    return True


@contextmanager
def _needing() -> Iterator[None]:
    """Replace the error of an import in the block by one that says how to install the library.

    Raises
    ------
    InputError: it is not installed.
    """
    try:
        yield
    except ImportError:
        raise InputError(f"signatures need the package cryptography; {installing('sign')}") from None


def _message(content: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed, the same for the same content however it is written."""
    return _PURPOSE + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _is_inside(name: Any) -> bool:
    """Return whether a path is a file of the folder, or the signature in share/."""
    return isinstance(name, str) and (name == OF_SHARE or Path(name).name == name)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _first(paths: list[Path]) -> Path:
    return next((each for each in paths if each.is_file()), paths[0])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give the file of a key in PEM") from None
