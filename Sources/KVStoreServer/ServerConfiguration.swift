public import Logging

/// Where a ``StoreServer`` keeps its data and how it is reached.
public struct ServerConfiguration: Sendable {
    /// Where the stores and devices are kept.
    public enum Storage: Sendable, Equatable {
        /// A directory, created if missing. One server at a time can use it.
        case directory(String)
        /// A new directory below the system's temporary directory, removed with the server.
        case temporary
    }

    /// Where the stores and devices are kept.
    public var storage: Storage
    /// Where to listen; any free port of the loopback interface by default.
    public var address: ListenAddress
    /// Limits on sizes, rates and times.
    public var limits: ServerLimits
    /// The logger; the default discards all messages.
    public var logger: Logger

    /// Creates a configuration; the defaults suit a test.
    public init(
        storage: Storage = .temporary, address: ListenAddress = .anyLoopbackPort,
        limits: ServerLimits = ServerLimits(),
        logger: Logger = Logger(label: "kvstore-server", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.storage = storage
        self.address = address
        self.limits = limits
        self.logger = logger
    }
}
