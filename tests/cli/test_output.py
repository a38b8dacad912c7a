"""What is printed, and where."""

from sekai.cli import output


def test_nothing_is_drawn_into_a_pipe_or_without_the_package(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    class Pipe:
        def isatty(self):
            return False

    assert output.may_draw(Terminal())
    assert not output.may_draw(Pipe())
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    assert not output.may_draw(Terminal())
