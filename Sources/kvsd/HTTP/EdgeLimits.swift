import KVStore

/// Every limit of the daemon's edge, with its unit in its name. `docs/protocol.md` lists them.
struct EdgeLimits: Sendable {
    var bodyByteCount = WireLimits.requestByteCount
    var jsonDepth = 32
    var changesPerRequest = WireLimits.page.recordCount
    var headerByteCount = 16 * 1_024
    var headerCount = 100
    /// Until the first request of a connection has come.
    var firstByteMilliseconds: Int64 = 5_000
    /// Between two requests of a connection.
    var idleMilliseconds: Int64 = 75_000
    var requestMilliseconds: Int64 = 30_000
    /// For the rest of a body behind an answer that did not need it.
    var drainMilliseconds: Int64 = 2_000
    var connectionCount = 4_096
    /// Connections beyond the limit that are told so; further ones are closed.
    var surplusConnectionCount = 64
    var requestsPerSecond = 50.0
    var requestBurst = 200.0
    var failedAuthenticationsPerMinute = 10.0
    /// Addresses whose failures are remembered.
    var addressCount = 4_096
    var heartbeatMilliseconds: Int64 = 15_000
    /// After which a reader that takes nothing is cut off.
    var slowReaderMilliseconds: Int64 = 30_000
    /// Bytes of events that are written at once.
    var eventBatchByteCount = 65_536

    /// Files that are open besides connections: the log, the devices, event loops, the libraries'.
    static let reservedFileCount = 48

    init() {}

    /// Serves no more connections than there may be open files. Accepting beyond that fails again
    /// and again, which keeps an event loop busy, and the log could not open its next segment.
    /// 0 stands for a limit that is not known and changes nothing.
    mutating func fit(openFileCount: Int) {
        guard openFileCount > 0 else { return }
        let room = max(2, openFileCount - Self.reservedFileCount)
        surplusConnectionCount = min(surplusConnectionCount, room / 8)
        connectionCount = min(connectionCount, room - surplusConnectionCount)
    }
}
