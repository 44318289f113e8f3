/// When the devices of a running server were seen, and their live streams.
package struct DevicePresence: Sendable {
    /// Milliseconds since 1970, by device id.
    package private(set) var lastSeen: [String: Int64] = [:]
    /// Open live streams by device id.
    package private(set) var streams: [String: Int] = [:]

    package init() {}

    package mutating func markSeen(_ id: String, now: Int64) { lastSeen[id] = now }

    /// Returns false, and counts nothing, when the device has `limit` streams already.
    package mutating func openStream(_ id: String, limit: Int) -> Bool {
        guard streams[id, default: 0] < limit else { return false }
        streams[id, default: 0] += 1
        return true
    }

    package mutating func closeStream(_ id: String, now: Int64) {
        let rest = streams[id, default: 1] - 1
        streams[id] = rest > 0 ? rest : nil
        lastSeen[id] = now
    }

    /// Forgets when other devices were seen.
    package mutating func keep(_ isKept: (String) -> Bool) {
        lastSeen = lastSeen.filter { isKept($0.key) }
    }
}
