"""An external model: a model of another library among the learners, on the same terms, and sent home if it fails."""

import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import ExternalModelConfig, SklearnConfig, needs_pickle
from streamlin.errors import CheckpointError, ConfigError, GuestError
from streamlin.events import LabelIndex
from streamlin.external_models.adapter import Adapter, NoClassifierError, described
from streamlin.external_models.answers import scores_of
from streamlin.external_models.importing import imported, told
from streamlin.external_models.inputs import Inputs
from streamlin.external_models.river import River
from streamlin.external_models.scikit_learn import ScikitLearn
from streamlin.learners import Targets

Failure = Exception | SystemExit


class ExternalModel:
    """Tests, then trains, a model of another library, one event after the other.

    An external model that raises, or whose answer is no prediction, is retired: it abstains from then on. Or the run
    stops, as configured. Its state can only be pickled, and unpickling runs code, so that is for its user to allow.

    Parameters
    ----------
    config : which model, and how.
    bits : there are 2^bits buckets of features.

    retired : where in the stream and why, JSON-able; None: it is not.
    news : lines to be told.

    Raises
    ------
    ConfigError : there is no such model, it is no classifier, or it is to be pickled and can't be.
    """

    def __init__(self, config: ExternalModelConfig, bits: int) -> None:
        self.name, self._config = config.name, config
        self.retired: dict[str, str] | None = None
        self.news: list[str] = []
        self._told = False
        """Whether it was told that it fails where it is only asked."""
        self._adapter = _adapter(config, bits)
        if config.pickle:
            try:
                self._pickled()
            except Exception as error:
                raise ConfigError(f"learners.{self.name}.pickle: it can't be pickled: {told(error)}") from None

    def score_then_learn(
        self,
        inputs: Inputs,
        targets: Targets,
        labels: LabelIndex,
        scores: NDArray[np.float64],
        position: Callable[[int], str] | None,
    ) -> None:
        """Set scores float64[n, n_labels], event by event, each before its event was learned.

        -inf for a label that is no candidate yet, and for all of them where the external model abstains.
        position : what the i-th event's place in its source is called. None: the model is only asked; then
            nothing may change, and a failure is an abstention.

        Raises
        ------
        GuestError : it failed, and that is to stop the run.
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
            except (Exception, SystemExit) as error:  # whatever it likes
                if position is not None:
                    self._fail(error, position(i))
                elif not self._told:
                    self._told = True
                    self.news.append(f"{self.name} fails to predict: {told(error)}; it abstains where it does")
            else:
                if line is not None and position is not None:
                    self.news.append(f"{self.name}, at {position(i)}: {line}")

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values; of an external model that is retired, only that.

        Raises
        ------
        ConfigError : nobody has allowed to pickle it.
        GuestError : it can't be pickled any more, and that is to stop the run.
        """
        if self.retired is None and not self._config.pickle:
            raise ConfigError(needs_pickle(self.name))
        arrays: dict[str, NDArray[Any]] = {}
        if self.retired is None:
            try:
                arrays["pickle"] = np.frombuffer(self._pickled(), np.uint8)
            except Exception as error:
                self._fail(error, "a checkpoint")
        return arrays, {"retired": self.retired} | (self._adapter.rest() if arrays else {})

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take what `state` gave; runs code that is in it.

        Raises
        ------
        CheckpointError : it can't be unpickled.
        """
        self.retired = rest["retired"]
        if self.retired is not None:
            return
        try:
            self._adapter.restore(pickle.loads(arrays["pickle"].tobytes()), rest)
        except Exception as error:
            raise CheckpointError(f"learner {self.name} can't be taken from the checkpoint: {told(error)}") from None

    def _pickled(self) -> bytes:
        return pickle.dumps(self._adapter.model, pickle.HIGHEST_PROTOCOL)

    def _fail(self, error: Failure, position: str) -> None:
        """It is retired. Raises GuestError where that is to stop the run."""
        if self._config.on_error == "stop":
            raise GuestError(f"learner {self.name} failed at {position}: {told(error)}") from None
        self.retired = {"position": position, "error": told(error)}
        self.news.append(f"{self.name} is retired, it failed at {position}: {told(error)}; it abstains from now on")


def _adapter(config: ExternalModelConfig, bits: int) -> Adapter:
    """The model, made; raises ConfigError."""
    key = f"learners.{config.name}.object"
    factory = imported(key, config.object)
    if not callable(factory):
        raise ConfigError(f"{key}: {config.object} needs to be callable, is {described(factory)}")
    make = partial(factory, **config.arguments)
    view = config.features if config.input == "features" else None
    try:
        if isinstance(config, SklearnConfig):
            return ScikitLearn(make, view, min(bits, config.bits), config.classes)
        return River(make, view)
    except NoClassifierError as error:
        raise ConfigError(f"{key}: {config.object} {error}") from None
    except (Exception, SystemExit) as error:  # whatever a foreign factory raises
        raise ConfigError(f"{key}: {config.object} failed: {told(error)}") from None
