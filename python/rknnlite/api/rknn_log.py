# SPDX-License-Identifier: Apache-2.0
"""Log lines '<D|I|W|E> text' on standard error as it is at call time. Programs reach for `rknn_log.logger`."""
import logging
import sys


class _Handler(logging.Handler):
    def __init__(self, path=None):
        logging.Handler.__init__(self)
        self._path = path

    def emit(self, record):
        line = "%s %s\n" % (record.levelname[0], record.getMessage())
        if self._path is not None:
            with open(self._path, "a") as file:
                file.write(line)
        elif sys.stderr is not None:
            sys.stderr.write(line)
            sys.stderr.flush()


class RKNNLog(object):
    def __init__(self, verbose=False, verbose_file=None):
        self.logger = logging.Logger("rknnlite", logging.DEBUG if verbose else logging.INFO)
        self.logger.addHandler(_Handler())
        if verbose and verbose_file:
            with open(verbose_file, "w"):
                pass
            self.logger.addHandler(_Handler(verbose_file))

    def d(self, text):
        self.logger.debug("%s", text)

    def i(self, text):
        self.logger.info("%s", text)

    def w(self, text):
        self.logger.warning("%s", text)

    def e(self, text):
        self.logger.error("%s", text)
