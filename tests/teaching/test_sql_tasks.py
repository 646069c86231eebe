"""What the tasks of exercise 01 hold besides what every task does."""

import json

import pytest

from course_utils.teaching import tasks


@pytest.mark.parametrize("task", list(tasks.sql), ids=lambda task: task.name)
def test_inputs_hold_no_reference(task):
    text = json.dumps(task.inputs())
    assert "GROUP BY city" not in text or task.name == "repair_loop"
    assert "o.status = 'paid'" not in text
