from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import InputError
from klda.model.klda import KLDA

pytestmark = pytest.mark.filterwarnings("default")  # of Ray's own imports


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_called_ray_that_is_no_run_is_left_alone(tmp_path: Path, resume: bool):
    from klda.ray.training import train

    mine = tmp_path / "proj" / "ray" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"proj/ray: exists and is not a model; choose another folder"):
        train(KLDA(), tmp_path / "corpus", tmp_path / "proj", resume=resume)
    assert mine.read_text(encoding="utf-8") == "mine"
