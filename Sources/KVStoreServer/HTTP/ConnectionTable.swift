import Essentials
import NIOCore

/// All connections of a server, and what they share. On the event loop only, and unchecked for that reason.
///
/// Connections that no token has authenticated hold at most three quarters of the places, so they cannot lock out
/// devices: beyond that, the first request of a connection must have a valid token. When all places and the surplus
/// are taken, the oldest connection without a token makes way.
final class ConnectionTable: @unchecked Sendable {
    /// Of a connection without a valid token so far, in the order of acceptance.
    typealias Place = UInt64

    let deadlines: Deadlines
    private let limits: ServerLimits
    private let metrics: Metrics
    private let loop: any EventLoop
    private(set) var connections: [ObjectIdentifier: Connection] = [:]
    private var unauthenticated: [Place: Connection] = [:]
    /// Places are taken in ascending order; the oldest that may still be taken.
    private var oldestPlace: Place = 0
    private var nextPlace: Place = 0
    private var bodyByteCount = 0
    /// Once the server stops.
    private var emptied: EventLoopPromise<Void>?
    /// Whether the devices have been looked at in this tick of the event loop.
    private var hasLooked = false
    private var lastGeneration: UInt64 = 0
    private var formattedDate: (second: Int, text: String) = (-1, "")

    init(_ limits: ServerLimits, metrics: Metrics, loop: any EventLoop) {
        self.limits = limits
        self.metrics = metrics
        self.loop = loop
        deadlines = Deadlines(limits, loop: loop)
    }

    private var unauthenticatedLimit: Int {
        max(1, limits.connectionCount - limits.connectionCount / 4)
    }

    func add(_ connection: Connection) {
        guard emptied == nil else { return connection.close() }
        if connections.count >= limits.connectionCount + limits.surplusConnectionCount {
            guard let oldest = popOldest() else { return connection.close() }
            oldest.close()
        }
        connections[ObjectIdentifier(connection)] = connection
        connection.place = nextPlace
        unauthenticated[nextPlace] = connection
        nextPlace += 1
        connection.isSurplus =
            connections.count > limits.connectionCount
            || unauthenticated.count > unauthenticatedLimit
        count()
    }

    func remove(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = nil
        if let place = connection.place { unauthenticated[place] = nil }
        count()
    }

    /// The connection has sent a valid token. Returns whether it may stay.
    func authenticate(_ connection: Connection) -> Bool {
        guard let place = connection.place else { return true }
        guard connections.count - unauthenticated.count < limits.connectionCount else {
            return false
        }
        unauthenticated[place] = nil
        connection.place = nil
        connection.isSurplus = false
        return true
    }

    private func popOldest() -> Connection? {
        guard !unauthenticated.isEmpty else { return nil }
        while oldestPlace < nextPlace {
            defer { oldestPlace += 1 }
            if let connection = unauthenticated.removeValue(forKey: oldestPlace) {
                connection.place = nil
                return connection
            }
        }
        return nil
    }

    private func count() {
        metrics.count { [count = connections.count] in $0.connections = count }
        if connections.isEmpty { emptied?.succeed() }
    }

    /// Ends idle connections and live streams at once, the others after their answers or the time for it; succeeds
    /// when none is left.
    func stop() -> EventLoopFuture<Void> {
        let emptied = loop.makePromise(of: Void.self)
        self.emptied = emptied
        for connection in connections.values { connection.stop() }
        let deadline = loop.assumeIsolated().scheduleTask(
            in: .milliseconds(limits.stopMilliseconds)
        ) { [self] in
            for connection in connections.values { connection.close() }
        }
        count()
        return emptied.futureResult.assumeIsolated().always { [self] _ in
            deadline.cancel()
            deadlines.stop()
        }.nonisolated()
    }

    /// Counts bytes of request bodies in memory; false when there are too many.
    func reserve(_ byteCount: Int) -> Bool {
        guard byteCount <= 0 || bodyByteCount + byteCount <= limits.pendingBodyByteCount else {
            return false
        }
        bodyByteCount += byteCount
        return true
    }

    func release(_ byteCount: Int) { bodyByteCount -= byteCount }

    /// The generation of the devices, looked up once in a tick of the event loop.
    func generation(of devices: DeviceRegistry) -> UInt64 {
        if !hasLooked {
            hasLooked = true
            lastGeneration = devices.generation
            loop.execute { [self] in hasLooked = false }
        }
        return lastGeneration
    }

    /// The present time for the `Date` field (RFC 9110, section 5.6.7).
    var date: String {
        var now = time(nil)
        if Int(now) != formattedDate.second {
            var parts = tm()
            gmtime_r(&now, &parts)
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
                // The C locale: the program never sets another.
                let count = strftime(
                    buffer.baseAddress!, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
                return String(
                    decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
            formattedDate = (Int(now), text)
        }
        return formattedDate.text
    }
}
