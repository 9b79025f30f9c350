"""The command `streamlin demo`."""

from pathlib import Path

from streamlin.commands import options
from streamlin.commands.running import run_and_show
from streamlin.monitoring.options import MonitoringOptions


def demo(
    learner: options.Learners = None,
    predictions: options.Predictions = None,
    report: options.Reports = None,
    limit: options.Limit = None,
    preset: options.Preset = None,
    set_: options.Set = None,
    dashboard: options.Dashboard = None,
    dashboard_hide_text: options.HideText = False,
    metrics: options.Metrics = None,
    log_format: options.LogFormat = "text",
) -> None:
    """Run on 32,000 headlines: clickbait or news?"""
    from streamlin.config.loading import load_config
    from streamlin.errors import ConfigError

    headlines = Path(__file__).parents[1] / "demo" / "clickbait.jsonl.gz"
    flags = {"source.url": str(headlines), "sinks.predictions": predictions, "preset": preset}
    config = load_config(None, flags, set_ or (), learner or (), {})
    if config.task != "classification":
        raise ConfigError(f"task: the demo's headlines have labels, for task = 'classification', got '{config.task}'")
    monitoring = MonitoringOptions(dashboard, dashboard_hide_text, metrics)
    run_and_show(config, monitoring, report or (), limit, False)
