#if canImport(Darwin)
    import Essentials

    enum RunningExecutable {
        /// The absolute path of this program; nil when it is unknown.
        static var path: String? { Bundle.main.executablePath }
    }
#endif
