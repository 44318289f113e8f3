import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import TestSupport
import Testing

@testable import KVStoreServer

/// `docs/protocol.md` is what a client is written against, so its examples are run.
@Suite("Protocol examples", .timeLimit(.minutes(5)))
struct ProtocolExamplesTests {
    private struct Message {
        var line: Int
        var start: String
        var headers: [(String, String)] = []
        var body = ""

        var isBinary: Bool { headers.contains { $0 == ("Content-Type", MediaType.sync) } }
    }

    private static let path = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/protocol.md")

    private static func messages() throws -> [Message] {
        var messages: [Message] = []
        var lines: [String]?
        let text = try String(contentsOf: path, encoding: .utf8)
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            if line == "```http" {
                lines = []
            } else if line == "```", let found = lines {
                var message = Message(line: number + 1, start: found.first ?? "")
                let rest = found.dropFirst()
                for line in rest.prefix(while: { !$0.isEmpty }) {
                    let parts = line.components(separatedBy: ": ")
                    message.headers.append((parts[0], parts.dropFirst().joined(separator: ": ")))
                }
                message.body = rest.drop { !$0.isEmpty }.dropFirst().joined(separator: "\n")
                messages.append(message)
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return messages
    }

    /// What differs each time stands as "…" in the document.
    private static func matches(_ expected: Any, _ found: Any) -> Bool {
        switch (expected, found) {
        case (let expected as [String: Any], let found as [String: Any]):
            return Set(expected.keys) == Set(found.keys)
                && expected.allSatisfy { matches($0.value, found[$0.key] ?? NSNull()) }
        case (let expected as [Any], let found as [Any]):
            return expected.count == found.count && zip(expected, found).allSatisfy(matches)
        case (let expected as String, let found as String):
            return expected.hasSuffix("…")
                ? found.hasPrefix(expected.dropLast()) : expected == found
        case (let expected as NSNumber, let found as NSNumber): return expected == found
        default: return false
        }
    }

    private static func json(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    private static func check(_ body: String, _ answer: Message, of request: Message) throws {
        let location = "docs/protocol.md:\(request.line): \(request.start)"
        #expect(
            matches(try json(answer.body), try json(body)), "\(location) was answered with \(body)")
    }

    @Test("every example request is answered as documented")
    func examples() async throws {
        let messages = try Self.messages()
        try #require(messages.count > 20 && messages.count.isMultiple(of: 2))
        let test = try TestServer()
        try test.keepDocumentedDevices()
        try test.addPairing(code: "AwEkN_Im67nNBlTWri3v1kxSrKvmPA")
        try await test.served { client, port in
            var epoch = ""
            for index in stride(from: 0, to: messages.count, by: 2) {
                let request = messages[index]
                let answer = messages[index + 1]
                let parts = request.start.components(separatedBy: " ")
                if answer.headers.contains(where: { $0.1 == "text/event-stream" }) {
                    try await stream(test, port, parts[1], answer, request)
                    continue
                }
                var headers = test.headers(TestServer.laptop)
                for (name, value) in request.headers {
                    headers[try #require(HTTPField.Name(name))] = value
                }
                if answer.start.hasPrefix("HTTP/1.1 507 ") {
                    try limitAccount(of: test, as: answer)
                }
                let epochID = EpochID(epoch) ?? EpochID(rawValue: 0)
                let body =
                    request.isBinary
                    ? ByteBuffer(
                        bytes: try #require(documentedBytes(request.body, epoch: epochID)))
                    : ByteBuffer(
                        string: request.body.replacing(
                            "\"epoch\": \"…\"", with: "\"epoch\": \"\(epoch)\""))
                let response = try await client.execute(
                    uri: parts[1], method: try #require(HTTPRequest.Method(parts[0])),
                    headers: headers, body: request.body.isEmpty ? nil : body)
                #expect(
                    answer.start.hasPrefix("HTTP/1.1 \(response.status.code) "),
                    "docs/protocol.md:\(request.line): \(response.text)")
                for (name, value) in answer.headers {
                    #expect(response.headers[try #require(HTTPField.Name(name))] == value)
                }
                if answer.isBinary {
                    #expect(
                        Array(buffer: response.body)
                            == documentedBytes(answer.body, epoch: epochID),
                        "docs/protocol.md:\(request.line)")
                    continue
                }
                if answer.body.isEmpty {
                    #expect(response.text == "", "docs/protocol.md:\(request.line)")
                    continue
                }
                try Self.check(response.text, answer, of: request)
                if parts[1].hasSuffix("/sync"),
                    let sync = try? response.decoded(SyncResponse.self)
                {
                    epoch = sync.cursor.epoch.description
                }
            }
        }
    }

    /// Sets the limit that the answer documents.
    private func limitAccount(of test: TestServer, as answer: Message) throws {
        let problem = try Self.json(answer.body) as? [String: Any]
        _ = try test.server.devices.file.limitAccount("default") {
            $0.byteLimit = problem?["limit"] as? Int
        }
    }

    private func stream(
        _ test: TestServer, _ port: Int, _ path: String, _ answer: Message, _ request: Message
    ) async throws {
        var reader = try await EventReader(
            port: port, path: path, token: test.token(TestServer.laptop))
        for block in answer.body.components(separatedBy: "\n\n") where !block.isEmpty {
            let found = try #require(await reader.next())
            let location = "docs/protocol.md:\(request.line)"
            for line in block.split(separator: "\n") {
                let (name, value) = (
                    line.prefix { $0 != ":" }, line.drop { $0 != ":" }.dropFirst(2)
                )
                switch name {
                case "event": #expect(found.name == String(value), "\(location)")
                case "id": #expect(found.id == String(value), "\(location)")
                default:
                    #expect(
                        Self.matches(
                            try Self.json(String(value)), try Self.json(found.data ?? "null")),
                        "\(location): \(found.data ?? "nothing")")
                }
            }
        }
        let head = try #require(reader.head)
        #expect(head.hasPrefix("HTTP/1.1 200 "))
        #expect(head.contains("Content-Type: text/event-stream"))
        await reader.connection.close()
    }
}
