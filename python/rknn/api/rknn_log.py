# SPDX-License-Identifier: Apache-2.0
"""Log lines in the vendor's shape, '<D|I|W|E> method: text', on standard error as it is at call time."""
import logging
import sys

LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)  # by the toolkit's level number


class _Handler(logging.Handler):
    def __init__(self, path=None):
        logging.Handler.__init__(self)
        self._path = path

    def emit(self, record):
        text = record.getMessage()
        head = "%s %s: " % (record.levelname[0], getattr(record, "method", "RKNN"))
        lines = "".join(head + line + "\n" for line in text.split("\n"))
        if self._path is not None:
            with open(self._path, "a") as file:
                file.write(lines)
        elif sys.stderr is not None:
            sys.stderr.write(lines)
            sys.stderr.flush()


def make_logger(name, verbose=False, verbose_file=None):
    """A logger of its own for one object: not registered, so that it goes when the object goes."""
    logger = logging.Logger(name, logging.DEBUG if verbose else logging.INFO)
    logger.addHandler(_Handler())
    if verbose and verbose_file:
        with open(verbose_file, "w"):
            pass
        logger.addHandler(_Handler(verbose_file))
    return logger
