import Foundation
import KVStoreCore
import KVStoreWire
import StoreTestSupport
import Testing

@Suite("Examples of docs/protocol.md")
struct ProtocolExamplesTests {
    private struct Exchange {
        var request: String
        var requestBody: String
        var answerType: String
        var answerBody: String
    }

    /// Pairs of request and answer, with identifiers in place of "…".
    private static func exchanges() throws -> [Exchange] {
        let text = try Repository.text("docs/protocol.md")
            .replacing("-…\"", with: "-00000000000000d1\"").replacing("\"…\"", with: "\"00000000000000e1\"")
        let blocks = text.components(separatedBy: "```http\n").dropFirst().map { block in
            let message = block.components(separatedBy: "```")[0]
            let end = message.range(of: "\n\n") ?? message.endIndex..<message.endIndex
            return (head: message[..<end.lowerBound], body: String(message[end.upperBound...]))
        }
        return stride(from: 0, to: blocks.count, by: 2).map { index in
            let answer = blocks[index + 1]
            return Exchange(
                request: String(blocks[index].head.prefix { $0 != "\n" }),
                requestBody: blocks[index].body,
                answerType: answer.head.components(separatedBy: "Content-Type: ").last
                    .map { String($0.prefix { $0 != "\n" }) } ?? "",
                answerBody: answer.body)
        }
    }

    private static func expect<Document: Codable>(_ type: Document.Type, _ body: String, _ exchange: Exchange) throws {
        try expect(WireJSON.encode(try Samples.decode(body, as: type)), body, exchange)
    }

    private static func expect<Document: JSONDocument & Decodable>(
        _ type: Document.Type, _ body: String, _ exchange: Exchange
    ) throws {
        try expect(WireJSON.encode(try Samples.decode(body, as: type)), body, exchange)
    }

    private static func expectBinary<Message: BinaryMessage>(
        _ type: Message.Type, _ body: String, _ exchange: Exchange
    ) throws {
        let bytes = try #require(documentedBytes(body, epoch: Samples.epoch), "\(exchange.request)")
        let message = try bytes.withUnsafeBytes { try WireBinary.decode(type, from: $0) }
        #expect(WireBinary.encode(message) == bytes, "\(exchange.request)")
    }

    private static func expect(_ encoded: Data, _ body: String, _ exchange: Exchange) throws {
        let documented = try JSONSerialization.jsonObject(with: Data(body.utf8))
        let encoded = try JSONSerialization.jsonObject(with: encoded)
        #expect(encoded as? NSDictionary == documented as? NSDictionary, "\(exchange.request)")
    }

    @Test("every body decodes, and encodes to what the document shows")
    func bodies() throws {
        let exchanges = try Self.exchanges()
        for exchange in exchanges {
            let answer = exchange.answerBody
            let line = exchange.request
            switch exchange.answerType {
            case MediaType.problem:
                let documented = try JSONSerialization.jsonObject(with: Data(exchange.answerBody.utf8))
                let status = (documented as? [String: Any])?["status"] as? Int
                let problem = Problem(status: try #require(status), body: Data(exchange.answerBody.utf8))
                let encoded = try JSONSerialization.jsonObject(with: problem.json)
                #expect(encoded as? NSDictionary == documented as? NSDictionary)
            case MediaType.sync:
                try Self.expectBinary(SyncRequest.self, exchange.requestBody, exchange)
                try Self.expectBinary(SyncResponse.self, answer, exchange)
            case MediaType.eventStream where line.contains("values=false"):
                var parser = ServerSentEventParser()
                for case .event("change", let data) in try parser.append(exchange.answerBody.utf8) {
                    let text = String(decoding: data, as: UTF8.self)
                    try Self.expect(KeySummary.self, text, exchange)
                }
            case MediaType.typedValue: break  // Their codec is that of documents.
            case MediaType.eventStream:
                var parser = ServerSentEventParser()
                var decoder = SyncEventDecoder()
                let events = try parser.append(exchange.answerBody.utf8).map { try decoder.event($0) }
                #expect(!events.isEmpty && !events.contains(nil), "\(line)")
            case _ where line.hasSuffix("/sync"):
                try Self.expect(SyncRequest.self, exchange.requestBody, exchange)
                try Self.expect(SyncResponse.self, answer, exchange)
            case _ where line.hasPrefix("PUT ") && exchange.requestBody.contains(#""type""#):
                try Self.expect(KeySummary.self, answer, exchange)
            case _ where line.hasPrefix("PUT "):
                try Self.expect(ValueDocument.self, exchange.requestBody, exchange)
                try Self.expect(KeySummary.self, answer, exchange)
            case _ where line.contains("/keys/"): try Self.expect(SequencedRecord.self, answer, exchange)
            case _ where line.hasSuffix("/keys"): try Self.expect(KeyList.self, answer, exchange)
            case _ where line.hasSuffix("/pair"):
                try Self.expect(PairingRequest.self, exchange.requestBody, exchange)
                try Self.expect(PairingAnswer.self, answer, exchange)
            case _ where line.hasSuffix("/me"): try Self.expect(DaemonIdentity.self, answer, exchange)
            case _ where line.hasSuffix("/devices"): try Self.expect(DeviceList.self, answer, exchange)
            case _ where line.hasPrefix("PATCH "):
                try Self.expect(DeviceChange.self, exchange.requestBody, exchange)
                try Self.expect(DaemonDevice.self, answer, exchange)
            case _ where line.hasPrefix("DELETE /v1/devices/"): #expect(answer.isEmpty)
            case _ where line.hasSuffix("/pairings"):
                try Self.expect(NewPairing.self, exchange.requestBody, exchange)
                try Self.expect(PairingCodeAnswer.self, answer, exchange)
            case _ where line.hasPrefix("DELETE /v1/stores/"): try Self.expect(StoreRemoval.self, answer, exchange)
            case _ where line.hasSuffix("/stores"): try Self.expect(StoreList.self, answer, exchange)
            default: Issue.record("no document for \(line)")
            }
        }
        #expect(exchanges.count >= 13)
    }
}
