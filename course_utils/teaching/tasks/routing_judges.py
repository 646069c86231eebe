"""The judging half of exercise 05. Loaded by a check only after, or far from, the learner's own code."""

from course_utils.teaching.tasks.routing_judge_pages import FollowPages
from course_utils.teaching.tasks.routing_judge_parse import ParseRoute
from course_utils.teaching.tasks.routing_judge_sources import SideBySide
from course_utils.teaching.tasks.routing_judge_support import Supported
from course_utils.teaching.tasks.routing_judge_vote import Vote

parse_route = ParseRoute()
vote = Vote()
follow_pages = FollowPages()
side_by_side = SideBySide()
supported = Supported()
