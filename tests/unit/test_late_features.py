"""Features that are loaded late mean the same as if they had been there from the start, and come only when needed."""

from __future__ import annotations

import json
import operator
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core import imputils, types
from numba.core.typing import templates

from numba_gpucore.compile import contexts
from numba_gpucore.compile.late_features import LATE_FEATURES, load_features, lowering_registries, typing_registries

Runner = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).with_name("late_programs.py")


#: What some programs load; of the others only Numba knows.
LOADED = {
    **{
        name: ["ufuncs"]
        for name in (
            "adds",
            "adds_in_place",
            "negates",
            "in_a_registered_function",
            "ufuncs_of_numbers",
            "adds of halves",
            "asks_type_inference",
        )
    },
    "methods": ["array functions", "ufuncs"],
    "in_other_functions": ["array functions", "ufuncs"],
    "complex_numbers": ["cmath", "ufuncs"],
    "registers_while_compiled": [],
    "opens_a_file": [],
    "checks_domains": [],
}


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_programs_do_not_depend_on_when_features_are_loaded(run_python: Runner, package: str) -> None:
    late, early = (
        json.loads(run_python(SCRIPT, when, package, NUMBA_CACHE_DIR=None).stdout) for when in ("late", "early")
    )
    assert {name: result["told"] for name, result in late.items()} == {
        name: result["told"] for name, result in early.items()
    }
    assert {name: result["loaded"] for name, result in late.items() if name in LOADED} == {
        name: features for name, features in LOADED.items() if name in late
    }


def _is_of_numba(function: Any) -> bool:
    """False for what other tests of this process have registered."""
    return getattr(function, "__module__", "numba").partition(".")[0] in ("numba", "numba_gpucore")


def test_no_feature_takes_anothers_place() -> None:
    """What has the same key and types would depend on which comes last, or first."""
    load_features(LATE_FEATURES)
    typing = (templates.builtin_registry, *contexts.TYPING_REGISTRIES, *typing_registries())
    attributes = Counter(
        (template.key, template._attr, str(template.metadata))
        for registry in typing
        for template in registry.attributes
        if hasattr(template, "_attr") and _is_of_numba(getattr(template, "_overload_func", None))
    )
    lowering = (imputils.builtin_registry, *contexts.LOWERING_REGISTRIES, *lowering_registries())
    # Each context that has asked for a method has registered the same once more.
    functions = {
        (key, args, impl.__code__)
        for registry in lowering
        for impl, key, args in registry.functions
        if _is_of_numba(impl)
    }
    implementations = Counter((key, args) for key, args, _code in functions)
    implementations[operator.pos, (types.Array,)] -= 1  # twice in Numba's registry of ufuncs
    assert len(attributes) > 150
    assert len(implementations) > 900
    assert [key for key, count in attributes.items() if count > 1] == []
    assert [key for key, count in implementations.items() if count > 1] == []
