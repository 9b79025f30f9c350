"""An external model: a model of another library among the learners, retired if it fails."""

import pickle
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import ExternalModelConfig, SklearnConfig, needs_pickle
from streamlin.errors import CheckpointError, ConfigError, GuestError
from streamlin.events import LabelIndex
from streamlin.external_models.adapter import Adapter, NotAClassifierError, described
from streamlin.external_models.answers import AnswerError, scores_of
from streamlin.external_models.importing import import_object, on_one_line
from streamlin.external_models.inputs import Inputs
from streamlin.external_models.river import River
from streamlin.external_models.scikit_learn import ScikitLearn
from streamlin.learners import Targets
from streamlin.storage.arrays import Expected, expected

_LEFT_OUT = {"position": "the start", "error": "left out (checkpoint.external_models)"}
Failure = Exception | SystemExit


class ExternalModel:
    """Tests, then trains, a model of another library, one event after the other.

    An external model that raises, or whose answer is not a prediction, is retired: it abstains from then on. Or the run
    stops, if so configured. Its state can only be pickled, and unpickling runs code, so the user has to allow that.

    Parameters
    ----------
    config : which model, and its options.
    bits : features are hashed to 2^bits buckets.
    left_out : do without it: nothing of it is imported, and it is retired.

    retired : position in the stream and error, JSON-able; None if it is not retired.
    notices : lines to show to the user.

    Raises
    ------
    ConfigError : the model can't be imported, is not a classifier, or should be pickled and can't be.
    """

    def __init__(self, config: ExternalModelConfig, bits: int, left_out: bool = False) -> None:
        self.name, self._config = config.name, config
        self.retired: dict[str, str] | None = dict(_LEFT_OUT) if left_out else None
        self.notices: list[str] = []
        self._reported = False
        """Whether a failure to predict, outside of learning, was reported."""
        if left_out:
            return
        self._adapter = _adapter(config, bits)
        if config.pickle:
            try:
                self._pickled()
            except Exception as error:
                raise ConfigError(f"learners.{self.name}.pickle: it can't be pickled: {on_one_line(error)}") from None

    def score_then_learn(
        self,
        inputs: Inputs,
        targets: Targets,
        labels: LabelIndex,
        scores: NDArray[np.float64],
        position: Callable[[int], str] | None,
    ) -> None:
        """Set scores float64[n, n_labels], event by event, each before its event is learned.

        The score is -inf for a label that is no candidate yet, and for all labels if the external model abstains.

        position : i -> the position of event i in its source. None: only predict; then nothing changes, and a failure
            is an abstention.

        Raises
        ------
        GuestError : it failed, and `on_error` is "stop".
        """
        scores[:] = -np.inf
        columns = (column.tolist() for column in targets)
        for i, (code, known, weight) in enumerate(zip(*columns, strict=True)):
            if self.retired is not None:
                return
            try:
                x = self._adapter.x_of(inputs, i)
                if known:
                    answer = scores_of(self._adapter.predict(x), labels, known)
                    scores[i, :known] = -np.inf if answer is None else answer
                line = self._adapter.learn(x, labels.names[code], weight) if code >= 0 else None
            except (Exception, SystemExit) as error:  # other people's code may raise anything
                if position is not None:
                    self._fail(error, position(i))
                elif not self._reported:
                    self._reported = True
                    self.notices.append(
                        f"{self.name} fails to predict: {self._reason(error)}; it abstains where it fails"
                    )
            else:
                if line is not None and position is not None:
                    self.notices.append(f"{self.name}, at {position(i)}: {line}")

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values; if it is retired, only that fact.

        Raises
        ------
        ConfigError : the configuration does not allow to pickle it.
        GuestError : it can't be pickled any more, and `on_error` is "stop".
        """
        if self.retired is None and not self._config.pickle:
            raise ConfigError(needs_pickle(self.name))
        arrays: dict[str, NDArray[Any]] = {}
        if self.retired is None:
            try:
                arrays["pickle"] = np.frombuffer(self._pickled(), np.uint8)
            except Exception as error:
                self._fail(error, "a checkpoint")
        return arrays, {"retired": self.retired} | (self._adapter.rest() | self._library() if arrays else {})

    def expected(self, rest: Mapping[str, Any] | None) -> dict[str, Expected]:
        """What the arrays of a `state` with this rest must be. Raises CheckpointError without a rest."""
        if rest is None:
            raise CheckpointError(f"the checkpoint's state has no external model {self.name}")
        return {"pickle": expected(np.uint8, None)} if rest["retired"] is None else {}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore what `state` returned; runs code in it.

        Raises
        ------
        CheckpointError : it can't be unpickled.
        """
        self.retired = rest["retired"] or self.retired
        if self.retired is not None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scikit-learn's about its version, which is told below
                self._adapter.restore(pickle.loads(arrays["pickle"].tobytes()), rest)
        except Exception as error:
            raise CheckpointError(
                f"learner {self.name} can't be restored from the checkpoint: {on_one_line(error)}"
            ) from None
        library, version = (self._library().get(key) for key in ("library", "version"))
        before = rest.get("version", version)
        if before != version and rest.get("library") == library:
            self.notices.append(
                f"{self.name} was saved with {library} {before} and is used with {version}: "
                "it may predict otherwise, or fail"
            )

    def _library(self) -> dict[str, str]:
        """The package that the model's class is from, and its version, as far as it tells."""
        library = type(self._adapter.model).__module__.partition(".")[0]
        version = getattr(sys.modules.get(library), "__version__", None)
        return {"library": library} | ({} if version is None else {"version": str(version)})

    def _pickled(self) -> bytes:
        return pickle.dumps(self._adapter.model, pickle.HIGHEST_PROTOCOL)

    def _reason(self, error: Failure) -> str:
        """The error as a line: its type, and its text if it can't quote an event or the configuration allows that."""
        if isinstance(error, AnswerError):
            return str(error)
        return on_one_line(error) if self._config.show_errors else type(error).__name__

    def _fail(self, error: Failure, position: str) -> None:
        """Retire it. Raises GuestError if `on_error` is "stop"."""
        reason = self._reason(error)
        if self._config.on_error == "stop":
            raise GuestError(f"learner {self.name} failed at {position}: {reason}") from None
        self.retired = {"position": position, "error": reason}
        self.notices.append(f"{self.name} is retired, it failed at {position}: {reason}; it abstains from now on")


def _adapter(config: ExternalModelConfig, bits: int) -> Adapter:
    """The model as configured. Raises ConfigError."""
    key = f"learners.{config.name}.object"
    factory = import_object(key, config.object)
    if not callable(factory):
        raise ConfigError(f"{key}: {config.object} should be callable, is {described(factory)}")
    make = partial(factory, **config.arguments)
    view = config.features if config.input == "features" else None
    try:
        if isinstance(config, SklearnConfig):
            return ScikitLearn(make, view, min(bits, config.bits), config.classes)
        return River(make, view)
    except NotAClassifierError as error:
        raise ConfigError(f"{key}: {config.object} {error}") from None
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        raise ConfigError(f"{key}: {config.object} failed: {on_one_line(error)}") from None
