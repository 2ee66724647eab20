from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

from klda.evaluation.parallel import process_map, process_pool


def test_every_task_is_done_whatever_the_number_of_processes():
    tasks = list(range(6))
    alone = sorted(process_map(1)(math.factorial, tasks))
    together = sorted(process_map(2)(math.factorial, tasks))
    assert alone == together == [math.factorial(n) for n in tasks]


def test_threads_that_share_processes_get_each_their_own_results():
    def asked(start: int) -> list[int]:
        return sorted(spread(math.factorial, range(start, start + 3)))

    with process_pool(2) as spread, ThreadPoolExecutor(2) as threads:
        assert list(threads.map(asked, [0, 5])) == [[1, 1, 2], [120, 720, 5040]]
