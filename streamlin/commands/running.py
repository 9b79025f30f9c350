"""A run from its beginning to what is shown of it."""

import json
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamlin.commands.garbage import tune_garbage
from streamlin.monitoring.options import MonitoringOptions
from streamlin.terminal.printing import are_news_json, print_news, print_result

if TYPE_CHECKING:
    from streamlin.config import RunConfig
    from streamlin.running.loop import Run
    from streamlin.terminal.report_file import ReportFile


def run_and_show(
    config: "RunConfig", asked: MonitoringOptions, reports: Sequence[Path], limit: int | None, previous: bool
) -> None:
    """Run as configured, show the summary, write the report."""
    from streamlin.monitoring.watchers import watchers
    from streamlin.running.loop import Run
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import progress
    from streamlin.terminal.report_file import ReportFile
    from streamlin.terminal.signals import stop_on_signals

    asked.check()
    report_files = [ReportFile(report) for report in reports]
    stop = threading.Event()
    with stop_on_signals(stop.set):
        with progress() as shown, watchers(asked, shown.notice) as watching:
            notify_when_compiling(shown.notice)
            with closing(Run(config, shown, watchers=watching, limit=limit, previous=previous, stop=stop)) as pipeline:
                tune_garbage()
                _run_and_report(pipeline, report_files)
        _show(pipeline)


def _run_and_report(pipeline: "Run", report_files: "Sequence[ReportFile]") -> None:
    """The report is written, and those who watch are told, whatever happens."""
    try:
        pipeline.run()
    finally:
        if report_files or pipeline.watchers:
            report = pipeline.report()
            for watcher in pipeline.watchers:
                watcher.finish(pipeline, report)
            for file in report_files:
                file.write(_page(pipeline, report) if file.is_page else json.dumps(report, ensure_ascii=False) + "\n")


def _page(pipeline: "Run", report: dict[str, Any]) -> str:
    from streamlin.monitoring.html_report import html_report
    from streamlin.streams.addresses import shown

    config = pipeline.config
    return html_report(report, config.evaluation.window, shown(config.source.needed_url()))


def _show(pipeline: "Run") -> None:
    """The summary, where no events go."""
    from streamlin.terminal.printing import rendered
    from streamlin.terminal.progress import figures
    from streamlin.terminal.summary import counts_line, summary

    report = pipeline.report()
    file = sys.stderr if pipeline.writes_to_stdout else sys.stdout
    if are_news_json():
        print_news(f"done: {counts_line(report)}", **figures(report))
        file = None if pipeline.writes_to_stdout else file
    print_result(rendered(summary(report, pipeline.config.evaluation.window), file), file)
