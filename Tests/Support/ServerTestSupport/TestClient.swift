// A client of the daemon that sees bytes, for tests of the protocol. Not here: starting servers.

package import Foundation
package import HTTPTypes
package import KVStoreCore
import KVStoreWire
package import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import Synchronization
import Testing

/// A client with one connection, opened when needed. It sends paths as they are.
package final class TestClient: Sendable {
    private let address: @Sendable () throws -> SocketAddress
    private let tls: NIOSSLContext?
    private let connection = Mutex<(any Channel)?>(nil)

    /// - Parameter tls: nil for plain HTTP.
    package init(port: Int, tls: NIOSSLContext? = nil) {
        address = { try SocketAddress(ipAddress: "127.0.0.1", port: port) }
        self.tls = tls
    }

    package init(socketPath: String) {
        address = { try SocketAddress(unixDomainSocketPath: socketPath) }
        tls = nil
    }

    /// Runs `body` with a client while a server runs, then stops that.
    ///
    /// - Parameters:
    ///   - run: serves until `stop` is called.
    ///   - port: waits until the server listens.
    package static func served<Value: Sendable>(
        by run: @escaping @Sendable () async throws -> Void, port: () async throws -> Int,
        stop: () async -> Void, _ body: (TestClient, Int) async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await run() }
            let port = try await port()
            let client = TestClient(port: port)
            let result: Result<Value, any Error>
            do { result = .success(try await body(client, port)) } catch {
                result = .failure(error)
            }
            await client.close()
            await stop()
            try await group.waitForAll()
            return try result.get()
        }
    }

    package struct Refused: Error {
        package var status: HTTPResponse.Status
        package var text: String

        package init(_ response: TestResponse) {
            (status, text) = (response.status, response.text)
        }
    }

    package func sync(_ token: String, _ request: SyncRequest, store: String = "s") async throws -> SyncResponse {
        let response = try await execute(
            uri: "/v1/stores/\(store)/sync", method: .post,
            headers: [.authorization: "Bearer \(token)"],
            body: ByteBuffer(bytes: WireJSON.encode(request)))
        guard response.status == .ok else { throw Refused(response) }
        return try WireJSON.decode(from: Data(response.body.readableBytesView))
    }

    /// A cancelled task closes the connection and throws.
    package func execute(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> TestResponse {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: uri)
        head.headers.add(name: "Host", value: "localhost")
        for field in headers {
            head.headers.add(name: field.name.rawName, value: field.value)
        }
        if [.post, .put, .patch].contains(method) {
            head.headers.add(name: "Content-Length", value: "\(body?.readableBytes ?? 0)")
        }
        try Task.checkCancellation()
        let channel = try await open()
        let answer = channel.eventLoop.makePromise(of: TestResponse.self)
        channel.writeAndFlush(Exchange(head: head, body: body, answer: answer)).cascadeFailure(to: answer)
        return try await withTaskCancellationHandler {
            try await answer.futureResult.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Sets a key of the store "default" to data, as the device of a token.
    package func put(_ bytes: Data, key: String, token: String) async throws {
        let response = try await execute(
            uri: "/v1/stores/default/keys/\(key)", method: .put,
            headers: [.authorization: "Bearer \(token)", .contentType: "application/octet-stream"],
            body: ByteBuffer(bytes: PropertyListValue.data(bytes).encoded()))
        try #require(response.status == .ok, "\(response.text)")
    }

    package func close() async { try? await connection.withLock { $0 }?.close() }

    private func open() async throws -> any Channel {
        if let open = connection.withLock({ $0 }), open.isActive { return open }
        let opened = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Exchanges())
                }
            }
            .connect(to: address()).get()
        connection.withLock { $0 = opened }
        return opened
    }

    private struct Exchange: Sendable {
        var head: HTTPRequestHead
        var body: ByteBuffer?
        var answer: EventLoopPromise<TestResponse>
    }

    /// Matches answers with requests, in order.
    private final class Exchanges: ChannelDuplexHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundIn = Exchange
        typealias OutboundOut = HTTPClientRequestPart

        private var answers = CircularBuffer<EventLoopPromise<TestResponse>>()
        private var present = TestResponse()

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let exchange = unwrapOutboundIn(data)
            answers.append(exchange.answer)
            context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
            if let body = exchange.body {
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            }
            context.write(wrapOutboundOut(.end(nil)), promise: promise)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                present = TestResponse(status: .init(code: Int(head.status.code)))
                for (name, value) in head.headers {
                    if let name = HTTPField.Name(name) {
                        present.headers.append(HTTPField(name: name, value: value))
                    }
                }
            case .body(let bytes): present.body.writeImmutableBuffer(bytes)
            case .end: answers.popFirst()?.succeed(present)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            fail(ChannelError.eof)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            fail(error)
            context.close(promise: nil)
        }

        private func fail(_ error: any Error) {
            while let answer = answers.popFirst() { answer.fail(error) }
        }
    }
}

package struct TestResponse: Sendable {
    package var status = HTTPResponse.Status.ok
    package var headers: HTTPFields = [:]
    package var body = ByteBuffer()

    package var text: String { String(buffer: body) }

    package var problemCode: String? {
        let object = try? JSONSerialization.jsonObject(with: Data(body.readableBytesView))
        return (object as? [String: Any])?["code"] as? String
    }

    package func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }
}
