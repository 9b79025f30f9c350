"""The service's application: its paths, and the answers to them."""

from collections.abc import Sequence
from typing import Any

import msgspec
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from streamlin.config import RunConfig
from streamlin.monitoring.prometheus.routes import PATHS as MONITORING_PATHS
from streamlin.service.accepting import Acceptance
from streamlin.service.bodies import Bodies, Example, Text
from streamlin.service.body import Body
from streamlin.service.label_page import PATHS as LABEL_PATHS
from streamlin.service.label_page import label_page
from streamlin.service.openapi import description
from streamlin.service.predicting import Predictor
from streamlin.service.problems import Refused, problem
from streamlin.service.sentences import Sentence, TaggedSentence
from streamlin.service.wanted import WantedLabels

POSTS = ("/predict", "/learn")
PATHS = (*POSTS, "/labels-wanted", *LABEL_PATHS, *MONITORING_PATHS, "/openapi.json")
_BOOL = TypeAdapter(bool)


def make_app(
    config: RunConfig,
    predictor: Predictor[Any],
    acceptance: Acceptance,
    wanted: WantedLabels,
    monitoring_routes: Sequence[Route],
) -> Starlette:
    """The application. It expects requests whose body is checked for its type and size."""
    models: tuple[type[Body], type[Body]] = (Sentence, TaggedSentence) if config.task == "tagging" else (Text, Example)
    texts, examples = (Bodies(model, config.serve.max_batch, config) for model in models)
    document = msgspec.json.encode(description(texts, examples, config))

    async def predict(request: Request) -> Response:
        bodies, are_many = texts.read(await request.body())
        if _is_true(request.query_params.get("await_label", "false")):
            acceptance.check_labels_by_id()
            bodies = [body.named() for body in bodies]
            await acceptance.accept(bodies)
        predictions = await predictor.predict(bodies)
        return _answer(_encoded(predictions, are_many, config.serve.max_answer_bytes))

    async def learn(request: Request) -> Response:
        bodies, _ = examples.read(await request.body())
        if any(body.is_label for body in bodies):
            acceptance.check_labels_by_id()
        await acceptance.accept(bodies)
        return _answer(msgspec.json.encode({"accepted": len(bodies)}), 202)

    async def labels_wanted(request: Request) -> Response:
        given = request.query_params
        return _answer(await wanted.page(given.get("after", ""), given.get("limit", "")))

    async def openapi(_: Request) -> Response:
        return _answer(document)

    app = Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/learn", learn, methods=["POST"]),
            Route("/labels-wanted", labels_wanted),
            *label_page(),
            Route("/openapi.json", openapi),
            *monitoring_routes,
        ],
        exception_handlers={Refused: _refused, HTTPException: _not_found},
    )
    app.router.redirect_slashes = False
    return app


async def _refused(_: Request, error: Any) -> Response:
    answer: Response = error.answer
    return answer


async def _not_found(_: Request, error: Any) -> Response:
    """Unknown paths and methods."""
    reason = f"unknown path: expected {', '.join(PATHS)}" if error.status_code == 404 else error.detail
    return problem(error.status_code, reason, error.headers)


def _is_true(value: str) -> bool:
    try:
        return _BOOL.validate_python(value)
    except ValidationError:
        raise Refused(422, f"await_label: needs true or false, got {value!r:.60}") from None


def _answer(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


def _encoded(predictions: Sequence[Any], are_many: bool, most: int) -> bytes:
    """Predictions as JSON. Raises Refused if there is too much of it; not much more is ever held."""
    parts, size = list[bytes](), 0
    for prediction in predictions:
        parts.append(msgspec.json.encode(prediction))
        size += len(parts[-1])
        if size > most:
            raise Refused(422, f"the answer is over serve.max_answer_bytes = {most:,}: ask for fewer texts at a time")
    return b"[%s]" % b",".join(parts) if are_many else parts[0]
