// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These names are Apple's: code that uses them moves over unchanged. On Apple's systems Foundation has them.

#if !canImport(Darwin)
    public import Foundation
    import KVStoreCore

    /// The name of Apple's class.
    public typealias NSUbiquitousKeyValueStore = UbiquitousKeyValueStore

    /// The notification's name in Objective-C; `NSUbiquitousKeyValueStore.didChangeExternallyNotification` in Swift.
    public let NSUbiquitousKeyValueStoreDidChangeExternallyNotification =
        UbiquitousKeyValueStore.didChangeExternallyNotification
    /// Key in the notification's `userInfo`: the reason, an `Int`, one of `StoreChangeReason`'s raw values.
    public let NSUbiquitousKeyValueStoreChangeReasonKey = UbiquitousKeyValueStore.changeReasonKey
    /// Key in the notification's `userInfo`: the keys concerned, `[String]`.
    public let NSUbiquitousKeyValueStoreChangedKeysKey = UbiquitousKeyValueStore.changedKeysKey
    /// Reason: other devices or processes changed values.
    public let NSUbiquitousKeyValueStoreServerChange = StoreChangeReason.serverChange.rawValue
    /// Reason: the first download replaced or added values.
    public let NSUbiquitousKeyValueStoreInitialSyncChange = StoreChangeReason.initialSyncChange.rawValue
    /// Reason: a write exceeded a quota.
    public let NSUbiquitousKeyValueStoreQuotaViolationChange = StoreChangeReason.quotaViolationChange.rawValue
    /// Reason: the user joined, left or changed the account.
    public let NSUbiquitousKeyValueStoreAccountChange = StoreChangeReason.accountChange.rawValue

    extension NSNotification.Name {
        /// Posted when the default store has become another account's; see `FileManager.ubiquityIdentityToken`.
        public static let NSUbiquityIdentityDidChange = NSNotification.Name("NSUbiquityIdentityDidChangeNotification")
    }

    extension FileManager {
        /// The account of the default store, as an opaque token: nil without one, and equal (`isEqual(_:)`) as long as
        /// it is the same. Does not open the store.
        public var ubiquityIdentityToken: (any NSCoding & NSCopying & NSObjectProtocol)? {
            let configuration = DefaultStore.configuration
            guard configuration.transport != nil, !configuration.isSignedOut else { return nil }
            // Each account has a directory of its own.
            return NSData(data: Data(configuration.directory.utf8))
        }

        /// Nil: there are no iCloud documents here.
        public func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? { nil }
    }
#endif
