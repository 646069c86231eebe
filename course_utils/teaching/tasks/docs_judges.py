"""The judging half of exercise 02. Loaded by a check only after, or far from, the learner's own code."""

from course_utils.teaching.tasks.docs_judge_document import RowToDocument
from course_utils.teaching.tasks.docs_judge_find import TwoFields
from course_utils.teaching.tasks.docs_judge_plan import Resync
from course_utils.teaching.tasks.docs_judge_top import FilterThenRank
from course_utils.teaching.tasks.docs_judge_visible import Entitlements

row_to_document = RowToDocument()
two_fields = TwoFields()
filter_then_rank = FilterThenRank()
entitlements = Entitlements()
resync = Resync()
