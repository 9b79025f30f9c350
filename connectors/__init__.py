"""The connectors that come with streamlin; it finds them by their entry points."""

OWNER = "streamlin"
"""Other packages may be called `connectors` too: streamlin looks for this before it uses one."""
