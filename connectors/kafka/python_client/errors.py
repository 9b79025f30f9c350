"""kafka-python's errors as ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import kafka.codec
import kafka.errors as errors

from connectors.kafka.errors import OffsetGoneError, UnreachableError
from streamlin.errors import ConfigError, ConnectorError

LARGE = errors.MessageSizeTooLargeError, errors.RecordListTooLargeError
_CLASSES = re.compile(r"^(?:\[Error \w+\] )?(?:\w+Error(?:: |$))*")
_INSTALL = "pip install 'kafka-python[lz4,snappy,zstd]'"
_NOT_UTF8 = "a header's name is not UTF-8, which kafka-python can't read; client=confluent can"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise kafka-python's errors as ours. name : of the brokers."""
    try:
        yield
    except (errors.OffsetOutOfRangeError, errors.LogTruncationError) as error:
        raise OffsetGoneError(str(error)) from None
    except errors.CorruptRecordError as error:
        if isinstance(error.__context__, UnicodeDecodeError):  # the rest of the batch is unreadable too
            raise ConnectorError(_NOT_UTF8) from None
        raise ConnectorError(f"the brokers at {name} sent a damaged record: {describe(error)}") from None
    except errors.UnsupportedCodecError as error:
        raise ConnectorError(f"messages are compressed: {describe(error)}: {_INSTALL}") from None
    except errors.RetriableError as error:
        raise UnreachableError(f"the brokers at {name} don't answer: {describe(error)}") from None
    except errors.KafkaError as error:
        raise ConnectorError(f"the brokers at {name} refuse: {describe(error)}") from None


def describe(error: BaseException) -> str:
    """The message of an error, without kafka-python's class names if there is more."""
    return _CLASSES.sub("", str(error)) or getattr(error, "description", "") or str(error)


def check_compression(name: str) -> None:
    """Raises ConfigError if the package for a sink's compression is missing."""
    if name != "none" and not getattr(kafka.codec, f"has_{name}")():
        raise ConfigError(f"kafka sink: compression={name} needs another package: {_INSTALL}")
