"""The log of plans: what a crash leaves of it, and what a checkpoint makes superfluous."""

import pytest

from streamlin.errors import CheckpointError, ConnectorError
from streamlin.sharding.plan_log import FILE, PlanLog

CUTS = [[("a", 10)], [("b", 3), ("c", 7)]]


def test_plans_behind_a_checkpoint_are_found_again(tmp_path):
    log = PlanLog(tmp_path, 0)
    for number in (1, 2, 3):
        log.write(number, [[("a", 10 * number)]])
    log.close()
    again = PlanLog(tmp_path, 1)
    assert [again.planned(number) for number in (2, 3, 4)] == [[[("a", 20)]], [[("a", 30)]], None]
    again.close()


def test_a_plan_of_several_lanes_is_kept(tmp_path):
    log = PlanLog(tmp_path, 0)
    log.write(1, CUTS)
    log.close()
    assert PlanLog(tmp_path, 0).planned(1) == CUTS


def test_a_line_that_a_crash_cut_off_is_no_plan(tmp_path):
    log = PlanLog(tmp_path, 0)
    log.write(1, CUTS)
    log.write(2, CUTS)
    log.close()
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-5])
    again = PlanLog(tmp_path, 0)
    assert again.planned(1) == CUTS
    assert again.planned(2) is None
    again.write(2, [[("z", 1)]])
    again.close()
    assert PlanLog(tmp_path, 0).planned(2) == [[("z", 1)]]


def test_plans_stay_until_the_checkpoint_before_the_last_has_them(tmp_path):
    log = PlanLog(tmp_path, 0)
    for number in range(1, 5):
        log.write(number, CUTS)
    log.saved(2)
    log.saved(4)
    log.close()
    previous = PlanLog(tmp_path, 2)
    assert previous.planned(3) == previous.planned(4) == CUTS
    previous.saved(4)
    previous.saved(4)
    previous.close()
    assert PlanLog(tmp_path, 4).planned(4) is None


@pytest.mark.parametrize("line", [b"{}", b"nothing", b'{"round": 1, "cuts": 3}'])
def test_a_line_that_is_no_plan_is_refused(tmp_path, line):
    (tmp_path / FILE).write_bytes(line + b"\n")
    with pytest.raises(CheckpointError, match=r"plans.jsonl:1 is not the plan of a round"):
        PlanLog(tmp_path, 0)


def test_a_missing_plan_is_refused(tmp_path):
    log = PlanLog(tmp_path, 0)
    log.write(2, CUTS)
    log.close()
    with pytest.raises(CheckpointError, match="lacks the plan of round 1, which follows the checkpoint"):
        PlanLog(tmp_path, 0)


def test_a_folder_that_is_gone_is_told_of(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    log = PlanLog(folder, 0)
    log.close()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with pytest.raises(ConnectorError, match=r"can't write .*plans\.jsonl: No such file"):
        log.saved(1)
