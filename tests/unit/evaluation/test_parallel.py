from __future__ import annotations

import math

from klda.evaluation.parallel import process_map


def test_every_task_is_done_whatever_the_number_of_processes():
    tasks = list(range(6))
    alone = sorted(process_map(1)(math.factorial, tasks))
    together = sorted(process_map(2)(math.factorial, tasks))
    assert alone == together == [math.factorial(n) for n in tasks]
