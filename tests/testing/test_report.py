"""The lines of a report: levels, counts and order."""

from sekai.testing.report import Report, described


def test_lines_come_in_order_and_counted_ones_when_flushed():
    report = Report()
    report.count("a", "first of a.")
    report.error("one")
    report.count("b", "only b.", "resets")
    report.count("a", "second of a.")
    report.warn("two")
    report.flush()
    report.warn("three")
    assert report.lines() == [
        "ERROR: one",
        "WARNING: two",
        "WARNING: first of a. (seen at 2 steps; first shown)",
        "WARNING: only b.",
        "WARNING: three",
    ]


def test_a_warning_is_kept_once():
    report = Report()
    report.warn("same")
    report.warn("same")
    assert report.lines() == ["WARNING: same"]


def test_warnings_may_be_left_out():
    report = Report(warnings=False)
    report.warn("a")
    report.count("b", "b")
    report.error("c")
    assert report.lines() == ["ERROR: c"]


def test_errors_are_described_by_class_and_text():
    assert described(KeyError(2)) == "KeyError: 2"
