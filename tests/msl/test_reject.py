"""Wrong MSL is refused, in the right line and by the right rule; right MSL is taken."""

import re
from pathlib import Path

import pytest

from tests.msl import MslError, check_msl, compile_msl_library

KERNELS = Path(__file__).parent / "kernels"
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
PARAMS = "device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]"


def expected_rejections(source):
    """(line, rule) of each `// REJECT: rule, rule`. "clang": an error of the front end, "library": of linking."""
    return {
        (number, rule)
        for number, line in enumerate(source.splitlines(), 1)
        if "// REJECT:" in line
        for rule in line.split("// REJECT:")[1].replace(" ", "").split(",")
    }


@pytest.mark.parametrize("path", sorted(KERNELS.glob("bad/*.metal")), ids=lambda path: path.stem)
def test_bad_kernel_is_rejected_where_it_says(path):
    source = path.read_text()
    expected = expected_rejections(source)
    assert expected
    report = check_msl(source)
    found = {(finding.line, finding.rule) for finding in report.findings}
    # an error inside the shim points to the kernel's line with a note
    found |= {(int(line), "clang") for line in re.findall(r"msl:(\d+):\d+: (?:fatal )?(?:error|note)", report.clang)}
    if any(rule == "library" for _, rule in expected):
        with pytest.raises(MslError, match="40000 bytes of threadgroup memory, limit 32768"):
            compile_msl_library(source)
        return
    assert not report.ok
    assert expected <= found
    assert {place for place in found if place[1] != "clang"} <= expected


@pytest.mark.parametrize("path", sorted(KERNELS.glob("good/*.metal")), ids=lambda path: path.stem)
@pytest.mark.parametrize("msl_version", [(3, 0), (3, 2), (4, 0)], ids=str)
def test_good_kernel_is_accepted(path, msl_version):
    report = check_msl(path.read_text(), msl_version)
    assert report.ok, str(report)


def test_nesting_beyond_256_brackets_is_refused():
    source = HEAD + f"kernel void k({PARAMS}) {{ int a = x[i]; %s a++; %s x[i] = a; }}"
    assert check_msl(source % ("if (a > 0) {" * 200, "}" * 200)).ok
    assert "nesting level" in check_msl(source % ("if (a > 0) {" * 300, "}" * 300)).clang


@pytest.mark.parametrize(
    ("body", "since"),
    [
        ("atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);", (3, 2)),
        ("auto f = [](int a) { return a + 1; }; x[i] = f(x[i]);", (3, 2)),
        ("if constexpr (sizeof(int) == 4) x[i] = 1;", (4, 0)),
        ("x[i] = int(nextafter(float(x[i]), 2.0f));", (3, 1)),
    ],
)
def test_features_come_with_their_language_version(body, since):
    """MSL spec: "Fence Functions" and "Lambda Expressions" from 3.2, C++17 from 4, nextafter from 3.1."""
    source = HEAD + f"kernel void k({PARAMS}) {{ {body} }}"
    versions = [(3, 0), (3, 1), (3, 2), (4, 0)]
    accepted = [version for version in versions if check_msl(source, version).ok]
    assert accepted == [version for version in versions if version >= since]


def test_signatures_are_read():
    source = HEAD + (
        "struct Args { device float* p; ulong n; };\n"
        "kernel void a(constant Args& args [[buffer(0)]], device const int* m [[buffer(1)]],\n"
        "              threadgroup float* t [[threadgroup(0)]], uint3 g [[thread_position_in_grid]]) {}\n"
    )
    (kernel,) = check_msl(source).kernels
    assert (kernel.name, kernel.line) == ("a", 4)
    assert [(p.name, p.attribute, p.index, p.space, p.is_reference) for p in kernel.params] == [
        ("args", "buffer", 0, "constant", True),
        ("m", "buffer", 1, "device", False),
        ("t", "threadgroup", 0, "threadgroup", False),
        ("g", "thread_position_in_grid", None, None, False),
    ]
