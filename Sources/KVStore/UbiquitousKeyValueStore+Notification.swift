// What apps import: KVStoreEssentials with the parts that need all of Foundation, which are
// notifications, NSNumber and Apple's own names. Not here: the store itself, which programs link
// without Foundation's localization data.

public import Foundation
@_exported public import KVStoreEssentials

extension UbiquitousKeyValueStore: ChangePosting {
    /// Posted on a background queue after values changed other than by this instance.
    public static let didChangeExternallyNotification = Notification.Name(
        "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
    static let changeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
    static let changedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

    package func post(_ announcement: StoreAnnouncement) { post(announcement, to: .default) }

    package func post(_ announcement: StoreAnnouncement, to center: NotificationCenter) {
        switch announcement {
        case .change(let change):
            center.post(name: Self.didChangeExternallyNotification, object: self, userInfo: Self.userInfo(of: change))
        case .identityChange: center.post(name: .NSUbiquityIdentityDidChange, object: nil)
        }
    }

    /// An account change without keys has no list of them.
    package static func userInfo(of change: StoreChange) -> [String: Any] {
        var userInfo: [String: Any] = [changeReasonKey: NSNumber(value: change.reason.rawValue)]
        if !change.keys.isEmpty { userInfo[changedKeysKey] = change.keys }
        return userInfo
    }
}
