public import Foundation
@_exported public import KVStoreEssentials

extension UbiquitousKeyValueStore: ChangePosting {
    /// Posted on a background queue after values changed other than by this instance.
    public static let didChangeExternallyNotification = Notification.Name(
        "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
    static let changeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
    static let changedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

    package func post(_ change: StoreChange) {
        NotificationCenter.default.post(
            name: Self.didChangeExternallyNotification, object: self,
            userInfo: [
                Self.changeReasonKey: change.reason.rawValue, Self.changedKeysKey: change.keys,
            ])
    }
}
