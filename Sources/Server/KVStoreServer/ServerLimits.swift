import KVStoreEssentials

/// Every limit of a server, with its unit in its name. `docs/protocol.md` lists the defaults.
///
/// For an example see `ServerConfiguration`.
public struct ServerLimits: Sendable, Equatable {
    // MARK: Requests

    /// Bytes of a request body.
    public var bodyByteCount = WireLimits.requestByteCount
    /// Bytes of the body of a request to pair.
    public var pairingByteCount = 4_096
    /// Bytes of all request bodies in memory.
    public var pendingBodyByteCount = 64 * 1_024 * 1_024
    /// Nesting of arrays and objects in a request body.
    public var jsonDepth = 32
    /// Changes in one sync request.
    public var changesPerRequest = WireLimits.page.recordCount
    /// Bytes of all header fields of a request.
    public var headerByteCount = 16 * 1_024
    /// Header fields of a request.
    public var headerCount = 100
    /// Time until a connection's first request.
    public var firstByteMilliseconds: Int64 = 5_000
    /// Time between two requests of a connection.
    public var idleMilliseconds: Int64 = 75_000
    /// Time from a request's head to its answer.
    public var requestMilliseconds: Int64 = 30_000
    /// Time for the rest of a body after an answer that preceded its end.
    public var drainMilliseconds: Int64 = 2_000
    /// Time that the requests under way have when the server stops.
    public var stopMilliseconds: Int64 = 5_000

    // MARK: Connections and rates

    /// Connections served at a time.
    public var connectionCount = 4_096
    /// Connections beyond ``connectionCount`` that get an error answer; further ones are closed.
    public var surplusConnectionCount = 64
    /// Connections of one address that have sent no valid token yet; a further one closes the oldest of them.
    public var unauthenticatedPerAddress = 256
    /// Live streams of one device.
    public var streamsPerDevice = 64
    /// Sustained requests of one device.
    public var requestsPerSecond = 50.0
    /// Requests of one device at once.
    public var requestBurst = 200.0
    /// Failed authentications of one address.
    public var failedAuthenticationsPerMinute = 10.0
    /// Addresses whose failed authentications are remembered.
    public var addressCount = 4_096

    // MARK: Live streams

    /// Time between the comments that keep an idle stream alive.
    public var heartbeatMilliseconds: Int64 = 15_000
    /// Time after which a reader that reads nothing is disconnected.
    public var slowReaderMilliseconds: Int64 = 30_000
    /// Bytes of events written at once.
    public var eventBatchByteCount = 65_536

    // MARK: Storage

    /// Memory of all keys, values and tombstones of all stores, estimated at 384 bytes for each besides its content.
    public var memoryByteCount = 1 << 30
    /// Bytes of one segment of the log.
    public var segmentByteCount = 16 * 1_024 * 1_024

    /// The default limits.
    public init() {}

    /// Files open besides connections: log, devices, event loops, libraries.
    static let reservedFileCount = 48

    /// Lowers ``connectionCount`` to what the limit on open files allows; 0, an unknown limit, changes
    /// nothing. Without free descriptors, accepting would fail in a busy loop, and the log could not
    /// open its next segment.
    public mutating func fit(openFileCount: Int) {
        guard openFileCount > 0 else { return }
        let available = max(2, openFileCount - Self.reservedFileCount)
        surplusConnectionCount = min(surplusConnectionCount, available / 8)
        connectionCount = min(connectionCount, available - surplusConnectionCount)
    }
}
