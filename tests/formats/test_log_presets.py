"""The presets, on the logs they are made for."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from streamlin.events import Event
from streamlin.formats.log_presets import PRESETS
from streamlin.testing import check_batch
from tests.formats.reading import events, framed, opened

FILES = {
    "apache": "Apache",
    "bgl": "BGL",
    "hadoop": "Hadoop",
    "hdfs": "HDFS",
    "linux": "Linux",
    "openssh": "OpenSSH",
    "proxifier": "Proxifier",
    "thunderbird": "Thunderbird",
    "zookeeper": "Zookeeper",
}
LABELS = {
    "apache": {"notice": 1405, "error": 595},
    "bgl": {"normal": 1857, "alert": 143},
    "hadoop": {"INFO": 1040, "WARN": 808, "ERROR": 150, "FATAL": 2},
    "hdfs": {"INFO": 1920, "WARN": 80},
    "linux": {None: 2000},
    "openssh": {None: 2000},
    "proxifier": {None: 2000},
    "thunderbird": {"normal": 2000},
    "zookeeper": {"WARN": 1318, "INFO": 669, "ERROR": 13},
}


def preset(name, *extra, **fields):
    return opened("regex", extra, {"preset": name}, **fields)


def log(data, name):
    return (data / "logs" / f"{FILES[name]}_2k.log").read_bytes()


def test_there_is_a_file_for_every_preset():
    assert FILES.keys() == LABELS.keys() == PRESETS.keys()


@pytest.mark.parametrize("name", PRESETS)
def test_every_line_is_an_event(data, name):
    format_ = preset(name)
    batch, dead = format_.decode(framed(format_, log(data, name)))
    check_batch(batch)
    assert (len(batch), dead) == (2000, [])
    assert Counter(batch.labels) == LABELS[name]
    timeless = name in ("linux", "openssh", "proxifier")
    assert np.isnan(batch.times).all() if timeless else np.isfinite(batch.times).all()


@pytest.mark.parametrize(("name", "parted_elsewhere"), [("bgl", 0), ("thunderbird", 9)])
def test_alerts_equal_those_of_the_labelled_stream(data, name, parted_elsewhere):
    """In `parted_elsewhere` lines a program name with blanks is part of the message."""
    stream = gzip.decompress((data / f"log-{name}-2k.jsonl.gz").read_bytes())
    expected = [json.loads(line) for line in stream.splitlines()]
    read = events(preset(name, "category", "content"), log(data, name))
    for key in ("text", "label", "time"):
        assert [getattr(event, key) for event in read] == [event[key] for event in expected]
    assert [event.extra["category"] for event in read] == [event["category"] for event in expected]
    same = [a.extra["content"] == (b["content"] or None) for a, b in zip(read, expected, strict=True)]
    assert same.count(False) == parted_elsewhere


@pytest.mark.parametrize(
    ("name", "extra", "line", "event"),
    [
        (
            "apache",
            ["severity"],
            "[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok",
            Event("workerEnv.init() ok", "notice", time=1133671664.0, extra={"severity": "notice"}),
        ),
        (
            "bgl",
            ["severity", "component", "node", "content", "category"],
            "KERNDTLB 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL INFO parity error",
            Event(
                "2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL INFO parity error",
                "alert",
                time=1117838570.0,
                extra={
                    "severity": "INFO",
                    "component": "KERNEL",
                    "node": "R02",
                    "content": "parity error",
                    "category": "KERNDTLB",
                },
            ),
        ),
        (
            "hadoop",
            ["thread", "component"],
            "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.Master: Created",
            Event(
                "Created",
                "INFO",
                time=1445191307.978,
                extra={"thread": "main", "component": "org.apache.hadoop.Master"},
            ),
        ),
        (
            "hdfs",
            ["pid", "component"],
            "081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 terminating",
            Event(
                "PacketResponder 1 terminating",
                "INFO",
                time=1226262975.0,
                extra={"pid": "148", "component": "dfs.DataNode$PacketResponder"},
            ),
        ),
        (
            "linux",
            ["host", "component", "pid"],
            "Jun  4 15:16:01 combo sshd(pam_unix)[19939]: check pass; user: unknown ",
            Event("check pass; user: unknown ", extra={"host": "combo", "component": "sshd(pam_unix)", "pid": "19939"}),
        ),
        (
            "openssh",
            ["host", "pid"],
            "Dec 10 06:55:46 LabSZ sshd[24200]: Invalid user webmaster from 173.234.31.186",
            Event("Invalid user webmaster from 173.234.31.186", extra={"host": "LabSZ", "pid": "24200"}),
        ),
        (
            "proxifier",
            ["component"],
            "[10.30 16:49:06] chrome.exe *64 - proxy:5070 open through proxy",
            Event("proxy:5070 open through proxy", extra={"component": "chrome.exe"}),
        ),
        (
            "thunderbird",
            ["host", "component", "pid", "content"],
            "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond(pam_unix)[2915]: session closed",
            Event(
                "2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond(pam_unix)[2915]: session closed",
                "normal",
                time=1131566461.0,
                extra={"host": "dn228", "component": "crond(pam_unix)", "pid": "2915", "content": "session closed"},
            ),
        ),
        (
            "zookeeper",
            ["component"],
            "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:2181:Election@774] - Notification",
            Event(
                "Notification",
                "INFO",
                time=1438191704.747,
                extra={"component": "QuorumPeer[myid=1]/0:0:2181:Election@774"},
            ),
        ),
    ],
)
def test_lines_by_hand(name, extra, line, event):
    assert events(preset(name, *extra), line.encode()) == [event]


def test_other_groups_may_be_text_and_label():
    line = b"APPREAD 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS APP FATAL parity error"
    format_ = preset("bgl", "label", text="content", label="severity")
    assert events(format_, line) == [Event("parity error", "FATAL", time=1117838570.0, extra={"label": "alert"})]
