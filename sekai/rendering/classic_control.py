"""Renderers of the classic-control environments."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from sekai.rendering.scene import SceneRenderer, bar, disc, rotate
from sekai.rendering.theme import Theme
from sekai.rendering.ticks import format_number


class CartPoleRenderer(SceneRenderer):
    """Draws a `CartPoleEnv`: the cart on its track and the pole, and how far either may go.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
    """

    x_label = "position (m)"
    cart: ClassVar[tuple[float, float]] = (0.5, 0.3)  # m
    pole_width: ClassVar[float] = 0.1

    def __init__(self, width: int = 600, height: int = 400, *, theme: str | Theme = "light") -> None:
        super().__init__(width, height, theme)

    def classes(self) -> tuple[type, ...]:
        """Classes of environments that it draws."""
        from sekai.envs.cartpole import CartPoleEnv

        return (CartPoleEnv,)

    def shape(self, env: Any) -> Any:
        """The limits of the cart and of the pole, and the pole's length."""
        return env.x_threshold, env.theta_threshold_radians, 2 * env.length

    def build(self, axes: Axes, shape: Any) -> None:
        """Add track, cart, pole and limits."""
        limit, self.angle, self.pole_length = shape
        theme, (width, height) = self.theme, self.cart
        self.fit((-1.1 * limit - width / 2, 1.1 * limit + width / 2), (0.0, height + 1.25 * self.pole_length))
        for side in (-limit, limit):
            axes.axvline(side, color=theme.down, lw=1.2, ls=(0, (4, 3)))
        self.body = self.part(theme.text, zorder=3)
        self.wheels = [self.part(theme.background, zorder=4, edge=theme.text) for _ in range(2)]
        self.pole = self.part(theme.highlight, zorder=5)
        self.axle = self.part(theme.accent, zorder=6)
        self.falls = [axes.plot([], [], color=theme.down, lw=1.0, ls=":", animated=True)[0] for _ in range(2)]

    def move(self, env: Any) -> str:
        """Put cart and pole where they are."""
        x, _, theta, _ = map(float, env.state)
        width, height = self.cart
        wheel = 0.25 * height
        top = wheel + height
        self.body.set_xy(np.add(bar(width, height), (x - width / 2, wheel + height / 2)))
        for shape, side in zip(self.wheels, (-0.28, 0.28), strict=True):
            shape.set_xy(disc(wheel, (x + side * width, wheel)))
        self.pole.set_xy(rotate(bar(self.pole_length, self.pole_width), math.pi / 2 - theta, (x, top)))
        self.axle.set_xy(disc(0.4 * self.pole_width, (x, top)))
        for line, side in zip(self.falls, (-1, 1), strict=True):
            tip = rotate([(self.pole_length, 0.0)], math.pi / 2 - side * self.angle, (x, top))[0]
            line.set_data([x, tip[0]], [top, tip[1]])
        degrees = format_number(math.degrees(theta), 1, sign=True)
        return f"cart {format_number(x, 2, sign=True)} m,  pole {degrees}\N{DEGREE SIGN}"


class MountainCarRenderer(SceneRenderer):
    """Draws a `MountainCarEnv` or a `ContinuousMountainCarEnv`: the car on its hill, and the goal.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
    """

    x_label = "position"
    car: ClassVar[tuple[float, float]] = (0.14, 0.05)
    wheel: ClassVar[float] = 0.022
    flag: ClassVar[float] = 0.16

    def __init__(self, width: int = 600, height: int = 400, *, theme: str | Theme = "light") -> None:
        super().__init__(width, height, theme)

    def classes(self) -> tuple[type, ...]:
        """Classes of environments that it draws."""
        from sekai.envs.continuous_mountain_car import ContinuousMountainCarEnv
        from sekai.envs.mountain_car import MountainCarEnv

        return MountainCarEnv, ContinuousMountainCarEnv

    def shape(self, env: Any) -> Any:
        """The ends of the track, the goal, and how high the track is."""
        return env.min_position, env.max_position, env.goal_position, env.height

    def build(self, axes: Axes, shape: Any) -> None:
        """Add the hill, the flag and the car."""
        low, high, goal, height = shape
        theme = self.theme
        x = np.linspace(low, high, 200)
        y = height(x)
        self.fit((low - 0.05, high + 0.05), (min(0.0, float(y.min())), float(max(y.max(), height(goal))) + self.flag))
        bottom = axes.get_ylim()[0]
        axes.fill_between(x, y, bottom, color=theme.grid, lw=0)
        axes.plot(x, y, color=theme.axis, lw=1.5)
        foot, top = float(height(goal)), float(height(goal)) + self.flag
        axes.plot([goal, goal], [foot, top], color=theme.text, lw=1.5)
        axes.fill([goal, goal + 0.09, goal], [top, top - 0.03, top - 0.06], color=theme.highlight, lw=0)
        self.wheels = [self.part(theme.background, zorder=4, edge=theme.text) for _ in range(2)]
        self.body = self.part(theme.accent, zorder=5)

    def move(self, env: Any) -> str:
        """Put the car where it is."""
        x, speed = map(float, env.state)
        length, height = self.car
        y = float(env.height(x))
        slope = math.atan2(float(env.height(x + 1e-4)) - float(env.height(x - 1e-4)), 2e-4)
        chassis = np.add(bar(length, height), (-length / 2, self.wheel + height / 2))
        self.body.set_xy(rotate(chassis, slope, (x, y)))
        for shape, side in zip(self.wheels, (-0.3, 0.3), strict=True):
            hub = rotate([(side * length, self.wheel)], slope, (x, y))[0]
            shape.set_xy(disc(self.wheel, hub))
        return f"position {format_number(x, 2, sign=True)},  speed {format_number(speed, 4, sign=True)}"


