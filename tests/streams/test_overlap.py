"""Refusing a run that would write to what it reads."""

from pathlib import Path

import pytest

from streamlin.config import RunConfig
from streamlin.errors import ConfigError
from streamlin.streams.addresses import parse_address
from streamlin.streams.overlap import refuse_overlap


def check(source: str, sink: str) -> None:
    for name in "predictions", "dead_letters":
        refuse_overlap(parse_address(source, "stdin"), RunConfig.model_validate({"sinks": {name: sink}}))


@pytest.mark.parametrize("sink", ["kafka://h:1/b", "kafka://h:1/b?acks=all"])
def test_writing_to_the_topic_that_is_read_is_refused(sink: str) -> None:
    with pytest.raises(ConfigError, match=r"^sinks\.predictions: kafka://h:1/b.* is the topic that is read; give"):
        check("kafka://h:1/a,b?group=g", sink)


@pytest.mark.parametrize("sink", ["kafka://h:1/c", "kafka://other:1/b", "null://h:1/b", "-", "b"])
def test_writing_to_other_topics_is_allowed(sink: str) -> None:
    check("kafka://h:1/a,b", sink)


def test_writing_to_the_file_that_is_read_is_refused(tmp_path: Path) -> None:
    """By any of its names; a device may be both."""
    file = tmp_path / "in.jsonl"
    file.touch()
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(ConfigError, match=r"^sinks\.predictions: .*/link is the file that is read; give another one$"):
        check(f"{file}?rate=10", str(tmp_path / "link"))
    check(str(file), str(tmp_path / "out.jsonl"))
    check("/dev/null", "/dev/null")
