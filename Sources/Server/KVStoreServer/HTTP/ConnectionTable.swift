import Essentials
import NIOCore
import Synchronization

/// What the connections of all event loops together take.
final class ConnectionCounts: Sendable {
    let connections = Atomic(0)
    let unauthenticated = Atomic(0)
    let bodyBytes = Atomic(0)
}

/// The connections of one event loop, and what they share. On the event loop only, and unchecked for that reason.
///
/// Connections that no token has authenticated hold at most three quarters of the places, so they cannot lock out
/// devices: beyond that, the first request of a connection must have a valid token. When all places and the surplus are
/// taken, the oldest connection without a token makes way; so does the oldest of an address that has too many of them,
/// each of which may hold the memory of a TLS handshake.
package final class ConnectionTable: @unchecked Sendable {
    /// The place of a connection without a valid token so far, in the order of acceptance.
    typealias Place = UInt64

    let deadlines: Deadlines
    let watchers: WatcherRegistry
    /// The events of the live streams.
    let pages: EventPages
    let counts: ConnectionCounts
    private let limits: ServerLimits
    private let metrics: Metrics
    private(set) var connections: [ObjectIdentifier: Connection] = [:]
    private var unauthenticated: [Place: Connection] = [:]
    /// The places of each address.
    private var places: [String: Set<Place>] = [:]
    /// The part of this event loop in the limit on the places of an address.
    private let placesPerAddress: Int
    /// Places are taken in ascending order; the oldest that may still be taken.
    private var oldestPlace: Place = 0
    private var nextPlace: Place = 0
    /// Once the server stops.
    private var emptied: EventLoopPromise<Void>?
    /// Counts the ticks of the event loop in which requests were read.
    private(set) var tick: UInt64 = 1
    private var isTickCounted = false
    var turns = DeviceTurns()
    /// Connections that go on in a later tick, in the order in which they stopped.
    private var paused: [Connection] = []
    /// When the devices were looked at, and what was found.
    private var look: (tick: UInt64, generation: UInt64) = (0, 0)
    private var formattedDate: (second: Int, text: String) = (-1, "")

    init(_ limits: ServerLimits, engine: any StorageEngine, watchers: WatcherRegistry, counts: ConnectionCounts) {
        self.limits = limits
        self.watchers = watchers
        self.counts = counts
        let loopCount = engine.loops.count
        placesPerAddress = (limits.unauthenticatedPerAddress + loopCount - 1) / loopCount
        metrics = engine.metrics
        pages = EventPages(engine, byteCount: limits.eventBatchByteCount)
        deadlines = Deadlines(limits, loop: watchers.loop)
    }

    private var loop: any EventLoop { watchers.loop }

    private var unauthenticatedLimit: Int {
        max(1, limits.connectionCount - limits.connectionCount / 4)
    }

    func add(_ connection: Connection) {
        guard emptied == nil else { return connection.close() }
        if counts.connections.value >= limits.connectionCount + limits.surplusConnectionCount {
            guard let oldest = popOldest() else { return connection.close() }
            oldest.close()
        } else if let held = places[connection.address], held.count >= placesPerAddress,
            let oldest = held.min().flatMap({ unauthenticated[$0] })
        {
            forgetPlace(of: oldest)
            oldest.close()
        }
        connections[ObjectIdentifier(connection)] = connection
        connection.place = nextPlace
        unauthenticated[nextPlace] = connection
        places[connection.address, default: []].insert(nextPlace)
        nextPlace += 1
        let (total, strangers) = (counts.connections.add(1), counts.unauthenticated.add(1))
        connection.isSurplus = total > limits.connectionCount || strangers > unauthenticatedLimit
        metrics.count { $0.connections += 1 }
    }

    func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        forgetPlace(of: connection)
        counts.connections.add(-1)
        HeapMemory.giveBackLater()
        metrics.count { $0.connections -= 1 }
        if connections.isEmpty { emptied?.succeed() }
    }

    /// The connection has sent a valid token. Returns whether it may stay.
    func authenticate(_ connection: Connection) -> Bool {
        guard connection.place != nil else { return true }
        let authenticated = counts.connections.value - counts.unauthenticated.value
        guard authenticated < limits.connectionCount else { return false }
        forgetPlace(of: connection)
        connection.isSurplus = false
        return true
    }

    private func forgetPlace(of connection: Connection) {
        guard let place = connection.place else { return }
        unauthenticated[place] = nil
        places[connection.address]?.remove(place)
        if places[connection.address]?.isEmpty == true { places[connection.address] = nil }
        connection.place = nil
        counts.unauthenticated.add(-1)
    }

    private func popOldest() -> Connection? {
        guard !unauthenticated.isEmpty else { return nil }
        while oldestPlace < nextPlace {
            defer { oldestPlace += 1 }
            if let connection = unauthenticated[oldestPlace] {
                forgetPlace(of: connection)
                return connection
            }
        }
        return nil
    }

    /// Ends idle connections and live streams at once, the others after their answers or the time for it; succeeds
    /// when none is left.
    func stop() -> EventLoopFuture<Void> {
        let emptied = loop.makePromise(of: Void.self)
        self.emptied = emptied
        for connection in connections.values { connection.stop() }
        if connections.isEmpty { emptied.succeed() }
        let deadline = loop.assumeIsolated().scheduleTask(in: .milliseconds(limits.stopMilliseconds)) { [self] in
            for connection in connections.values { connection.close() }
        }
        return emptied.futureResult.assumeIsolated().always { [self] _ in
            deadline.cancel()
            deadlines.stop()
        }.nonisolated()
    }

    /// Counts bytes of request bodies in memory; false when there are too many.
    func reserve(_ byteCount: Int) -> Bool {
        guard byteCount > 0 else {
            release(-byteCount)
            return true
        }
        guard counts.bodyBytes.add(byteCount) > limits.pendingBodyByteCount else { return true }
        release(byteCount)
        return false
    }

    func release(_ byteCount: Int) { if byteCount != 0 { counts.bodyBytes.add(-byteCount) } }

    /// The generation of the devices, looked up once in a tick of the event loop.
    func generation(of devices: any DeviceDirectory) -> UInt64 {
        beginTick()
        if look.tick != tick { look = (tick, devices.generation) }
        return look.generation
    }

    /// A request is read in this tick.
    func beginTick() {
        guard !isTickCounted else { return }
        isTickCounted = true
        loop.execute { [self] in
            isTickCounted = false
            tick += 1
        }
    }

    /// Has the connection go on in a later tick, after those that wait already.
    func pause(_ connection: Connection) {
        paused.append(connection)
        if paused.count == 1 { goOnLater() }
    }

    private func goOnLater() {
        loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in
            let waiting = paused
            paused = []
            var denied: [Connection] = []
            for connection in waiting {
                if connection.isTurnOver {
                    denied.append(connection)
                } else {
                    connection.isPaused = false
                    connection.resume()
                }
            }
            if !denied.isEmpty, paused.isEmpty { goOnLater() }
            paused = denied + paused
        }
    }

    /// The present time for the `Date` field (RFC 9110, section 5.6.7).
    var date: String {
        var now = time(nil)
        if Int(now) != formattedDate.second {
            var parts = tm()
            gmtime_r(&now, &parts)
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
                // The C locale: the program never sets another.
                let count = strftime(buffer.baseAddress!, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
                return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
            formattedDate = (Int(now), text)
        }
        return formattedDate.text
    }
}

extension Atomic<Int> {
    fileprivate var value: Int { load(ordering: .relaxed) }

    /// Returns the sum.
    @discardableResult
    fileprivate borrowing func add(_ change: Int) -> Int {
        wrappingAdd(change, ordering: .relaxed).newValue
    }
}
