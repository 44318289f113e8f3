import Foundation

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
                // A failed decode leaves the cursor in place; this steps over the element.
                _ = try container.decode(AnyElement.self)
            }
        }
    }

    /// Keeps the first `limit` elements and counts the others as skipped.
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

/// Fields read for what they mean: a missing key, a null and an unreadable value are all nil.
extension KeyedDecodingContainer {
    /// A finite number, or one written as text.
    func number(_ key: Key) -> Double? {
        if let value = try? decode(Double.self, forKey: key) {
            return value.isFinite ? value : nil
        }
        guard let text = try? decode(String.self, forKey: key), text.utf8.count <= 64,
            let value = Double(text.trimmingCharacters(in: .whitespaces)), value.isFinite
        else { return nil }
        return value
    }

    /// A number rounded to the nearest integer; nil when it does not fit.
    func integer(_ key: Key) -> Int? {
        if let value = try? decode(Int.self, forKey: key) { return value }
        return number(key).flatMap { Int(exactly: $0.rounded()) }
    }

    func text(_ key: Key) -> String? {
        try? decode(String.self, forKey: key)
    }

    /// true or false, also as 0 and 1 and as text.
    func flag(_ key: Key) -> Bool? {
        if let value = try? decode(Bool.self, forKey: key) { return value }
        if let value = number(key) { return value != 0 }
        return switch text(key)?.lowercased() {
        case "true", "yes": true
        case "false", "no": false
        default: nil
        }
    }

    /// A date in any form `LenientDate` knows.
    func date(_ key: Key) -> Date? {
        if let value = try? decode(Double.self, forKey: key) {
            return LenientDate.date(fromUnixTime: value)
        }
        return text(key).flatMap(LenientDate.date(fromText:))
    }

    func value<Value: Decodable>(_ key: Key) -> Value? {
        try? decode(Value.self, forKey: key)
    }

    func list<Element: Decodable>(_ key: Key, limit: Int) -> LossyList<Element>? {
        (try? decode(LossyList<Element>.self, forKey: key))?.limited(to: limit)
    }

    /// True when the key holds something other than null.
    func holdsValue(_ key: Key) -> Bool {
        contains(key) && !((try? decodeNil(forKey: key)) ?? false)
    }
}
