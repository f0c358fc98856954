"""`python -m numba_metal selftest|cache|warm …`, for every target. Before: command_line. After: each its own.

A subcommand returns the process's exit status: 0, or 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from numba_gpucore.base.errors import CacheWarning, GpuError
from numba_gpucore.base.settings import Settings, usable_cores
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.entry_file import DamagedEntry, read_header
from numba_gpucore.launch.kernel import Kernel
from numba_gpucore.launch.overload_files import versions_of_overload
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.store import package_of, warm_folder_of
from numba_gpucore.selftest.report import DEFAULT_CASES, run_selftest
from numba_gpucore.warm.archive import CacheFile, CarryReport, export_entries, import_entries, read_files
from numba_gpucore.warm.compile_modules import (
    NOTHING_TO_COMPILE,
    ArchChoice,
    WarmReport,
    describe_failure,
    faults_of_archs,
    import_users_module,
    kernels_of,
    parse_task,
    requests_of,
    run_tasks,
)
from numba_gpucore.warm.progress import ProgressBar
from numba_gpucore.warm.workload import count_workload, run_workload


class CommandError(Exception):
    """What was asked for cannot be done; the text says why."""


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command line of the package `program`; its exit status. Raises SystemExit on wrong usage."""
    options = _make_parser(program).parse_args(arguments)
    try:
        settings = Settings.from_environment()
        cache = DiskCache(settings.cache_folder, settings.cache_max_nbytes, trusted=settings.trusts_cache)
        with warnings.catch_warnings():
            # What the cache does not take is told by the command.
            warnings.simplefilter("ignore", CacheWarning)
            status: int = options.run(cache, options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # As in `cache list | head`. Python would complain once more when it closes the file (docs: note on SIGPIPE).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, GpuError, CommandError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    return status


def _make_parser(program: str) -> argparse.ArgumentParser:
    target = import_module(f"{program}.target").TARGET
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}",
        description=(import_module(program).__doc__ or "").partition("\n")[0],
        epilog=f"Environment: {target.device_variable} (auto, {', '.join(target.backends)}) chooses the device; "
        "NUMBA_CACHE_DIR is the folder of compiled kernels, which are kept without `cache=True` where it is set. "
        "Exit status: 0; 1 where something is wrong; 2 for wrong usage.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    selftest = _add(commands, "selftest", "run kernels on this machine's device and compare with NumPy")
    selftest.add_argument("--cases", default=DEFAULT_CASES, metavar="MODULE", help="a module with all_cases()")
    report = Path(f"{program}_selftest.json")
    selftest.add_argument("--json", type=Path, default=report, metavar="FILE", help=f"where details go, else {report}")
    selftest.set_defaults(run=_selftest, program=program)
    # command_line has taken it: what follows belongs to another program.
    _add(commands, "run", "run a numba.cuda program, unmodified, on this package")
    _add_cache_actions(_add(commands, "cache", "look after compiled kernels on disk"))
    warm = _add(
        commands,
        "warm",
        "compile kernels into the cache: declared signatures and lists `warm=[…]`",
        "What is there already is left alone. The exit status is 1 where something cannot be compiled or kept.",
    )
    warm.add_argument(
        "modules",
        nargs="*",
        metavar="MODULE[:KERNEL]",
        type=_module_or_kernel,
        help="without any, what the first new kernel of a session needs is made ready",
    )
    _add_arch(warm, "compile for")
    warm.add_argument("--jobs", type=_job_count, default=usable_cores(), metavar="N", help="processes at a time")
    warm.set_defaults(run=_warm, program=program)
    return parser


def _add_cache_actions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    list_ = _add(actions, "list", "show what is in it")
    list_.add_argument("packages", nargs="*", metavar="PACKAGE", help="show what this package ships instead")
    list_.set_defaults(run=_list)
    _add(actions, "clear", "delete all that is in it").set_defaults(run=_clear)
    verify = _add(
        actions,
        "verify",
        "exit with 1 if a signature that `warm` compiles is not in the cache",
        "Nothing is compiled.",
    )
    verify.add_argument("modules", nargs="+", metavar="MODULE[:KERNEL]", type=_module_or_kernel)
    _add_arch(verify, "look for")
    verify.set_defaults(run=_verify)
    export = _add(actions, "export", "write all that is in it into a tar file")
    export.add_argument("file", type=Path, metavar="FILE")
    export.set_defaults(run=_export)
    import_ = _add(
        actions,
        "import",
        "take what is in a tar file that `export` wrote",
        "It is machine code, so take files only from those whose programs you would run.",
    )
    import_.add_argument("file", type=Path, metavar="FILE")
    import_.set_defaults(run=_import)


