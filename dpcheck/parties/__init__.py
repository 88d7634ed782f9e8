"""Several parties learn together, as processes that talk over sockets: noise inside a secure computation.

>>> from dpcheck import parties
>>> parties.descend  # doctest: +ELLIPSIS
<function descend at ...>

The computation is MPyC's (Shamir's sharing, honest majority): pip install 'dpcheck[parties]'. docs/parties.md says who
sees what.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "protocol": ["Learned", "average", "descend", "plan_average", "plan_descent"],
        "session": ["PartyStopped", "Session"],
    },
)
