"""What users read when a kernel cannot be compiled, whole, for every kernel of `wrong_kernels` on every level.

`expected_<target>.txt` holds the messages, with `{here}` for the folder of wrong_kernels.
`REWRITE_GOLDENS=1 python -m pytest tests/errors` writes what is said now; read the difference before committing.
"""

from __future__ import annotations

import os
import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import numba_metal
import numba_ptxplus
from numba_gpucore.base.errors import UnsupportedKernelError
from tests.errors import wrong_kernels

FOLDER = Path(__file__).resolve().parent
NAMES = [kernel.__name__ for kernel, _arguments in wrong_kernels.WRONG]
PACKAGES = {"metal": numba_metal, "ptxplus": numba_ptxplus}


def message(decorate, name: str) -> str:
    ((kernel, arguments),) = [pair for pair in wrong_kernels.WRONG if pair[0].__name__ == name]
    with pytest.raises(UnsupportedKernelError) as caught:
        decorate(kernel)[1, 1](*arguments)
    sent = pickle.loads(pickle.dumps(caught.value))  # as processes of a pool hand errors on
    assert (type(sent), str(sent)) == (type(caught.value), str(caught.value))
    return str(caught.value).replace(os.path.dirname(wrong_kernels.__file__), "{here}")


def expected(target: str) -> dict[str, str]:
    text = (FOLDER / f"expected_{target}.txt").read_text(encoding="utf-8")
    messages = [part.strip() for part in text.split("\n\n") if part.strip()]
    return dict(zip(NAMES, messages, strict=True))


def test_there_are_at_least_sixty() -> None:
    assert len(NAMES) >= 60
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("target", PACKAGES)
def test_rewrite(target: str) -> None:
    """Only under REWRITE_GOLDENS=1; otherwise it checks that no message has lost its kernel."""
    if os.environ.get("REWRITE_GOLDENS") == "1":
        messages = [message(PACKAGES[target].jit, name) for name in NAMES]
        (FOLDER / f"expected_{target}.txt").write_text("\n\n".join(messages) + "\n", encoding="utf-8")
    for name, text in expected(target).items():
        assert text.startswith(f"kernel '{name}' cannot be compiled, ")


@pytest.mark.parametrize("name", NAMES)
def test_message(level, name: str) -> None:
    assert message(level.jit, name) == expected(level.target)[name]


def test_numbas_classes_are_kept() -> None:
    """`except TypingError` and `except TypeError` of programs for numba.cuda go on working."""
    from numba.core.errors import TypingError  # noqa: PLC0415 - numba is imported by a miss only

    @numba_metal.jit
    def kernel(x):
        x[0] = np.zeros(3)[0]

    with pytest.raises(TypingError) as caught:
        kernel[1, 1](np.zeros(3, np.float32))
    assert isinstance(caught.value, TypeError)
    assert "Failed in device mode pipeline" in str(caught.value.original)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_the_compilers_frames_are_left_out() -> None:
    """What it found is in the message; what Numba found, with its frames, in `.original`."""

    def kernel(x):
        x[0] = undefined  # noqa: F821

    with pytest.raises(UnsupportedKernelError) as caught:
        numba_metal.jit(kernel)[1, 1](np.zeros(1, np.float32))
    folders = [Path(frame.filename).parent.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert folders[0] == "errors" and set(folders[1:]) == {"launch"}
    assert caught.value.__cause__ is None and caught.value.original.__traceback__ is not None