def _add(commands: Any, name: str, what: str, more: str = "") -> argparse.ArgumentParser:
    """A command, which tells in its own help too what it does."""
    description = f"{what[0].upper()}{what[1:]}. {more}".strip()
    added: argparse.ArgumentParser = commands.add_parser(name, help=what, description=description)
    return added


def _add_arch(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "--arch",
        action="append",
        default=[],
        metavar="ARCH",
        help=f"{verb} this architecture, such as sm_90, msl3.1, x86-64-v3 or apple-m1, instead of this machine's "
        "device; may be given several times; each is used for the kernels of those packages that know it",
    )


def _module_or_kernel(text: str) -> str:
    try:
        parse_task(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _job_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return int(text)


def _selftest(_cache: DiskCache, options: argparse.Namespace) -> int:
    if not hasattr(_import_named(options.cases), "all_cases"):
        raise CommandError(f"{options.cases} has no function all_cases()")
    return run_selftest(options.program, options.cases, options.json)


def _list(cache: DiskCache, options: argparse.Namespace) -> int:
    status = 0
    for one in map(_shipped_with, options.packages) if options.packages else (cache,):
        one.require_readable()
        one.require_trustworthy()
        for file in read_files(one, one.entries()):
            status |= _list_entry(file)
        status |= _list_overloads(one)
        n_files, nbytes = one.usage()
        print(f"{n_files} files, {nbytes} bytes in {one.folder}")
    return status


def _import_named(name: str) -> ModuleType:
    """A module that the user names. Raises CommandError."""
    try:
        return import_users_module(name)
    except Exception as error:  # whatever importing the user's module raises
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == name
        text = f"there is no package or module {name}" if is_missing else f"{name}: {describe_failure(error)}"
        raise CommandError(text) from error


def _shipped_with(package: str) -> DiskCache:
    _import_named(package)
    outermost = package_of(package)
    folder = "" if outermost is None else warm_folder_of(outermost)
    if not os.path.isdir(folder):
        raise CommandError(f"package {package} ships no compiled kernels")
    return DiskCache(folder, writable=False, trusted=True)


def _list_entry(file: CacheFile) -> int:
    """Print a line for an entry; 1 where it is damaged or not taken."""
    if file.objection:
        print(_line(file.used_s, file.nbytes, f"{file.name} {file.objection}"))
        return 1
    try:
        header = read_header(file.data)[0]
        key = json.loads(header["key"])
        what = f"{key['kernel_name']}({', '.join(key['signature'])})  {key['backend']} {key['arch']}"
        versions = _versions_text(header.get("made_with", ()))
        what += f"  made with {versions}" if versions else ""
        status = 0
    except (DamagedEntry, KeyError, TypeError, ValueError, RecursionError) as damage:
        what, status = f"{file.name} is damaged: {damage}", 1
    print(_line(file.used_s, file.nbytes, what))
    return status


def _list_overloads(cache: DiskCache) -> int:
    """Print a line for all implementations of Numba's functions that were made with the same versions, and one for each
    that is damaged or not taken; 1 if there are such."""
    alike: dict[str, list[tuple[float, int]]] = {}
    status = 0
    for file in read_files(cache, cache.overloads()):
        objection = file.objection
        try:
            if not objection:
                versions = _versions_text(versions_of_overload(file.name, file.data))
                alike.setdefault(versions, []).append((file.used_s, file.nbytes))
        except DamagedEntry as damage:
            objection = f"is damaged: {damage}"
        if objection:
            print(_line(file.used_s, file.nbytes, f"{file.name} {objection}"))
            status = 1
    for versions, files in alike.items():
        last_used_s, nbytes = max(used_s for used_s, _nbytes in files), sum(nbytes for _used_s, nbytes in files)
        what = f"{len(files)} implementations of Numba's functions  made with {versions}"
        print(_line(last_used_s, nbytes, what))
    return status


def _versions_text(versions: Sequence[Sequence[str]]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions)


def _line(used_s: float, nbytes: int, what: str) -> str:
    return f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(used_s))} {nbytes:>9} bytes  {what}"


def _clear(cache: DiskCache, _options: argparse.Namespace) -> int:
    cache.require_readable()
    n_deleted, errors = cache.clear()
    for error in errors:
        print(f"cannot be deleted: {error}", file=sys.stderr)
    print(f"deleted {n_deleted} entries of {cache.folder}")
    return 1 if errors else 0


