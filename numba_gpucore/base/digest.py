"""The hash of keys and contents. Before: nothing. After: keys, fingerprints, exception sites."""

from __future__ import annotations

try:
    # hashlib has the same function, but loads OpenSSL for its others: 2.4 ms of each import (-X importtime).
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
