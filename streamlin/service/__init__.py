"""The service: predictions and learning over HTTP; accepted events are on disk before the answer leaves."""
