"""The disk cache: what is stored comes back, and everything that is not quite right is a miss, never an error."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.base.artifact import Artifact, SourceCheck
from numba_gpucore.base.errors import CacheWarning
from numba_gpucore.base.key import CacheKey, digest_key_text
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.site import Frame, Hole, Site, Text
from numba_gpucore.base.source import digest_module_source
from numba_gpucore.launch.cache import OVERLOAD_SUFFIX, DiskCache
from numba_gpucore.launch.entry_file import MAGIC, DamagedEntry, _digest, encode_entry
from numba_gpucore.launch.overload_files import OverloadFiles, versions_of_overload

ARG_TYPES = (ArrayType(ScalarType("float32", 4), 1, "C"), ScalarType("int64", 8))
KEY = CacheKey(
    fingerprint="f" * 40,
    kernel_name="saxpy",
    signature=tuple(map(str, ARG_TYPES)),
    options="KernelOptions()",
    target="metal",
    backend="cpu",
    arch="x86-64-v3",
    launch_abi=1,
    bytecode_magic="0",
    versions=(("numba", "0.68.1"),),
)
FRAME = Frame("saxpy", "/home/u/saxpy.py", 10, 2)
ARTIFACT = Artifact(
    kernel_name="saxpy",
    entry="kernel_saxpy",
    backend="cpu",
    arch="x86-64-v3",
    launch_abi=1,
    arg_types=ARG_TYPES,
    code=bytes(range(256)) * 20,
    shared_nbytes=64,
    sites=(
        Site("builtins:IndexError", (Hole("int"),) * 3, FRAME, is_bounds_check=True),
        Site("builtins:KeyError", (Text(("at ", Hole("int", "!r:>8"))), 3), FRAME),
        Site(
            "my.module:Bad",
            ("text", 1, 2.5, True, None, 2j, b"ab", (1, (2j,)), Hole("float")),
            FRAME,
            traces=((FRAME, FRAME), (FRAME,)),
        ),
    ),
    backend_facts=(("frame_nbytes", 256),),
    print_lines=(PrintLine(("x = ", Hole("float32", ":.3f"), Hole("bool"), "\n")),),
)


@pytest.fixture
def cache(tmp_path):
    return DiskCache(str(tmp_path / "cache"))


def test_stored_artifact_comes_back_equal(cache):
    assert cache.store(KEY, ARTIFACT) == ""
    found = cache.find(KEY, ARG_TYPES)
    assert (found.artifact, found.reason) == (ARTIFACT, f"found in {cache.path_of(KEY)}")


def test_changed_overload_module_is_a_miss(cache, tmp_path, monkeypatch):
    """The kernel's bytecode is the same, what it calls is not."""
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "module_with_overloads.py"
    source.write_text("GAIN = 1")
    artifact = replace(ARTIFACT, sources=(SourceCheck(source.stem, digest_module_source(source.stem)),))
    cache.store(KEY, artifact)
    monkeypatch.delitem(sys.modules, "numba.core", raising=False)
    assert cache.find(KEY, ARG_TYPES).artifact == artifact
    monkeypatch.setitem(sys.modules, "numba.core", ModuleType("numba.core"))
    assert cache.find(KEY, ARG_TYPES).reason.endswith("whose overloads it uses, is not loaded")
    monkeypatch.setitem(sys.modules, source.stem, importlib.import_module(source.stem))
    assert cache.find(KEY, ARG_TYPES).artifact == artifact
    source.write_text("GAIN = 2")
    assert "module_with_overloads" in cache.find(KEY, ARG_TYPES).reason