class PendulumRenderer(SceneRenderer):
    """Draws a `PendulumEnv`: the rod, and the torque of the last step as an arrow around its hinge.

    Args:
        size: Width and height of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
    """

    arc: ClassVar[float] = 0.42  # radius of the arrow, in lengths of the rod
    full_turn: ClassVar[float] = 2.4  # rad that the strongest torque's arrow spans

    def __init__(self, size: int = 500, *, theme: str | Theme = "light") -> None:
        super().__init__(size, size, theme)

    def classes(self) -> tuple[type, ...]:
        """Classes of environments that it draws."""
        from sekai.envs.pendulum import PendulumEnv

        return (PendulumEnv,)

    def shape(self, env: Any) -> Any:
        """The rod's length and the strongest torque."""
        return env.l, env.max_torque

    def build(self, axes: Axes, shape: Any) -> None:
        """Add rod, hinge, arrow, and the circle that the tip goes around."""
        length, self.max_torque = shape
        theme, reach = self.theme, 1.15 * length
        self.fit((-reach, reach), (-reach, reach))
        axes.plot(*disc(length).T, color=theme.grid, lw=1.0, zorder=1)
        axes.plot([0, 0], [0.94 * length, 1.06 * length], color=theme.axis, lw=1.5, zorder=1)
        self.rod = self.part(theme.accent, zorder=3)
        self.hinge = self.part(theme.text, zorder=5)
        self.hinge.set_xy(disc(0.05 * length))
        (self.arrow,) = axes.plot([], [], color=theme.highlight, lw=3.0, zorder=4, animated=True)
        self.head = self.part(theme.highlight, zorder=4)
        self.length = length

    def move(self, env: Any) -> str:
        """Turn the rod, and show the torque."""
        theta, _ = map(float, env.state)
        torque = env.last_u or 0.0
        self.rod.set_xy(rotate(bar(self.length, 0.1 * self.length), theta + math.pi / 2))
        angles = math.pi / 2 + np.linspace(0.0, self.full_turn * torque / self.max_torque, 24)
        path = self.arc * self.length * np.column_stack([np.cos(angles), np.sin(angles)])
        self.arrow.set_data(*path.T)
        tip = np.array([(0.0, 0.06), (0.12, 0.0), (0.0, -0.06)]) * self.length * min(abs(torque), 1.0)
        self.head.set_xy(rotate(tip, angles[-1] + math.copysign(math.pi / 2, torque), path[-1]))
        degrees = format_number(math.degrees(math.remainder(theta, 2 * math.pi)), 0, sign=True)
        return f"angle {degrees}\N{DEGREE SIGN},  torque {format_number(torque, 2, sign=True)} N m"


class AcrobotRenderer(SceneRenderer):
    """Draws an `AcrobotEnv`: both links, and the line that the tip has to cross.

    Args:
        size: Width and height of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
    """

    link_width: ClassVar[float] = 0.14
    goal: ClassVar[float] = 1.0  # m

    def __init__(self, size: int = 500, *, theme: str | Theme = "light") -> None:
        super().__init__(size, size, theme)

    def classes(self) -> tuple[type, ...]:
        """Classes of environments that it draws."""
        from sekai.envs.acrobot import AcrobotEnv

        return (AcrobotEnv,)

    def shape(self, env: Any) -> Any:
        """The lengths of the links."""
        return env.LINK_LENGTH_1, env.LINK_LENGTH_2

    def build(self, axes: Axes, shape: Any) -> None:
        """Add links, joints and the line."""
        self.lengths = shape
        theme, reach = self.theme, sum(shape) + 0.2
        self.fit((-reach, reach), (-reach, reach))
        axes.axhline(self.goal, color=theme.highlight, lw=1.5, ls=(0, (5, 3)), zorder=1)
        self.links = [self.part(color, zorder=3 + i) for i, color in enumerate((theme.accent, theme.color(5)))]
        self.joints = [self.part(theme.text, zorder=6) for _ in range(2)]
        self.joints[0].set_xy(disc(0.5 * self.link_width))

    def move(self, env: Any) -> str:
        """Put the links where they are."""
        theta1, theta2, _, _ = map(float, env.state)
        elbow, tip = self.ends(theta1, theta2)
        self.links[0].set_xy(rotate(bar(self.lengths[0], self.link_width), theta1 - math.pi / 2))
        self.links[1].set_xy(rotate(bar(self.lengths[1], self.link_width), theta1 + theta2 - math.pi / 2, elbow))
        self.joints[1].set_xy(disc(0.5 * self.link_width, elbow))
        return f"tip at {format_number(tip[1], 2, sign=True)} m,  goal {format_number(self.goal, 2, sign=True)} m"

    def ends(self, theta1: float, theta2: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the two links end."""
        elbow = rotate([(self.lengths[0], 0.0)], theta1 - math.pi / 2)[0]
        return elbow, rotate([(self.lengths[1], 0.0)], theta1 + theta2 - math.pi / 2, elbow)[0]
