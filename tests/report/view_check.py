#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rknn view: pages for a folder of models, new ones when a file changes, and nothing for anybody else.

    view_check.py RKNN DIGITS_FOLDER

Every request goes to 127.0.0.1, to a server started here and ended here.
"""
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

FAILED = []


def expect(what, ok, found=""):
    if not ok:
        FAILED.append(what)
        print("wrong: %s (%s)" % (what, found))


class Server:
    def __init__(self, rknn, folder):
        self.process = subprocess.Popen([rknn, "view", folder, "-t", "rk3588"], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.port, self.root = int(re.search(r":(\d+)/", self.address).group(1)), re.search(r"(/\w+/)$", self.address).group(1)

    def get(self, path, method="GET", headers=(), body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace"), answer
        finally:
            connection.close()

    def raw(self, data, patience=15):
        """The first line that comes back, '' when the connection is closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as line:
            line.sendall(data)
            try:
                return line.recv(4096).split(b"\r\n")[0].decode("latin-1")
            except (ConnectionResetError, socket.timeout):
                return ""


def pages(server, folder, onnx):
    status, text, answer = server.get(server.root)
    expect("the list is shown", status == 200 and "digits.onnx" in text, status)
    expect("names are escaped", "&lt;b&gt;.onnx" in text and "<b>.onnx" not in text)
    expect("links and hidden files are not listed", "outside" not in text and "hidden" not in text)
    expect("no page of others is loaded", "default-src 'none'" in answer.getheader("Content-Security-Policy", ""))
    expect("the address stays here", answer.getheader("Referrer-Policy") == "no-referrer")
    status, page, _ = server.get(server.root + "model?sub%2Fdigits.onnx")
    expect("a model's page", status == 200 and "<script>" in page and "digits" in page, status)
    status, text, _ = server.get(server.root + "model?broken.onnx")
    expect("a broken model is explained", status == 200 and "<h1>broken.onnx" in text, (status, text[:200]))
    state = server.get(server.root + "state?sub%2Fdigits.onnx")[1]
    expect("the page knows its state", "'%s'" % state.strip() in page)
    shutil.copyfile(onnx, os.path.join(folder, "sub", "digits.onnx"))
    os.utime(os.path.join(folder, "sub", "digits.onnx"), (1, 1))
    changed = server.get(server.root + "state?sub%2Fdigits.onnx")[1]
    expect("a changed file has another state", changed != state)
    expect("and another page", "'%s'" % changed.strip() in server.get(server.root + "model?sub%2Fdigits.onnx")[1])
    status, text, answer = server.get(server.root, method="HEAD")
    expect("HEAD has no body", status == 200 and text == "" and int(answer.getheader("Content-Length")) > 100)


def hostile(server):
    """The number of requests that were tried."""
    root = server.root
    refused = [
        ("/", 404), ("/" + "0" * (len(root) - 2) + "/", 404), (root[:-2] + "/", 404), (root[:-1], 404), ("//" + root, 404),
        (root + "../../etc/passwd", 404), (root + "model?../outside.onnx", 404), (root + "model?%2e%2e%2foutside.onnx", 404),
        (root + "model?/etc/passwd", 404), (root + "model?outside.onnx", 404), (root + "model?.hidden.onnx", 404),
        (root + "model?", 404), (root + "model", 404), (root + "model?%", 404), (root + "model?%zz", 404),
        (root + "model?sub%2Fdigits.onnx%00.html", 404), (root + "state?sub", 404), (root + "other?digits.onnx", 404),
        (root + "a" * 3000, 404),
    ]
    for path, wanted in refused:
        status, text, _ = server.get(path)
        expect("GET " + path[:60], status == wanted and "root:" not in text, status)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        expect(method, server.get(root, method=method)[0] == 405, server.get(root, method=method)[0])
    expect("a body", server.get(root, method="POST", body="x" * 10)[0] == 413)
    for host in ("example.com", "127.0.0.1", "127.0.0.1:1", "localhost.example.com:%d" % server.port, ""):
        expect("Host: " + host, server.get(root, headers=[("Host", host)])[0] == 403)
    lines = [b"GET " + root.encode() + b" HTTP/1.1\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01" * 20,
             b"GET / HTTP/9.9\r\n\r\n", b"G" * 20000, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
             b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
             b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
             b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(2000)) + b"\r\n"]
    for line in lines:
        first = server.raw(line)
        expect("raw %r" % line[:40], first == "" or re.match(r"HTTP/1\.[01] (4\d\d)", first) is not None, first)
    # Connections that say nothing: the others are served, and these are dropped after a while.
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(20)]
    silent[0].sendall(b"GET / HT")
    expect("served beside silent connections", server.get(root)[0] == 200)
    start = time.time()
    expect("a silent connection is dropped", silent[0].recv(100) == b"")
    expect("after five seconds", 1 < time.time() - start < 12, time.time() - start)
    for line in silent:
        line.close()
    for _ in range(100):
        socket.create_connection(("127.0.0.1", server.port), timeout=20).close()
    expect("served after 100 broken connections", server.get(root)[0] == 200)
    try:
        elsewhere = [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None) if not a[4][0].startswith(("127.", "::1"))]
    except OSError:
        elsewhere = []
    for address in elsewhere[:2]:
        try:
            socket.create_connection((address, server.port), timeout=2).close()
            expect("only 127.0.0.1 answers", False, address)
        except OSError:
            pass
    return len(refused) + 6 + 1 + 5 + len(lines) + 20 + 100


def main():
    rknn, digits = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    onnx = os.path.join(digits, "digits.onnx")
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "models")
        os.makedirs(os.path.join(folder, "sub"))
        for name in ("digits.onnx", "sub/digits.onnx", "<b>.onnx", ".hidden.onnx"):
            shutil.copyfile(onnx, os.path.join(folder, name))
        shutil.copyfile(onnx, os.path.join(work, "outside.onnx"))
        os.symlink(os.path.join(work, "outside.onnx"), os.path.join(folder, "outside.onnx"))
        with open(os.path.join(folder, "broken.onnx"), "wb") as file:
            file.write(b"<script>alert(1)</script>")
        first, second = Server(rknn, folder), Server(rknn, folder)
        try:
            expect("tokens differ", first.root != second.root and len(first.root) == 34, first.root)
            pages(first, folder, onnx)
            count = hostile(first)
            expect("it still runs", first.process.poll() is None)
        finally:
            for server in (first, second):
                server.process.kill()
                server.process.wait()
    print("FIGURE rknn view: hostile requests and connections, wrong answers | %d, %d | 0 wrong | %s" % (
        count, len(FAILED), "SHORT" if FAILED else "ok"))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
