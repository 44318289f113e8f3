import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server on a loopback port that answers each request with the bytes a test says, however wrong.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        var head: String
        var body: Data

        var line: String { head.split(separator: "\r\n").first.map(String.init) ?? "" }

        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                    return parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
            return nil
        }
    }

    enum Step: Sendable {
        case send(Data)
        case close

        static func text(_ text: String) -> Step { .send(Data(text.utf8)) }
    }

    typealias Script = @Sendable (Request) -> [Step]

    let port: Int
    private let channel: any Channel
    private let connections: OpenConnections
    private let log: RequestLog

    var address: String { "http://127.0.0.1:\(port)" }
    var received: [Request] { log.all }

    init(_ script: @escaping Script) async throws {
        let log = RequestLog()
        let connections = OpenConnections()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ScriptHandler(script: script, log: log))
                    connections.opened()
                    channel.closeFuture.whenComplete { _ in connections.closed() }
                }
            }
        channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.connections = connections
        self.log = log
    }

    /// Waits until no client has a connection open; at once where none ever opened one.
    func waitUntilNoneIsOpen() async { await connections.waitUntilNoneIsOpen() }

    func stop() async { try? await channel.close() }

    /// A whole answer.
    static func answer(
        _ status: String, type: String = "application/json", headers: [String] = [],
        body: String = ""
    ) -> [Step] {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
            + headers
        return [.text(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)]
    }

    /// The head of an event stream, then pieces of it, each as one chunk.
    static func stream(_ pieces: [String], isEnded: Bool = false) -> [Step] {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
        let chunks = pieces.map { piece in
            Step.text(String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n")
        }
        return [.text(head)] + chunks + (isEnded ? [.text("0\r\n\r\n")] : [])
    }
}

final class RequestLog: Sendable {
    private let requests = Mutex<[ScriptedServer.Request]>([])

    var all: [ScriptedServer.Request] { requests.withLock { $0 } }

    func add(_ request: ScriptedServer.Request) { requests.withLock { $0.append(request) } }
}

/// How many connections are open; for one waiting task.
private final class OpenConnections: Sendable {
    private let count = Mutex(0)
    private let closings: AsyncStream<Void>
    private let closing: AsyncStream<Void>.Continuation

    init() {
        (closings, closing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func opened() { count.withLock { $0 += 1 } }

    func closed() {
        count.withLock { $0 -= 1 }
        closing.yield()
    }

    func waitUntilNoneIsOpen() async {
        var iterator = closings.makeAsyncIterator()
        while count.withLock({ $0 }) > 0, await iterator.next() != nil {}
    }
}

private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let script: ScriptedServer.Script
    private let log: RequestLog
    private var bytes = Data()

    init(script: @escaping ScriptedServer.Script, log: RequestLog) {
        self.script = script
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        while let request = takeRequest() {
            log.add(request)
            for step in script(request) {
                switch step {
                case .send(let data): context.writeAndFlush(NIOAny(ByteBuffer(bytes: data)), promise: nil)
                case .close: context.close(promise: nil)
                }
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func takeRequest() -> ScriptedServer.Request? {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        var request = ScriptedServer.Request(
            head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self), body: Data())
        let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
        guard bytes.count - (end.upperBound - bytes.startIndex) >= length else { return nil }
        request.body = Data(bytes[end.upperBound..<(end.upperBound + length)])
        bytes = Data(bytes[(end.upperBound + length)...])
        return request
    }
}
