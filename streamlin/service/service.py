"""A service from beginning to end: the checkpoint, the run that learns, and the server that answers."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from streamlin.checkpoint.file import CURRENT, PREVIOUS, load
from streamlin.checkpoint.loading import config_of, refuse_pickled
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.config.loading import checked
from streamlin.formats.json import json_lines
from streamlin.monitoring.listener import Listener, listen
from streamlin.monitoring.prometheus.answers import answers
from streamlin.monitoring.prometheus.watcher import Metrics
from streamlin.running.loop import Run
from streamlin.running.watching import RunView, Watcher
from streamlin.service.accepting import Acceptance
from streamlin.service.app import PATHS, POSTS, make_app
from streamlin.service.guard import Guard
from streamlin.service.intake import Intake
from streamlin.service.journal import Journal
from streamlin.service.overload import Overload
from streamlin.service.predicting import Predictor
from streamlin.service.server import Server
from streamlin.service.source import PART, JournalSource
from streamlin.service.traffic import Figures, Traffic
from streamlin.service.warming import warm_up

_TOGETHER = 50
"""Events learned together: what is predicted meanwhile waits for them, about a millisecond. Changes no result."""


def configuration(folder: str, given: RunConfig, previous: bool = False, allow_pickle: bool = False) -> RunConfig:
    """What a service of a folder goes by: the tables that are given, else those of the checkpoint, if there is one.

    allow_pickle : external models that only the checkpoint names may be unpickled.

    Raises
    ------
    ConfigError : they do not go together. CheckpointError : there is a checkpoint that can't be used.
    """
    kept: dict[str, Any] = {}
    if previous or any((Path(folder) / name).exists() for name in (CURRENT, PREVIOUS)):
        found = config_of(load(folder, previous)[1])
        if not allow_pickle and "learners" not in given.model_fields_set:
            refuse_pickled(found)
        kept = {name: getattr(found, name) for name in found.model_fields_set}
    config = checked(kept | {name: getattr(given, name) for name in given.model_fields_set})
    together = min(config.pipeline.batch_size, _TOGETHER)
    return config.model_copy(
        update={
            "checkpoint": config.checkpoint.model_copy(update={"path": folder}),
            "pipeline": config.pipeline.model_copy(update={"batch_size": together, "threads": 1}),
        }
    )


class Service(Watcher):
    """Learns what is accepted, on the thread that calls `run`, and answers on others.

    Requests are let in once all is learned that was accepted before the start: what is predicted is never older than
    what was predicted before.

    Parameters
    ----------
    config : as `configuration` makes it. address : `[HOST:]PORT`. notice : shows the user a line, on any thread.
    stop : ends the service in good order when it is set, by any thread.
    previous : go on from the checkpoint before the last.

    Raises
    ------
    ConfigError, ConnectorError, CheckpointError : something can't be used.
    """

    def __init__(
        self,
        config: RunConfig,
        address: str,
        notice: Callable[[str], None],
        stop: threading.Event,
        previous: bool = False,
    ) -> None:
        self._config, self._stop, self._tell = config, stop, notice
        self._token = config.serve.needed_token()
        self._server: Server | None = None
        self._metrics = Metrics()
        self._open = ExitStack()
        try:
            self._listener = listen("serve", address)
            self._open.callback(self._listener.socket.close)
            self._state = RunState(config, previous)
            self._open.callback(self._state.close)
            position = self._state.positions.get(PART, {}).get(PART)
            self._journal = Journal(Path(str(config.checkpoint.path)), position)
            self._open.callback(self._journal.close)
            self._source = JournalSource(self._journal, position, json_lines(config))
            self._run = Run(
                config, self, state=self._state, source=self._source, watchers=[self._metrics], previous=previous
            )
            self._open.callback(self._run.close)
            warm_up(config)
        except BaseException:
            self.close()
            raise

    def run(self) -> dict[str, Any]:
        """Serve until `stop` is set; the report. Raises StreamlinError as a run does."""
        try:
            return self._run.run()
        finally:
            self._stop.set()
            if self._server is not None:
                self._server.close()

    def update(self, run: RunView) -> None:
        """Begin to serve when the time has come; on the thread that learns."""
        if self._server is not None or self._journal.ended:
            return
        if self._stop.is_set():
            self._journal.end()
        elif self._source.taken == self._journal.lines:
            self._metrics.update(run)
            self._metrics.take(run)  # for who asks before anything is learned
            self._server = self._serve()
            told = f"the service is at {self._listener.url}{_openness(self._listener, self._token)}"
            self._tell(told)

    def notice(self, line: str) -> None:
        """Show the user a line."""
        self._tell(line)

    def close(self) -> None:
        """Let go of everything; once `run` has ended."""
        self._open.close()

    def _serve(self) -> Server:
        config = self._config
        predictor = Predictor(self._state, config)
        self._open.callback(predictor.close)
        acceptance = Acceptance(config, self._journal, self._source, self._state)
        self._open.callback(acceptance.close)
        figures = Figures()
        app = make_app(config, predictor, acceptance, answers(self._metrics, *figures.collectors))
        taken_in = Intake(Overload(app, config.serve.max_in_flight, figures), POSTS, config.serve.max_body_bytes)
        measured = Traffic(Guard(taken_in, self._listener, self._token), PATHS, figures)
        return Server(measured, self._listener, self._stop, self._journal.end)


def _openness(listener: Listener, token: str | None) -> str:
    """What a person should know of who may ask."""
    return "" if listener.is_local or token else "; everybody who reaches this machine can predict and teach"
