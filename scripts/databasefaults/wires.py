"""A TCP proxy between nodes and their database that cuts, delays, half-closes and black-holes."""

import asyncio
import socket
import threading

from .servers import free_port


class Wires:
    """Listens on `port`; the faults count for all connections from then on."""

    def __init__(self, target_port):
        self.target_port, self.port = target_port, free_port()
        self.delay, self.refuses, self.loses_answers = 0.0, False, False
        self.pairs = set()
        self.loop = asyncio.new_event_loop()
        self.flows = None
        self.byte_count = 0  # lost answers
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.flows = asyncio.Event()
        self.flows.set()
        self.loop.run_until_complete(
            asyncio.start_server(self.accept, "127.0.0.1", self.port))
        ready.set()
        self.loop.run_forever()

    def call(self, body):
        done = threading.Event()

        def run():
            body()
            done.set()

        self.loop.call_soon_threadsafe(run)
        done.wait(10)

    async def accept(self, reader, writer):
        if self.refuses:
            writer.transport.abort()
            return
        try:
            server_reader, server_writer = await asyncio.open_connection(
                "127.0.0.1", self.target_port)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, server_writer)
        self.pairs.add(pair)
        for one in pair:
            one.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(
            self.pump(reader, server_writer, False), self.pump(server_reader, writer, True))
        self.pairs.discard(pair)
        for one in pair:
            one.close()

    async def pump(self, reader, writer, is_answer):
        try:
            while content := await reader.read(1 << 16):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self.flows.wait()
                if is_answer and self.loses_answers:
                    self.byte_count += len(content)
                    continue
                writer.write(content)
                await writer.drain()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()

    def cut(self):
        """Resets all connections; what they have not delivered is lost."""
        self.call(lambda: [one.transport.abort() for pair in self.pairs for one in pair])

    def half_close(self, towards_server):
        """Ends one direction; the other stays open."""

        def body():
            for client, server in list(self.pairs):
                one = server if towards_server else client
                if one.can_write_eof() and not one.is_closing():
                    one.write_eof()

        self.call(body)

    def hold(self, is_held):
        """Delivers nothing in either direction, without closing anything."""
        self.call(self.flows.clear if is_held else self.flows.set)
