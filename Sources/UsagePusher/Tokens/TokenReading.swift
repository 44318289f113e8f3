import Foundation
import LocalFiles

extension JSONCursor {
    /// A number of tokens. Null is 0; what is no such number is -1, which no record can have.
    mutating func tokenCount() -> Int {
        let bytes = value()
        var cursor = JSONCursor(bytes)
        if let count = cursor.count() { return count }
        return bytes.elementsEqual("null".utf8) ? 0 : -1
    }
}

extension TokenCounts {
    /// What is left of a prompt without the tokens that a cache had or got; -1 when one of the numbers cannot be.
    static func uncached(_ prompt: Int, read: Int, write: Int = 0) -> Int {
        min(prompt, read, write) < 0 ? -1 : max(0, prompt &- read &- write)
    }

    /// -1 when one of the numbers cannot be.
    static func sum(_ left: Int, _ right: Int) -> Int { min(left, right) < 0 ? -1 : left &+ right }
}

/// A small file of a tool that says more about its logs: one that is missing or cannot be read says nothing.
struct SideFile {
    let path: String

    private static let byteLimit = 1_048_576

    init(_ path: String) { self.path = path }

    var content: LocalFile.Content? {
        (try? LocalFile(path).read(byteLimit: Self.byteLimit)) ?? nil
    }

    var fields: JSONFields? { content.flatMap { JSONFields($0.data) } }
    var text: String? { content.map { String(decoding: $0.data, as: UTF8.self) } }
    var exists: Bool { (try? FileStatus(path: path)) != nil }
}
