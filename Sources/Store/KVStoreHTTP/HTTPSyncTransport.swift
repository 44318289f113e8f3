// How a replica reaches a daemon: requests and live streams over HTTP, the pinned key, credentials,
// and where a user's stores are. Not here: what is sent (KVStoreWire) and when (KVStoreEssentials).
// Only `Connection` knows the HTTP client.

import Essentials
public import KVStoreEssentials
import KVStoreWire

/// Connects replicas to a daemon over HTTP.
///
/// Any number of stores may share one transport, from any thread; live streams do not occupy the connections of
/// requests. The connections are closed with the last reference or by `close`. Nothing here retries, and no error
/// shows the token.
///
/// ```swift
/// guard let credentials = try environment.credentials() else { return }
/// let transport = HTTPSyncTransport(credentials)
/// let store = try UbiquitousKeyValueStore(
///     configuration: StoreConfiguration(directory: directory, transport: transport))
/// ```
public final class HTTPSyncTransport: SyncTransport {
    private let connection: DaemonConnection
    /// Those that it was made with.
    fileprivate let credentials: Credentials?

    init(_ connection: DaemonConnection, credentials: Credentials? = nil) {
        self.connection = connection
        self.credentials = credentials
    }

    /// The daemon must have the given key; nil trusts the authorities that the system trusts.
    public convenience init(
        address: DaemonAddress, token: AccessToken, key: KeyFingerprint? = nil,
        timeouts: HTTPTimeouts = .init()
    ) {
        self.init(DaemonConnection(address: address, token: token, key: key, timeouts: timeouts))
    }

    public convenience init(_ credentials: Credentials, timeouts: HTTPTimeouts = .init()) {
        self.init(credentials, timeouts: timeouts, account: nil, renamed: nil, removal: nil)
    }

    /// - Parameters:
    ///   - account: that of a device of an emulator.
    ///   - renamed: called with the device's name after each sync.
    convenience init(
        _ credentials: Credentials, timeouts: HTTPTimeouts, account: FollowedAccount?,
        renamed: (@Sendable (String) -> Void)?, removal: DeviceRemoval?
    ) {
        self.init(
            DaemonConnection(
                address: credentials.daemon, token: credentials.token, key: credentials.key, timeouts: timeouts,
                account: account, renamed: renamed, removal: removal), credentials: credentials)
    }

    /// Ends every request and stream; later ones fail.
    public func close() { connection.shutDown() }

    /// Ends with `unreachable` when the calling task is cancelled.
    public func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
        try await connection.sync(request, store: store)
    }

    /// The stream reads from the network only when its consumer asks for an event, so a slow consumer slows the
    /// daemon down instead of filling memory.
    public func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
        var decoder = SyncEventDecoder()
        let reader = EventReader(
            connection, ["stores", store, "changes"],
            query: [("since", String(since.sequence)), ("epoch", since.epoch.description)]
        ) { item throws(WireError) -> SyncEvent? in try decoder.event(item) }
        return AsyncThrowingStream { try await reader.next() }
    }

    /// The account that an emulator has signed the device in to, and each that follows.
    var accounts: AsyncThrowingStream<DeviceAccount, any Error> {
        let reader = EventReader(connection, ["account"]) { item throws(WireError) -> DeviceAccount? in
            guard case .event("account", let data) = item else { return nil }
            return try WireJSON.decode(from: data)
        }
        return AsyncThrowingStream { try await reader.next() }
    }
}

extension StoreConfiguration {
    /// The account that the store belongs to; nil for a store that is local or never contacts the daemon.
    package var credentials: Credentials? { (transport as? HTTPSyncTransport)?.credentials }
}
