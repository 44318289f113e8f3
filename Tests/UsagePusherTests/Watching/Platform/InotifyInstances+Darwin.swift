#if canImport(Darwin)
    import Testing

    /// Watching is not limited here.
    enum InotifyInstances {
        static var isAvailable: Bool { true }
        static let comment: Comment = "watching is not limited"
    }
#endif
