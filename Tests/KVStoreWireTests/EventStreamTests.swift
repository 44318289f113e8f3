import Foundation
import KVStoreCore
import KVStoreWire
import Testing

@Suite("Event streams")
struct EventStreamTests {
    private func events(_ bytes: Data) throws -> [SyncEvent] {
        var parser = ServerSentEventParser()
        var decoder = SyncEventDecoder()
        return try parser.append(bytes).compactMap { try decoder.event($0) }
    }

    @Test("events are read as they were written", arguments: Samples.literalKeys)
    func roundTrip(key: StoreKey) throws {
        let value = SequencedRecord(record: Samples.value(key), sequence: 9)
        let tombstone = SequencedRecord(record: Samples.tombstone(key), sequence: UInt64(Int64.max))
        let text =
            EventStreamText.opened(at: SyncCursor(epoch: Samples.epoch, sequence: 8)) + EventStreamText.change(value)
            + EventStreamText.heartbeat + EventStreamText.change(tombstone) + EventStreamText.reset
        #expect(try events(text) == [.opened, .change(value), .heartbeat, .change(tombstone), .reset])
    }

    @Test("changes that belong together are read as one event, and a page at most")
    func together() throws {
        func change(_ sequence: UInt64) -> SequencedRecord {
            SequencedRecord(record: Samples.value(), sequence: sequence)
        }
        func text(_ sequences: ClosedRange<UInt64>) -> Data {
            sequences.reduce(into: Data()) {
                $0 += EventStreamText.change(change($1), hasMore: $1 < sequences.upperBound)
            }
        }
        let batch = text(1...2) + EventStreamText.heartbeat + text(3...3)
        #expect(try events(batch) == [.changes([change(1), change(2)]), .heartbeat, .change(change(3))])
        let cut = EventStreamText.change(change(1), hasMore: true) + EventStreamText.heartbeat
        #expect(try events(cut + text(2...2)) == [.change(change(1)), .change(change(2))])
        let keys = EventStreamText.changedKey(change(7), hasMore: true)
        #expect(String(decoding: keys, as: UTF8.self).contains(#""more":true,"seq":7"#))
        let long = try events(text(1...1_500))
        #expect(long == [.changes((1...1_000).map(change)), .changes((1_001...1_500).map(change))])
    }

    @Test("the text of every event is the documented one")
    func text() {
        let change = SequencedRecord(record: Samples.tombstone(), sequence: 9)
        let cases: [(Data, String)] = [
            (
                EventStreamText.opened(at: SyncCursor(epoch: Samples.epoch, sequence: 8)),
                "event: opened\ndata: {\"cursor\":8,\"epoch\":\"00000000000000e1\"}\n\n"
            ), (EventStreamText.change(change), "event: change\nid: 9\ndata: \(Samples.json(change))\n\n"),
            (EventStreamText.reset, "event: reset\ndata: {}\n\n"), (EventStreamText.heartbeat, ": hb\n\n"),
        ]
        for (data, text) in cases { #expect(String(decoding: data, as: UTF8.self) == text) }
    }

    @Test("events of a later version are skipped, and a change that is not one is malformed")
    func otherEvents() throws {
        #expect(try events(Data("event: future\ndata: 1\n\ndata: x\n\n".utf8)) == [])
        for data in ["", "{", "{}", #"{"key":"k"}"#, Samples.json(Samples.tombstone())] {
            #expect(throws: WireError.self) {
                try events(Data("event: change\ndata: \(data)\n\n".utf8))
            }
        }
    }
}
