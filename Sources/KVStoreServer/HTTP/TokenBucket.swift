import Synchronization

/// A rate limit: `burst` at once, then `perSecond`. Pure; time is any clock's milliseconds that
/// never step.
struct TokenBucket: Sendable, Equatable {
    let perSecond: Double
    let burst: Double
    private(set) var level: Double
    private var at: Int64

    init(perSecond: Double, burst: Double, now: Int64) {
        self.perSecond = perSecond
        self.burst = burst
        level = burst
        at = now
    }

    /// Takes one; nil when there was one, else the milliseconds until there will be.
    mutating func take(now: Int64) -> Int64? {
        refill(now: now)
        guard level < 1 else {
            level -= 1
            return nil
        }
        // Less a millionth: what is one thousandth by its digits may be a little more in binary.
        return max(1, Int64(((1 - level) / perSecond * 1_000 - 1e-6).rounded(.up)))
    }

    func isFull(now: Int64) -> Bool {
        level + Double(max(0, now - at)) / 1_000 * perSecond >= burst
    }

    private mutating func refill(now: Int64) {
        level = min(burst, level + Double(max(0, now - at)) / 1_000 * perSecond)
        at = max(at, now)
    }
}

/// Buckets by name, a bounded number of them.
struct BucketTable: Sendable, Equatable {
    let perSecond: Double
    let burst: Double
    let limit: Int
    private(set) var buckets: [String: TokenBucket] = [:]

    init(perSecond: Double, burst: Double, limit: Int) {
        self.perSecond = perSecond
        self.burst = burst
        self.limit = limit
    }

    mutating func take(_ name: String, now: Int64) -> Int64? {
        if buckets[name] == nil, buckets.count >= limit { makeRoom(now: now) }
        return buckets[name, default: TokenBucket(perSecond: perSecond, burst: burst, now: now)]
            .take(now: now)
    }

    /// A full bucket says nothing, so it goes first; else the fullest half does.
    private mutating func makeRoom(now: Int64) {
        buckets = buckets.filter { !$0.value.isFull(now: now) }
        guard buckets.count >= limit else { return }
        let kept = buckets.sorted { $0.value.level < $1.value.level }.prefix(limit / 2)
        buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}

/// The rates of a server's devices and of addresses without a valid token.
final class RequestRates: Sendable {
    private struct Tables {
        var requests: BucketTable
        var failures: BucketTable
    }

    private let tables: Mutex<Tables>

    init(_ limits: ServerLimits) {
        tables = Mutex(
            Tables(
                requests: BucketTable(
                    perSecond: limits.requestsPerSecond, burst: limits.requestBurst,
                    limit: DeviceTable.deviceCount),
                failures: BucketTable(
                    perSecond: limits.failedAuthenticationsPerMinute / 60,
                    burst: limits.failedAuthenticationsPerMinute, limit: limits.addressCount)))
    }

    /// Milliseconds that a device has to wait, nil when it may go on.
    func takeRequest(device id: String, now: Int64) -> Int64? {
        tables.withLock { $0.requests.take(id, now: now) }
    }

    func takeFailure(address: String, now: Int64) -> Int64? {
        tables.withLock { $0.failures.take(address, now: now) }
    }
}
