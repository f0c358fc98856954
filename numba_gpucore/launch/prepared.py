"""One row of a kernel's table: how launches with certain argument types go. Before: Kernel. After: Device.launch."""

from __future__ import annotations

from typing import Any

from numba_gpucore.base.backend import Device, LaunchConfig, Program
from numba_gpucore.base.errors import DeviceError
from numba_gpucore.launch import advice
from numba_gpucore.launch.configure import KernelNeeds, Shape, check_configuration
from numba_gpucore.launch.marshal import Packer
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.staging import Staging
from numba_gpucore.launch.streams import Stream

#: Launch shapes remembered for one row; a program that uses more pays the check again.
_MAX_KNOWN_SHAPES = 1024


class PreparedLaunch:
    """All that is known of a kernel's launches for a device and a combination of argument types.

    only_shape: the launch configuration that the program is for; None: any.
    """

    __slots__ = (
        "_device",
        "_ends_in_launch",
        "_needs",
        "_pack",
        "_packer",
        "_program",
        "_warns",
        "configs",
        "only_shape",
    )

    def __init__(self, device: Device, program: Program, packer: Packer, needs: KernelNeeds, warns: bool):
        self._device = device
        self._program = program
        self._packer = packer
        self._pack = packer.pack
        self._needs = needs
        self._warns = warns
        self._ends_in_launch = device.uses_host_memory
        self.configs: dict[Shape, LaunchConfig] = {}
        self.only_shape: Shape | None = None

    def check(self, shape: Shape) -> LaunchConfig | None:
        """The checked configuration, remembered; None where another program is needed for it. Raises LaunchError."""
        if self.only_shape is not None and shape != self.only_shape:
            return None
        config = check_configuration(shape, self._device, self._needs)
        if len(self.configs) >= _MAX_KNOWN_SHAPES:
            self.configs.clear()
        self.configs[shape] = config
        return config

    def run(self, config: LaunchConfig, stream: Stream | None, args: tuple[Any, ...]) -> None:
        if self._warns:
            advice.warn_about_copies(self._device, default_session().settings.warns_of_copies)
        if self._packer.needs_staging:
            self._run_staged(config, stream, args)
            return
        device = self._device
        queue = None if stream is None else stream.queue
        if queue is None and self._ends_in_launch:
            device.launch(self._program, config, self._pack(args, None), queue)
            default_session().raise_pending(device)
            return
        on = stream or default_session().default_stream(device)
        params = self._pack(args, None)
        held = on.hold(args, is_given=False)  # before the launch: Ctrl-C may come right behind it
        try:
            device.launch(self._program, config, params, queue)
        finally:
            held.is_given = True
        if self._packer.touches_host:
            on.synchronize()

    def _run_staged(self, config: LaunchConfig, stream: Stream | None, args: tuple[Any, ...]) -> None:
        queue = None if stream is None else stream.queue
        staging = Staging(self._device, queue)
        params = self._pack(args, staging)
        on = stream or default_session().default_stream(self._device)
        held = on.hold(staging, is_given=False)
        try:
            self._device.launch(self._program, config, params, queue)
            staging.download()
        except BaseException as error:  # Ctrl-C, or what a handler of signals raises: the launch may go on
            held.is_given = True
            if isinstance(error, DeviceError):
                on.raise_failure(error)
            raise
        on.let_go(held)
        default_session().raise_pending(self._device, queue)
