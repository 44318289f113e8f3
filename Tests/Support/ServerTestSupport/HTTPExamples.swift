import Foundation
import KVStoreWire
import StoreTestSupport
import Testing

/// The examples of a document in this repository: blocks of HTTP, requests alternating with answers. "…" stands for
/// text that differs between runs.
package struct HTTPExamples {
    package struct Message: Sendable {
        /// The document and the line of its end.
        package var location: String
        package var start: String
        package var headers: [(name: String, value: String)] = []
        package var body = ""

        /// Whether the body has the binary form of sync.
        package var isBinary: Bool {
            headers.contains { $0.name == "Content-Type" && $0.value == MediaType.sync }
        }
    }

    private let path: String

    /// - Parameter path: relative to the root of the repository.
    package init(_ path: String) { self.path = path }

    package func text() throws -> String {
        try Repository.text(path)
    }

    package func messages() throws -> [Message] {
        let text = try text()
        var messages: [Message] = []
        var lines: [String]?
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            if line == "```http" {
                lines = []
            } else if line == "```", let found = lines {
                let start = found.first ?? ""
                var message = Message(location: "\(path):\(number + 1): \(start)", start: start)
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

    package static func matches(_ expected: Any, _ found: Any) -> Bool {
        switch (expected, found) {
        case (let expected as String, _) where expected == "…": return true
        case (is NSNull, is NSNull): return true
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

    package static func json(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    /// Compares the next events with those of the documented answer.
    package static func check(_ answer: Message, isReadBy reader: inout EventReader, of request: Message) async throws {
        for block in answer.body.components(separatedBy: "\n\n") where !block.isEmpty {
            let found = try #require(await reader.next())
            for line in block.split(separator: "\n") {
                let name = line.prefix { $0 != ":" }
                let value = line.drop { $0 != ":" }.dropFirst(2)
                switch name {
                case "event": #expect(found.name == String(value), "\(request.location)")
                case "id": #expect(found.id == String(value), "\(request.location)")
                default:
                    #expect(
                        matches(try json(String(value)), try json(found.data ?? "null")),
                        "\(request.location): \(found.data ?? "nothing")")
                }
            }
        }
    }
}
