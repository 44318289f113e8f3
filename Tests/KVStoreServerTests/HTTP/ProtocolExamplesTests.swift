import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

/// `docs/protocol.md` is what a client is written against, so its examples are run.
@Suite("Protocol examples", .engines, .timeLimit(.minutes(5)))
struct ProtocolExamplesTests {
    private static let document = HTTPExamples("docs/protocol.md")

    private static func check(_ body: String, _ answer: HTTPExamples.Message, of request: HTTPExamples.Message) throws {
        #expect(
            HTTPExamples.matches(try HTTPExamples.json(answer.body), try HTTPExamples.json(body)),
            "\(request.location) was answered with \(body)")
    }

    @Test("every example request is answered as documented")
    func examples() async throws {
        let messages = try Self.document.messages()
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
                    ? ByteBuffer(bytes: try #require(documentedBytes(request.body, epoch: epochID)))
                    : ByteBuffer(string: request.body.replacing("\"epoch\": \"…\"", with: "\"epoch\": \"\(epoch)\""))
                let response = try await client.execute(
                    uri: parts[1], method: try #require(HTTPRequest.Method(parts[0])),
                    headers: headers, body: request.body.isEmpty ? nil : body)
                #expect(
                    answer.start.hasPrefix("HTTP/1.1 \(response.status.code) "),
                    "\(request.location): \(response.text)")
                #expect(response.headers[.xContentTypeOptions] == "nosniff", "\(request.location)")
                for (name, value) in answer.headers {
                    #expect(response.headers[try #require(HTTPField.Name(name))] == value)
                }
                if answer.isBinary {
                    #expect(
                        Array(buffer: response.body) == documentedBytes(answer.body, epoch: epochID),
                        "\(request.location)")
                    continue
                }
                if answer.body.isEmpty {
                    #expect(response.text == "", "\(request.location)")
                    continue
                }
                try Self.check(response.text, answer, of: request)
                if parts[1].hasSuffix("/sync"), let sync = try? response.decoded(SyncResponse.self) {
                    epoch = sync.cursor.epoch.description
                }
            }
        }
    }

    /// Sets the limit that the answer documents.
    private func limitAccount(of test: TestServer, as answer: HTTPExamples.Message) throws {
        let problem = try HTTPExamples.json(answer.body) as? [String: Any]
        _ = try test.deviceStorage.limitAccount("default") {
            $0.byteLimit = problem?["limit"] as? Int
        }
    }

    private func stream(
        _ test: TestServer, _ port: Int, _ path: String, _ answer: HTTPExamples.Message, _ request: HTTPExamples.Message
    ) async throws {
        var reader = try await EventReader(port: port, path: path, token: test.token(TestServer.laptop))
        try await HTTPExamples.check(answer, isReadBy: &reader, of: request)
        let head = try #require(reader.head)
        #expect(head.hasPrefix("HTTP/1.1 200 "))
        #expect(head.contains("X-Content-Type-Options: nosniff\r\n"))
        #expect(head.contains("Content-Type: text/event-stream"))
        await reader.connection.close()
    }
}
