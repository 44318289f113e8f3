import Essentials
public import KVStoreEssentials
@_exported public import KVStoreWire

/// Queries a daemon about accounts and devices. Any thread may call it.
public final class DaemonClient: Sendable {
    private let connection: DaemonConnection

    public init(address: DaemonAddress, token: AccessToken, timeouts: HTTPTimeouts = .init()) {
        connection = DaemonConnection(address: address, token: token, timeouts: timeouts)
    }

    public convenience init(_ credentials: Credentials, timeouts: HTTPTimeouts = .init()) {
        self.init(address: credentials.daemon, token: credentials.token, timeouts: timeouts)
    }

    /// Ends every request; later ones fail.
    public func close() { connection.shutDown() }

    /// The account and device that the token belongs to.
    public func me() async throws(SyncTransportError) -> DaemonIdentity {
        try await connection.get(["me"])
    }

    /// The devices of the account.
    public func devices() async throws(SyncTransportError) -> [DaemonDevice] {
        let list: DeviceList = try await connection.get(["devices"])
        return list.devices
    }
}
