import Foundation
import KVStoreCore
import KVStoreWire
import Testing

@Suite("Numbers from the network")
struct WireNumberTests {
    /// A kind of document that has numbers, with every one of them.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let decode: @Sendable (String) throws -> Void

        init<Document: Decodable & SendableMetatype>(_ text: String, as type: Document.Type) {
            testDescription = "\(type)"
            self.text = text
            decode = { _ = try Samples.decode($0, as: type) }
        }
    }

    private static let cursor = SyncCursor(epoch: Samples.epoch, sequence: 9)
    private static let change = SequencedRecord(record: Samples.value(), sequence: 8)
    private static let device = DaemonDevice(
        deviceID: "d", device: "desk", scopes: ["read"], created: 5, lastSeen: 6, connected: true)
    private static let response = SyncResponse(
        cursor: cursor, serverTime: 5, isInitial: true, changes: [change],
        rejections: [
            .clock(limit: 1, present: Samples.stamp()), .quota(limit: 1), .key(limit: 128),
        ]
        .map { SyncRejection(Samples.value("r"), $0) },
        horizon: 3, lineage: [cursor])

    private static let kinds = [
        Kind(Samples.json(SyncRequest(replica: Samples.replica, since: cursor, horizon: 3)), as: SyncRequest.self),
        Kind(Samples.json(response), as: SyncResponse.self), Kind(Samples.json(change), as: SequencedRecord.self),
        Kind(Samples.json(KeyList(store: "s", entries: [change])), as: KeyList.self),
        Kind(Samples.json(KeySummary(change)), as: KeySummary.self),
        Kind(
            Samples.json(
                DaemonIdentity(
                    account: "a", device: "desk", deviceID: "d", scopes: [], stores: nil, epoch: "e", serverTime: 5)),
            as: DaemonIdentity.self),
        Kind(Samples.json(DeviceList(devices: [device], serverTime: 7)), as: DeviceList.self),
        Kind(
            Samples.json(StoreList(stores: [.init(name: "s", end: cursor, keyCount: 1, byteCount: 2)])),
            as: StoreList.self),
    ]

    /// The places of numbers that are not part of a string.
    private static func numbers(in text: String) -> [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        var isInString = false
        var start: String.Index?
        for index in text.indices {
            let character = text[index]
            if character == "\"" { isInString.toggle() }
            if !isInString, character.isNumber {
                start = start ?? index
            } else if let first = start {
                found.append(first..<index)
                start = nil
            }
        }
        return found
    }

    @Test("a number that arithmetic could not bear is refused, whichever it is", arguments: kinds)
    func extremes(_ kind: Kind) throws {
        let places = Self.numbers(in: kind.text)
        try #require(!places.isEmpty)
        try kind.decode(kind.text)
        for place in places {
            func replaced(_ number: String) -> String {
                kind.text.replacingCharacters(in: place, with: number)
            }
            for number in ["\(Int64.min)", "\(UInt64.max)", "18446744073709551616", "1e400", "0.5"] {
                #expect(throws: WireError.self, "\(replaced(number))") {
                    try kind.decode(replaced(number))
                }
            }
            // These may be meant, or not.
            for number in ["-1", "0", "\(Int64.max)", "281474976710656", "9007199254740993"] {
                try? kind.decode(replaced(number))
            }
        }
    }

    @Test("the same holds in binary, and a replica bears every answer that decodes")
    func binary() throws {
        let bytes = WireBinary.encode(Self.response)
        for offset in 1...(bytes.count - 8) {
            for pattern: [UInt8] in [
                Array(repeating: 0xFF, count: 8), [0, 0, 0, 0, 0, 0, 0, 0x80],
                [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], Array(repeating: 0, count: 8),
                [0, 0, 0, 0, 0, 0, 0x20, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0],
            ] {
                var changed = bytes
                changed.replaceSubrange(offset..<offset + 8, with: pattern)
                let response: SyncResponse? = changed.withUnsafeBytes {
                    try? WireBinary.decode(from: $0)
                }
                guard let response else { continue }
                #expect(WireNumber.milliseconds.contains(response.serverTime))
                #expect(WireNumber.sequence.contains(response.cursor.sequence))
                var replica = Replica(id: Samples.replica, limits: StoreLimits(), seed: 1)
                let now = Instant(wall: 1_000, monotonic: 1)
                let request = replica.handle(.attached(isLive: true), at: now).request
                let id = try #require(request?.id)
                _ = replica.handle(.answered(id: id, .success(response)), at: now)
                _ = replica.write(["own": .value(Data([1]))], at: now)
            }
        }
    }
}
