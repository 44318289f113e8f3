#if canImport(Darwin)
    public import Essentials

    /// What `UbiquitousKeyValueStore` inherits from.
    public typealias StoreObject = NSObject
#else
    /// What `UbiquitousKeyValueStore` inherits from: the members of `NSObject` that are used with a store. `NSObject`
    /// itself comes with all of Foundation, which the programs do without.
    ///
    /// For an example see `UbiquitousKeyValueStore`.
    open class StoreObject: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        public init() {}

        /// Whether both are the same object.
        open func isEqual(_ object: Any?) -> Bool { (object as? StoreObject) === self }

        open var hash: Int { ObjectIdentifier(self).hashValue }

        open var description: String { "<\(type(of: self)): \(ObjectIdentifier(self))>" }

        open var debugDescription: String { description }

        /// The value of a property; there is none here.
        open func value(forKey key: String) -> Any? { nil }

        /// Sets the value of a property; there is none here.
        open func setValue(_ value: Any?, forKey key: String) {}

        public static func == (left: StoreObject, right: StoreObject) -> Bool {
            left.isEqual(right)
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }
#endif
