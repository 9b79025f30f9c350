"""Runs over topics of listeners with each kind of security, and how soon a wrong setting is reported.

kafka-python is configured by a file, confluent-kafka by the environment.
"""

import json
import subprocess
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integration.kafka.broker import create_topic, produce, read_all
from tests.integration.kafka.clients import with_both
from tests.integration.kafka.conftest import Secure
from tests.integration.kafka.readers import token
from tests.integration.processes import Done, refused_by_process, streamlin

QUICK = ("--learner", "naive_bayes", "--set", "features.words.ngrams=[1, 1]")
EVENTS = 5
PROVIDERS = """
import time
def valid(): return {valid!r}, time.time() + 600
def expired(): return {expired!r}, time.time() + 600
def failing(): raise OSError("the vault is closed")
def wrong(): return "a token", "tomorrow"
"""
Settings = Mapping[str, object]
_NUMBERS = count()


class Door(NamedTuple):
    """A listener, and the table [kafka] that it accepts."""

    listener: str
    settings: Settings

    def but(self, **settings: object) -> "Door":
        """Other settings; None: without."""
        changed = {key: value for key, value in {**self.settings, **settings}.items() if value is not None}
        return self._replace(settings=changed)


def sasl(secure: Secure, mechanism: str, listener: str = "SASL_PLAINTEXT") -> Door:
    settings = {"security_protocol": listener, "sasl_mechanism": mechanism}
    if mechanism == "OAUTHBEARER":
        return Door(listener, settings | {"sasl_token_provider": "valid"})
    return Door(listener, settings | {"sasl_username": secure.user, "sasl_password": secure.password})


def tls(secure: Secure) -> Door:
    return Door("SSL", {"security_protocol": "SSL", "ssl_ca_file": str(secure.authority)})


def mutual_tls(secure: Secure) -> Door:
    own = {"ssl_certificate_file": str(secure.client.certificate), "ssl_key_file": str(secure.client.key)}
    return tls(secure).but(**own)._replace(listener="MUTUAL_SSL")


def locked_key(secure: Secure) -> Door:
    """The client's key is encrypted itself."""
    key = secure.client.key.with_suffix(".locked")
    if not key.exists():
        command = ["openssl", "pkcs8", "-topk8", "-in", secure.client.key, "-out", key, "-passout"]
        subprocess.run([*command, f"pass:{secure.password}"], check=True, capture_output=True)
    return mutual_tls(secure).but(ssl_key_file=str(key), ssl_key_password=secure.password)


DOORS: dict[str, Any] = {
    "plain": lambda secure: sasl(secure, "PLAIN"),
    "scram-256": lambda secure: sasl(secure, "SCRAM-SHA-256"),
    "scram-512": lambda secure: sasl(secure, "SCRAM-SHA-512"),
    "token": lambda secure: sasl(secure, "OAUTHBEARER"),
    "tls": tls,
    "mutual-tls": mutual_tls,
    "locked-key": locked_key,
    "scram-tls": lambda secure: sasl(secure, "SCRAM-SHA-512", "SASL_SSL").but(ssl_ca_file=str(secure.authority)),
}


