import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The router behind a server that keeps the limits of connections.
enum DaemonApplication {
    static func make(
        _ daemon: Daemon, address: BindAddress, logger: Logger,
        onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let limits = daemon.limits
        let table = daemon.connections
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(table: table, limits: limits)],
            idleTimeout: .milliseconds(limits.idleMilliseconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerByteCount,
                maxHeaderListSize: limits.headerByteCount,
                maxHeaderFieldCount: limits.headerCount))
        return Application(
            router: DaemonRouter.make(daemon),
            server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(address: address, serverName: nil),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) },
            logger: logger)
    }
}
