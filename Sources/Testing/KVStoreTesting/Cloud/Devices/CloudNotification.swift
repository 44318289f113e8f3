public import Foundation
public import KVStore

/// A `didChangeExternallyNotification` posted by a store.
///
/// ```swift
/// try await cloud.settle()
/// print(phone.notifications.map(\.keys))
/// ```
public struct CloudNotification: Sendable, Equatable {
    /// The true time of the notification.
    public var time: Date
    /// Why values changed.
    public var reason: StoreChangeReason
    /// Sorted.
    public var keys: [String]

    /// A notification to compare with those that a store posted.
    public init(time: Date, reason: StoreChangeReason, keys: [String]) {
        self.time = time
        self.reason = reason
        self.keys = keys
    }
}