@pytest.fixture(scope="module")
def packages(secure_broker: Secure, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed distribution that provides tokens."""
    folder = tmp_path_factory.mktemp("packages")
    tokens = {name: token(secure_broker.user, time.time() + age) for name, age in (("valid", 600), ("expired", -600))}
    (folder / "providers.py").write_text(PROVIDERS.format(**tokens))
    info = folder / "tokens-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tokens\nVersion: 1\n")
    names = ("valid", "expired", "failing", "wrong")
    lines = [f"{name} = providers:{name}" for name in names] + ["missing = providers:missing"]
    (info / "entry_points.txt").write_text("\n".join(["[streamlin.kafka_tokens]", *lines]))
    return folder


class Runs:
    """Runs against the secure broker, of one client."""

    def __init__(self, secure: Secure, packages: Path, folder: Path, client: str) -> None:
        self.secure, self.client = secure, client
        self._packages, self.folder = packages, folder / client
        self.folder.mkdir()

    def topic(self, events: int = 0) -> str:
        """A new one, with so many events."""
        name, address = f"secure-{next(_NUMBERS)}", self.secure.broker.address
        create_topic(address, name)
        produce(address, name, [(None, b'{"id": "%d", "text": "word", "label": "x"}' % i) for i in range(events)])
        return name

    def url(self, door: Door, topic: str, **options: object) -> str:
        query = "&".join(f"{name}={value}" for name, value in ({"client": self.client} | options).items())
        return f"kafka://{self.secure.broker.address_of(door.listener)}/{topic}?{query}"

    def configured(self, door: Door) -> tuple[tuple[object, ...], dict[str, str]]:
        """A door's settings: arguments of a command, and its environment."""
        settings, env = dict(door.settings), {"PYTHONPATH": str(self._packages)}
        if self.client == "confluent":
            return (), env | {f"STREAMLIN_KAFKA__{key.upper()}": str(value) for key, value in settings.items()}
        secret, file = (self.folder / f"{next(_NUMBERS)}.{suffix}" for suffix in ("secret", "toml"))
        for key in {"sasl_password", "ssl_key_password"} & settings.keys():
            secret.write_text(f"{settings.pop(key)}\n")
            settings[f"{key}_file"] = str(secret)
        file.write_text("\n".join(["[kafka]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]))
        return ("--config", file), env

    def run(self, door: Door, *command: object, code: int = 0) -> Done:
        """A command with the settings of a door."""
        config, env = self.configured(door)
        done = streamlin(*command, *config, code=code, env=env, fresh=False)
        self.assert_kept_secret(done.out + done.err)
        return done

    def shut(self, door: Door, code: int = 3, sink: bool = False) -> str:
        """The one line of a run that a listener refuses, as a source or as a sink."""
        url = self.url(door, self.topic())
        ends = ("synthetic://?events=5", "--predictions", url) if sink else (url,)
        config, env = self.configured(door)
        said = refused_by_process("run", *ends, *QUICK, *config, code=code, env=env, fresh=False)
        self.assert_kept_secret(said)
        return said

    def assert_kept_secret(self, text: str) -> None:
        for secret in (self.secure.password, "queen of hearts", "eyJ"):  # as tokens begin
            assert secret not in text


@pytest.fixture
def in_runs(secure_broker: Secure, packages: Path, tmp_path: Path) -> Any:
    """Calls a function with the runs of each client, at once."""
    return lambda check: with_both(lambda client: check(Runs(secure_broker, packages, tmp_path, client)))


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_the_right_settings_open_a_door(door: Any, in_runs: Any) -> None:
    """For the source and for the sink, without a message."""

    def check(runs: Runs) -> None:
        right, output = door(runs.secure), runs.topic()
        source, sink = runs.url(right, runs.topic(EVENTS), stop="end", group="readers"), runs.url(right, output)
        done = runs.run(right, "run", source, *QUICK, "--predictions", sink)
        assert done.err == ""
        found = [json.loads(record.value or b"")["id"] for record in read_all(runs.secure.broker.address, output)]
        assert found == [str(i) for i in range(EVENTS)]

    in_runs(check)


def test_secrets_are_kept(in_runs: Any) -> None:
    """No file that a run leaves contains them, nor the output of `inspect`; `predict` needs them too."""

    def check(runs: Runs) -> None:
        door = sasl(runs.secure, "SCRAM-SHA-256", "SASL_SSL").but(ssl_ca_file=str(runs.secure.authority))
        source, output = runs.url(door, runs.topic(EVENTS), stop="end"), runs.url(door, runs.topic())
        left = runs.folder / "left"
        left.mkdir()
        state, files = left / "state", ("--report", left / "report.json", "--dead-letters", left / "dead.jsonl")
        runs.run(door, "run", source, *QUICK, "--predictions", output, "--checkpoint", state, *files)
        for path in left.rglob("*"):
            if path.is_file():
                runs.assert_kept_secret(path.read_bytes().decode(errors="replace"))
        runs.assert_kept_secret(streamlin("inspect", state, "--json").out)
        assert len(runs.run(door, "predict", state, source).lines) == EVENTS
        wrong = door.but(sasl_password="queen of hearts")
        assert " refuse: " in runs.run(wrong, "predict", state, source, code=3).err

    in_runs(check)


def test_a_wrong_password_ends_a_run_at_once(in_runs: Any) -> None:
    """However patient it is otherwise."""

    def check(runs: Runs) -> None:
        for mechanism, listener, sink in (("PLAIN", "SASL_PLAINTEXT", True), ("SCRAM-SHA-512", "SASL_SSL", False)):
            wrong = {"sasl_password": "queen of hearts", "connect_timeout": 600}
            trust = {"ssl_ca_file": str(runs.secure.authority) if listener == "SASL_SSL" else None}
            said = runs.shut(sasl(runs.secure, mechanism, listener).but(**wrong, **trust), sink=sink)
            address = runs.secure.broker.address_of(listener)
            assert said.startswith(f"the brokers at {address} refuse: Authentication failed")

    in_runs(check)


def test_an_untrusted_certificate_ends_a_run_at_once(in_runs: Any) -> None:
    """The broker's, or the client's: exit 3 at once."""

    def check(runs: Runs) -> None:
        stranger = runs.secure.stranger
        strange = {"ssl_certificate_file": str(stranger.certificate), "ssl_key_file": str(stranger.key)}
        mutual = mutual_tls(runs.secure).but(connect_timeout=600)
        for door, sink, word in (
            (tls(runs.secure).but(connect_timeout=600, ssl_ca_file=str(stranger.certificate)), False, "certificate"),
            (tls(runs.secure).but(connect_timeout=600, ssl_ca_file=None), True, "certificate"),
            (mutual.but(ssl_certificate_file=None, ssl_key_file=None), False, "alert"),
            (mutual.but(**strange), True, "alert"),
        ):
            said = runs.shut(door, sink=sink)
            assert said.startswith("the brokers at ")
            assert " refuse: " in said
            assert word in said

    in_runs(check)


def test_a_locked_key(in_runs: Any) -> None:
    """Without its password, with a wrong one, or without the key: exit 2; OpenSSL does not ask for it."""

    def check(runs: Runs) -> None:
        door = locked_key(runs.secure)
        for password in ("queen of hearts", None):
            said = runs.shut(door.but(ssl_key_password=password), code=2)
            assert said.startswith(
                f"kafka.ssl_key_file: {door.settings['ssl_key_file']} can't be used: it does not hold "
            )
        said = runs.shut(door.but(ssl_key_file="/nowhere"), code=2)
        assert said == "kafka.ssl_key_file: /nowhere can't be used: No such file or directory"

    in_runs(check)


def test_ssl_verify_false_accepts_any_certificate(in_runs: Any) -> None:
    """With ssl_verify=false any broker is trusted; the source and the sink warn of it."""

    def check(runs: Runs) -> None:
        door = tls(runs.secure).but(ssl_ca_file=str(runs.secure.stranger.certificate), ssl_verify=False)
        source, sink = runs.url(door, runs.topic(EVENTS), stop="end"), runs.url(door, runs.topic())
        warning = "streamlin: kafka.ssl_verify is false: the brokers' certificates are not checked\n"
        assert runs.run(door, "run", source, *QUICK).err == warning
        assert runs.run(door, "run", "synthetic://?events=5", *QUICK, "--predictions", sink).err == warning

    in_runs(check)


@pytest.mark.parametrize(
    ("listener", "protocol"),
    [("SASL_PLAINTEXT", "PLAINTEXT"), ("SASL_SSL", "SASL_PLAINTEXT"), ("PLAINTEXT", "SSL")],
)
def test_a_wrong_protocol(listener: str, protocol: str, in_runs: Any) -> None:
    """The broker only hangs up, as one that is not ready: after `connect_timeout` the error names the setting."""

    def check(runs: Runs) -> None:
        kind = sasl(runs.secure, "PLAIN") if protocol.startswith("SASL") else tls(runs.secure)
        door = kind._replace(listener=listener).but(security_protocol=protocol, connect_timeout=1)
        address = runs.secure.broker.address_of(listener)
        said = f"the brokers at {address} don't answer; is kafka.security_protocol = {protocol} right?"
        assert runs.shut(door) == f"{said}; given up after 1 s (kafka.connect_timeout)"

    in_runs(check)


def test_a_user_name_for_a_broker_without_passwords(in_runs: Any) -> None:
    """The broker refuses it: exit 3 at once."""

    def check(runs: Runs) -> None:
        door = sasl(runs.secure, "PLAIN")._replace(listener="PLAINTEXT").but(connect_timeout=600)
        assert "current SASL state" in runs.shut(door)

    in_runs(check)


def test_token_providers(in_runs: Any) -> None:
    """One that can't be loaded is exit 2; one that gives no token, or one that has expired, exit 3."""

    def check(runs: Runs) -> None:
        def shut(name: str, code: int) -> str:
            return runs.shut(sasl(runs.secure, "OAUTHBEARER").but(sasl_token_provider=name, connect_timeout=600), code)

        key = "kafka.sasl_token_provider"
        assert shut("missing", 2).startswith(f"{key}: providers:missing can't be loaded: ")
        assert shut("failing", 3) == f"{key}: failing gives no token: the vault is closed"
        assert shut("wrong", 3) == f"{key}: wrong must return a string and the time at which it expires"
        assert " refuse: " in shut("expired", 3)

    in_runs(check)
