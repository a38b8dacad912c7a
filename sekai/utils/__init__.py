"""Seeds, action masks and other helpers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.utils.masking import action_mask_space as action_mask_space
    from sekai.utils.masking import flatten_action_mask as flatten_action_mask
    from sekai.utils.masking import get_action_mask as get_action_mask
    from sekai.utils.masking import supports_action_mask as supports_action_mask
    from sekai.utils.normalization import load_statistics as load_statistics
    from sekai.utils.normalization import save_statistics as save_statistics
    from sekai.utils.running_stats import ExponentialMovingStats as ExponentialMovingStats
    from sekai.utils.running_stats import RunningMeanStd as RunningMeanStd
    from sekai.utils.seeding import make_seed_sequence as make_seed_sequence
    from sekai.utils.seeding import np_random as np_random
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.utils.masking": "action_mask_space flatten_action_mask get_action_mask supports_action_mask",
            "sekai.utils.normalization": "load_statistics save_statistics",
            "sekai.utils.running_stats": "ExponentialMovingStats RunningMeanStd",
            "sekai.utils.seeding": "make_seed_sequence np_random",
        },
    )
