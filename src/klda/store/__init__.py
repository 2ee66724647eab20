"""What a monitor keeps: posts in a Delta Lake table, everything else in SQL.

`MonitorFolder` opens both; `PostStore` holds posts, `Records` the rest. One process writes at a time, any number read.
"""

from __future__ import annotations

from klda.store.commits import Position
from klda.store.database import Database
from klda.store.jobs import Job
from klda.store.journal import AuditEntry, Gap, TrainedModel
from klda.store.keyword_history import KeywordSpan, Outcome
from klda.store.lock import only_writer
from klda.store.monitors import MonitorFolder, create_monitor, list_monitors, open_monitor
from klda.store.posts import Appended, PostStore, WindowSize
from klda.store.proposals import Decision, SavedProposal
from klda.store.pseudonyms import Pseudonyms
from klda.store.reading import StoredPosts, export
from klda.store.records import Records
from klda.store.topics import TopicExample, TopicOverTime, WindowTopics
from klda.store.volume import VolumePoint

__all__ = [
    "Appended",
    "AuditEntry",
    "Database",
    "Decision",
    "Gap",
    "Job",
    "KeywordSpan",
    "MonitorFolder",
    "Outcome",
    "Position",
    "PostStore",
    "Pseudonyms",
    "Records",
    "SavedProposal",
    "StoredPosts",
    "TopicExample",
    "TopicOverTime",
    "TrainedModel",
    "VolumePoint",
    "WindowSize",
    "WindowTopics",
    "create_monitor",
    "export",
    "list_monitors",
    "only_writer",
    "open_monitor",
]
