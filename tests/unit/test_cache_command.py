"""`python -m numba_metal cache …`, on a module with one declared signature."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numba
import pytest

from numba_gpucore.base.digest import blake2b
from numba_gpucore.base.errors import CacheWarning
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.entry_file import MAGIC
from numba_gpucore.launch.overload_files import OverloadFiles
from numba_gpucore.warm.archive import read_files
from numba_gpucore.warm.command import main

if TYPE_CHECKING:
    from tests.unit.warm_commands import Act

pytest_plugins = ["tests.unit.warm_commands"]

UNTRUSTED = (
    "can be written by others (chmod go-w ends that); kernels are machine code, so it is ignored unless "
    "NUMBA_GPU_TRUST_CACHE=1 vouches for it"
)


def test_verify_tells_a_miss_from_a_hit_and_keeps_nothing(act: Act, tmp_path: Path) -> None:
    for _ in range(2):
        status, output = act("cache verify kernels")
        assert status == 1
        assert "miss: kernels:scale(" in output and "0 found, 1 missing" in output
    assert act("import kernels")[0] == 0
    assert act("cache verify kernels") == (0, "1 found, 0 missing\n")


def test_verify_tells_what_is_wrong_with_a_module_and_goes_on(act: Act) -> None:
    assert act("import kernels")[0] == 0
    status, output = act("cache verify nowhere kernels:missing kernels")
    assert status == 1
    assert "nowhere: ModuleNotFoundError: No module named 'nowhere'\n" in output
    assert "kernels:missing: ValueError: kernels has no kernel 'missing'; its kernels are: scale\n" in output
    assert "1 found, 0 missing\n" in output


def test_list_of_a_package_that_is_not_there(act: Act) -> None:
    assert act("cache list nowhere") == (1, "numba_metal: there is no package or module nowhere\n")


def test_entries_are_listed_carried_and_deleted(act: Act, tmp_path: Path) -> None:
    assert act("import kernels")[0] == 0
    assert act("cache verify kernels:scale") == (0, "1 found, 0 missing\n")
    status, listing = act("cache list")
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    assert status == 0 and listing.count("\n") == 2 and "scale(" in listing and " cpu " in listing
    assert listing.endswith(f"\n1 files, {entry.stat().st_size} bytes in {tmp_path / 'cache'}\n")
    assert act("cache export entries.tar")[1] == "wrote 1 entries to entries.tar\n"
    status, output = act("cache import entries.tar", cache="other")
    assert status == 0 and output.startswith("took 1 entries into ")
    assert act("cache verify kernels", cache="other") == (0, "1 found, 0 missing\n")
    assert act("cache clear")[1].startswith("deleted 1 entries of ")
    assert act("cache list") == (0, f"0 files, 0 bytes in {tmp_path / 'cache'}\n")


def _write_archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_what_another_process_deletes_meanwhile_is_left_out(act: Act, tmp_path: Path) -> None:
    assert act("import kernels")[0] == 0
    cache = DiskCache(str(tmp_path / "cache"))
    (kept,) = cache.entries()
    found = [(file.name, file.data) for file in read_files(cache, [str(tmp_path / "cache" / "gone"), kept])]
    assert found == [(Path(kept).name, Path(kept).read_bytes())]


def test_import_refuses_what_is_no_whole_entry_of_that_name(act: Act, tmp_path: Path) -> None:
    assert act("import kernels")[0] == 0
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    data = entry.read_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    foreign = {entry.name: flipped, f"../{entry.name}": data, "f" * 40 + ".gpukernel": data, "readme": b"text"}
    _write_archive(tmp_path / "foreign.tar", foreign)
    status, output = act("cache import foreign.tar", cache="other")
    assert status == 1
    assert output.count("refused: ") == len(foreign) and "took 0 entries" in output
    assert not list(tmp_path.glob("other/*")) and not (tmp_path / entry.name).exists()


def _claim_size(archive: Path, name: str, nbytes: int, kind: bytes) -> None:
    """An archive of a file that is said to be of a size, and of which little is there."""
    member = tarfile.TarInfo(name)
    member.size = 0 if kind == tarfile.GNUTYPE_SPARSE else nbytes
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = kind
    # The real size of a sparse file (GNU tar manual, "Basic Tar Format": oldgnu_header), in base 256.
    header[483:495] = b"\x80" + nbytes.to_bytes(11, "big") if kind == tarfile.GNUTYPE_SPARSE else bytes(12)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    archive.write_bytes(bytes(header) + bytes(2048))


@pytest.mark.parametrize(
    ("kind", "objection"),
    [
        (tarfile.GNUTYPE_SPARSE, "refused: NAME: it is not a plain file"),
        (tarfile.REGTYPE, "numba_metal: huge.tar is not an archive of cache entries: unexpected end of data"),
    ],
    ids=["sparse", "cut off"],
)
def test_import_reads_nothing_that_the_folder_cannot_take(
    act: Act, tmp_path: Path, kind: bytes, objection: str
) -> None:
    """An archive of two KB may say that it holds four TB."""
    name = "0" * 40 + ".gpukernel"
    _claim_size(tmp_path / "huge.tar", name, 1 << 42, kind)
    status, output = act("cache import huge.tar")
    assert status == 1 and objection.replace("NAME", name) + "\n" in output


@pytest.mark.parametrize(
    "header",
    [
        [],
        7,
        {},
        {"key": 7},
        {"key": "[" * 100_000},
        {"key": "[]"},
        {"key": '{"kernel_name": "k", "signature": [7], "backend": "cpu", "arch": "x"}'},
        {"key": '{"kernel_name": "k", "signature": [], "backend": "cpu", "arch": "x"}', "made_with": 7},
        {"key": '{"kernel_name": "k", "signature": [], "backend": "cpu", "arch": "x"}', "made_with": ["numba"]},
    ],
    ids=lambda header: str(header)[:40],
)
def test_list_tells_which_entries_lack_what_they_must_have(act: Act, tmp_path: Path, header: object) -> None:
    """They are whole: a newer version, or whoever made an archive, may have written them."""
    text = json.dumps(header)
    signed = json.dumps({"header": text, "digest": blake2b(text.encode(), digest_size=20).hexdigest()}).encode()
    entry = tmp_path / "cache" / ("0" * 40 + ".gpukernel")
    entry.parent.mkdir(mode=0o700)
    entry.write_bytes(MAGIC + len(signed).to_bytes(8, "little") + signed)
    status, output = act("cache list")
    assert status == 1 and f"{entry.name} is damaged: " in output
    assert "left out: " in act("cache export all.tar")[1]


def test_each_decision_is_explained(act: Act, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")
    first = act("import kernels")[1]
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    what = "[cache] scale(array(float32, 1d, C), float32): "
    assert first == f"{what}compiled: not in the cache\n{what}kept in {entry}\n"
    assert act("import kernels")[1] == f"{what}found in {entry}\n"
    entry.chmod(0o666)
    with pytest.warns(CacheWarning, match="can be written by others"):
        third = act("import kernels")[1]
    assert f"{what}compiled: {entry} {UNTRUSTED}\n" in third


def test_implementations_are_listed_carried_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `warm` without a module makes them; here three texts, one of which is cut off."""

    def act_here(*arguments: str, folder: str = "cache") -> tuple[int, str]:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / folder))
        status = main("numba_metal", ["cache", *arguments])
        output = capsys.readouterr()
        return status, output.out + output.err

    cache = DiskCache(str(tmp_path / "cache"))
    store = OverloadFiles((cache,), own_source=lambda: "source", keeps=True)
    for name in ("sum", "max", "min"):
        store.keep(name, f"text of {name}")
    damaged = Path(cache.overloads()[0])
    damaged.write_bytes(damaged.read_bytes()[:-1])
    status, listing = act_here("list")
    assert status == 1
    assert f"{damaged.name} is damaged: it is not what was stored" in listing
    assert "2 implementations of Numba's functions  made with " in listing and f"numba {numba.__version__}" in listing
    archive = str(tmp_path / "all.tar")
    left_out = f"left out: {damaged.name}: it is not what was stored\n"
    assert act_here("export", archive) == (1, f"wrote 2 entries to {archive}\n{left_out}")
    status, output = act_here("import", archive, folder="other")
    assert (status, output) == (0, f"took 2 entries into {tmp_path / 'other'}\n")
    other = OverloadFiles((DiskCache(str(tmp_path / "other")),), own_source=lambda: "source")
    assert sorted(filter(None, map(other.find, ("sum", "max", "min")))) == sorted(
        filter(None, map(store.find, ("sum", "max", "min")))
    )
    assert act_here("clear") == (0, f"deleted 3 entries of {cache.folder}\n")
    assert list(Path(cache.folder).iterdir()) == []


