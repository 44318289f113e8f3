import Essentials
import SnapshotModels

/// The fields of a JSON object of unknown shape: a missing key, a null and a value of another type are all nil.
///
/// Numbers may be written as text; a Boolean is never a number. A field that has had several names is looked up under
/// each of them, and the first value found counts. Formats of other tools are read with this, never with a `Decodable`
/// type of their own, which one field of another kind makes unreadable.
struct JSONFields: Decodable {
    static let depthLimit = 64
    private static let listLimit = 256
    private static let textByteLimit = 65_536
    private let container: KeyedDecodingContainer<Name>

    /// Nil when the text is not one JSON object, or nests deeper than `depthLimit`. Zeros that a crash leaves around
    /// it, and a byte order mark, are no part of it.
    init?(_ text: Data) {
        var json = text.dropFirst(TextStart.byteCount(of: text))
        while json.last == 0 { json.removeLast() }
        guard JSONShape.check(json, depthLimit: Self.depthLimit) == .acceptable,
            // Nil is what the caller asked for.
            let fields = try? JSONDecoder().decode(Self.self, from: json)
        else { return nil }
        self = fields
    }

    /// Like `init(_:)`, of a line of a log, which may follow a torn one.
    init?(line: Data) {
        if let fields = JSONFields(line) {
            self = fields
            return
        }
        let last = line.withUnsafeBytes { bytes in TornLine.lastObject(of: bytes).map { Data($0) } }
        guard let last, let fields = JSONFields(last) else { return nil }
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

    /// A date written as Unix seconds, milliseconds (from 10¹¹ on) or ISO 8601 text.
    func date(_ names: String...) -> Date? {
        first(names) { name in
            if let number = number(named: name) { return Self.date(unixTime: number) }
            return text(named: name).flatMap(Self.date(text:))
        }
    }

    /// The time of a reset. One that is later than any calendar reaches is in the distant future, and not unstated.
    func reset(_ names: String...) -> Date? {
        first(names) { name in
            date(name) ?? number(named: name).flatMap { $0 > 0 ? .distantFuture : nil }
        }
    }

    /// The objects in a list; elements of another kind are left out.
    func list(_ name: String) -> [JSONFields] {
        // What is no list has no elements.
        guard var elements = try? container.nestedUnkeyedContainer(forKey: Name(name)) else { return [] }
        var list: [JSONFields] = []
        while !elements.isAtEnd, elements.currentIndex < Self.listLimit {
            // The decoder does not go on after an error, until something is decoded in its place.
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
        guard SnapshotLimits.secondsSince1970.contains(seconds) else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    static func date(text: String) -> Date? {
        guard text.utf8.count <= 64 else { return nil }
        let date =
            (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        return date.flatMap {
            SnapshotLimits.secondsSince1970.contains($0.timeIntervalSince1970) ? $0 : nil
        }
    }

    private func first<Value>(_ names: [String], _ read: (String) -> Value?) -> Value? {
        for name in names {
            if let value = read(name) { return value }
        }
        return nil
    }

    private func number(named name: String) -> Double? { container.number(Name(name)) }

    private func text(named name: String) -> String? {
        guard let text: String = value(named: name), text.utf8.count <= Self.textByteLimit else { return nil }
        return text
    }

    private func value<Value: Decodable>(named name: String) -> Value? {
        try? container.decode(Value.self, forKey: Name(name))  // A value of another type is as good as missing.
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

extension String {
    /// Another tool's text made fit to display: one line without control or invisible characters,
    /// at most `limit` characters. Nil when nothing is left.
    func displayText(limit: Int = 120) -> String? {
        let bytes = utf8
        // Most texts, fast.
        if let first = bytes.first, first != 0x20, bytes.last != 0x20, bytes.count <= limit,
            bytes.allSatisfy({ (0x20..<0x7F).contains($0) })
        {
            return self
        }
        let scalars = unicodeScalars.prefix(limit * 8).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                false
            default: true
            }
        }
        let text = String(String.UnicodeScalarView(scalars)).trimmed().prefix(limit)
        return text.isEmpty ? nil : String(text)
    }
}
