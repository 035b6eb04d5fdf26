"""Context managers that decorate, where programs look for them."""

from .._calls.contexts import _DecoratorContextManager, _NoParamDecoratorContextManager, context_decorator

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]
