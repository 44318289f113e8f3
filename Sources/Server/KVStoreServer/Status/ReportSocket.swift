import Essentials
import KVStoreWire
import NIOCore
import NIOPosix

/// status.sock of a data directory: each connection gets the server's report and is closed. Only the user of the server
/// can connect, so no token is needed.
package struct ReportSocket: Sendable {
    private let path: String

    init(dataDirectory: String) { path = dataDirectory + "/status.sock" }

    func listen(
        _ report: @escaping @Sendable (@escaping @Sendable (ServerReport) -> Void) -> Void
    ) async throws -> any Channel {
        let name = try SocketPath(path)
        defer { withExtendedLifetime(name) {} }
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ReportHandler(report))
                }
            }
            .bind(privateSocket: path, by: name.path)
    }

    /// The report of the server that is running; nil without one that answers within five seconds.
    package func read() async -> ServerReport? {
        await withDeadline(.seconds(5)) { await answer() } ?? nil
    }

    private func answer() async -> ServerReport? {
        do {
            let name = try SocketPath(path)
            defer { withExtendedLifetime(name) {} }
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: name.path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                    }
                }
            let json = try await channel.executeThenClose { parts, _ in
                var json = ByteBuffer()
                for try await part in parts { json.writeImmutableBuffer(part) }
                return json
            }
            return try WireJSON.decode(ServerReport.self, from: Data(json.readableBytesView))
        } catch {
            return nil
        }
    }
}

extension ServerBootstrap {
    /// Binds to a Unix domain socket that only this user can open, and that is removed when it is closed.
    ///
    /// - Parameter name: another path to it, needed only for the call; nil for its own.
    func bind(privateSocket path: String, by name: String? = nil) async throws -> any Channel {
        let channel = try await bind(unixDomainSocketPath: name ?? path, cleanupExistingSocketFile: true).get()
        chmod(path, 0o600)
        channel.closeFuture.whenComplete { _ in unlink(path) }
        return channel
    }
}

private final class ReportHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    typealias Report = @Sendable (@escaping @Sendable (ServerReport) -> Void) -> Void

    private let report: Report

    init(_ report: @escaping Report) { self.report = report }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        report { report in
            let json = ByteBuffer(bytes: WireJSON.encode(report))
            channel.writeAndFlush(json).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
