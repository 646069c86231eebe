"""nbgrader's settings for this course: `nbgrader generate_assignment` and `nbgrader autograde` use them."""

from course_utils.teaching.build import CODE_STUB, TEXT_STUB

c = get_config()  # noqa: F821  (given by nbgrader)

c.CourseDirectory.course_id = "retrieval-course"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.ClearSolutions.code_stub = {"python": CODE_STUB}
c.ClearSolutions.text_stub = TEXT_STUB
c.Execute.timeout = 120
