"""Patterns for well-known logs.

Each has the groups `text` and `content` (the message alone), and others for the rest of the line. The label is the
severity, if the log has one; BGL and Thunderbird mark alerts in the first column. Times are read as UTC, and only if
the line has a full date.
"""

from collections.abc import Callable
from typing import NamedTuple


class Preset(NamedTuple):
    """How the lines of a log are read.

    pattern : matches a whole line.
    time_format : the format of the group `time`; None for Unix seconds.
    label : converts the group `label` to the event's label.
    """

    pattern: str
    time_format: str | None = None
    label: Callable[[str], str] = str


def _alert(category: str) -> str:
    return "normal" if category == "-" else "alert"


_LOG4J_TIME = "%Y-%m-%d %H:%M:%S,%f"
_MESSAGE = r"(?P<text>(?P<content>.*))"
_SYSLOG_TIME = r"\w{3} +\d+ \d\d:\d\d:\d\d"

PRESETS = {
    "apache": Preset(
        r"\[(?P<time>\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})\] \[(?P<label>(?P<severity>\w+))\] " + _MESSAGE,
        "%a %b %d %H:%M:%S %Y",
    ),
    "bgl": Preset(
        r"(?P<label>(?P<category>\S+)) (?P<time>\d+) "
        r"(?P<text>(?:[\d.]+ (?P<node>\S+) \S+ \S+ (?P<type>\S+) (?P<component>\S+) (?P<severity>\S+)(?: |$))?"
        r"(?P<content>.*))",
        label=_alert,
    ),
    "hadoop": Preset(
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<label>(?P<severity>\w+)) +\[(?P<thread>.*?)\] "
        r"(?P<component>[^\s:]+): ?" + _MESSAGE,
        _LOG4J_TIME,
    ),
    "hdfs": Preset(
        r"(?P<time>\d{6} \d{6}) (?P<pid>\d+) (?P<label>(?P<severity>\w+)) (?P<component>[^\s:]+): ?" + _MESSAGE,
        "%y%m%d %H%M%S",
    ),
    "linux": Preset(_SYSLOG_TIME + r" (?P<host>\S+) (?P<component>.+?)(?:\[(?P<pid>\d+)\])?: " + _MESSAGE),
    "openssh": Preset(_SYSLOG_TIME + r" (?P<host>\S+) (?P<component>\S+?)\[(?P<pid>\d+)\]: " + _MESSAGE),
    "proxifier": Preset(r"\[\d\d\.\d\d \d\d:\d\d:\d\d\] (?P<component>\S+)(?: \*64)? - " + _MESSAGE),
    "thunderbird": Preset(
        r"(?P<label>(?P<category>\S+)) (?P<time>\d+) "
        rf"(?P<text>(?:[\d.]+ (?P<host>\S+) {_SYSLOG_TIME} (?P<location>\S+) )?"
        r"(?:(?P<component>[^\s:\[]+)(?:\[(?P<pid>\d+)\])?: )?(?P<content>.*))",
        label=_alert,
    ),
    "zookeeper": Preset(
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - (?P<label>(?P<severity>\w+)) +"
        r"\[(?P<component>.*?)\] - " + _MESSAGE,
        _LOG4J_TIME,
    ),
}
