import Foundation

/// The fields of one JSON object of unknown shape, read for what they mean: a missing key, a null
/// and a value of another kind are all nil.
///
/// Numbers may be written as text, a Boolean is never a number, and a number that does not fit is
/// nil. Where a field has had several names, all are given and the first with a value counts.
struct JSONFields: Decodable {
    static let depthLimit = 64
    private static let listLimit = 256
    private static let textByteLimit = 65_536
    private let container: KeyedDecodingContainer<Name>

    /// Nil when the text is not one JSON object, or nests deeper than `depthLimit`.
    init?(_ json: Data) {
        guard Self.isShallow(json), let fields = try? JSONDecoder().decode(Self.self, from: json)
        else { return nil }
        self = fields
    }

    init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Name.self)
    }

    var names: [String] { container.allKeys.map(\.stringValue) }

    func number(_ names: String...) -> Double? { first(names, number(named:)) }
    func text(_ names: String...) -> String? { first(names, text(named:)) }
    func fields(_ names: String...) -> JSONFields? { first(names, value(named:)) }
    func flag(_ name: String) -> Bool? { value(named: name) }

    /// A point in time: unix seconds, milliseconds (from 10¹¹ on), or ISO 8601 text.
    func date(_ names: String...) -> Date? {
        first(names) { name in
            if let number = number(named: name) { return Self.date(unixTime: number) }
            return text(named: name).flatMap(Self.date(text:))
        }
    }

    /// The objects in a list; elements of another kind are left out.
    func list(_ name: String) -> [JSONFields] {
        guard var elements = try? container.nestedUnkeyedContainer(forKey: Name(name)) else {
            return []
        }
        var list: [JSONFields] = []
        while !elements.isAtEnd, elements.currentIndex < Self.listLimit {
            if let element = try? elements.decode(JSONFields.self) {
                list.append(element)
            } else if (try? elements.decode(Anything.self)) == nil {
                break
            }
        }
        return list
    }

    static func date(unixTime number: Double) -> Date? {
        let seconds = number.magnitude >= 1e11 ? number / 1_000 : number
        return (0...253_402_300_799).contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
    }

    static func date(text: String) -> Date? {
        guard text.utf8.count <= 64 else { return nil }
        let date =
            (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        return date.flatMap { Self.date(unixTime: $0.timeIntervalSince1970) }
    }

    private func first<Value>(_ names: [String], _ read: (String) -> Value?) -> Value? {
        for name in names {
            if let value = read(name) { return value }
        }
        return nil
    }

    private func number(named name: String) -> Double? {
        if let number: Double = value(named: name) { return number.isFinite ? number : nil }
        guard let text = text(named: name), text.utf8.count <= 64,
            let number = Double(text.trimmingCharacters(in: .whitespaces)), number.isFinite
        else { return nil }
        return number
    }

    private func text(named name: String) -> String? {
        guard let text: String = value(named: name), text.utf8.count <= Self.textByteLimit else {
            return nil
        }
        return text
    }

    private func value<Value: Decodable>(named name: String) -> Value? {
        try? container.decode(Value.self, forKey: Name(name))
    }

    /// One pass over the bytes, so that no parser recurses into hostile nesting.
    private static func isShallow(_ json: Data) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isInString = false }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
                if depth > depthLimit { return false }
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
            } else if byte == 0 {
                // UTF-16 or UTF-32, whose brackets this pass could not count.
                return false
            }
        }
        return true
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
