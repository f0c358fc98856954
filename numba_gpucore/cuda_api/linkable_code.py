"""Code of NVIDIA's compilers to link, as numba.cuda describes it. Before: the program. After: linking, on PTX only.

Describing it is possible everywhere, so that programs which do so at import time load; kernels that call it run on
NVIDIA GPUs only.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

from numba_gpucore.base.linked_code import suffixes_of


class LinkableCode:
    """`data` (text, bytes, StringIO or BytesIO) under a `name` for messages. `setup_callback` is called with the module
    before a kernel that holds it is launched, `teardown_callback` before it is unloaded; `nrt` has no meaning here."""

    default_name = "<unnamed code>"
    suffixes: tuple[str, ...] = ()
    is_text = False

    def __init__(
        self,
        data: Any,
        name: str | None = None,
        setup_callback: Callable[[Any], Any] | None = None,
        teardown_callback: Callable[[Any], Any] | None = None,
        nrt: bool = False,
    ):
        for what, callback in (("setup_callback", setup_callback), ("teardown_callback", teardown_callback)):
            if callback is not None and not callable(callback):
                raise TypeError(f"{what} must be callable, not {callback!r}")
        self._data = data
        self.name = name or self.default_name
        self.setup_callback = setup_callback
        self.teardown_callback = teardown_callback
        self.nrt = nrt

    @property
    def data(self) -> Any:
        return self._data.getvalue() if isinstance(self._data, (io.StringIO, io.BytesIO)) else self._data

    @staticmethod
    def from_path(path: str) -> LinkableCode:
        """Read a file; its suffix tells the kind. Raises ValueError, OSError."""
        stem, suffix = os.path.splitext(path)
        for kind in KINDS:
            if suffix.lower() in kind.suffixes:
                with open(path, "r" if kind.is_text else "rb") as file:
                    return kind(file.read(), name=os.path.basename(stem))
        known = ", ".join(suffix for kind in KINDS for suffix in kind.suffixes)
        raise ValueError(f"{path}: code to link is told by its suffix, one of {known}")

    @classmethod
    def from_path_or_obj(cls, path_or_obj: str | LinkableCode) -> LinkableCode:
        """Read a path; code is returned as it is."""
        return cls.from_path(path_or_obj) if isinstance(path_or_obj, str) else path_or_obj


class PTXSource(LinkableCode):
    """PTX as text."""

    default_name, suffixes, is_text = "<unnamed-ptx>", suffixes_of("ptx"), True


class CUSource(LinkableCode):
    """CUDA C++ as text."""

    default_name, suffixes, is_text = "<unnamed-cu>", suffixes_of("cuda"), True


class Fatbin(LinkableCode):
    """Machine code for several architectures."""

    default_name, suffixes = "<unnamed-fatbin>", suffixes_of("fatbin")


class Cubin(LinkableCode):
    """Machine code."""

    default_name, suffixes = "<unnamed-cubin>", suffixes_of("cubin")


class Archive(LinkableCode):
    """A library of objects."""

    default_name, suffixes = "<unnamed-archive>", suffixes_of("archive")


class Object(LinkableCode):
    """An object file."""

    default_name, suffixes = "<unnamed-object>", suffixes_of("object")


class LTOIR(LinkableCode):
    """NVIDIA's form of LLVM IR for optimising when linking."""

    default_name, suffixes = "<unnamed-ltoir>", suffixes_of("ltoir")


KINDS: tuple[type[LinkableCode], ...] = (PTXSource, CUSource, Fatbin, Cubin, Archive, Object, LTOIR)