def _put_folder(path: Path) -> None:
    path.mkdir()


def _put_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _put_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def _put_what_others_can_write(path: Path) -> None:
    path.write_bytes(b"machine code")
    path.chmod(0o666)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes, links and owners are of POSIX")
@pytest.mark.parametrize(
    ("put", "objection"),
    [
        (_put_folder, "it cannot be read: Is a directory"),
        (_put_pipe, "is no file"),
        (_put_link_to_itself, "it cannot be read: Too many levels of symbolic links"),
        (_put_what_others_can_write, UNTRUSTED),
    ],
)
@pytest.mark.parametrize("suffix", [".gpukernel", ".gpuoverload"])
def test_what_is_not_taken_is_told_and_the_rest_goes_on(
    act: Act, tmp_path: Path, put: Callable[[Path], None], objection: str, suffix: str
) -> None:
    """And not carried: whoever imports an archive trusts what is in it."""
    assert act("import kernels")[0] == 0
    strange = tmp_path / "cache" / ("0" * 40 + suffix)
    put(strange)
    status, listing = act("cache list")
    assert status == 1 and f"{strange.name} {objection}\n" in listing and "scale(" in listing
    left_out = f"left out: {strange.name}: {objection}\n"
    assert act("cache export all.tar") == (1, f"wrote 1 entries to all.tar\n{left_out}")
    status, output = act("cache clear")
    if strange.is_dir():
        assert status == 1 and "cannot be deleted: [Errno 21] Is a directory" in output
        assert f"deleted 1 entries of {tmp_path / 'cache'}\n" in output
    else:
        assert (status, output) == (0, f"deleted 2 entries of {tmp_path / 'cache'}\n")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="ownership is checked on POSIX")
