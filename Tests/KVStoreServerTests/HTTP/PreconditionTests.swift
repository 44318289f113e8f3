import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Preconditions of changes", .engines, .timeLimit(.minutes(5)))
struct PreconditionTests {
    private static let path = "/v1/stores/s/keys/k"

    private typealias Send = @Sendable (HTTPRequest.Method, String?, HTTPFields) async throws -> TestResponse

    /// Sends requests about one key to a server.
    private func served(_ body: @escaping @Sendable (_ send: Send) async throws -> Void) async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            try await body { method, text, fields in
                var headers: HTTPFields = [.contentType: "application/octet-stream"]
                for field in fields { headers[field.name] = field.value }
                return try await test.send(
                    client, method, Self.path, headers, body: text.map { ByteBuffer(string: $0) })
            }
        }
    }

    @Test("the entity tag of a value is the same in each form, and a client that has it gets no body")
    func entityTag() async throws {
        try await served { send in
            let summary = try await send(.put, "one", [:]).decoded(KeySummary.self)
            let tag = "\"\(summary.stamp)\""
            for form in ["application/json", "application/octet-stream", "application/vnd.ubiquity.value+json"] {
                let answer = try await send(.get, nil, [.accept: form])
                #expect(answer.headers[.eTag] == tag && answer.headers[.vary] == "Accept", "\(form)")
                let kept = try await send(.get, nil, [.accept: form, .ifNoneMatch: tag])
                #expect(kept.status == .notModified && kept.text == "" && kept.headers[.eTag] == tag, "\(form)")
            }
            _ = try await send(.put, "two", [:])
            #expect(try await send(.get, nil, [.ifNoneMatch: tag]).status == .ok)
        }
    }

    @Test("a change that expects another value than the present one is refused, and changes nothing")
    func refused() async throws {
        try await served { send in
            let tag = try #require(try await stored("one", send))
            let newer = try #require(try await stored("two", send))
            for expected in [tag, "W/\(newer)", "\"\"", ""] {
                for (method, text) in [(.put, "three"), (.delete, nil)] as [(HTTPRequest.Method, String?)] {
                    let answer = try await send(method, text, [.ifMatch: expected])
                    #expect(answer.status == .preconditionFailed, "\(method) \(expected)")
                    #expect(answer.problemCode == "changed-meanwhile")
                }
            }
            let taken = try await send(.put, "three", [.ifNoneMatch: "*"])
            #expect(taken.problemCode == "changed-meanwhile")
            let present = try await send(.get, nil, [.accept: "application/octet-stream"])
            #expect(present.text == "two" && present.headers[.eTag] == newer)
        }
    }

    @Test("a change that expects the present value, any value or none is made")
    func accepted() async throws {
        try await served { send in
            #expect(try await send(.put, "one", [.ifMatch: "*"]).problemCode == "changed-meanwhile", "no value")
            #expect(try await send(.put, "one", [.ifNoneMatch: "*"]).status == .ok)
            let tag = try #require(try await send(.get, nil, [:]).headers[.eTag])
            #expect(try await send(.put, "two", [.ifMatch: "\"other\", \(tag)"]).status == .ok)
            #expect(try await send(.put, "three", [.ifMatch: "*"]).status == .ok)
            let last = try #require(try await send(.get, nil, [:]).headers[.eTag])
            #expect(try await send(.delete, nil, [.ifMatch: last]).status == .ok)
            #expect(try await send(.put, "four", [.ifMatch: last]).problemCode == "changed-meanwhile", "deleted")
            #expect(try await send(.put, "four", [.ifNoneMatch: "*"]).status == .ok)
        }
    }

    @Test("a request that is sent again, as its answer was lost, is answered as before")
    func repeated() async throws {
        try await served { send in
            let tag = try #require(try await stored("one", send))
            let first = try await send(.put, "two", [.ifMatch: tag])
            let second = try await send(.put, "two", [.ifMatch: tag])
            #expect(first.status == .ok && second.text == first.text)
        }
    }

    /// Puts a value; its entity tag.
    private func stored(_ text: String, _ send: Send) async throws -> String? {
        _ = try await send(.put, text, [:])
        return try await send(.get, nil, [:]).headers[.eTag]
    }
}
