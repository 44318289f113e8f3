#if os(Linux) || os(Android)
    import Foundation

    extension PseudoTerminal {
        /// The two ends of a new pseudo terminal; nil if none is available.
        static func openPair() -> (user: Int32, program: Int32)? {
            let user = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            guard user >= 0 else { return nil }
            // TIOCSPTLCK and TIOCGPTN, whose macros Swift does not import.
            var lock: Int32 = 0
            var number: UInt32 = 0
            guard ioctl(user, 0x4004_5431, &lock) == 0, ioctl(user, 0x8004_5430, &number) == 0 else { return nil }
            let program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            return program >= 0 ? (user, program) : nil
        }
    }
#endif
