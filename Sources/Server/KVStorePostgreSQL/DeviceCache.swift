import Essentials
import KVStoreServer

/// The devices that a node has met, by the digests of their tokens, and tokens that no device has. Pure.
struct DeviceCache {
    private(set) var devices: [TokenDigest: Device] = [:]
    private var tokens: [String: Set<TokenDigest>] = [:]
    /// Until when they need not be looked up again, in milliseconds of any monotonic clock.
    private var unknown: [TokenDigest: Int64] = [:]
    private let limit: Int

    /// How long a wrong token is remembered: repeated, it does not burden the database.
    static let unknownMilliseconds: Int64 = 1_000
    static let unknownLimit = 10_000

    /// - Parameter limit: on the devices; beyond, those that were not seen for longest are forgotten.
    init(limit: Int) { self.limit = limit }

    func find(_ token: TokenDigest, now: Int64) -> FoundDevice {
        if let device = devices[token] { return .device(device) }
        return unknown[token].map { $0 > now } == true ? .unknown : .undetermined
    }

    mutating func recordUnknown(_ token: TokenDigest, now: Int64) {
        if unknown.count >= Self.unknownLimit {
            unknown = unknown.filter { $0.value > now }
            if unknown.count >= Self.unknownLimit { unknown = [:] }
        }
        unknown[token] = now + Self.unknownMilliseconds
    }

    /// A device may have been added.
    mutating func forgetUnknown() { unknown = [:] }

    func tokens(ofAccount account: String) -> Set<TokenDigest> { tokens[account] ?? [] }

    /// - Parameter lastSeen: nil for one that must stay.
    mutating func insert(_ device: Device, lastSeen: (Device) -> Int64?) {
        remove(device.tokenSHA256)
        if devices.count >= limit { evict(lastSeen) }
        devices[device.tokenSHA256] = device
        tokens[device.account, default: []].insert(device.tokenSHA256)
        unknown[device.tokenSHA256] = nil
    }

    /// Replaces what is known of the tokens; those without a device are forgotten. Returns whether anything has
    /// changed.
    mutating func update(_ tokens: some Sequence<TokenDigest>, to present: [Device]) -> Bool {
        let byToken = Dictionary(present.map { ($0.tokenSHA256, $0) }) { $1 }
        var hasChanged = false
        for token in tokens {
            guard let former = devices[token], byToken[token] != former else { continue }
            hasChanged = true
            if let device = byToken[token] { devices[token] = device } else { remove(token) }
        }
        return hasChanged
    }

    private mutating func remove(_ token: TokenDigest) {
        guard let device = devices.removeValue(forKey: token) else { return }
        tokens[device.account]?.remove(token)
        if tokens[device.account]?.isEmpty == true { tokens[device.account] = nil }
    }

    /// Forgets a quarter, so that the next is far away.
    private mutating func evict(_ lastSeen: (Device) -> Int64?) {
        let candidates = devices.values.compactMap { device in
            lastSeen(device).map { (seen: $0, token: device.tokenSHA256) }
        }.sorted { $0.seen < $1.seen }
        for candidate in candidates.prefix(max(1, limit / 4)) { remove(candidate.token) }
    }
}
