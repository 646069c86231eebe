"""What the tests of all tasks share."""


def says(result, points, *fragments, state=None):
    """Assert points, state and words of a result, showing the message where they differ."""
    if points is not None:
        assert float(result) == points, str(result)
    assert result.state == (state or ("passed" if points == result.out_of else "not yet")), str(result)
    for fragment in fragments:
        assert fragment in result.message, str(result)
