"""The table [kafka]: what must go together, where secrets come from, and that nothing shows them."""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.security import for_confluent, for_kafka_python
from streamlin.config import KafkaConfig, RunConfig
from streamlin.config.loading import load_config, load_kafka
from streamlin.errors import ConfigError
from streamlin.running.loop import Run
from tests.command_line import command_line, refused
from tests.integration.processes import with_less_rights
from tests.silent import Silent

SECRET = "hunter2"
VARIABLE = "STREAMLIN_KAFKA__SASL_PASSWORD"
SASL = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "sasl_username": "alice"}
GIVEN_OUT = "a secret comes from STREAMLIN_KAFKA__{0} in the environment, or from kafka.{1}_file"


def toml(folder: Path, **settings: object) -> Path:
    """A file with the table [kafka]."""
    path = folder / "run.toml"
    path.write_text("\n".join(["[kafka]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]))
    return path


def wrong(**places: Any) -> str:
    """What is said of a wrong configuration; a secret is not in it."""
    with pytest.raises(ConfigError) as raised:
        load_config(**{"environment": {}, **places})
    assert SECRET not in str(raised.value)
    return str(raised.value)


def test_defaults() -> None:
    """As it is without the table."""
    config = RunConfig().kafka
    assert config == KafkaConfig()
    assert (config.security_protocol, config.ssl_verify) == ("PLAINTEXT", True)
    assert (config.connect_timeout, config.give_up_after) == (30.0, 300.0)
    assert for_kafka_python(config.settings()) == {"security_protocol": "PLAINTEXT"}
    assert for_confluent(config.settings()) == {"security.protocol": "PLAINTEXT"}


def test_every_place(tmp_path: Path) -> None:
    """Flags win over the environment, that over the file; the password is in the environment alone."""
    file = toml(tmp_path, **SASL, connect_timeout=1, give_up_after=1)
    environment = {VARIABLE: SECRET, "STREAMLIN_KAFKA__GIVE_UP_AFTER": "2", "STREAMLIN_KAFKA__SASL_USERNAME": "bob"}
    config = load_config(file, sets=["kafka.sasl_username=carol"], environment=environment)
    settings = config.settings_of("kafka")
    assert {key: settings[key] for key in SASL} == SASL | {"sasl_username": "carol"}
    assert (settings["connect_timeout"], settings["give_up_after"]) == (1.0, 2.0)
    assert settings["sasl_password"] == SECRET
    assert config.settings_of("file") == {}


@pytest.mark.parametrize("password", ["12345", "true", "[1]", '"quoted"', "a=b", "ünïcode", " blanks "])
def test_a_password_is_taken_as_it_is(password: str) -> None:
    """Whatever TOML would make of it."""
    config = load_config(sets=[f"kafka.{key}={value}" for key, value in SASL.items()], environment={VARIABLE: password})
    assert config.settings_of("kafka")["sasl_password"] == password


@pytest.mark.parametrize("content", [f"{SECRET}", f"{SECRET}\n", f"{SECRET}\r\n", f"{SECRET}\nnot this\n"])
def test_a_password_in_a_file(content: str, tmp_path: Path) -> None:
    """Its first line, without the line's end."""
    (tmp_path / "password").write_bytes(content.encode())
    config = load_config(toml(tmp_path, **SASL, sasl_password_file=str(tmp_path / "password")), environment={})
    assert config.settings_of("kafka")["sasl_password"] == SECRET


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    """Which need not be there then."""
    file = toml(tmp_path, **SASL, sasl_password_file=str(tmp_path / "missing"))
    assert load_config(file, environment={VARIABLE: SECRET}).settings_of("kafka")["sasl_password"] == SECRET


def test_the_password_of_a_key(tmp_path: Path) -> None:
    """Comes from the same places."""
    (tmp_path / "password").write_text(SECRET)
    by_file = load_config(toml(tmp_path, ssl_key_password_file=str(tmp_path / "password")), environment={})
    by_environment = load_config(environment={"STREAMLIN_KAFKA__SSL_KEY_PASSWORD": SECRET})
    for config in (by_file, by_environment):
        assert config.settings_of("kafka")["ssl_key_password"] == SECRET


def test_nothing_shows_a_secret() -> None:
    """Neither the configuration as text, nor what a checkpoint keeps of it."""
    config = load_config(sets=[f"kafka.{key}={value}" for key, value in SASL.items()], environment={VARIABLE: SECRET})
    assert config.settings_of("kafka")["sasl_password"] == SECRET
    for shown in (repr(config), str(config), config.model_dump_json(), json.dumps(config.fingerprint())):
        assert SECRET not in shown
    assert "kafka" not in config.fingerprint()


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("security_protocol", "kafka.security_protocol: SCRAM-SHA-512 needs SASL_SSL or SASL_PLAINTEXT, got PLAINTEXT"),
        ("sasl_mechanism", "kafka.sasl_mechanism: SASL_SSL needs one, SCRAM-SHA-512 for example"),
        ("sasl_username", "kafka.sasl_username: SCRAM-SHA-512 needs one"),
        (
            "sasl_password",
            "kafka.sasl_password_file: SCRAM-SHA-512 needs it, or a password in STREAMLIN_KAFKA__SASL_PASSWORD",
        ),
    ],
)
def test_what_goes_together(without: str, said: str) -> None:
    """Without one of them the rest makes no sense."""
    environment = {f"STREAMLIN_KAFKA__{key.upper()}": value for key, value in SASL.items()} | {VARIABLE: SECRET}
    del environment[f"STREAMLIN_KAFKA__{without.upper()}"]
    assert wrong(environment=environment) == said


def test_an_empty_password_is_none() -> None:
    """A variable that was set to nothing."""
    environment = {f"STREAMLIN_KAFKA__{key.upper()}": value for key, value in SASL.items()} | {VARIABLE: ""}
    assert "SCRAM-SHA-512 needs it" in wrong(environment=environment)


def test_oauthbearer_needs_a_provider() -> None:
    """And no name."""
    sets = ["kafka.security_protocol=SASL_SSL", "kafka.sasl_mechanism=OAUTHBEARER"]
    assert wrong(sets=sets) == "kafka.sasl_token_provider: OAUTHBEARER needs the name of one"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("security_protocol=TLS", "kafka.security_protocol: input should be 'PLAINTEXT', 'SSL'"),
        ("sasl_mechanism=GSSAPI", "kafka.sasl_mechanism: input should be 'PLAIN', 'SCRAM-SHA-256'"),
        ("ssl_verify=maybe", "kafka.ssl_verify: input should be a valid boolean"),
        ("connect_timeout=0", "kafka.connect_timeout: input should be greater than 0, got 0"),
        ("give_up_after=never", "kafka.give_up_after: input should be a valid number"),
        ("sasl_user=alice", "kafka.sasl_user: unknown key; did you mean 'sasl_username'?"),
    ],
)
def test_wrong_values(text: str, said: str) -> None:
    """The key, and what would be right."""
    assert wrong(sets=[f"kafka.{text}"]).startswith(said)


