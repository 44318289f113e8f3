// What is fuzzed: each decoder of bytes from outside, as a function of those bytes. Not here: the
// fuzzer (Tests/Support/fuzz) and the stored inputs (fixtures/fuzz).

import Essentials
import Foundation
import KVStoreCore
import KVStoreWire
import SnapshotModels

/// A decoder that a fuzzer runs with arbitrary bytes. A broken promise ends the process, which is how the fuzzer
/// notices.
public enum FuzzTarget: String, Sendable, CaseIterable {
    /// The bodies of a sync, in JSON and in binary, and what else a daemon or a client reads from the network.
    case request
    /// The segments of a log, as a daemon and a replica open them.
    case log
    /// The usage snapshot.
    case snapshot
    /// The line that `kvs join` reads, and the documents that pairing exchanges.
    case pairing

    /// Ends the process if a promise of the decoder does not hold for `bytes`.
    public func run(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .request: Self.decodeRequest(bytes)
        case .log: Self.openLog(bytes)
        case .snapshot: Self.decodeSnapshot(Data(bytes))
        case .pairing: Self.decodePairing(bytes)
        }
    }

    // MARK: - Requests

    private static func decodeRequest(_ bytes: UnsafeRawBufferPointer) {
        decodeBinary(SyncRequest.self, bytes)
        decodeBinary(SyncResponse.self, bytes)
        let data = Data(bytes)
        if let request = try? WireJSON.decode(SyncRequest.self, from: data) {
            let json = WireJSON.encode(request)
            check((try? WireJSON.decode(from: json)) == request, "a request in JSON")
        }
        if let response = try? WireJSON.decode(SyncResponse.self, from: data) {
            let json = WireJSON.encode(response)
            check((try? WireJSON.decode(from: json)) == response, "an answer in JSON")
        }
        _ = try? WireJSON.decode(ValueDocument.self, from: data)
        _ = Problem(status: 400, body: data)
        parseEvents(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        if let decoded = PercentEncoding.decode(text) {
            check(PercentEncoding.decode(PercentEncoding.encode(decoded)) == decoded, "a path")
        }
    }

    /// A message has exactly one binary form.
    private static func decodeBinary<Message: BinaryMessage>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer
    ) {
        guard let message = try? WireBinary.decode(type, from: bytes, listLimit: 1_000) else {
            return
        }
        check(WireBinary.encode(message).elementsEqual(bytes), "one binary form")
    }

    /// The same items come whether the bytes come at once or in two parts.
    private static func parseEvents(_ bytes: UnsafeRawBufferPointer) {
        func parse(_ parts: [Slice<UnsafeRawBufferPointer>]) -> [ServerSentItem]? {
            var parser = ServerSentEventParser()
            do { return try parts.flatMap { try parser.append($0) } } catch { return nil }
        }
        let middle = bytes.count / 2
        let whole = parse([bytes[...]])
        check(whole == parse([bytes[..<middle], bytes[middle...]]), "events in parts")
        var decoder = SyncEventDecoder()
        for item in whole ?? [] { _ = try? decoder.event(item) }
    }

    // MARK: - Snapshots and pairing

    private static func decodeSnapshot(_ data: Data) {
        guard let snapshot = try? SnapshotCodec.decode(data) else {
            check(SnapshotCodec.read(data) == nil, "reading agrees with decoding")
            return
        }
        guard let encoded = try? SnapshotCodec.encode(snapshot) else { return }
        guard let again = try? SnapshotCodec.decode(encoded) else {
            fatalError("an encoded snapshot does not decode")
        }
        check((try? SnapshotCodec.encode(again)) == encoded, "encoding is stable")
    }

    private static func decodePairing(_ bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let line = PairingLine(text) {
            check(PairingLine(line.text) == line, "a line")
            check(!"\(line.code)".contains(line.code.text), "a code stays secret")
        }
        let data = Data(bytes)
        _ = try? WireJSON.decode(PairingRequest.self, from: data)
        _ = try? WireJSON.decode(PairingAnswer.self, from: data)
        _ = (try? WireJSON.decode(DaemonStatus.self, from: data))?.line
    }

    static func check(_ isTrue: Bool, _ promise: String) {
        if !isTrue { fatalError("broken promise: \(promise)") }
    }
}
