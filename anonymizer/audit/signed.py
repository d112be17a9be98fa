"""The signatures of a release and of the documents beside it, checked part by part."""

from __future__ import annotations

from pathlib import Path

from anonymizer.audit.case import ReleaseAudit
from anonymizer.errors import InputError
from anonymizer.release.folder import LEGEND, PUBLIC_REPORT, SHARE
from anonymizer.release.signature import OF_SHARE, SIGNATURE, PublicKey, Signature

WHOSE_KEY = "whose key signed it (--key)"
UNSIGNED = "README.txt, which no signature covers"
"""Not checked where nobody gave the publisher's key: anybody can sign with one of their own."""


def check_signatures(report: Path, key: Path | None, found: ReleaseAudit) -> None:
    """Check the signature beside a report, and that of the documents about the release if they are there.

    Parameters
    ----------
    report: the one that the release is compared with.
    key: file with the publisher's public key; a release without a signature does not pass then.

    Raises
    ------
    InputError: the key cannot be used.
    """
    public = None if key is None else PublicKey.read(key)
    share = report.parent if (report.parent / PUBLIC_REPORT).is_file() else report.parent / SHARE
    documents = share.parent / SIGNATURE
    if not (share / SIGNATURE).is_file():
        if public is not None:
            found.refute(f"{share / SIGNATURE}: is missing, so nothing is signed; ask the publisher for it")
        elif (share / LEGEND).is_file():
            found.not_checked.append(UNSIGNED)
        return
    try:
        own = Signature.read(share / SIGNATURE)
        faults = list(own.faults(public))
        if PUBLIC_REPORT not in own.parts:
            # Another signature by the same key, such as that of the documents, vouches for no release.
            faults.append(f"{PUBLIC_REPORT}: was not signed; {SIGNATURE} is not that of a release")
        if _is_of_documents(documents):
            faults += Signature.read(documents).faults(own.public if public is None else public)
    except InputError as error:
        found.refute(str(error))
        return
    for fault in faults:
        found.refute(fault)
    found.findings += [
        f"{name}: was not signed; it is no part of this release" for name in own.strangers(key)
    ]
    found.signature = {"key": own.public.fingerprint, "parts": sorted(own.parts), "valid": not faults}
    if public is None:
        found.not_checked.append(WHOSE_KEY)


def _is_of_documents(path: Path) -> bool:
    """Return whether a file is the signature of the documents of the release in share/ beside it."""
    return path.is_file() and OF_SHARE in path.read_text(encoding="utf-8", errors="replace")
