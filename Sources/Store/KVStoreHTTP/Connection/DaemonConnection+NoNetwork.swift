#if !(Network || PostgreSQL)
    import Essentials
    import KVStoreEssentials
    import KVStoreWire
    import Synchronization

    /// Stands for a connection in a build without the trait `Network`: what uses it works on this machine alone, and
    /// every request fails with a sentence that says so.
    final class DaemonConnection: Sendable {
        let address: DaemonAddress
        let isBinary = Atomic(true)

        init(
            address: DaemonAddress, token _: AccessToken?, key _: KeyFingerprint? = nil,
            timeouts _: HTTPTimeouts, account _: FollowedAccount? = nil,
            renamed _: (@Sendable (String) -> Void)? = nil, removal _: DeviceRemoval? = nil
        ) {
            self.address = address
        }

        func shutDown() {}

        func send<Answer>(
            _: [String], method _: HTTPVerb? = nil, body _: HTTPBody? = nil, accept _: String,
            answerByteLimit _: Int, decode _: (HTTPBody) throws(WireError) -> Answer
        ) async throws(SyncTransportError) -> Answer { throw .noNetwork }

        func stream(
            _: [String], query _: [(String, String)]
        ) async throws -> () async throws -> Data? { throw SyncTransportError.noNetwork }

        func transportError(_: any Error) -> SyncTransportError { .noNetwork }
    }

    extension SyncTransportError {
        fileprivate static let noNetwork = SyncTransportError.unreachable(
            "\(MissingNetwork.reason); \(MissingNetwork.hint)")
    }

    enum MissingNetwork {
        static let reason = "this program was built without the network"
        static let hint = """
            scripts/install installs all of it, and a package that depends on KVStoreHTTP needs traits: ["Network"] in its \
            manifest
            """
    }
#endif
