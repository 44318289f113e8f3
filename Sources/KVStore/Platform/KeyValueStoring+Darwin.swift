#if canImport(Darwin)
    import Foundation

    extension NSUbiquitousKeyValueStore: KeyValueStoring {}
#endif
