import Foundation
import HTTPTypes
import KVStoreWire
import NIOCore
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import KVStoreEmulator
import KVStoreServer

/// `docs/emulator.md` is what a client is written against, so its examples are run.
@Suite("Examples of docs/emulator.md", .timeLimit(.minutes(5)))
struct DocumentedExamplesTests {
    @Test("every example request is answered as documented")
    func examples() async throws {
        let messages = try HTTPExamples("docs/emulator.md").messages()
        try #require(messages.count > 20 && messages.count.isMultiple(of: 2))
        let emulator = try Emulator(now: { Samples.now })
        async let serving: Void = emulator.run()
        let port = try #require(Int(try await emulator.running.url.split(separator: ":").last ?? ""))
        let client = TestClient(port: port)
        for index in stride(from: 0, to: messages.count, by: 2) {
            let (request, answer) = (messages[index], messages[index + 1])
            let parts = request.start.components(separatedBy: " ")
            if answer.headers.contains(where: { $0.value == "text/event-stream" }) {
                let bearer = request.headers.first { $0.name == "Authorization" }?.value
                var reader = try await EventReader(
                    port: port, path: parts[1], token: String((bearer ?? "Bearer none").dropFirst("Bearer ".count)))
                try await HTTPExamples.check(answer, isReadBy: &reader, of: request)
                await reader.connection.close()
                continue
            }
            var headers: HTTPFields = [:]
            for (name, value) in request.headers {
                headers[try #require(HTTPField.Name(name))] = value
            }
            let response = try await client.execute(
                uri: parts[1], method: try #require(HTTPRequest.Method(parts[0])), headers: headers,
                body: request.body.isEmpty ? nil : ByteBuffer(string: request.body))
            #expect(
                answer.start.hasPrefix("HTTP/1.1 \(response.status.code) "), "\(request.location): \(response.text)")
            #expect(response.headers[.xContentTypeOptions] == "nosniff", "\(request.location)")
            for (name, value) in answer.headers {
                #expect(response.headers[try #require(HTTPField.Name(name))] == value, "\(request.location)")
            }
            if answer.body.isEmpty {
                #expect(response.text == "", "\(request.location)")
                continue
            }
            #expect(
                HTTPExamples.matches(try HTTPExamples.json(answer.body), try HTTPExamples.json(response.text)),
                "\(request.location) was answered with \(response.text)")
        }
        await client.close()
        await emulator.stop()
        try await serving
    }

    @Test("every route and every error of the emulator is documented")
    func completeness() throws {
        let text = try HTTPExamples("docs/emulator.md").text()
        for found in EmulatorRoute.listed {
            let path = found.template.dropFirst(EmulatorRoute.start.count + 1)
            let row = text.split(separator: "\n").first {
                $0.hasPrefix("|") && $0.contains("`\(path)`")
            }
            for method in found.methods where method != .HEAD {
                #expect(row?.contains(method.rawValue) == true, "\(method) \(found.template)")
            }
        }
        for problem in [
            Problem.invalidWorldToken, .foreignHost, .emulatedDevice, .noPairing, .unknownWorld,
            .signedOut, .unknownFault, .invalidFault(""), .invalidControl(""),
            .tooManyFaults(limit: 1), .badWorldName, .invalidImport(""), .tooManyWorlds(limit: 1),
            .tooManyDevices(limit: 1), .otherAccount(nil),
        ] { #expect(text.contains("`\(problem.code)`")) }
    }

    @Test("the list of resources has those that are documented, and its answers name the document")
    func listing() async throws {
        struct List: Decodable {
            struct Entry: Decodable {
                var path: String
                var methods: [String]
            }
            var documentation: String
            var resources: [Entry]
        }
        try await EmulatorClient.run { client in
            for path in ["/emulator/v1", "/emulator/v1/"] {
                let answer = try await client.execute(.get, path)
                let list = try answer.decoded(List.self)
                #expect(list.resources.map(\.path) == EmulatorRoute.listed.map(\.template))
                for entry in list.resources {
                    let concrete = entry.path.replacing("{id}", with: "1")
                    let found = try #require(EmulatorRoute.find(Substring(concrete))?.route)
                    #expect(
                        found.template == entry.path
                            && found.methods.filter { $0 != .HEAD }.map(\.rawValue) == entry.methods)
                }
            }
            for (method, path) in [
                (HTTPRequest.Method.get, "/emulator/v1/none"), (.delete, "/emulator/v1"),
                (.put, "/emulator/v1/worlds/w/clock"),
            ] {
                let answer = try await client.execute(method, path, body: method == .put ? "{" : nil)
                #expect(answer.status.code >= 400 && answer.text.contains("docs/emulator.md"))
            }
            let other = try await client.execute(.get, "/none")
            #expect(other.text.contains("docs/protocol.md"))
        }
    }
}
