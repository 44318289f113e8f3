import Foundation
import KVStoreCore
import KVStoreWire
import StoreTestSupport
import Testing

@Suite("Sync messages")
struct SyncMessageTests {
    private static let stamp = "019b76daa87b-00000007-8f3ac0de51b20417"

    @Test("the first request has no cursor; a later one names its epoch")
    func requests() throws {
        try Samples.expect(
            SyncRequest(replica: Samples.replica, since: nil), is: #"{"changes":[],"replica":"8f3ac0de51b20417"}"#)
        try Samples.expect(
            SyncRequest(
                replica: Samples.replica, since: SyncCursor(epoch: Samples.epoch, sequence: UInt64(Int64.max)),
                horizon: 3,
                changes: [Samples.value("a/b"), Samples.tombstone()]),
            is: #"{"changes":[{"key":"a/b","stamp":"\#(Self.stamp)","value":"AAH/"},"#
                + #"{"deleted":true,"key":"key","stamp":"\#(Self.stamp)"}],"#
                + #""epoch":"00000000000000e1","horizon":3,"replica":"8f3ac0de51b20417","#
                + #""since":9223372036854775807}"#)
        #expect(
            try Samples.decode(#"{"changes":[],"replica":"8f3ac0de51b20417","epoch":null,"since":0}"#)
                == SyncRequest(replica: Samples.replica, since: nil))
    }

    @Test("an answer has its lineage if and only if it is initial")
    func responses() throws {
        let cursor = SyncCursor(epoch: Samples.epoch, sequence: 9)
        let change = SequencedRecord(record: Samples.tombstone(), sequence: 9)
        try Samples.expect(
            SyncResponse(cursor: cursor, serverTime: 5, hasMore: true, changes: [change], horizon: 2),
            is: #"{"changes":[{"deleted":true,"key":"key","seq":9,"stamp":"\#(Self.stamp)"}],"#
                + #""cursor":9,"epoch":"00000000000000e1","horizon":2,"initial":false,"more":true,"#
                + #""rejected":[],"serverTime":5}"#)
        let initial = SyncResponse(
            cursor: cursor, serverTime: 5, isInitial: true,
            lineage: [SyncCursor(epoch: EpochID(rawValue: 1), sequence: 4), cursor])
        try Samples.expect(
            initial,
            is: #"{"changes":[],"cursor":9,"epoch":"00000000000000e1","horizon":0,"initial":true,"#
                + #""lineage":[{"end":4,"epoch":"0000000000000001"},"#
                + #"{"end":9,"epoch":"00000000000000e1"}],"more":false,"rejected":[],"serverTime":5}"#)
        let text = Samples.json(initial)
        #expect(throws: WireError.malformed("the document lacks lineage")) {
            try Samples.decode(text.replacing("lineage", with: "l"), as: SyncResponse.self)
        }
        #expect(throws: WireError.malformed("the document lacks horizon")) {
            try Samples.decode(text.replacing("horizon", with: "h"), as: SyncResponse.self)
        }
    }

    @Test("every reason of a rejection has its limit")
    func rejections() throws {
        let prefix = #"{"key":"key","#
        let suffix = #""stamp":"\#(Self.stamp)"}"#
        let cases: [(SyncRejection.Reason, String)] = [
            (.clock(limit: 5, present: nil), #""limit":5,"reason":"clock","#),
            (
                .clock(limit: 281_474_976_710_655, present: Samples.stamp(1)),
                #""limit":281474976710655,"present":"000000000001-00000007-8f3ac0de51b20417","# + #""reason":"clock","#
            ), (.quota(limit: 1_048_576), #""limit":1048576,"reason":"quota","#),
            (.key(limit: 128), #""limit":128,"reason":"key","#), (.again, #""reason":"again","#),
        ]
        for (reason, text) in cases {
            try Samples.expect(SyncRejection(Samples.value(), reason), is: prefix + text + suffix)
        }
        for json in [prefix + #""reason":"quota","# + suffix, prefix + #""limit":1,"reason":"later","# + suffix] {
            #expect(throws: WireError.self) { try Samples.decode(json, as: SyncRejection.self) }
        }
    }

    @Test("keys keep every byte, in requests and answers", arguments: Samples.literalKeys)
    func literalKeys(key: StoreKey) throws {
        let record = Samples.value(key)
        let bytes = Array(key.text.utf8)
        let request = SyncRequest(replica: Samples.replica, since: nil, changes: [record])
        let sent = try WireJSON.decode(SyncRequest.self, from: WireJSON.encode(request))
        #expect(sent.changes.map { Array($0.key.text.utf8) } == [bytes])
        let rejection = SyncRejection(record, .again)
        let answer = try WireJSON.decode(SyncRejection.self, from: WireJSON.encode(rejection))
        #expect(Array(answer.key.text.utf8) == bytes)
        let escaped = key.text.utf16.map { String(format: "\\u%04x", $0) }.joined()
        let json = #"{"key":"\#(escaped)","stamp":"\#(Self.stamp)","deleted":true}"#
        #expect(Array(try Samples.decode(json, as: StoreRecord.self).key.text.utf8) == bytes)
    }

    @Test("keys that Swift strings call equal stay apart in one message")
    func canonicalEquivalents() throws {
        let changes = Samples.literalKeys.map { Samples.value($0) }
        let request = SyncRequest(replica: Samples.replica, since: nil, changes: changes)
        let decoded = try WireJSON.decode(SyncRequest.self, from: WireJSON.encode(request))
        #expect(decoded == request)
        #expect(Set(decoded.changes.map(\.key)).count == Samples.literalKeys.count)
    }

    @Test(
        "a change without a valid stamp, or with neither or both of value and deleted, is malformed",
        arguments: [
            (#"{"key":"k","deleted":true}"#, "the document lacks stamp"),
            (#"{"key":"k","stamp":"","deleted":true}"#, "stamp is invalid: expected \(StoreStamp.textForm)"),
            (
                #"{"key":"k","stamp":"019B76DAA87B-00000007-8f3ac0de51b20417","deleted":true}"#,
                "stamp is invalid: expected \(StoreStamp.textForm)"
            ), (#"{"key":"k","stamp":"STAMP"}"#, "the document lacks value"),
            (#"{"key":"k","stamp":"STAMP","deleted":false}"#, "the document lacks value"),
            (#"{"key":"k","stamp":"STAMP","value":"AA==","deleted":true}"#, "deleted is invalid"),
            (#"{"key":"k","stamp":"STAMP","value":"A"}"#, "value is invalid: expected base64"),
            (#"{"key":"k","stamp":"STAMP","value":"AA=\n="}"#, "value is invalid: expected base64"),
            (#"{"key":"k","stamp":"STAMP","value":"\#u{e4}"}"#, "value is invalid: expected base64"),
            (#"{"key":"k","stamp":"STAMP","value":[0]}"#, "value is invalid: expected base64"),
            (#"{"key":"k","stamp":"STAMP","deleted":1}"#, "deleted has the wrong type"),
            (#"{"key":1,"stamp":"STAMP","deleted":true}"#, "key has the wrong type"),
            (#"{"key":"\ud800","stamp":"STAMP","deleted":true}"#, "invalid JSON, or a number out of range"),
        ])
    func malformedChanges(json: String, message: String) {
        let json = json.replacing("STAMP", with: Self.stamp)
        #expect(throws: WireError.malformed(message)) {
            try Samples.decode(json, as: StoreRecord.self)
        }
        let request = #"{"replica":"8f3ac0de51b20417","changes":[\#(json)]}"#
        #expect(throws: WireError.self) { try Samples.decode(request, as: SyncRequest.self) }
    }

    @Test("a value may be empty, and deleted false beside a value means nothing")
    func values() throws {
        #expect(
            try Samples.decode(#"{"key":"","stamp":"\#(Self.stamp)","value":""}"#)
                == StoreRecord(key: "", stamp: Samples.stamp(), content: .value(Data())))
        #expect(
            try Samples.decode(#"{"key":"key","stamp":"\#(Self.stamp)","value":"AAH/","deleted":false}"#)
                == Samples.value())
    }

    @Test(
        "numbers and identifiers have exactly their range and form",
        arguments: [
            (#"{"replica":"8f3ac0de51b20417","changes":[],"horizon":-1}"#, "a number out of range"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"horizon":1.5}"#, "a number out of range"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"horizon":1e400}"#, "a number out of range"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"horizon":18446744073709551616}"#, "JSON"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"horizon":"1"}"#, "horizon"),
            (#"{"replica":"8F3AC0DE51B20417","changes":[]}"#, "replica is invalid"),
            (#"{"replica":"8f3ac0de51b2041","changes":[]}"#, "replica is invalid"),
            (#"{"replica":7,"changes":[]}"#, "replica has the wrong type"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"epoch":"e1","since":1}"#, "epoch"),
            (#"{"replica":"8f3ac0de51b20417","changes":[],"epoch":"00000000000000e1"}"#, "the document lacks since"),
            (#"{"replica":"8f3ac0de51b20417"}"#, "the document lacks changes"),
            (#"{"replica":"8f3ac0de51b20417","changes":{}}"#, "changes has the wrong type"),
            (#"{"replica":"8f3ac0de51b20417","changes":[null]}"#, "changes[0]"),
            (#"{"replica":"8f3ac0de51b20417","changes":[{"key":"k"}]}"#, "changes[0] lacks"),
        ])
    func malformedRequests(json: String, message: String) throws {
        let error = #expect(throws: WireError.self) {
            try Samples.decode(json, as: SyncRequest.self)
        }
        #expect(try #require(error).description.contains(message), "\(json)")
    }

    @Test("a change of an answer has a sequence number")
    func sequencedRecords() throws {
        try Samples.expect(
            SequencedRecord(record: Samples.value(), sequence: UInt64(Int64.max)),
            is: #"{"key":"key","seq":9223372036854775807,"stamp":"\#(Self.stamp)","value":"AAH/"}"#)
        #expect(throws: WireError.malformed("the document lacks seq")) {
            try Samples.decode(Samples.json(Samples.value()), as: SequencedRecord.self)
        }
    }

    @Test("a damaged document either decodes to a value that survives a round trip, or is an error")
    func damagedDocuments() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let response = SyncResponse(
            cursor: SyncCursor(epoch: Samples.epoch, sequence: 9), serverTime: 5, isInitial: true,
            changes: Samples.literalKeys.enumerated().map {
                SequencedRecord(record: Samples.value($1), sequence: UInt64($0))
            },
            rejections: [
                SyncRejection(Samples.value(), .clock(limit: 1, present: Samples.stamp()))
            ],
            lineage: [SyncCursor(epoch: Samples.epoch, sequence: 9)])
        let whole = WireJSON.encode(response)
        let alphabet = Array("{}[]\",:\\0129eE+-.tfn \u{e4}".utf8) + [0, 0xFF, 0xC0]
        var decodedCount = 0
        for _ in 0..<2_000 {
            var bytes = Array(whole)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = alphabet.randomElement(using: &random) ?? 0
            }
            guard let decoded = try? WireJSON.decode(SyncResponse.self, from: Data(bytes)) else {
                continue
            }
            decodedCount += 1
            let again = try WireJSON.decode(SyncResponse.self, from: WireJSON.encode(decoded))
            #expect(again == decoded, "seed \(seed)")
        }
        #expect((1..<2_000).contains(decodedCount), "seed \(seed)")
    }
}
