// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These names are Apple's: code that uses them moves over unchanged.

import KVStoreCore

/// Key in the notification's `userInfo`: the reason, an `Int`, one of `StoreChangeReason`'s raw values.
public let NSUbiquitousKeyValueStoreChangeReasonKey = UbiquitousKeyValueStore.changeReasonKey
/// Key in the notification's `userInfo`: the keys concerned, `[String]`.
public let NSUbiquitousKeyValueStoreChangedKeysKey = UbiquitousKeyValueStore.changedKeysKey
public let NSUbiquitousKeyValueStoreServerChange = StoreChangeReason.serverChange.rawValue
public let NSUbiquitousKeyValueStoreInitialSyncChange = StoreChangeReason.initialSyncChange.rawValue
public let NSUbiquitousKeyValueStoreQuotaViolationChange =
    StoreChangeReason.quotaViolationChange.rawValue
public let NSUbiquitousKeyValueStoreAccountChange = StoreChangeReason.accountChange.rawValue
