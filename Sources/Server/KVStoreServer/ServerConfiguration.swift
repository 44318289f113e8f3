public import Logging

/// Where a ``StoreServer`` keeps its data and how it is reached.
///
/// ```swift
/// var configuration = ServerConfiguration(storage: .directory(directory), encryption: .ownCertificate)
/// configuration.limits.requestsPerSecond = 10
/// let server = try StoreServer(configuration)
/// print(server.isEncrypted)       // true
/// ```
public struct ServerConfiguration: Sendable {
    /// Where the stores and devices are kept.
    public enum Storage: Sendable, Equatable {
        /// A directory, created if missing. One server at a time can use it.
        case directory(String)
        /// A new directory below the system's temporary directory, removed with the server.
        case temporary
    }

    /// How connections are encrypted.
    public enum Encryption: Sendable, Equatable {
        /// Not at all.
        case none
        /// With a key and a self-signed certificate that the server makes and renews.
        case ownCertificate
        /// With files in PEM, read again when they change.
        case files(certificate: String, key: String)
    }

    /// Where the stores and devices are kept.
    public var storage: Storage
    /// Where to listen; any free port of the loopback interface by default.
    public var address: ListenAddress
    /// How connections are encrypted; by default not at all.
    public var encryption: Encryption
    /// Limits on sizes, rates and times.
    public var limits: ServerLimits
    /// The logger; the default discards all messages.
    public var logger: Logger

    /// Creates a configuration; the defaults suit a test.
    public init(
        storage: Storage = .temporary, address: ListenAddress = .anyLoopbackPort, encryption: Encryption = .none,
        limits: ServerLimits = ServerLimits(),
        logger: Logger = Logger(label: "kvstore-server", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.storage = storage
        self.address = address
        self.encryption = encryption
        self.limits = limits
        self.logger = logger
    }
}
