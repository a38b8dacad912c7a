"""Pictures of environments and of runs, drawn off screen by matplotlib (extra `render`)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.rendering.charts import Chart as Chart
    from sekai.rendering.charts import Fan as Fan
    from sekai.rendering.charts import Histogram as Histogram
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
    from sekai.rendering.theme import DARK as DARK
    from sekai.rendering.theme import LIGHT as LIGHT
    from sekai.rendering.theme import Theme as Theme
    from sekai.rendering.theme import get_theme as get_theme
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.rendering.charts": "Chart Fan Histogram",
            "sekai.rendering.picture": "Picture",
            "sekai.rendering.recording": "RecordFrames",
            "sekai.rendering.renderer": "ANSIString BaseRenderer RenderFrame Renderer RGBArray",
            "sekai.rendering.rollouts": "plot_rollout",
            "sekai.rendering.saving": "save_gif save_video",
            "sekai.rendering.theme": "Theme LIGHT DARK get_theme",
        },
    )
