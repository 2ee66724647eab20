"""Making a monitor, for the page and for the API alike."""

from __future__ import annotations

from klda.errors import InputError
from klda.monitor.create import create
from klda.web.forms import MonitorForm, name_taken, settings_of
from klda.web.studio import Studio


def make_monitor(studio: Studio, form: MonitorForm, identity: str) -> str:
    """The name of a new monitor; `WrongFields` where it cannot be made so."""
    settings = settings_of(form, private=studio.settings.private_sources)
    if studio.has(form.name):
        raise name_taken()
    try:
        create(studio.settings.home, form.name, settings, created_by=identity)
    except InputError as error:  # somebody was faster
        raise name_taken() from error
    return form.name
