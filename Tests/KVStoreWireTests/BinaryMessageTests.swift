import Foundation
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreWire

@Suite("Binary sync messages")
struct BinaryMessageTests {
    private static let empty = SyncRequest(replica: Samples.replica, since: nil)
    /// Has every list and every reason.
    private static let response = SyncResponse(
        cursor: SyncCursor(epoch: Samples.epoch, sequence: 9), serverTime: 5, isInitial: true,
        changes: [
            SequencedRecord(record: Samples.value("a"), sequence: 8),
            SequencedRecord(record: Samples.tombstone("é"), sequence: 9),
        ],
        rejections: [
            .clock(limit: 1, present: nil), .clock(limit: 1, present: Samples.stamp()),
            .quota(limit: 1), .key(limit: 128), .again,
        ].map { SyncRejection(Samples.value("r"), $0) },
        lineage: [SyncCursor(epoch: Samples.epoch, sequence: 9)])

    private static func decode<Message: BinaryMessage>(
        _ bytes: [UInt8], as type: Message.Type, listLimit: Int = .max
    ) throws(WireError) -> Message {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(WireError) in
                try WireBinary.decode(type, from: bytes, listLimit: listLimit)
            }
        }.get()
    }

    /// Encodes and decodes in both forms, into a buffer of the predicted size.
    private static func expectRoundTrip<Message: BinaryMessage & JSONDocument & Decodable & Equatable>(
        of message: Message, seed: UInt64
    ) throws {
        let bytes = WireBinary.encode(message)
        #expect(bytes.count == 1 + message.binaryByteCount, "seed \(seed)")
        let decoded = try decode(bytes, as: Message.self)
        #expect(decoded == message, "seed \(seed)")
        #expect(try WireJSON.decode(Message.self, from: WireJSON.encode(message)) == decoded, "seed \(seed)")
    }

    @Test("a message is the same after a round trip in binary as after one in JSON")
    func roundTrips() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var messages = GeneratedMessages(random: SeededGenerator(seed: seed))
        for _ in 0..<300 {
            try Self.expectRoundTrip(of: messages.request(), seed: seed)
            try Self.expectRoundTrip(of: messages.response(), seed: seed)
        }
    }

    @Test("a key of any length is left to the hub to judge")
    func longKeys() throws {
        let key = StoreKey(String(repeating: "\u{e9}", count: 50_000))
        var request = Self.empty
        request.changes = [Samples.value(key)]
        #expect(try Self.decode(WireBinary.encode(request), as: SyncRequest.self) == request)
    }

    @Test("a message that is cut off anywhere, or continues, is malformed")
    func truncations() throws {
        var request = Self.empty
        request.since = Self.response.cursor
        request.horizon = 3
        request.changes = [Samples.value(), Samples.tombstone()]
        func check<Message: BinaryMessage>(_ message: Message) {
            let bytes = WireBinary.encode(message)
            for count in bytes.indices {
                #expect(throws: WireError.self, "\(count) of \(bytes.count) bytes") {
                    try Self.decode(Array(bytes[..<count]), as: Message.self)
                }
            }
        }
        check(request)
        check(Self.response)
        #expect(throws: WireError.malformed("2 bytes follow the message")) {
            try Self.decode(WireBinary.encode(request) + [0, 0], as: SyncRequest.self)
        }
        #expect(throws: WireError.malformed("1 bytes follow the message")) {
            try Self.decode(WireBinary.encode(Self.response) + [0], as: SyncResponse.self)
        }
    }

    @Test("errors name the field")
    func errors() throws {
        var request = Self.empty
        request.changes = [Samples.tombstone("first"), Samples.value("key", [7, 7, 7])]
        let whole = WireBinary.encode(request)
        let second = whole.count - 34
        func expect(
            _ message: String, at index: Int, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
        ) {
            var damaged = whole
            damaged.replaceSubrange(index..<index + bytes.count, with: bytes)
            #expect(throws: WireError.malformed(message), sourceLocation: sourceLocation) {
                try Self.decode(damaged, as: SyncRequest.self)
            }
        }
        #expect(throws: WireError.malformed("version is incomplete")) {
            try Self.decode([], as: SyncRequest.self)
        }
        expect("version 2 is not supported; the version is 1", at: 0, [2])
        expect("flags is invalid", at: 1, [4])
        expect("changes is incomplete", at: 10, [255, 255, 255, 255])
        expect("changes is incomplete", at: 10, [3])
        expect("34 bytes follow the message", at: 10, [1])
        expect("changes[1].stamp is invalid", at: second + 6, [1])
        expect("changes[1].key is incomplete", at: second + 20, [7])
        expect("changes[1].key is incomplete", at: second + 20, [255, 255, 255, 255])
        expect("changes[1].value is incomplete", at: second + 24, [4])
        expect("changes[1].value is incomplete", at: second + 24, [254, 255, 255, 255])
        expect("3 bytes follow the message", at: second + 24, [255, 255, 255, 255])
        for text in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            expect("changes[1].key is invalid", at: second + 28, text)
        }
        var bytes = WireBinary.encode(
            SyncResponse(
                cursor: Self.response.cursor, serverTime: 5, rejections: [SyncRejection(Samples.value("r"), .again)]))
        bytes[bytes.count - 1] = 6
        #expect(throws: WireError.malformed("rejected[0].reason is invalid")) {
            try Self.decode(bytes, as: SyncResponse.self)
        }
    }

    @Test("a list longer than the limit is rejected before its elements are read")
    func listLimit() throws {
        var bytes = WireBinary.encode(Self.response)
        #expect(try Self.decode(bytes, as: SyncResponse.self, listLimit: 5) == Self.response)
        bytes.removeLast()
        #expect(throws: WireError.listTooLong(limit: 4)) {
            try Self.decode(bytes, as: SyncResponse.self, listLimit: 4)
        }
    }

    @Test("a damaged message is an error, or the only encoding of what it decodes to")
    func damagedMessages() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var messages = GeneratedMessages(random: SeededGenerator(seed: seed))
        var decodedCount = 0
        var runCount = 0
        func check<Message: BinaryMessage>(_ message: Message) {
            var bytes = WireBinary.encode(message)
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            runCount += 1
            guard let decoded = try? Self.decode(bytes, as: Message.self) else { return }
            decodedCount += 1
            #expect(WireBinary.encode(decoded) == bytes, "seed \(seed)")
        }
        for _ in 0..<2_000 {
            check(messages.request())
            check(messages.response())
        }
        #expect((1..<runCount).contains(decodedCount), "seed \(seed)")
    }
}