@pytest.mark.parametrize("secret", ["sasl_password", "ssl_key_password"])
def test_a_secret_elsewhere_is_refused(secret: str, tmp_path: Path) -> None:
    """In a file, and on the command line however it is written."""
    said = f"kafka.{secret}: " + GIVEN_OUT.format(secret.upper(), secret)
    places: list[Mapping[str, Any]] = [
        {"file": toml(tmp_path, **{secret: SECRET})},
        {"sets": [f"kafka.{secret}={SECRET}"]},
        {"sets": [f'kafka.{secret} = "{SECRET}"']},
        {"sets": [f'kafka={{{secret}="{SECRET}"}}']},
        {"sets": [f"kafka.{secret}.x={SECRET}"]},
    ]
    assert [wrong(**place) for place in places] == [said] * len(places)


@pytest.mark.parametrize(
    "text",
    [
        f"kafka={SECRET}",
        f"kafka={{sasl_password={SECRET}}}",  # not TOML, so a text
        f'kafka=[{{sasl_password="{SECRET}"}}]',
    ],
)
def test_what_is_no_table_is_not_shown(text: str) -> None:
    """There may be a secret in it."""
    assert wrong(sets=[text]) == "kafka: expected a table, got '…'"
    name, _, value = text.partition("=")
    environment = {f"STREAMLIN_{name.upper()}": value}
    if not value.startswith("{"):
        assert wrong(environment=environment) == "kafka: expected a table, got '…' (from STREAMLIN_KAFKA)"


def test_a_secret_that_is_no_text_is_not_shown() -> None:
    """As where one more __ made a table of it."""
    said = wrong(environment={f"{VARIABLE}__X": SECRET})
    assert said == f"kafka.sasl_password: input should be a valid string, got '…' (from {VARIABLE}__X)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't be read: No such file or directory"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"", "has nothing in its first line"),
        (b"\nsecond line", "has nothing in its first line"),
    ],
)
@pytest.mark.parametrize("key", ["sasl_password_file", "ssl_key_password_file"])
def test_a_wrong_file_of_a_secret(key: str, content: bytes | None, said: str, tmp_path: Path) -> None:
    """The key, the file, what is wrong with it."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    config = load_config(sets=[f"kafka.{key}={path}"], environment={})
    with pytest.raises(ConfigError) as raised:
        config.settings_of("kafka")
    assert str(raised.value) == f"kafka.{key}: {path} {said}"


@pytest.mark.parametrize("client", [for_kafka_python, for_confluent])
@pytest.mark.parametrize(
    ("key", "content", "said"),
    [
        ("ssl_ca_file", None, "No such file or directory"),
        ("ssl_ca_file", "nothing", "it does not hold a certificate"),
        ("ssl_certificate_file", None, "No such file or directory"),
        ("ssl_certificate_file", "nothing", "it does not hold a certificate"),
    ],
)
def test_a_wrong_certificate(key: str, content: str | None, said: str, client: Any, tmp_path: Path) -> None:
    """Both clients say the same of it."""
    path = tmp_path / "file.pem"
    if content is not None:
        path.write_text(content)
    config = load_config(sets=["kafka.security_protocol=SSL", f"kafka.{key}={path}"], environment={})
    with pytest.raises(ConfigError) as raised:
        client(config.settings_of("kafka"))
    assert str(raised.value) == f"kafka.{key}: {path} can't be used: {said}"


@pytest.mark.parametrize("client", [for_kafka_python, for_confluent])
def test_a_token_provider_that_is_not_there(client: Any) -> None:
    """The entry points' group is named."""
    sasl = ["kafka.security_protocol=SASL_SSL", "kafka.sasl_mechanism=OAUTHBEARER", "kafka.sasl_token_provider=mine"]
    with pytest.raises(ConfigError) as raised:
        client(load_config(sets=sasl, environment={}).settings_of("kafka"))
    said = "kafka.sasl_token_provider: no provider 'mine'; the entry point group streamlin.kafka_tokens is empty"
    assert str(raised.value) == said


