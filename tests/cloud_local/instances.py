"""Instances of the functions: processes behind the address of their function, which end and are replaced."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread

from anyio.from_thread import BlockingPortal, start_blocking_portal

from infra.emulators.process import attend, find_free_port
from infra.local.routing import ROOT, EntryPoint, load_entry_points
from infra.soak.faulty_link import FaultyLink, open_link
from tests.e2e.fork_server import ForkedProcess
from tests.infra.terraform.stack import build_command

STARTED_AT_ONCE = 4
CHURN_PERIOD_S = 5.0


@dataclass(kw_only=True)
class Service:
    """A function at its address, of which one instance serves at a time."""

    function: EntryPoint
    environment: Mapping[str, str]
    folder: Path
    link: FaultyLink
    count: int = 0
    _instance: AbstractContextManager[object] | None = None
    _lock: Lock = field(default_factory=Lock)

    def replace(self) -> None:
        """Start an instance, lead new connections to it, and end the one before by SIGTERM, as Cloud Run does.

        What was begun there has ten seconds to end; then it is killed.
        """
        with self._lock:
            port = find_free_port()
            started, ended = self._run(port), self._instance
            started.__enter__()
            self._instance, self.link.target_ports = started, [port]
            self.count += 1
            if ended:
                ended.__exit__(None, None, None)

    def stop(self) -> None:
        with self._lock:
            if self._instance:
                self._instance.__exit__(None, None, None)
            self._instance = None

    def _run(self, port: int) -> AbstractContextManager[object]:
        source = str(self.function.source.relative_to(ROOT))
        loaded = {
            "FUNCTION_TARGET": self.function.name, "FUNCTION_SOURCE": source, "PORT": str(port),
        }  # fmt: skip
        name = f"{self.function.name}-{self.count}" if self.count else self.function.name
        log = self.folder / f"{name}.log"
        return run_function({**self.environment, **loaded}, log=log)


@contextmanager
def run_function(
    environment: Mapping[str, str], *, log: Path, folder: Path = ROOT
) -> Iterator[None]:
    """Serve the function of an environment from the code in `folder`, by the command of its container.

    It starts by a fork, with nothing in its environment but what is given.
    """
    port = int(environment["PORT"])
    [program, *arguments] = build_command(port, environment["FUNCTION_TARGET"])
    command = ("-m", Path(program).name, *arguments)
    process = ForkedProcess(environment, log, command, folder=folder)
    with attend(process, port=port, log=log):
        yield


@contextmanager
def run_services(
    environments: Mapping[str, Mapping[str, str]], folder: Path
) -> Iterator[Mapping[str, Service]]:
    """Start an instance of every function, a few at a time; yield them by name, and end all on leaving."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        services = {
            function.name: stack.enter_context(
                _open_service(portal, function, environments[function.name], folder)
            )
            for function in load_entry_points()
        }
        with ThreadPoolExecutor(STARTED_AT_ONCE) as pool:
            list(pool.map(Service.replace, services.values()))
        yield services


@contextmanager
def _open_service(
    portal: BlockingPortal, function: EntryPoint, environment: Mapping[str, str], folder: Path
) -> Iterator[Service]:
    opening = open_link([], Random(0), None, port=int(environment["PORT"]))  # noqa: S311 - draws nothing
    with portal.wrap_async_context_manager(opening) as link:
        service = Service(function=function, environment=environment, folder=folder, link=link)
        try:
            yield service
        finally:
            service.stop()


@contextmanager
def run_churn(services: Mapping[str, Service], random: Random) -> Iterator[None]:
    """Replace the instance of one function after the other until the block is left."""
    stop = Event()

    def replace_until_stopped() -> None:
        while not stop.wait(CHURN_PERIOD_S):
            random.choice(list(services.values())).replace()

    thread = Thread(target=replace_until_stopped)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
