"""A Ray cluster of two nodes on this machine, one of which can be lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class TwoNodes:
    """A head and one more node, which can be lost and comes back."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        store = {"object_store_memory": 80 << 20}
        alone = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}  # nobody looks on
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **alone, **store})
        self.store, self.second = store, None

    def whole(self) -> None:
        """Brings the second node back, if it was lost."""
        if self.second is None:
            self.second = self.cluster.add_node(num_cpus=2, **self.store)
            self.cluster.wait_for_nodes()

    def lose_when(self, begun: Callable[[], bool]) -> threading.Thread:
        """Kills the second node as soon as the work has begun."""

        def watch() -> None:
            while not begun():
                time.sleep(0.05)
            node, self.second = self.second, None
            self.cluster.remove_node(node, allow_graceful=False)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        return thread
