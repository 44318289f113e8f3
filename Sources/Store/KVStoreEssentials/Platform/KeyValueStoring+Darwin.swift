#if canImport(Darwin)
    import Essentials

    extension NSUbiquitousKeyValueStore: KeyValueStoring {}
#endif