@pytest.mark.parametrize(
    "failure", ["raise RuntimeError('no licence')", "raise SyntaxError", "import nothing_like_it", "1 / 0"]
)
def test_overload_module_whose_package_cannot_be_imported_is_a_miss(cache, tmp_path, monkeypatch, failure):
    """Looking for a module's source imports its package: the user's code, at the user's launch."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "package_that_fails").mkdir()
    (tmp_path / "package_that_fails" / "__init__.py").write_text(failure)
    cache.store(KEY, replace(ARTIFACT, sources=(SourceCheck("package_that_fails.overloads", "digest"),)))
    assert "package_that_fails.overloads" in cache.find(KEY, ARG_TYPES).reason


def test_two_encodings_are_the_same_bytes():
    assert encode_entry(KEY, ARTIFACT) == encode_entry(KEY, ARTIFACT)


@pytest.mark.parametrize("field", sorted(CacheKey.__dataclass_fields__))
def test_every_field_of_the_key_counts(cache, field):
    cache.store(KEY, ARTIFACT)
    value = getattr(KEY, field)
    other = replace(KEY, **{field: (*value, ("x", "y")) if isinstance(value, tuple) else type(value)(str(value) + "1")})
    assert cache.find(other, ARG_TYPES).reason == "not in the cache"


def _rewrite_header(data: bytes, change) -> bytes:
    """An entry whose header was changed by a hostile or newer writer that also made the checksum right."""
    start = len(MAGIC) + 8
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    signed = json.loads(data[start : start + length])
    header = json.loads(signed["header"])
    change(header)
    text = json.dumps(header)
    signed = json.dumps({"header": text, "digest": _digest(text.encode())}).encode()
    return MAGIC + len(signed).to_bytes(8, "little") + signed + data[start + length :]


GOOD = encode_entry(KEY, ARTIFACT)
_SIGNED_LIST = json.dumps({"header": "[]", "digest": _digest(b"[]")}).encode()
_SOURCE = {"module": "json", "source_digest": "", "is_version": True}
DAMAGES = {
    "empty": b"",
    "one byte": b"N",
    "only magic": MAGIC,
    "cut in the length": GOOD[: len(MAGIC) + 3],
    "cut in the header": GOOD[:60],
    "cut in the code": GOOD[:-1],
    "longer code": GOOD + b"\0",
    "another magic": b"XUMBAGPU" + GOOD[8:],
    "another version": GOOD.replace(b"\x01\n", b"\x02\n", 1),
    "huge length": MAGIC + b"\xff" * 8 + GOOD,
    "zero length": MAGIC + bytes(8) + GOOD[len(MAGIC) + 8 :],
    "flipped bit in the code": GOOD[:-5] + bytes([GOOD[-5] ^ 1]) + GOOD[-4:],
    "flipped bit in the header": GOOD[:100] + bytes([GOOD[100] ^ 1]) + GOOD[101:],
    "header is no JSON": MAGIC + (5).to_bytes(8, "little") + b"{{{{{",
    "header is a list": MAGIC + (2).to_bytes(8, "little") + b"[]",
    "pickle": pickle.dumps({"key": KEY.text}),
    "text": b"hello\n" * 100,
    "all zeros": bytes(len(GOOD)),
    "key of another kernel": encode_entry(replace(KEY, kernel_name="other"), ARTIFACT),
    "no key": _rewrite_header(GOOD, lambda header: header.pop("key")),
    "no sites": _rewrite_header(GOOD, lambda header: header.pop("sites")),
    "sites of another form": _rewrite_header(GOOD, lambda header: header.update(sites=[{"exception": 1}])),
    **{
        f"{what} of a line is {value!r}": _rewrite_header(
            GOOD, lambda header, what=what, value=value: header["sites"][0]["frame"].update({what: value})
        )
        for what, value in (
            ("function", None),
            ("filename", 7),
            ("first_line", "10"),
            ("line_offset", 1.5),
            ("line_offset", True),
            ("function_number", "0"),
            ("function_number", -1),
            ("function_number", False),
        )
    },
    "wrong code length": _rewrite_header(GOOD, lambda header: header.update(code_nbytes=1)),
    "no literal": _rewrite_header(GOOD, lambda header: header.update(print_lines=[[{"literal": "(1 +"}]])),
    "lists in lists without end": MAGIC + (200_000).to_bytes(8, "little") + b"[" * 200_000,
    "whole header is a list": MAGIC + len(_SIGNED_LIST).to_bytes(8, "little") + _SIGNED_LIST,
    "entry is no text": _rewrite_header(GOOD, lambda header: header.update(entry=["kernel"])),
    "size is no number": _rewrite_header(GOOD, lambda header: header.update(shared_nbytes="64")),
    "module is no text": _rewrite_header(GOOD, lambda header: header.update(sources=[{**_SOURCE, "module": 7}])),
    "digest is no text": _rewrite_header(
        GOOD, lambda header: header.update(sources=[{**_SOURCE, "source_digest": []}])
    ),
    "sources of another form": _rewrite_header(GOOD, lambda header: header.update(sources=[{"x": 1}])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_a_miss_with_one_warning(cache, damage):
    cache.store(KEY, ARTIFACT)
    Path(cache.path_of(KEY)).write_bytes(DAMAGES[damage])
    with pytest.warns(CacheWarning) as caught:
        assert cache.find(KEY, ARG_TYPES).artifact is None
        assert cache.find(KEY, ARG_TYPES).artifact is None
    assert len(caught) == 1
    assert cache.store(KEY, ARTIFACT) == ""
    assert cache.find(KEY, ARG_TYPES).artifact == ARTIFACT


def test_a_folder_of_200_damaged_files_is_200_misses(cache):
    keys = [replace(KEY, fingerprint=str(number)) for number in range(200)]
    kinds = list(DAMAGES.values())
    assert len(kinds) >= 20
    cache.store(KEY, ARTIFACT)  # makes the folder
    for number, key in enumerate(keys):
        Path(cache.path_of(key)).write_bytes(kinds[number % len(kinds)])
    with pytest.warns(CacheWarning) as caught:
        assert [cache.find(key, ARG_TYPES).artifact for key in keys] == [None] * 200
    assert len(caught) == 1
    assert cache.find(KEY, ARG_TYPES).artifact == ARTIFACT


def test_texts_are_remembered_once_and_damaged_ones_computed_again(cache):
    computed = []
    assert [cache.remember("a", lambda: computed.append(1) or "first\nsecond") for _ in range(3)] == [
        "first\nsecond"
    ] * 3
    assert len(computed) == 1
    (path,) = Path(cache.folder).glob("*.gputext")
    for damage in (b"", path.read_bytes()[:-1], path.read_bytes() + b"x", b"\xff\x00", b"no digest\nfirst"):
        path.write_bytes(damage)
        assert cache.recall(path.name) is None
        assert cache.remember("a", lambda: "first") == "first"


def test_what_dead_processes_left_is_cleared(cache):
    cache.store(KEY, ARTIFACT)
    for name in ("0123.gputemporary", f"{KEY.digest}.gpulock"):
        (Path(cache.folder) / name).touch()
    assert cache.clear() == (1, [])
    assert list(Path(cache.folder).iterdir()) == []


def test_what_others_keep_in_the_folder_stays(cache):
    """NUMBA_CACHE_DIR may be any folder, and Numba keeps its own files there."""
    Path(cache.folder).mkdir(mode=0o700)
    names = ["notes.txt", "0123.tmp", "poetry.lock", "kernel.nbi", "a.gpukernel.bak"]
    for name in names:
        (Path(cache.folder) / name).touch()
        os.utime(Path(cache.folder) / name, (0, 0))
    cache.store(KEY, ARTIFACT)
    assert cache.clear() == (1, [])
    assert sorted(path.name for path in Path(cache.folder).iterdir()) == sorted(names)


def test_folder_in_place_of_an_entry_is_a_miss(cache):
    Path(cache.path_of(KEY)).mkdir(parents=True)
    with pytest.warns(CacheWarning):
        assert cache.find(KEY, ARG_TYPES).artifact is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
def test_pipe_in_place_of_a_file_is_a_miss(cache):
    """Opening it as a file would wait for a writer for ever."""
    cache.store(KEY, ARTIFACT)
    os.unlink(cache.path_of(KEY))
    os.mkfifo(cache.path_of(KEY), 0o600)
    with pytest.warns(CacheWarning, match="is no file"):
        assert cache.find(KEY, ARG_TYPES).artifact is None
    assert cache.recall(Path(cache.path_of(KEY)).name) is None


def test_file_larger_than_the_limit_is_not_read(tmp_path):
    cache = DiskCache(str(tmp_path), max_nbytes=1 << 20)
    with open(cache.path_of(KEY), "wb") as file:
        file.truncate(1 << 40)  # a sparse file, which no memory takes
    os.chmod(cache.path_of(KEY), 0o600)
    with pytest.warns(CacheWarning, match="is larger than all the folder may be"):
        assert cache.find(KEY, ARG_TYPES).artifact is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="ownership is checked on POSIX")
@pytest.mark.parametrize("what", ["folder", "entry"])
def test_what_others_can_write_is_refused(cache, what):
    cache.store(KEY, ARTIFACT)
    path = Path(cache.folder if what == "folder" else cache.path_of(KEY))
    path.chmod(0o777)
    with pytest.warns(CacheWarning, match="can be written by others"):
        assert cache.find(KEY, ARG_TYPES).artifact is None
    assert DiskCache(cache.folder, trusted=True).find(KEY, ARG_TYPES).artifact == ARTIFACT


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["folder", "entry"])
def test_what_another_user_owns_is_refused(cache, what):
    cache.store(KEY, ARTIFACT)
    os.chown(cache.folder if what == "folder" else cache.path_of(KEY), 12345, -1)
    with pytest.warns(CacheWarning, match="belongs to user 12345"):
        assert cache.find(KEY, ARG_TYPES).artifact is None


def test_folder_that_cannot_be_made_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(str(tmp_path / "file" / "cache"))
    warning = "Not a directory; each process compiles them again. NUMBA_CACHE_DIR names another folder$"
    with pytest.warns(CacheWarning, match=warning) as caught:
        reasons = [cache.store(KEY, ARTIFACT) for _ in range(2)]
    assert len(caught) == 1
    assert reasons == [f"compiled kernels cannot be kept in {cache.folder}: Not a directory"] * 2


def test_a_folder_that_is_not_there_can_be_read_and_written(cache):
    cache.require_readable()
    cache.require_trustworthy()
    assert not Path(cache.folder).exists()
    cache.require_writable()
    assert list(Path(cache.folder).iterdir()) == []


def test_a_file_in_place_of_the_folder_is_told(cache):
    Path(cache.folder).write_text("in the way")
    for require in (cache.require_readable, cache.require_writable):
        with pytest.raises(OSError, match=cache.folder):
            require()


def test_a_full_disk_is_told_before_work_is_done(cache, monkeypatch):
    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=f"^{cache.folder} cannot be written: No space left on device$"):
        cache.require_writable()
    assert list(Path(cache.folder).iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="ownership is checked on POSIX")
def test_a_folder_that_others_can_write_is_readable_and_nothing_else(cache):
    Path(cache.folder).mkdir()
    Path(cache.folder).chmod(0o777)
    cache.require_readable()
    for require in (cache.require_trustworthy, cache.require_writable):
        with pytest.raises(PermissionError, match="can be written by others"):
            require()
    shared = DiskCache(cache.folder, trusted=True)
    shared.require_trustworthy()
    shared.require_writable()


def test_warnings_point_at_the_users_line(cache):
    Path(cache.folder).write_text("in the way")
    with pytest.warns(CacheWarning, match="cannot be kept") as caught:
        cache.store(KEY, ARTIFACT)
    assert caught[0].filename == __file__


def test_an_implementation_under_another_name_is_not_found(cache):
    store = OverloadFiles((cache,), own_source=lambda: "source", keeps=True)
    store.keep("sum", "text of sum")
    (of_sum,) = cache.overloads()
    store.keep("max", "text of max")
    (of_max,) = set(cache.overloads()) - {of_sum}
    os.replace(of_sum, of_max)
    assert store.find("max") is None
    with pytest.raises(DamagedEntry, match="its name is not that of its key"):
        versions_of_overload(Path(of_max).name, Path(of_max).read_bytes())


@pytest.mark.parametrize("key", ["[" * 100_000, '{"versions": [1]}', '{"versions": ["abc"]}', "{}", "no JSON", "7"])
def test_an_implementation_with_a_hostile_key_is_damaged(cache, key):
    name = digest_key_text(key) + OVERLOAD_SUFFIX
    cache.note(name, f"{key}\ndefine void @f() {{ ret void }}")
    with pytest.raises(DamagedEntry, match="its key lacks what it must have"):
        versions_of_overload(name, Path(cache.folder, name).read_bytes())


WRITER = """
import sys
sys.path[:0] = {path!r}
from tests.unit.test_launch_cache import ARTIFACT, KEY
from numba_gpucore.launch.cache import OVERLOAD_SUFFIX, DiskCache
cache = DiskCache({folder!r})
for _ in range(50):
    cache.store(KEY, ARTIFACT)
    assert cache.find(KEY, ARTIFACT.arg_types).artifact == ARTIFACT
"""


def test_processes_that_write_one_entry_at_once_never_see_half_of_it(tmp_path):
    program = WRITER.format(path=[os.getcwd(), *sys.path], folder=str(tmp_path))
    children = [subprocess.Popen([sys.executable, "-W", "error", "-c", program]) for _ in range(4)]
    assert [child.wait(60) for child in children] == [0] * 4
    assert [path.suffix for path in tmp_path.iterdir()] == [".gpukernel"]


def test_reading_does_not_warn(cache):
    cache.store(KEY, ARTIFACT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.find(KEY, ARG_TYPES).artifact
        assert cache.find(replace(KEY, arch="other"), ARG_TYPES).artifact is None
