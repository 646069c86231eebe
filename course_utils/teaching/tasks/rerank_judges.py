"""The judging half of exercise 04. Loaded by a check only after, or far from, the learner's own code."""

from course_utils.teaching.tasks.rerank_judge_measure import TwoNumbers
from course_utils.teaching.tasks.rerank_judge_order import Rerank
from course_utils.teaching.tasks.rerank_judge_parse import ParseScores
from course_utils.teaching.tasks.rerank_judge_sim import MaxSimByHand

max_sim = MaxSimByHand()
rerank = Rerank()
two_numbers = TwoNumbers()
parse_scores = ParseScores()
