#if os(Linux) || os(Android)
    import Essentials

    enum RunningExecutable {
        /// The absolute path of this program; nil when it is unknown.
        static var path: String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")  // Nil, as promised.
        }
    }
#endif
