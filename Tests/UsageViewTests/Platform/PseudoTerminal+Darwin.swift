#if canImport(Darwin)
    import Foundation

    extension PseudoTerminal {
        /// The two ends of a new pseudo terminal, nil where the system has none to give.
        static func openPair() -> (person: Int32, program: Int32)? {
            var person: Int32 = -1
            var program: Int32 = -1
            return openpty(&person, &program, nil, nil, nil) == 0 ? (person, program) : nil
        }
    }
#endif
