"""`klda policies`: who can propose keywords."""

from __future__ import annotations

from klda.cli.options import OutputFormat
from klda.cli.output import Format, print_json, print_table


def policies(output: OutputFormat = Format.table) -> None:
    """List the policies that --policy can name."""
    from klda.policies.registry import policies as known

    found = known()
    if output is Format.json:
        print_json(found)
    else:
        print_table("Policies", ("name", "what it does"), list(found.items()))