def test_kafka_alone(tmp_path: Path) -> None:
    """What `predict` takes: of the file and of the environment only this table, the rest may be wrong."""
    path = tmp_path / "run.toml"
    path.write_text('[features]\nnonsense = 1\n[kafka]\nsecurity_protocol = "SSL"\nconnect_timeout = 1\n')
    environment = {"STREAMLIN_KAFKA__CONNECT_TIMEOUT": "2", "STREAMLIN_FEATURES__BITS": "x", "STREAMLIN_LEARNERS": "[]"}
    kafka = load_kafka(path, environment)
    assert (kafka.security_protocol, kafka.connect_timeout) == ("SSL", 2.0)
    assert load_kafka(None, {}) == KafkaConfig()
    with pytest.raises(ConfigError, match=r"^kafka\.connect_timeout: .*from STREAMLIN_KAFKA__CONNECT_TIMEOUT"):
        load_kafka(None, {"STREAMLIN_KAFKA__CONNECT_TIMEOUT": "x"})
    with pytest.raises(ConfigError, match="a secret comes from STREAMLIN_KAFKA__SASL_PASSWORD"):
        load_kafka(toml(tmp_path, sasl_password=SECRET), {})


URLS = [
    f"kafka://alice:{SECRET}@h:9/t",
    f"kafka://{SECRET}@h/t",
    f"kafka://alice:a/{SECRET}@h:9/t",
    f"kafka://alice:a?{SECRET}@h:9/t",
    f"kafka://alice:a@{SECRET}@h:9/t?x",
    f"kafka://[alice:{SECRET}@h:9/t",
    f"kafka://h/t?password={SECRET}",
    f"kafka://h/t?sasl_password={SECRET}",
    f"kafka://h/t?client.sasl.password={SECRET}",
    f"kafka://h/t?client.sasl_plain_password={SECRET}",
    f"kafka://h/t?client=confluent&client.ssl.key.pem={SECRET}",
    f"kafka://h/t?password={SECRET}&x",
    f"kafka://h/t?password={SECRET}&password={SECRET}",
]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("key", ["source.url", "sinks.predictions"])
def test_secrets_in_urls_are_refused(key: str, url: str) -> None:
    """Of a source and of a sink; without showing them."""
    flags = {"source.url": "synthetic://?events=1"} | {key: url}
    with (
        pytest.raises(ConfigError) as raised,
        closing(Run(load_config(None, flags, environment={}), Silent())) as run,
    ):
        run.run()
    assert SECRET not in str(raised.value)


def test_a_refused_url_ends_a_run() -> None:
    """Exit 2, one line."""
    said = "kafka: the URL contains a user or a password; set them in [kafka] of the configuration"
    assert refused("run", URLS[0]) == said
    assert refused("run", "synthetic://?events=1", "--predictions", URLS[0]) == said
    said = "kafka source: 'password' must not be in a URL; set secrets in [kafka] of the configuration"
    assert refused("run", URLS[6]) == said


def test_an_unreadable_password_file(tmp_path: Path) -> None:
    """Exit 2."""
    password = tmp_path / "password"
    password.write_text(SECRET)
    password.chmod(0)
    file = toml(tmp_path, **SASL, sasl_password_file=str(password))
    (ended,) = with_less_rights(["run", "kafka://127.0.0.1:1/t", "--config", file], cwd=tmp_path)
    assert ended == (2, f"kafka.sasl_password_file: {password} can't be read: Permission denied")


def test_predict_refuses_what_run_refuses(tmp_path: Path) -> None:
    """In the same words, with the same exit code."""
    said = refused("predict", tmp_path, "kafka://h/t", "--config", toml(tmp_path, sasl_password=SECRET))
    assert said == "kafka.sasl_password: " + GIVEN_OUT.format("SASL_PASSWORD", "sasl_password")
    environment = {"STREAMLIN_KAFKA__SASL_MECHANISM": "GSSAPI"}
    assert "kafka.sasl_mechanism" in refused("predict", tmp_path, "kafka://h/t", env=environment)
    assert "--config" in command_line("predict", "--help").out
