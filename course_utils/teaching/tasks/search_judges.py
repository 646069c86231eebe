"""The judging half of exercise 03. Loaded by a check only after, or far from, the learner's own code."""

from course_utils.teaching.tasks.search_judge_bm25 import Bm25Score
from course_utils.teaching.tasks.search_judge_choose import ChooseWeight
from course_utils.teaching.tasks.search_judge_fuse import Rrf
from course_utils.teaching.tasks.search_judge_mix import MixZ
from course_utils.teaching.tasks.search_judge_terms import KeepCodes

keep_codes = KeepCodes()
bm25_score = Bm25Score()
rrf = Rrf()
mix_z = MixZ()
choose_weight = ChooseWeight()