def _verify(_cache: DiskCache, options: argparse.Namespace) -> int:
    """Look up what `warm` would compile. Compiles nothing."""
    default_session().defers_declared = True
    choice = ArchChoice(options.arch)
    n_found, n_missing, faults = 0, 0, []
    for task in (parse_task(text, options.arch) for text in options.modules):
        try:
            kernels = kernels_of(task.module, task.kernel)
        except Exception as error:  # whatever importing the user's module raises; the others go on
            faults.append(f"{task.name}: {describe_failure(error)}")
            continue
        found, misses, failures = _look_up(kernels, choice if task.archs else None)
        for miss in misses:
            print(f"miss: {task.module}:{miss}")
        n_found, n_missing = n_found + found, n_missing + len(misses)
        if not (found or misses or failures or any(kernel.types_to_warm() for kernel in kernels)):
            failures.append(NOTHING_TO_COMPILE)
        faults += [f"{task.name}: {failure}" for failure in dict.fromkeys(failures)]
    faults += [f"no kernel can be compiled for '{arch}': {objection}" for arch, objection in choice.objections]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{n_found} found, {n_missing} missing")
    return 1 if n_missing or faults else 0


def _look_up(kernels: Sequence[Kernel], choice: ArchChoice | None) -> tuple[int, list[str], list[str]]:
    """How many signatures are found, for each architecture (this device's without a choice); which are not, and why;
    and what is wrong with kernels of which that cannot be told."""
    n_found, misses, failures = 0, [], []
    for kernel in kernels:
        try:
            requests = requests_of(kernel, choice)
        except Exception as error:  # whatever is wrong with its signatures or device; the others go on
            failures.append(describe_failure(error))
            continue
        for types, request, backend in requests:
            reason = default_session().store.reason_to_compile(request, backend)
            if reason is None:
                n_found += 1
            else:
                signature = ", ".join(map(str, types))
                misses.append(f"{kernel.py_func.__qualname__}({signature}) for {request.arch}: {reason}")
    return n_found, misses, failures


def _export(cache: DiskCache, options: argparse.Namespace) -> int:
    report = export_entries(cache, options.file)
    return _tell_carried(report, "left out", f"wrote {report.n_carried} entries to {options.file}")


def _import(cache: DiskCache, options: argparse.Namespace) -> int:
    report = import_entries(cache, options.file)
    return _tell_carried(report, "refused", f"took {report.n_carried} entries into {cache.folder}")


def _tell_carried(report: CarryReport, refused: str, summary: str) -> int:
    for refusal in report.refusals:
        print(f"{refused}: {refusal}", file=sys.stderr)
    print(summary)
    return 1 if report.refusals else 0


def _warm(cache: DiskCache, options: argparse.Namespace) -> int:
    cache.require_writable()
    if not options.modules:
        if options.arch:
            raise CommandError("--arch needs a MODULE: without one, nothing is made for an architecture")
        return _warm_up(import_module(f"{options.program}.target").PLATFORM)
    tasks = [parse_task(text, options.arch) for text in dict.fromkeys(options.modules)]
    status, reports = 0, []
    with ProgressBar(len(tasks)) as bar, closing(run_tasks(tasks, options.jobs)) as running:
        for report in running:
            bar.advance()
            status |= _tell(report, bar)
            reports.append(report)
    faults = faults_of_archs(reports)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else status


def _warm_up(platform: Platform) -> int:
    with ProgressBar(count_workload(platform)) as bar:
        report = run_workload(platform, after_each=bar.advance)
    print(f"kernels of our own: {report.n_compiled} lowered, {report.n_known} known, {report.seconds:.1f} s")
    for reason in report.unkept:
        print(f"new kernels will be slower than they could be: {reason}", file=sys.stderr)
    return 1 if report.unkept else 0


def _tell(report: WarmReport, bar: ProgressBar) -> int:
    """Print what became of a task; 1 where something is wrong."""
    has_njit = report.n_njit_compiled + report.n_njit_known > 0
    njit = f"; @njit: {report.n_njit_compiled} compiled, {report.n_njit_known} known" if has_njit else ""
    if report.n_compiled or report.n_known or njit or not report.failures:
        counts = f"{report.n_compiled} compiled, {report.n_known} known{njit}"
        bar.print(f"{report.name}: {counts}, {report.seconds:.1f} s")
    for failure in report.failures:
        bar.print(f"{report.name}: {failure}", sys.stderr)
    for reason, count in Counter(report.unkept).items():
        bar.print(f"{count} of them will be compiled again: {reason}", sys.stderr)
    return 1 if report.failures or report.unkept else 0
