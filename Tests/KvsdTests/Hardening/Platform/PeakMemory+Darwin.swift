#if canImport(Darwin)
    enum PeakMemory {
        /// Nil: the system does not report the peak of another process.
        static func byteCount(of process: Int32) throws -> Int? { nil }
    }
#endif
