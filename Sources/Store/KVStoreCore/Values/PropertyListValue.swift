public import Essentials

/// A value of the store: a property list.
///
/// On Linux, a Bool that passed through Foundation's property lists is a Swift `Bool` on which `as? Int` fails, so
/// conversions are explicit here and never rely on casts between number types.
///
/// ```swift
/// try store.write(["tags": .array([.string("a"), .string("b")]), "count": .integer(2)])
/// if case .array(let tags)? = store.propertyList(forKey: "tags") { print(tags.count) }
/// ```
public enum PropertyListValue: Sendable, Hashable {
    case bool(Bool)
    case integer(Int64)
    /// An integer that is greater than `Int64.max`; any other is encoded, and thereby read again, as `integer`.
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
    /// The value as Apple's class returns it: a number, String, Date, Data, `[Any]` or `[String: Any]`. Numbers are
    /// `NSNumber`, which casts to every number type that can hold the value; Bool, Int64, UInt64 and Double in a
    /// program that does not link `KVStore`.
    public var object: Any {
        switch self {
        case .bool(let value): Self.foundationNumbers?.number(value) ?? value
        case .integer(let value): Self.foundationNumbers?.number(value) ?? value
        case .unsigned(let value): Self.foundationNumbers?.number(value) ?? value
        case .double(let value): Self.foundationNumbers?.number(value) ?? value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .array(let values): values.map(\.object)
        case .dictionary(let values): values.mapValues(\.object)
        }
    }

    /// The number as `integer` if that holds it.
    package static func whole(_ value: UInt64) -> PropertyListValue {
        Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    }

    /// Nil if `object`, or any part of it, is not a property list. Integers must fit into 64 bits.
    public init?(object: Any) {
        do throws(Obstacle) { try self.init(converting: object) } catch { return nil }
    }

    /// - Throws: which part of the object is no property list, and why.
    package init(converting object: Any, depth: Int = 0) throws(Obstacle) {
        guard depth <= WireLimits.propertyListDepth else { throw .tooDeep }
        switch object {
        case let value as PropertyListValue: self = value
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date:
            guard value.timeIntervalSinceReferenceDate.isFinite else { throw .notFinite }
            self = .date(value)
        case let values as [Any]:
            var parts: [PropertyListValue] = []
            for (index, value) in values.enumerated() {
                do throws(Obstacle) { parts.append(try PropertyListValue(converting: value, depth: depth + 1)) } catch {
                    throw error.inside("[\(index)]")
                }
            }
            self = .array(parts)
        case let values as [String: Any]:
            var parts: [String: PropertyListValue] = [:]
            for (key, value) in values {
                do throws(Obstacle) { parts[key] = try PropertyListValue(converting: value, depth: depth + 1) } catch {
                    throw error.inside("[\"\(key)\"]")
                }
            }
            self = .dictionary(parts)
        default:
            guard let number = Self.number(object) else {
                throw Obstacle(reason: "\(type(of: object)) is not a property list type")
            }
            self = number
        }
    }

    /// Why something cannot be stored, and in which part of it.
    package struct Obstacle: Error, Equatable, CustomStringConvertible {
        fileprivate var reason: String
        /// As `["tags"][0]`, the outermost first; empty for the whole.
        private var path: [String] = []

        fileprivate static let tooDeep = Obstacle(reason: "nests deeper than \(WireLimits.propertyListDepth) levels")
        fileprivate static let notFinite = Obstacle(reason: "the date is not finite")

        fileprivate init(reason: String) { self.reason = reason }

        fileprivate func inside(_ component: String) -> Obstacle {
            var outer = self
            outer.path.insert(component, at: 0)
            return outer
        }

        package var description: String {
            guard !path.isEmpty else { return reason }
            return path.prefix(8).joined() + (path.count > 8 ? "…" : "") + ": " + reason
        }
    }

    /// Why the encoded value would not decode: a date is not finite, or it nests too deep. Nil if it would.
    package var obstacle: Obstacle? { obstacle(depth: 0) }

    private func obstacle(depth: Int) -> Obstacle? {
        guard depth <= WireLimits.propertyListDepth else { return .tooDeep }
        switch self {
        case .bool, .integer, .unsigned, .double, .string, .data: return nil
        case .date(let date): return date.timeIntervalSinceReferenceDate.isFinite ? nil : .notFinite
        case .array(let values):
            for (index, value) in values.enumerated() {
                if let obstacle = value.obstacle(depth: depth + 1) { return obstacle.inside("[\(index)]") }
            }
        case .dictionary(let values):
            // A key is an object one level down, like its value.
            guard values.isEmpty || depth < WireLimits.propertyListDepth else { return .tooDeep }
            for (key, value) in values {
                if let obstacle = value.obstacle(depth: depth + 1) { return obstacle.inside("[\"\(key)\"]") }
            }
        }
        return nil
    }

    /// By the dynamic type, because `as?` between number types differs between systems.
    private static func number(_ object: Any) -> PropertyListValue? {
        switch type(of: object) {
        case is Bool.Type: (object as? Bool).map { .bool($0) }
        case is Double.Type: (object as? Double).map { .double($0) }
        case is Float.Type: (object as? Float).map { .double(Double($0)) }
        case is Int.Type: (object as? Int).map { .integer(Int64($0)) }
        case is Int64.Type: (object as? Int64).map { .integer($0) }
        case is Int32.Type: (object as? Int32).map { .integer(Int64($0)) }
        case is Int16.Type: (object as? Int16).map { .integer(Int64($0)) }
        case is Int8.Type: (object as? Int8).map { .integer(Int64($0)) }
        case is UInt.Type: (object as? UInt).map { whole(UInt64($0)) }
        case is UInt64.Type: (object as? UInt64).map { whole($0) }
        case is UInt32.Type: (object as? UInt32).map { .integer(Int64($0)) }
        case is UInt16.Type: (object as? UInt16).map { .integer(Int64($0)) }
        case is UInt8.Type: (object as? UInt8).map { .integer(Int64($0)) }
        default: foundationNumbers?.value(of: object)
        }
    }

    private static let foundationNumbers = Self.self as? any FoundationNumbers.Type
}

/// Numbers of types that only Foundation has. `PropertyListValue` conforms where `KVStore` is linked, which unlike this
/// target imports all of Foundation.
package protocol FoundationNumbers: SendableMetatype {
    static func value(of number: Any) -> PropertyListValue?
    /// An `NSNumber`.
    static func number(_ value: Bool) -> Any
    static func number(_ value: Int64) -> Any
    static func number(_ value: UInt64) -> Any
    static func number(_ value: Double) -> Any
}
