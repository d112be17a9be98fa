"""Keys and signatures of Ed25519 (RFC 8032), by the library of the extra ``sign``."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key


def public_key(content: bytes) -> bytes | None:
    """Return the 32 bytes of the public key in a PEM file; None if there is no such key in it."""
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key.public_bytes_raw() if isinstance(key, Ed25519PublicKey) else None


def private_key(content: bytes) -> Ed25519PrivateKey | None:
    """Return the private key in a PEM file; None if there is no such key in it.

    Raises
    ------
    TypeError: it is protected by a password.
    """
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PrivateKey) else None


def is_signed(message: bytes, signature: bytes, key: bytes) -> bool:
    """Return whether a signature of a message is by the owner of a public key."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True
