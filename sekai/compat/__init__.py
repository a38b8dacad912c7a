"""Bridges to gymnasium, PettingZoo and Stable-Baselines3; each loads its library when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.compat.bridges import from_gymnasium as from_gymnasium
    from sekai.compat.bridges import from_gymnasium_vector as from_gymnasium_vector
    from sekai.compat.bridges import from_pettingzoo as from_pettingzoo
    from sekai.compat.bridges import to_gymnasium as to_gymnasium
    from sekai.compat.bridges import to_gymnasium_vector as to_gymnasium_vector
    from sekai.compat.bridges import to_pettingzoo as to_pettingzoo
    from sekai.compat.bridges import to_sb3 as to_sb3
    from sekai.compat.gymnasium_to_sekai import GymnasiumRenderer as GymnasiumRenderer
    from sekai.compat.gymnasium_to_sekai import GymnasiumToSekai as GymnasiumToSekai
    from sekai.compat.gymnasium_vector_to_sekai import GymnasiumVectorToSekai as GymnasiumVectorToSekai
    from sekai.compat.pettingzoo_to_sekai import PettingZooToSekai as PettingZooToSekai
    from sekai.compat.sekai_to_gymnasium import SekaiToGymnasium as SekaiToGymnasium
    from sekai.compat.sekai_to_gymnasium_vector import SekaiToGymnasiumVector as SekaiToGymnasiumVector
    from sekai.compat.sekai_to_pettingzoo import SekaiToPettingZoo as SekaiToPettingZoo
    from sekai.compat.sekai_to_sb3 import SekaiToSB3 as SekaiToSB3
    from sekai.compat.spaces import space_from_gymnasium as space_from_gymnasium
    from sekai.compat.spaces import space_to_gymnasium as space_to_gymnasium
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.compat.bridges": """
                to_gymnasium from_gymnasium to_gymnasium_vector from_gymnasium_vector
                to_pettingzoo from_pettingzoo to_sb3
            """,
            "sekai.compat.gymnasium_to_sekai": "GymnasiumToSekai GymnasiumRenderer",
            "sekai.compat.gymnasium_vector_to_sekai": "GymnasiumVectorToSekai",
            "sekai.compat.pettingzoo_to_sekai": "PettingZooToSekai",
            "sekai.compat.sekai_to_gymnasium": "SekaiToGymnasium",
            "sekai.compat.sekai_to_gymnasium_vector": "SekaiToGymnasiumVector",
            "sekai.compat.sekai_to_pettingzoo": "SekaiToPettingZoo",
            "sekai.compat.sekai_to_sb3": "SekaiToSB3",
            "sekai.compat.spaces": "space_to_gymnasium space_from_gymnasium",
        },
    )
    # The bridges of single and multi-agent environments; those of batches are imported by name.
    _BATCHES = """
        to_gymnasium_vector from_gymnasium_vector SekaiToGymnasiumVector GymnasiumVectorToSekai to_sb3 SekaiToSB3
    """
    __all__ = [name for name in __all__ if name not in _BATCHES.split()]
