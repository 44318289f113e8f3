#if !canImport(Darwin)
    public import Foundation

    /// `as? CGFloat` of a stored number, as on Apple's systems: where it is exact. Foundation has this for the other
    /// number types.
    extension CGFloat: @retroactive _ObjectiveCBridgeable {
        public func _bridgeToObjectiveC() -> NSNumber { NSNumber(value: Double(self)) }

        public static func _forceBridgeFromObjectiveC(_ source: NSNumber, result: inout CGFloat?) {
            result = CGFloat(source.doubleValue)
        }

        public static func _conditionallyBridgeFromObjectiveC(_ source: NSNumber, result: inout CGFloat?) -> Bool {
            result = (source as? Double).map { CGFloat($0) }
            return result != nil
        }

        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSNumber?) -> CGFloat {
            CGFloat(source?.doubleValue ?? 0)
        }
    }
#endif
