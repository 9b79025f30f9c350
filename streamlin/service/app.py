"""What can be asked: the paths, and how OpenAPI describes them."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from streamlin.config import RunConfig
from streamlin.monitoring.prometheus.answers import Answer
from streamlin.service.accepting import Acceptance
from streamlin.service.bodies import Bodies, Example, Text
from streamlin.service.predicting import Predictor
from streamlin.service.problems import Problem, Refused, problem
from streamlin.version import __version__

POSTS = ("/predict", "/learn")
PATHS = (*POSTS, "/metrics", "/healthz", "/readyz", "/openapi.json")
_TEXT = {"id": "42", "text": "You have won a prize"}
_PREDICTION = {"id": "42", "predicted": "spam", "confidence": 0.98, "learners": {"naive_bayes": "spam"}}
_BOOL = TypeAdapter(bool)
_SUMMARY = "Streaming text classification: predict a text, learn its label."
_TOLD: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}}},
    503: {"description": "Not well, or not yet", "content": {"text/plain": {}}},
}
_PROBLEMS = {
    400: "Not JSON, or not a request to this machine",
    401: "No token, or a wrong one",
    408: "The body did not come in time",
    409: "Not as the service is configured",
    413: "The body is too large",
    415: "Another type than application/json",
    422: "JSON that holds something else than it should",
    503: "Too much to do just now; try again after some seconds",
}


class Prediction(BaseModel):
    """What is predicted of a text; null where no label was learned yet."""

    id: str | None = Field(None, description="Left out where the text has none.")
    predicted: str | None = Field(description="By the learner that is the best so far.")
    confidence: float | None = Field(description="The same learner's probability of it.")
    learners: dict[str, str | None] = Field(description="What each learner says.")


class Accepted(BaseModel):
    """How many events will be learned: they are on disk."""

    accepted: int


def make_app(
    config: RunConfig, predictor: Predictor, acceptance: Acceptance, answers: Mapping[str, Callable[[str], Answer]]
) -> FastAPI:
    """The application.

    answers : by path, those of `/metrics`, `/healthz` and `/readyz`.
    """
    silent: Any = {"tracing": False, "metrics": False, "logs": False}  # it would look for OpenTelemetry at each request
    app = FastAPI(
        title="streamlin",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=silent,
    )
    app.router.route_class = _Raw
    definitions: dict[str, Any] = {}
    _add_predict(app, Bodies(Text, config.serve.max_batch, config), predictor, acceptance, definitions)
    _add_learn(app, Bodies(Example, config.serve.max_batch, config), acceptance, definitions)
    for path, summary in (
        ("/metrics", "Figures for Prometheus."),
        ("/healthz", "Whether learning goes on."),
        ("/readyz", "Whether what was accepted before the start is learned."),
    ):
        answer = _told(answers[path], waits=path == "/metrics")
        app.get(path, summary=summary, responses=_TOLD, response_class=PlainTextResponse)(answer)
        app.head(path, include_in_schema=False)(answer)
    app.openapi = lambda: _openapi(app, definitions)  # type: ignore[method-assign]  # FastAPI's own way

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return error.answer

    @app.exception_handler(HTTPException)
    async def not_there(_: Request, error: HTTPException) -> Response:
        reason = f"there is {', '.join(PATHS)}" if error.status_code == 404 else error.detail
        return problem(error.status_code, reason, error.headers)

    return app


def _add_predict(
    app: FastAPI, texts: Bodies[Text], predictor: Predictor, acceptance: Acceptance, definitions: dict[str, Any]
) -> None:
    @app.post(
        "/predict",
        summary="Predict a text, or several.",
        responses=_answering(Prediction | list[Prediction], "The prediction, or one for each text", _PREDICTION),
        openapi_extra=_body(texts.schema(definitions), _TEXT),
    )
    async def predict(request: Request, await_label: bool = False) -> Response:
        """By what has been learned so far; nothing is learned.

        With `await_label` the texts are put into the stream too: each is predicted once more when its turn comes, which
        is what is measured, and learned when its label comes by `/learn`. One without an id is given one.
        """
        bodies, are_many = texts.read(await request.body())
        if _is_true(request.query_params.get("await_label", "false")):
            acceptance.check_labels_by_id()
            bodies = [body.named() for body in bodies]
            await acceptance.accept(bodies)
        predictions = await predictor.predict(bodies)
        return _json(predictions if are_many else predictions[0])


def _add_learn(app: FastAPI, examples: Bodies[Example], acceptance: Acceptance, definitions: dict[str, Any]) -> None:
    @app.post(
        "/learn",
        status_code=202,
        summary="Learn a text's label, or those of several.",
        responses=_answering(Accepted, "The events are on disk and will be learned, in order", {"accepted": 1}, 202),
        openapi_extra=_body(examples.schema(definitions), _TEXT | {"label": "spam"}),
    )
    async def learn(request: Request) -> Response:
        """Each text is predicted when its turn comes, measured, then learned.

        Of an id and a label without a text, it is the text of that id which is learned.
        """
        bodies, _ = examples.read(await request.body())
        if any(body.is_label for body in bodies):
            acceptance.check_labels_by_id()
        await acceptance.accept(bodies)
        return _json({"accepted": len(bodies)}, 202)


class _Raw(APIRoute):
    """A path that looks at its request itself: to have parameters taken out and checked takes longer than to predict.

    Those of the function are for the description.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


def _is_true(value: str) -> bool:
    try:
        return _BOOL.validate_python(value)
    except ValidationError:
        raise Refused(422, f"await_label: needs true or false, got {value!r:.60}") from None


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _told(answer: Callable[[str], Answer], waits: bool) -> Callable[[Request], Any]:
    """Answers as Prometheus and health are answered; on a thread, where that may wait."""

    async def tell(request: Request) -> Response:
        accept = request.headers.get("accept", "")
        status, kind, body = await run_in_threadpool(answer, accept) if waits else answer(accept)
        return Response(body, status, {"Content-Type": kind})

    return tell


def _answering(model: Any, text: str, example: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The answers of a path that takes a body."""
    one = {"model": model, "description": text, "content": {"application/json": {"example": example}}}
    return {status: one, **{code: {"model": Problem, "description": why} for code, why in _PROBLEMS.items()}}


def _body(schema: Mapping[str, Any], example: dict[str, str]) -> dict[str, Any]:
    """The body of a path."""
    examples = {"one": {"value": example}, "several": {"value": [example, example | {"id": "43"}]}}
    content = {"application/json": {"schema": schema, "examples": examples}}
    return {"requestBody": {"required": True, "content": content}}


def _openapi(app: FastAPI, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The description of it all; made once."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes, summary=_SUMMARY)
        schema["components"]["schemas"] |= definitions
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{}, {"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema
