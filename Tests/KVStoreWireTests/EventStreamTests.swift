import Foundation
import KVStoreCore
import KVStoreWire
import Testing

@Suite("Event streams")
struct EventStreamTests {
    private func events(_ bytes: Data) throws -> [SyncEvent] {
        var parser = ServerSentEventParser()
        return try parser.append(bytes).compactMap { try SyncEvent($0) }
    }

    @Test("events are read as they were written", arguments: Samples.literalKeys)
    func roundTrip(key: StoreKey) throws {
        let value = SequencedRecord(record: Samples.value(key), sequence: 9)
        let tombstone = SequencedRecord(
            record: Samples.tombstone(key), sequence: UInt64(Int64.max))
        let text =
            EventStreamText.opened(at: Cursor(epoch: Samples.epoch, sequence: 8))
            + EventStreamText.change(value) + EventStreamText.heartbeat
            + EventStreamText.change(tombstone) + EventStreamText.reset
        #expect(
            try events(text) == [.opened, .change(value), .heartbeat, .change(tombstone), .reset])
    }

    @Test("the text of every event is the documented one")
    func text() {
        let change = SequencedRecord(record: Samples.tombstone(), sequence: 9)
        let cases: [(Data, String)] = [
            (
                EventStreamText.opened(at: Cursor(epoch: Samples.epoch, sequence: 8)),
                "event: opened\ndata: {\"cursor\":8,\"epoch\":\"00000000000000e1\"}\n\n"
            ),
            (
                EventStreamText.change(change),
                "event: change\nid: 9\ndata: \(Samples.json(change))\n\n"
            ),
            (EventStreamText.reset, "event: reset\ndata: {}\n\n"),
            (EventStreamText.heartbeat, ": hb\n\n"),
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
