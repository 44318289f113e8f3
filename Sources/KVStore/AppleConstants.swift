// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These names are Apple's: code that uses them moves over unchanged.

import KVStoreCore

/// Key in the notification's `userInfo`: the reason, an `Int`, one of `StoreChangeReason`'s raw values.
public let NSUbiquitousKeyValueStoreChangeReasonKey = UbiquitousKeyValueStore.changeReasonKey
/// Key in the notification's `userInfo`: the keys concerned, `[String]`.
public let NSUbiquitousKeyValueStoreChangedKeysKey = UbiquitousKeyValueStore.changedKeysKey
/// Reason: other devices or processes changed values.
public let NSUbiquitousKeyValueStoreServerChange = StoreChangeReason.serverChange.rawValue
/// Reason: the first download replaced or added values.
public let NSUbiquitousKeyValueStoreInitialSyncChange = StoreChangeReason.initialSyncChange.rawValue
/// Reason: a write exceeded a quota.
public let NSUbiquitousKeyValueStoreQuotaViolationChange =
    StoreChangeReason.quotaViolationChange.rawValue
/// Reason: the user joined, left or changed the account.
public let NSUbiquitousKeyValueStoreAccountChange = StoreChangeReason.accountChange.rawValue
