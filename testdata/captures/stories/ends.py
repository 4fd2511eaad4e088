"""Both ends of transfers that no flow of a scenario expresses: programs for hosts of a lab.

`ends.py serve KIND`, `ends.py ask KIND ADDRESS`: the server listens on port 5201, serves one connection, and ends.
Each KIND is a function below; make.sh says which host runs which end.
"""
import socket
import struct
import sys
import time

PORT = 5201
GIVE_UP_S = 12


def exactly(connection, size):
    """Reads `size` bytes; fewer at the end of the stream."""
    got = b""
    while len(got) < size and (part := connection.recv(size - len(got))):
        got += part
    return got


def drain(connection):
    """Reads as fast as data arrives, to the end."""
    while connection.recv(1 << 20):
        pass


def serve_replies(connection):
    """Each request of 100 bytes begins with the size of its reply."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while len(request := exactly(connection, 100)) == 100:
        connection.sendall(bytes(struct.unpack(">I", request[:4])[0]))


def ask_replies(connection, sizes):
    """Asks for a reply of each size, one after the other."""
    connection.settimeout(GIVE_UP_S)
    for size in sizes:
        connection.sendall(struct.pack(">I", size) + bytes(96))
        try:
            exactly(connection, size)
        except TimeoutError:
            return


def serve_bulk(connection, seconds, buffer=None):
    """Sends for `seconds`; `buffer` is set as SO_SNDBUF, as programs do that want to tune."""
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    end = time.monotonic() + seconds
    piece = bytes(1 << 16)
    while time.monotonic() < end:
        connection.sendall(piece)


KINDS = {
    # Packets of 1358 bytes, three times, then one of 1408: 52 bytes of headers with timestamps.
    "two-sizes": (serve_replies, lambda c: ask_replies(c, [1306, 1306, 1306, 1356])),
    "web": (serve_replies, lambda c: ask_replies(c, [300, 60_000])),
    "send-buffer": (lambda c: serve_bulk(c, 6, 1 << 20), drain),
    "bulk": (lambda c: serve_bulk(c, 4), drain),
}


def main():
    _, end, kind, *address = sys.argv
    serve, ask = KINDS[kind]
    if end == "serve":
        with socket.create_server(("", PORT)) as listener:
            connection = listener.accept()[0]
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            serve(connection)
    else:
        with socket.create_connection((address[0], PORT)) as connection:
            ask(connection)


main()
