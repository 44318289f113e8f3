package import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A push service or webhook on loopback, without TLS, with the answers that a test gives it.
package final class TestPushService: Sendable {
    package enum Answer: Sendable {
        case status(Int, [String: String] = [:])
        /// Never.
        case silence
        /// Closes the connection instead.
        case hangUp
        /// 201 with an endless body.
        case flood
    }

    package struct Request: Sendable {
        package var method: String
        package var path: String
        fileprivate var headers: HTTPHeaders
        package var body = Data()

        package func field(_ name: String) -> String? { headers.first(name: name) }
    }

    private struct State {
        /// By path; what is not there gets 201.
        var answers: [String: [Answer]] = [:]
        var requests: [Request] = []
    }

    private let state = Mutex(State())
    private let channel = Mutex<(any Channel)?>(nil)
    private let arrivals: AsyncStream<Request>
    private let arrival: AsyncStream<Request>.Continuation

    package init() async throws {
        (arrivals, arrival) = AsyncStream.makeStream()
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(self))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
    }

    deinit { channel.withLock { $0 }?.close(promise: nil) }

    package var origin: String {
        "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)"
    }

    /// What has come, also what was refused.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// A browser whose subscription is answered so, request by request, and then with 201.
    package func browser(_ path: String, _ answers: Answer...) -> TestBrowser {
        answer("/" + path, answers)
        return TestBrowser(endpoint: origin + "/" + path)
    }

    package func answer(_ path: String, _ answers: [Answer]) {
        state.withLock { $0.answers[path] = answers }
    }

    /// The next requests that no former call has returned, in the order of their arrival.
    package func next(_ count: Int = 1) async -> [Request] {
        var found: [Request] = []
        guard count > 0 else { return [] }
        for await request in arrivals {
            found.append(request)
            if found.count == count { break }
        }
        return found
    }

    private func answer(_ request: Request) -> Answer {
        defer { arrival.yield(request) }
        return state.withLock { state in
            state.requests.append(request)
            guard state.answers[request.path]?.isEmpty == false else { return .status(201) }
            return state.answers[request.path]?.removeFirst() ?? .status(201)
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private weak let service: TestPushService?
        private var request: Request?

        init(_ service: TestPushService?) { self.service = service }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = Request(method: head.method.rawValue, path: head.uri, headers: head.headers)
            case .body(let buffer): request?.body.append(contentsOf: buffer.readableBytesView)
            case .end:
                guard let request, let answer = service?.answer(request) else { return context.close(promise: nil) }
                write(answer, context)
            }
        }

        private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
            switch answer {
            case .silence: break
            case .hangUp: context.close(promise: nil)
            case .status(let status, let headers):
                var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status))
                for (name, value) in headers { head.headers.add(name: name, value: value) }
                head.headers.add(name: "Content-Length", value: "0")
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            case .flood:
                let head = HTTPResponseHead(version: .http1_1, status: .created)
                context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
                flood(context)
            }
        }

        private func flood(_ context: ChannelHandlerContext) {
            let bytes = ByteBuffer(repeating: 0x20, count: 65_536)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes)))).whenSuccess {
                let (handler, context) = bound.value
                handler.flood(context)
            }
        }
    }
}
