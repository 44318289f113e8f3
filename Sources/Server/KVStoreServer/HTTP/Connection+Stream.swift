import KVStoreWire
import NIOCore
import NIOHTTP1

/// The connection as a live stream, which it remains to its end.
extension Connection {
    func begin(_ stream: any LiveStream) {
        guard let context else { return }
        var stream = stream
        stream.isChunked = head?.version != .http1_0
        server.record(.ok, of: head, since: nil)
        let fields = head.map(server.entry.fields) ?? []
        release()
        ticket += 1
        phase = .stream
        var buffer = context.channel.allocator.buffer(capacity: 512)
        Answer.writeStreamHead(isChunked: stream.isChunked, fields, date: table.date, to: &buffer)
        self.stream = stream
        table.watchers.add(self, to: stream.topic)
        write(buffer)
        guard !isStopping, !isInputClosed else { return finishStream() }
        pump()
        resume()
        removeDecoder()
    }

    func wake() { pump() }

    /// Writes the changes after the cursor, as long as the peer reads them.
    ///
    /// A stream has a cursor, not a queue: what a slow reader has not received yet costs no memory, and a key that
    /// changed several times is sent once, with its current record. Sequence numbers ascend, and everything up to the
    /// last one sent was sent or is superseded.
    func pump() {
        while let channel = context?.channel, channel.isWritable, phase == .stream {
            // For every page: a slow reader of a large store may take minutes.
            guard stream?.isAllowed(by: server.devices, in: table) == true else { return finishStream() }
            let (text, hasMore) = stream!.next(table.pages)
            if let text { write(text) }
            if stream?.isComplete == true { return finishStream() }
            guard hasMore else { return }
        }
    }

    func beat() {
        pump()
        guard let stream, phase == .stream else { return }
        if wait == nil { write(stream.framed(EventStreamText.heartbeat)) }
    }

    func finishStream() {
        guard let stream, phase == .stream else { return }
        phase = .closing
        endStream()
        write(ByteBuffer(staticString: stream.isChunked ? "0\r\n\r\n" : ""), isLast: true)
        // A client that sleeps does not hold up the end of the server; one that is awake begins after what it has
        // received.
        if isStopping { close() }
    }

    func endStream() {
        guard let stream else { return }
        table.watchers.remove(self, from: stream.topic)
        self.stream = nil
    }
}
