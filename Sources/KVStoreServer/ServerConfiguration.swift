public import Logging

/// Where a ``StoreServer`` keeps its data and how it is reached.
public struct ServerConfiguration: Sendable {
    /// Where the stores and devices are kept.
    public enum Storage: Sendable, Equatable {
        /// A directory, created where it is missing, that one server at a time uses.
        case directory(String)
        /// A new directory below the system's temporary directory, removed with the server.
        case temporary
    }

    /// Where the stores and devices are kept.
    public var storage: Storage
    /// Where to listen; any free port of the loopback interface by default.
    public var address: ListenAddress
    /// Sizes, rates and times beyond which requests are refused.
    public var limits: ServerLimits
    /// Receives what an operator should know. The default discards it.
    public var logger: Logger

    /// A configuration; every argument has a default that suits a test.
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
