#if canImport(Darwin)
    import Foundation

    extension PseudoTerminal {
        /// The two ends of a new pseudo terminal; nil if none is available.
        static func openPair() -> (user: Int32, program: Int32)? {
            var user: Int32 = -1
            var program: Int32 = -1
            return openpty(&user, &program, nil, nil, nil) == 0 ? (user, program) : nil
        }
    }
#endif
