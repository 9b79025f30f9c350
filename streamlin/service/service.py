"""The service: the checkpoint, the run that learns, and the server that answers."""

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import uvloop
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamlin.checkpoint.file import CURRENT, PREVIOUS
from streamlin.checkpoint.layout import read_state
from streamlin.checkpoint.loading import config_of, refuse_pickled
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.config.loading import checked
from streamlin.errors import CheckpointError
from streamlin.formats.json import JsonFormat
from streamlin.monitoring.guard import HostCheck
from streamlin.monitoring.listener import Listener, listen
from streamlin.monitoring.prometheus.routes import routes
from streamlin.monitoring.prometheus.watcher import Metrics
from streamlin.monitoring.server import Server, ServerOptions
from streamlin.running.loop import Run
from streamlin.running.warming import warm_up
from streamlin.running.watching import RunView, Watcher
from streamlin.service.accepting import Acceptance
from streamlin.service.app import PATHS, POSTS, make_app
from streamlin.service.authorization import TokenCheck
from streamlin.service.intake import Intake
from streamlin.service.journal import Journal
from streamlin.service.overload import Overload
from streamlin.service.predicting import Predictor, TextPredictor
from streamlin.service.problems import problem
from streamlin.service.source import PART, JournalSource
from streamlin.service.traffic import RequestMetrics, Traffic
from streamlin.service.wanted import WantedLabels
from streamlin.streams.json_lines import json_lines

_TOGETHER = 50
"""Events that are learned in one go, in about a millisecond; predictions wait meanwhile. Changes no result."""
_LAST_SECONDS = 10
"""That running requests have to finish once the service stops."""


def configuration(folder: str, given: RunConfig, previous: bool = False, allow_pickle: bool = False) -> RunConfig:
    """The configuration of a service: the given tables, and otherwise those of the folder's checkpoint, if it has one.

    previous : use the checkpoint before the last.
    allow_pickle : unpickle external models that only the checkpoint names.

    Raises
    ------
    ConfigError : the tables do not fit together. CheckpointError : the checkpoint can't be used.
    """
    kept: dict[str, Any] = {}
    if previous or any((Path(folder) / name).exists() for name in (CURRENT, PREVIOUS)):
        found = config_of(read_state(Path(folder) / (PREVIOUS if previous else CURRENT)))
        if "task" in given.model_fields_set and given.task != found.task:
            difference = f"task: {json.dumps(found.task)} in the checkpoint, {json.dumps(given.task)} now"
            raise CheckpointError(f"the checkpoint in {folder} was made with a different configuration: {difference}")
        left_out = given.checkpoint.external_models == "leave_out"
        if not (allow_pickle or left_out or "learners" in given.model_fields_set):
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
    """Learns accepted events on the thread that calls `run`, and answers requests on other threads.

    The server starts once everything accepted before is learned, so that predictions never go back in time.

    Parameters
    ----------
    config : made by `configuration`.
    address : `[HOST:]PORT`.
    notice : shows the user a line; called on any thread.
    stop : when it is set, the service answers running requests, learns what it has accepted, saves, and ends.
    previous : start from the checkpoint before the last.

    Raises
    ------
    ConfigError, ConnectorError, CheckpointError : the address, the journal or the checkpoint can't be used.
    """

    def __init__(
        self,
        config: RunConfig,
        address: str,
        notice: Callable[[str], None],
        stop: threading.Event,
        previous: bool = False,
    ) -> None:
        self._config, self._stop, self._notice = config, stop, notice
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
            self._journal = Journal(Path(str(config.checkpoint.path)), position, mode=config.checkpoint.mode)
            self._open.callback(self._journal.close)
            self._source = JournalSource(self._journal, position, json_lines(config))
            self._run = Run(
                config,
                self,
                state=self._state,
                source=self._source,
                watchers=[self._metrics],
                previous=previous,
                pass_over=config.serve.pass_over,
            )
            self._open.callback(self._run.close)
            warm_up(config)
        except BaseException:
            self.close()
            raise

    def run(self) -> dict[str, Any]:
        """Serve until `stop` is set; returns the report. Raises StreamlinError as a run does."""
        try:
            return self._run.run()
        except KeyboardInterrupt:
            if self._server is not None:
                self._server.close(at_once=True)
            raise
        finally:
            if self._server is not None:
                self._server.close()

    def update(self, run: RunView) -> None:
        """Start the server when everything accepted before is learned, and stop it; on the thread that learns."""
        if self._stop.is_set():
            if self._server is None:
                self._journal.end()
            else:
                self._server.stop()  # which ends the journal
        elif self._server is None and self._source.learned == self._journal.lines:
            self._metrics.update(run)
            self._metrics.refresh(run)  # for a scrape before anything is learned
            self._server = self._serve()
            self._notice(f"the service is at {self._listener.url}{_openness(self._listener, self._token)}")

    def notice(self, line: str) -> None:
        """Show the user a line."""
        self._notice(line)

    def close(self) -> None:
        """Release all resources, once `run` has returned."""
        self._open.close()

    def _serve(self) -> Server:
        config = self._config
        predictor = _predictor(self._state, config, self._source.format)
        self._open.callback(predictor.close)
        acceptance = Acceptance(config, self._journal, self._source, self._state, self._run.admission)
        self._open.callback(acceptance.close)
        metrics = RequestMetrics()
        wanted, monitoring = WantedLabels(self._state, config), routes(self._metrics, *metrics.collectors)
        app: ASGIApp = make_app(config, predictor, acceptance, wanted, monitoring)
        app = Intake(app, POSTS, config.serve)
        app = Overload(app, config.serve.max_in_flight, metrics)
        app = HostCheck(TokenCheck(app, self._token), self._listener, problem, config.serve.hosts)
        app = Traffic(app, PATHS, metrics)
        options = ServerOptions(
            config.serve, _LAST_SECONDS, HttpToolsProtocol, uvloop.new_event_loop, problem, self._notice
        )
        return Server("streamlin-service", app, self._listener, options, ended=self._journal.end)


def _predictor(state: RunState, config: RunConfig, lines: JsonFormat) -> Predictor[Any]:
    if config.task == "classification":
        return TextPredictor(state, config)
    from streamlin.service.predicting_tags import SentencePredictor

    return SentencePredictor(state, config, lines)


def _openness(listener: Listener, token: str | None) -> str:
    """A warning for the user if the service is open to everybody."""
    return "" if listener.is_local or token else "; everybody who can reach this machine can predict and teach"
