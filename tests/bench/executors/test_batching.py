from __future__ import annotations

from bench.executors.batching import Batches


def numbered(tasks: int, worth: float = 0.5) -> Batches[int]:
    return Batches(range(tasks), lambda task: None, worth)


def test_the_first_tasks_go_one_by_one_while_nothing_is_known() -> None:
    batches = numbered(100)
    assert [batches.deal(2) for _ in range(3)] == [[0], [1], [2]]


def test_a_batch_takes_as_many_as_are_worth_sending() -> None:
    batches = numbered(100)
    batches.took(batches.deal(2)[0], 0.125)
    assert batches.deal(2) == [1, 2, 3, 4]  # 4 × 0.125 s = 0.5 s


def test_a_task_that_is_worth_sending_goes_alone() -> None:
    batches = numbered(100)
    batches.took(batches.deal(2)[0], 0.6)
    assert batches.deal(2) == [1]


def test_the_latest_counts_most() -> None:
    batches = numbered(100)
    batches.took(batches.deal(2)[0], 1.1)
    batches.took(batches.deal(2)[0], 0.1)  # (1.1 + 0.1) / 2 = 0.6
    assert batches.deal(2) == [2]
    batches.took(2, 0.0)  # 0.3: two are 0.6 s
    assert batches.deal(2) == [3, 4]


def test_the_last_tasks_are_shared_among_the_workers() -> None:
    batches = numbered(9)
    batches.took(batches.deal(2)[0], 0.01)
    assert [batches.deal(2) for _ in range(5)] == [[1, 2, 3, 4], [5, 6], [7], [8], []]


def test_every_task_is_dealt_once_and_in_order() -> None:
    batches, dealt = numbered(50), []
    while batch := batches.deal(3):
        for task in batch:
            dealt.append(task)
            batches.took(task, 0.05)
    assert dealt == list(range(50))


def test_of_a_kind_that_is_unknown_one_is_tried_at_a_time() -> None:
    tasks = ["quick"] * 10 + ["slow"] * 10
    batches = Batches(tasks, lambda task: task, 0.5)
    batches.took(batches.deal(1)[0], 0.01)
    assert batches.deal(1) == ["quick"] * 9 + ["slow"]
    assert batches.deal(1) == ["slow"]
    batches.took("slow", 0.3)
    assert batches.deal(1) == ["slow", "slow"]


def test_kinds_that_come_once_are_expected_to_take_what_all_took() -> None:
    batches = Batches("abcdefgh", lambda task: task, 0.5)
    batches.took(batches.deal(1)[0], 0.25)
    assert batches.deal(1) == ["b", "c"]


def test_where_sending_costs_nothing_each_goes_alone() -> None:
    batches = numbered(3, worth=0.0)
    batches.took(batches.deal(1)[0], 0.001)
    assert [batches.deal(1) for _ in range(3)] == [[1], [2], []]
