#if canImport(Darwin)
    import Testing

    /// Watching has no bound here.
    enum WatchingRoom {
        static var isThere: Bool { true }
        static let comment: Comment = "nothing can be watched"
    }
#endif
