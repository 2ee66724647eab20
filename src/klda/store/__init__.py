"""The data of a monitor: posts in a Delta Lake table, everything else in SQL.

`MonitorFolder` opens both. `PostStore` holds the posts, `Records` the rest. One process writes at a time; any number
may read.
"""

from __future__ import annotations

from klda.store.delta.delta_log import Position
from klda.store.delta.post_store import Appended, PostStore, WindowSize
from klda.store.delta.pseudonyms import Pseudonyms
from klda.store.delta.stored_posts import StoredPosts, export
from klda.store.monitor_folders import MonitorFolder, create_monitor, list_monitors, only_writer, open_monitor
from klda.store.sql.database import Database
from klda.store.sql.journal import AuditEntry, Job, RecordedGap, TrainedModel
from klda.store.sql.keyword_history import KeywordSpan, Outcome
from klda.store.sql.proposal_records import Decision, SavedProposal
from klda.store.sql.records import Records
from klda.store.sql.topic_records import TopicExample, TopicOverTime, WindowTopics
from klda.store.sql.volume_records import VolumePoint

__all__ = [
    "Appended",
    "AuditEntry",
    "Database",
    "Decision",
    "Job",
    "KeywordSpan",
    "MonitorFolder",
    "Outcome",
    "Position",
    "PostStore",
    "Pseudonyms",
    "RecordedGap",
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
