import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

extension StoreServer {
    /// The routes behind an HTTP server with a `ConnectionGuard` on every connection.
    func application(
        routes: [Route] = Route.all, logger: Logger,
        onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionGuard(limits: self.limits, metrics: self.metrics)
            ],
            idleTimeout: .milliseconds(limits.idleMilliseconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerByteCount,
                maxHeaderListSize: limits.headerByteCount,
                maxHeaderFieldCount: limits.headerCount))
        return Application(
            router: router(routes), server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.address.host, port: configuration.address.port),
                serverName: nil),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) },
            logger: logger)
    }
}
