package import Essentials

/// The stored form of one device's history, version 1: `docs/history.md`. Pure; equal histories have equal bytes.
package enum HistoryCodec {
    /// Bytes of a value, always.
    package static let byteLimit = 65_536
    private static let magic: [UInt8] = Array("UBQH".utf8)
    private static let version: UInt8 = 1
    /// Bytes of a name: the longest address that a pusher writes has 1,016.
    private static let nameByteLimit = 1_024
    private static let secondsLimit = 253_402_300_799
    private static let minutesLimit = 5_256_000

    static func isStorable(_ identity: WindowIdentity) -> Bool {
        ![identity.providerID, identity.account ?? "", identity.label].contains {
            $0.utf8.count > nameByteLimit
        } && (identity.minutes.map { (1...minutesLimit).contains($0) } ?? true)
            && !identity.providerID.isEmpty && identity.account != ""
    }

    /// - Parameter byteLimit: what does not fit is left out: of the windows that were observed longest ago first, the
    ///   oldest coarse slots; then their oldest fine slots; then the windows.
    package static func encode(_ history: UsageHistory, byteLimit: Int = byteLimit) -> Data {
        var parts = history.windows.filter { isStorable($0.key) }.map(Part.init)
            .sorted { ($0.history.last.time, $1.identity) > ($1.history.last.time, $0.identity) }
        parts.removeLast(max(0, parts.count - UsageHistory.windowLimit))
        // Magic, version and the number of windows.
        var excess = magic.count + 3 + parts.reduce(0) { $0 + $1.byteCount } - byteLimit
        for track in [\Part.coarse, \.fine] {
            for index in parts.indices.reversed() where excess > 0 { excess -= parts[index].shorten(track, by: excess) }
        }
        while excess > 0, let last = parts.popLast() { excess -= last.byteCount }
        var bytes = magic + [version]
        bytes.append(varint: parts.count)
        for part in parts.sorted(by: { $0.identity < $1.identity }) {
            bytes += part.head + part.fine.bytes + part.coarse.bytes
        }
        return Data(bytes)
    }

    /// One window, encoded.
    private struct Part {
        struct Track {
            var track: SlotTrack
            var bytes: [UInt8]

            init(_ track: SlotTrack) {
                self.track = track
                bytes = SlotTokens.encode(track)
            }
        }

        let identity: WindowIdentity
        let history: WindowHistory
        let head: [UInt8]
        var fine: Track
        var coarse: Track

        var byteCount: Int { head.count + fine.bytes.count + coarse.bytes.count }

        init(_ entry: (key: WindowIdentity, value: WindowHistory)) {
            (identity, history) = entry
            var head: [UInt8] = []
            for name in [identity.providerID, identity.account ?? "", identity.label] {
                head.append(varint: name.utf8.count)
                head += name.utf8
            }
            head.append(varint: identity.minutes ?? 0)
            head.append(varint: history.last.time)
            head.append(history.last.level.halves)
            head.append(varint: history.last.resetsAt ?? 0)
            self.head = head
            (fine, coarse) = (Track(history.fine), Track(history.coarse))
        }

        /// Drops the oldest slots of a track, an eighth of its capacity at a time, until that many bytes are saved or
        /// it is empty; returns how many are.
        mutating func shorten(_ path: WritableKeyPath<Part, Track>, by byteCount: Int) -> Int {
            let before = self[keyPath: path].bytes.count
            while before - self[keyPath: path].bytes.count < byteCount {
                var track = self[keyPath: path].track
                guard !track.isEmpty else { break }
                track.keep(from: track.first + track.capacity / 8, before: track.end)
                self[keyPath: path] = Track(track)
            }
            return before - self[keyPath: path].bytes.count
        }
    }

    /// Decodes any bytes in bounded time and memory: a fault anywhere rejects them all.
    package static func decode(_ data: Data) throws(HistoryCodecError) -> UsageHistory {
        guard data.count <= byteLimit else { throw .notAHistory }
        var reader = ByteReader(data)
        guard try reader.bytes(magic.count).elementsEqual(magic) else { throw .notAHistory }
        let version = try reader.byte()
        guard version == Self.version else {
            throw version > Self.version ? .newer(version: Int(version)) : .notAHistory
        }
        let count = try reader.varint(upTo: UsageHistory.windowLimit)
        var windows: [WindowIdentity: WindowHistory] = [:]
        for _ in 0..<count {
            let providerID = try reader.name(upTo: nameByteLimit)
            let account = try reader.name(upTo: nameByteLimit)
            let label = try reader.name(upTo: nameByteLimit)
            let minutes = try reader.varint(upTo: minutesLimit)
            let identity = WindowIdentity(
                providerID: providerID, account: account.isEmpty ? nil : account, label: label,
                minutes: minutes == 0 ? nil : minutes)
            let time = try reader.varint(upTo: secondsLimit)
            let level = try reader.level()
            let resetsAt = try reader.varint(upTo: secondsLimit)
            let history = WindowHistory(
                last: .init(time: time, level: level, resetsAt: resetsAt == 0 ? nil : resetsAt),
                fine: try SlotTokens.decode(&reader, into: .fine, secondsLimit: secondsLimit),
                coarse: try SlotTokens.decode(&reader, into: .coarse, secondsLimit: secondsLimit))
            guard windows.updateValue(history, forKey: identity) == nil, isStorable(identity)
            else { throw .notAHistory }
        }
        guard reader.isAtEnd else { throw .notAHistory }
        return UsageHistory(windows: windows)
    }
}

/// Why bytes are no history.
package enum HistoryCodecError: Error, Sendable, Equatable {
    case notAHistory
    /// Written by a later version of the pusher; to be left alone.
    case newer(version: Int)
}

/// A cursor over bytes from outside.
struct ByteReader {
    private let data: Data
    private var position: Data.Index

    init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    var isAtEnd: Bool { position == data.endIndex }

    mutating func byte() throws(HistoryCodecError) -> UInt8 {
        guard position < data.endIndex else { throw .notAHistory }
        defer { position += 1 }
        return data[position]
    }

    mutating func bytes(_ count: Int) throws(HistoryCodecError) -> Data {
        guard count <= data.endIndex - position else { throw .notAHistory }
        defer { position += count }
        return data[position..<position + count]
    }

    /// Seven bits a byte, the lowest first.
    mutating func varint(upTo limit: Int) throws(HistoryCodecError) -> Int {
        var value = 0
        for shift in stride(from: 0, through: 35, by: 7) {
            let byte = try byte()
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 {
                guard value <= limit else { throw .notAHistory }
                return value
            }
        }
        throw .notAHistory
    }

    mutating func name(upTo limit: Int) throws(HistoryCodecError) -> String {
        let bytes = try bytes(try varint(upTo: limit))
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .notAHistory }
        return name
    }

    mutating func level() throws(HistoryCodecError) -> PercentLevel {
        let halves = try byte()
        guard halves <= PercentLevel.greatest else { throw .notAHistory }
        return PercentLevel(halves: halves)
    }
}

extension [UInt8] {
    mutating func append(varint value: Int) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
