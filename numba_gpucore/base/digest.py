"""The hash of keys and contents. Before: nothing. After: keys, fingerprints, exception sites."""

from __future__ import annotations

try:
    # hashlib has the same function, but loads OpenSSL for its others: 2.4 ms of each import (-X importtime).
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b", "id_of_text"]


def id_of_text(text: str) -> int:
    """63 bits: equal texts have equal ids in every function, module and process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") >> 1
