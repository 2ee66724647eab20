"""The weekly loop of a monitor: collect, close, propose, decide, activate; one use case a file."""