@pytest.mark.parametrize("line", ["cache list", "cache export all.tar", "cache import mine.tar", "warm kernels"])
def test_a_folder_that_others_can_write_is_refused_once(act: Act, tmp_path: Path, line: str) -> None:
    assert act("import kernels")[0] == 0
    assert act("cache export mine.tar")[0] == 0
    (tmp_path / "cache").chmod(0o777)
    assert act(line) == (1, f"numba_metal: {tmp_path / 'cache'} {UNTRUSTED}\n")
    assert not (tmp_path / "all.tar").exists()


def test_import_of_what_is_no_archive(act: Act, tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("no archive" * 200)
    status, output = act("cache import text.tar")
    assert status == 1
    assert output.startswith("numba_metal: text.tar is not an archive of cache entries")


@pytest.mark.parametrize("line", ["cache list", "cache clear", "cache export all.tar", "warm", "warm kernels"])
def test_a_folder_that_cannot_be_used_is_told(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.chdir(tmp_path)
    assert main("numba_metal", line.split()) == 1
    assert f"{tmp_path / 'file'}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_entry_that_does_not_fit_is_refused_with_the_reason(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    assert act("import kernels")[0] == 0
    assert act("cache export all.tar")[0] == 0
    monkeypatch.setenv("NUMBA_GPU_CACHE_NBYTES", "1000")
    status, output = act("cache import all.tar", cache="other")
    assert status == 1 and "took 0 entries into " in output
    assert "bytes are more than the folder's limit of 1000 allows; NUMBA_GPU_CACHE_NBYTES sets it\n" in output
    status, output = act("warm kernels", cache="other")
    assert status == 1 and "kernels: 1 compiled, 0 known" in output
    assert "1 of them will be compiled again: compiled kernels cannot be kept in " in output


@pytest.mark.parametrize("archive", ["nowhere/all.tar", "file/all.tar", "folder", "/", ".", ".."])
def test_an_archive_that_cannot_be_written_is_told(
    archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    name = str(tmp_path / archive) if archive.strip(".") else archive
    assert main("numba_metal", ["cache", "export", name]) == 1
    assert f"numba_metal: {name} cannot be written: " in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_an_archive_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    OverloadFiles((DiskCache(str(tmp_path / "cache")),), own_source=lambda: "source", keeps=True).keep("sum", "text")
    archive = tmp_path / "all.tar"
    archive.write_text("of last week")
    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    assert main("numba_metal", ["cache", "export", str(archive)]) == 1
    assert f"{archive} cannot be written: No space left on device" in capsys.readouterr().err
    assert archive.read_text() == "of last week"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar", "cache"]
