"""A run with its progress display, summary and reports."""

import json
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamlin.commands.garbage import freeze
from streamlin.errors import redacted
from streamlin.monitoring.options import MonitoringOptions
from streamlin.terminal.printing import logs_json, print_notice, print_tables

if TYPE_CHECKING:
    from streamlin.config import RunConfig
    from streamlin.running.loop import Run
    from streamlin.terminal.report_file import ReportFile


def run_and_show(
    config: "RunConfig",
    monitoring: MonitoringOptions,
    reports: Sequence[Path],
    limit: int | None,
    previous: bool,
    config_file: Path | None = None,
) -> None:
    """Run as configured, show the summary, write the report. config_file : where the configuration comes from."""
    from streamlin.kernel.decorator import when_compiling
    from streamlin.kernel.late import few_by_python
    from streamlin.monitoring.watchers import watchers
    from streamlin.running.inputs_and_outputs import inputs_of, outputs_of
    from streamlin.running.loop import Run
    from streamlin.running.second_compiler import SecondCompiler
    from streamlin.streams.overlap import refuse_overlaps, standard_outputs
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import terminal_progress
    from streamlin.terminal.report_file import ReportFile
    from streamlin.terminal.signals import stop_on_signals

    monitoring.check()
    written = [place for report in reports for place in ReportFile.places(report)]
    refuse_overlaps(inputs_of(config, config_file=config_file), [*outputs_of(config), *written, *standard_outputs()])
    report_files = [ReportFile(report) for report in reports]
    stop = threading.Event()
    with stop_on_signals(stop.set), few_by_python():
        with (
            terminal_progress() as progress,
            watchers(monitoring, config.serve, progress.notice) as watching,
            closing(SecondCompiler(config, progress.notice)) as second,
        ):
            notify_when_compiling(progress.notice, second.is_compiling)
            with closing(Run(config, progress, watchers=watching, limit=limit, previous=previous, stop=stop)) as run:
                freeze()
                when_compiling(freeze)
                _run_and_report(run, report_files)
        _show_summary(run)


def _run_and_report(run: "Run", report_files: "Sequence[ReportFile]") -> None:
    """Run; then give the report to the watchers and write it, even if the run fails."""
    try:
        run.run()
    finally:
        if report_files or run.watchers:
            report = run.report()
            for watcher in run.watchers:
                watcher.finish(run, report)
            for file in report_files:
                file.write(_page(run, report) if file.is_page else json.dumps(report, ensure_ascii=False) + "\n")


def _page(run: "Run", report: dict[str, Any]) -> str:
    from streamlin.monitoring.html_report import html_report

    config = run.config
    return html_report(report, config.evaluation.window, redacted(config.source.needed_url()))


def _show_summary(run: "Run") -> None:
    """Print the summary to the standard stream that has no predictions."""
    from streamlin.terminal.progress import log_fields
    from streamlin.terminal.summary import counts_line, summary

    report = run.report()
    file = sys.stderr if run.writes_to_stdout else sys.stdout
    if logs_json():
        print_notice(f"done: {counts_line(report)}", **log_fields(report))
        file = None if run.writes_to_stdout else file
    print_tables(summary(report, run.config.evaluation.window), file)
