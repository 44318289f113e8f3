package import Essentials

/// A list whose unreadable elements are left out and counted.
struct LossyList<Element: Decodable>: Decodable {
    private(set) var elements: [Element] = []
    private(set) var skipped = 0

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            guard container.currentIndex < SnapshotLimits.elementsPerList else {
                skipped += max(0, (container.count ?? 0) - container.currentIndex)
                return
            }
            do {
                elements.append(try container.decode(Element.self))
            } catch {
                skipped += 1
                // A failed decode does not advance the container.
                _ = try container.decode(AnyElement.self)
            }
        }
    }

    /// Counts all but the first `limit` elements as skipped.
    func limited(to limit: Int) -> LossyList {
        guard elements.count > limit else { return self }
        var list = self
        list.elements = Array(elements.prefix(limit))
        list.skipped += elements.count - limit
        return list
    }

    private struct AnyElement: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}

/// A missing key, a null and an unreadable value are all nil.
extension KeyedDecodingContainer {
    /// A finite number, or one written as text.
    package func number(_ key: Key) -> Double? {
        if let value: Double = value(key) { return value.isFinite ? value : nil }
        guard let text = text(key), text.utf8.count <= 64,
            let value = Double(text.trimmed()), value.isFinite
        else { return nil }
        return value
    }

    /// A number rounded to the nearest integer; nil when that overflows.
    func integer(_ key: Key) -> Int? {
        if let value: Int = value(key) { return value }
        return number(key).flatMap { Int(exactly: $0.rounded()) }
    }

    func text(_ key: Key) -> String? { value(key) }

    /// A Boolean, also written as a number or as text.
    func flag(_ key: Key) -> Bool? {
        if let value: Bool = value(key) { return value }
        if let value = number(key) { return value != 0 }
        return switch text(key)?.lowercased() {
        case "true", "yes": true
        case "false", "no": false
        default: nil
        }
    }

    /// A date in any form that `LenientDate` reads.
    func date(_ key: Key) -> Date? {
        if let value: Double = value(key) { return LenientDate.date(fromUnixTime: value) }
        return text(key).flatMap(LenientDate.date(fromText:))
    }

    /// The one place where what cannot be read is passed over: readers of other versions and tools have to go on.
    func value<Value: Decodable>(_ key: Key) -> Value? {
        try? decode(Value.self, forKey: key)  // Nil is what the caller asked for.
    }

    func list<Element: Decodable>(_ key: Key, limit: Int) -> LossyList<Element>? {
        let list: LossyList<Element>? = value(key)
        return list?.limited(to: limit)
    }

    /// Throws when the key's value was not readable.
    func required<Value>(_ key: Key, _ value: Value?) throws -> Value {
        guard let value else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "missing or unreadable")
        }
        return value
    }

    /// Whether the key has a value other than null.
    func hasValue(_ key: Key) -> Bool {
        // Throws only without the key.
        contains(key) && !((try? decodeNil(forKey: key)) ?? false)
    }
}

/// A check of JSON text before a parser may recurse into it.
package enum JSONShape {
    case acceptable
    case tooDeep
    /// Contains a zero byte: UTF-16 or UTF-32, whose brackets cannot be counted bytewise.
    case notUTF8

    /// Counts open brackets outside strings; does not validate the text.
    package static func check(_ data: Data, depthLimit: Int) -> JSONShape {
        data.withUnsafeBytes { check($0, depthLimit: depthLimit) }
    }

    private static func check(_ bytes: UnsafeRawBufferPointer, depthLimit: Int) -> JSONShape {
        guard !JSONBytes.hasZero(bytes) else { return .notUTF8 }
        var bytes = JSONBytes(bytes)
        var depth = 0
        while true {
            switch bytes.next() {
            case 0: return .acceptable
            case UInt8(ascii: "\""):
                if bytes.string() == nil { return .acceptable }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > depthLimit { return .tooDeep }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            bytes.advance()
        }
    }
}
