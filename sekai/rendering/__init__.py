"""Pictures of environments and of runs, drawn off screen by matplotlib (extra `render`)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.rendering.chart import Chart as Chart
    from sekai.rendering.chart import TimeChart as TimeChart
    from sekai.rendering.classic_control import AcrobotRenderer as AcrobotRenderer
    from sekai.rendering.classic_control import CartPoleRenderer as CartPoleRenderer
    from sekai.rendering.classic_control import MountainCarRenderer as MountainCarRenderer
    from sekai.rendering.classic_control import PendulumRenderer as PendulumRenderer
    from sekai.rendering.dashboard import Dashboard as Dashboard
    from sekai.rendering.finance import MarketMakingRenderer as MarketMakingRenderer
    from sekai.rendering.finance import OptimalExecutionRenderer as OptimalExecutionRenderer
    from sekai.rendering.finance import PortfolioRenderer as PortfolioRenderer
    from sekai.rendering.finance import PriceChart as PriceChart
    from sekai.rendering.finance import TradingRenderer as TradingRenderer
    from sekai.rendering.grid import LaneGrid as LaneGrid
    from sekai.rendering.grid import record_lanes as record_lanes
    from sekai.rendering.lanes import LanesPicture as LanesPicture
    from sekai.rendering.lanes import plot_lanes as plot_lanes
    from sekai.rendering.making import make_renderer as make_renderer
    from sekai.rendering.picture import Picture as Picture
    from sekai.rendering.recording import RecordFrames as RecordFrames
    from sekai.rendering.renderer import ANSIString as ANSIString
    from sekai.rendering.renderer import BaseRenderer as BaseRenderer
    from sekai.rendering.renderer import Renderer as Renderer
    from sekai.rendering.renderer import RenderFrame as RenderFrame
    from sekai.rendering.renderer import RGBArray as RGBArray
    from sekai.rendering.rollouts import plot_rollout as plot_rollout
    from sekai.rendering.saving import save_gif as save_gif
    from sekai.rendering.saving import save_video as save_video
    from sekai.rendering.scene import SceneRenderer as SceneRenderer
    from sekai.rendering.scene import rotate as rotate
    from sekai.rendering.theme import DARK as DARK
    from sekai.rendering.theme import LIGHT as LIGHT
    from sekai.rendering.theme import Theme as Theme
    from sekai.rendering.theme import get_theme as get_theme
    from sekai.rendering.time_charts import Fan as Fan
    from sekai.rendering.time_charts import StackedArea as StackedArea
    from sekai.rendering.time_charts import TimeSeries as TimeSeries
    from sekai.rendering.value_charts import Bars as Bars
    from sekai.rendering.value_charts import Depth as Depth
    from sekai.rendering.value_charts import Histogram as Histogram
    from sekai.rendering.value_charts import PhasePortrait as PhasePortrait
else:
    from sekai._lazy import lazy_exports

    _exported, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.rendering.chart": "Chart TimeChart",
            "sekai.rendering.classic_control": "AcrobotRenderer CartPoleRenderer MountainCarRenderer PendulumRenderer",
            "sekai.rendering.dashboard": "Dashboard",
            "sekai.rendering.finance": """
                MarketMakingRenderer OptimalExecutionRenderer PortfolioRenderer PriceChart TradingRenderer
            """,
            "sekai.rendering.grid": "LaneGrid record_lanes",
            "sekai.rendering.lanes": "LanesPicture plot_lanes",
            "sekai.rendering.making": "make_renderer",
            "sekai.rendering.picture": "Picture",
            "sekai.rendering.recording": "RecordFrames",
            "sekai.rendering.renderer": "ANSIString BaseRenderer RGBArray RenderFrame Renderer",
            "sekai.rendering.rollouts": "plot_rollout",
            "sekai.rendering.saving": "save_gif save_video",
            "sekai.rendering.scene": "SceneRenderer rotate",
            "sekai.rendering.theme": "DARK LIGHT Theme get_theme",
            "sekai.rendering.time_charts": "Fan StackedArea TimeSeries",
            "sekai.rendering.value_charts": "Bars Depth Histogram PhasePortrait",
        },
    )

    def __getattr__(name):
        try:
            return _exported(name)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "matplotlib":
                raise
            raise ImportError(f'sekai.rendering.{name} needs matplotlib: pip install "sekai[render]"') from error
