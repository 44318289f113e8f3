#if canImport(Darwin)
    import Essentials

    /// This system has no display servers of these kinds.
    final class DisplaySocket {
        let descriptor: Int32 = -1

        init?(path: String) {
            errno = ENOTSUP
            return nil
        }

        func receive(byteLimit _: Int = 0) throws(SourceError) -> ArraySlice<UInt8> {
            throw .closed
        }

        func send(_ bytes: ArraySlice<UInt8>, passing passed: Int32?) -> Int { -1 }
    }
#endif
