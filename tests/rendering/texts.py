"""A check of pictures that is true of every one."""

from itertools import combinations

from matplotlib.text import Text


def texts_are_in_their_place(figure):
    """No text falls off the figure, and no two overlap."""
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)
    boxes = {}
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible() and is_drawn(text, figure):
            boxes[text] = text.get_window_extent(renderer)
    for text, box in boxes.items():
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
        assert inside, f"{text.get_text()!r} falls off"
    for (one, box), (other, other_box) in combinations(boxes.items(), 2):
        assert not box.overlaps(other_box), f"{one.get_text()!r} overlaps {other.get_text()!r}"


def is_drawn(text, figure):
    """Whether a text is neither the label of a tick outside the limits nor in a legend that is left out."""
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is not None and not legend.get_visible() and text in legend.get_texts():
            return False
        for axis in (axes.xaxis, axes.yaxis):
            for tick in axis.get_major_ticks():
                if text in (tick.label1, tick.label2):
                    low, high = sorted(axis.get_view_interval())
                    return low <= tick.get_loc() <= high
    return True
