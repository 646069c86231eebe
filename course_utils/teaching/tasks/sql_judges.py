"""The judging half of exercise 01. Loaded by a check only after, or far from, the learner's own code."""

from course_utils.teaching.tasks.sql_judge_cte import CteGuard
from course_utils.teaching.tasks.sql_judge_limit import LimitGuard
from course_utils.teaching.tasks.sql_judge_loop import RepairLoop
from course_utils.teaching.tasks.sql_judge_queries import CustomersPerCity
from course_utils.teaching.tasks.sql_judge_revenue import RevenueTool

limit_guard = LimitGuard()
customers_per_city = CustomersPerCity()
cte_guard = CteGuard()
repair_loop = RepairLoop()
revenue_tool = RevenueTool()
