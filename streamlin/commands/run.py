"""The command `streamlin run`."""

from streamlin.commands import options
from streamlin.commands.running import run_and_show
from streamlin.monitoring.options import MonitoringOptions


def run(
    source: options.Source = None,
    stdin_options: options.StdinOptions = None,
    config: options.ConfigFile = None,
    task: options.TaskName = None,
    learner: options.Learners = None,
    predictions: options.Predictions = None,
    labels_wanted: options.LabelsWanted = None,
    dead_letters: options.DeadLetters = None,
    checkpoint: options.CheckpointDir = None,
    report: options.Reports = None,
    limit: options.Limit = None,
    follow: options.Follow = False,
    slice_by: options.SliceBy = None,
    drain: options.Drain = False,
    delayed_labels: options.DelayedLabels = False,
    feedback: options.Feedback = None,
    label_delay: options.LabelDelay = None,
    shards: options.Shards = None,
    workers: options.Workers = None,
    address: options.ClusterAddress = None,
    preset: options.Preset = None,
    set_: options.Set = None,
    previous: options.Previous = False,
    dashboard: options.Dashboard = None,
    dashboard_hide_text: options.HideText = False,
    metrics: options.Metrics = None,
    log_format: options.LogFormat = "text",
) -> None:
    """Replay or follow a source: predict, evaluate, learn."""
    from streamlin.config.loading import load_config

    flags = {
        "task": task,
        "source.url": options.resolve_source(source, stdin_options),
        "source.follow": follow or None,
        "sinks.predictions": predictions,
        "sinks.labels_wanted": labels_wanted,
        "sinks.dead_letters": dead_letters,
        "checkpoint.path": checkpoint,
        "evaluation.slice_by": slice_by or None,
        "drain.enabled": drain or None,
        "delayed_labels.enabled": delayed_labels or None,
        "delayed_labels.url": feedback,
        "delayed_labels.delay": label_delay,
        "mixing.shards": shards,
        "cluster.workers": workers,
        "cluster.address": address,
        "preset": preset,
    }
    run_config = load_config(config, flags, set_ or (), learner or ())
    run_config.source.needed_url()  # fails before anything heavy is imported
    monitoring = MonitoringOptions(dashboard, dashboard_hide_text, metrics)
    run_and_show(run_config, monitoring, report or (), limit, previous, config)
