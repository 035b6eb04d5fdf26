"""What stands in an archive for the modules that were mocked out: this very text is written there."""

_USES = (
    "__add__ __and__ __call__ __contains__ __delitem__ __enter__ __exit__ __float__ __getitem__ __gt__ "
    "__int__ __iter__ __len__ __lt__ __matmul__ __mul__ __next__ __or__ __setitem__ __sub__ __truediv__ "
    "__xor__"
)


class MockedObject:
    """An object of a module that is not in the archive. It can be named and handed on, and not be used."""

    _name: str

    def __new__(cls, *args: object, **kwargs: object) -> "MockedObject":
        """Refuse, unless it is made for a module."""
        if not kwargs.get("_suppress_err"):
            raise NotImplementedError(
                f"Object '{cls._name}' was mocked out during packaging but it is being used in '__new__'. "
                "If this error is happening during 'load_pickle', please ensure that your pickled object "
                "doesn't contain any mocked objects."
            )
        return super().__new__(cls)

    def __init__(self, name: str, _suppress_err: bool) -> None:
        self.__dict__["_name"] = name

    def __repr__(self) -> str:
        return f"MockedObject({self._name})"


def _refusing(use: str) -> object:
    def refuse(self: MockedObject, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"Object '{self._name}' was mocked out during packaging but it is being used in {use}"
        )

    return refuse


for _use in _USES.split():
    setattr(MockedObject, _use, _refusing(_use))
