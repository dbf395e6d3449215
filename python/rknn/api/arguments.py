# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments that nobody knows: TypeError with the nearest name that is known."""
import functools


def named_arguments(aliases=None, ignored=()):
    """Decorates a method. `aliases` maps other spellings to parameters, `ignored` are accepted with a warning."""
    aliases = aliases or {}

    def decorate(method):
        code = method.__code__
        known = code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]

        @functools.wraps(method)
        def wrapper(self, *args, **kwargs):
            for name in [n for n in kwargs if n not in known]:
                if name in aliases:
                    kwargs[aliases[name]] = kwargs.pop(name)
                elif name in ignored:
                    kwargs.pop(name)
                    self._log(1, method.__name__, "%s has no effect in this version" % name)
                else:
                    import difflib
                    close = difflib.get_close_matches(name, known, 1)
                    hint = "; did you mean '%s'?" % close[0] if close else ""
                    raise TypeError("%s() got an unexpected keyword argument '%s'%s" % (method.__name__, name, hint))
            return method(self, *args, **kwargs)

        return wrapper

    return decorate
