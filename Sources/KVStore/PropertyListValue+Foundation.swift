import Foundation
import KVStoreCore

extension PropertyListValue: FoundationNumbers {
    package static func value(of number: Any) -> PropertyListValue? {
        // By the dynamic type, because `as?` between number types differs between systems.
        if type(of: number) is CGFloat.Type {
            return (number as? CGFloat).map { .double(Double($0)) }
        }
        guard let number = number as? NSNumber else { return nil }
        if number === NSNumber(value: true) || number === NSNumber(value: false) {
            return .bool(number.boolValue)
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"): return .bool(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): return whole(number.uint64Value)
        default: return .integer(number.int64Value)
        }
    }

    package static func number(_ value: Bool) -> Any { NSNumber(value: value) }
    package static func number(_ value: Int64) -> Any { NSNumber(value: value) }
    package static func number(_ value: UInt64) -> Any { NSNumber(value: value) }
    package static func number(_ value: Double) -> Any { NSNumber(value: value) }
}
