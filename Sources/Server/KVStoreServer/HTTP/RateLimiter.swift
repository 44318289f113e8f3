import Essentials
import KVStoreLog
import NIOCore
import Synchronization

/// A rate limit: `burst` at once, then `perSecond`. Pure; the time is milliseconds of any monotonic
/// clock.
struct TokenBucket: Sendable, Equatable {
    let perSecond: Double
    let burst: Double
    private(set) var level: Double
    private var updated: Int64

    init(perSecond: Double, burst: Double, now: Int64) {
        self.perSecond = perSecond
        self.burst = burst
        level = burst
        updated = now
    }

    /// Takes a token; returns nil, or without a token the milliseconds until there is one.
    mutating func take(now: Int64) -> Int64? {
        level = level(at: now)
        updated = max(updated, now)
        guard level < 1 else {
            level -= 1
            return nil
        }
        // Less a millionth: a decimal fraction may be slightly greater in binary.
        return max(1, Int64(((1 - level) / perSecond * 1_000 - 1e-6).rounded(.up)))
    }

    func isFull(now: Int64) -> Bool { level(at: now) >= burst }

    private func level(at now: Int64) -> Double {
        min(burst, level + Double(max(0, now - updated)) / 1_000 * perSecond)
    }
}

/// A bounded number of buckets by name. Safe to call from any thread.
package final class RateLimiter: Sendable {
    private let fullBucket: TokenBucket
    private let limit: Int
    private let buckets = Mutex<[String: TokenBucket]>([:])

    /// - Parameter limit: on the number of buckets; beyond, the fullest are forgotten.
    package init(perSecond: Double, burst: Double, limit: Int) {
        fullBucket = TokenBucket(perSecond: perSecond, burst: burst, now: 0)
        self.limit = limit
    }

    var count: Int { buckets.withLock { $0.count } }

    /// Takes a token from the bucket; returns the milliseconds to wait if it is empty.
    package func take(_ name: String, now: Int64 = System.monotonicMilliseconds()) -> Int64? {
        buckets.withLock { buckets in
            if buckets.count >= limit, buckets[name] == nil { evict(from: &buckets, now: now) }
            return buckets[name, default: fullBucket].take(now: now)
        }
    }

    /// The milliseconds to wait if the bucket is empty. Takes nothing.
    func wait(_ name: String, now: Int64) -> Int64? {
        buckets.withLock { buckets in
            var bucket = buckets[name]
            return bucket?.take(now: now)
        }
    }

    /// Evicts full buckets, which have no effect, or else the fuller half.
    private func evict(from buckets: inout [String: TokenBucket], now: Int64) {
        buckets = buckets.filter { !$0.value.isFull(now: now) }
        guard buckets.count >= limit else { return }
        let kept = buckets.sorted { $0.value.level < $1.value.level }.prefix(limit / 2)
        buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}

extension SocketAddress {
    /// What limits by address count: an IPv4 address, or the first 64 bits of an IPv6 address, of which one subscriber
    /// has all. Nil for a socket.
    var network: String? {
        guard case .v6 = self, let text = ipAddress else { return ipAddress }
        var bytes = [UInt8](repeating: 0, count: 16)
        // IPv4 addresses begin like this on a socket for both.
        guard inet_pton(AF_INET6, text, &bytes) == 1,
            bytes.prefix(12) != [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        else { return text }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
