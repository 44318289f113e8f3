import Essentials
public import KVStoreEssentials
@_exported public import KVStoreWire

/// Queries a daemon about accounts and devices. Any thread may call it.
///
/// ```swift
/// guard let credentials = try environment.credentials() else { return }
/// let client = DaemonClient(credentials)
/// defer { client.close() }
/// let own = try await client.me()
/// for device in try await client.devices() { print(device.device, device.deviceID == own.deviceID) }
/// ```
public final class DaemonClient: Sendable {
    private let connection: DaemonConnection

    /// Without a token, only to redeem a pairing code. The daemon must have the given key; nil trusts the authorities
    /// that the system trusts.
    public init(pairingWith address: DaemonAddress, key: KeyFingerprint?, timeouts: HTTPTimeouts = .init()) {
        connection = DaemonConnection(address: address, token: nil, key: key, timeouts: timeouts)
    }

    /// The daemon must have the given key; nil trusts the authorities that the system trusts.
    public init(
        address: DaemonAddress, token: AccessToken, key: KeyFingerprint? = nil,
        timeouts: HTTPTimeouts = .init()
    ) {
        connection = DaemonConnection(address: address, token: token, key: key, timeouts: timeouts)
    }

    public convenience init(_ credentials: Credentials, timeouts: HTTPTimeouts = .init()) {
        self.init(address: credentials.daemon, token: credentials.token, key: credentials.key, timeouts: timeouts)
    }

    /// One that asks no more often with a rejected token than the user's other programs.
    package init(_ credentials: Credentials, environment: StoreEnvironment, timeouts: HTTPTimeouts = .init()) {
        connection = DaemonConnection(
            address: credentials.daemon, token: credentials.token, key: credentials.key,
            timeouts: timeouts, removal: environment.removal(of: credentials))
    }

    /// Ends every request; later ones fail.
    public func close() { connection.shutDown() }

    /// The account and device that the token belongs to.
    public func me() async throws(SyncTransportError) -> DaemonIdentity {
        try await connection.sendJSON(["me"])
    }

    /// The names of the account's stores that the device may see.
    public func stores() async throws(SyncTransportError) -> [String] {
        let list: StoreList = try await connection.sendJSON(["stores"])
        return list.stores.map(\.store)
    }

    /// Redeems a code: adds a device, whose token is the answer. The code is used up, also if the answer is lost.
    /// The device proposes a name for itself.
    public func pair(_ code: PairingCode, name: String) async throws(SyncTransportError) -> PairedDevice {
        try await pair(code, name: name, former: nil)
    }

    /// - Parameter former: the token of the device that this machine was before, which gives the name up.
    package func pair(
        _ code: PairingCode, name: String, former: AccessToken?
    ) async throws(SyncTransportError) -> PairedDevice {
        let answer: PairingAnswer = try await connection.sendJSON(
            ["pair"], body: .json(PairingRequest(code: code.text, device: name, former: former?.secret)))
        guard let token = AccessToken(answer.token) else {
            throw .malformed("\(connection.address): the answer contains no valid token")
        }
        return PairedDevice(
            token: token, account: answer.account, name: answer.device, id: answer.deviceID, scopes: answer.scopes)
    }

    /// Makes a code that adds one device to the account within ten minutes; this one needs the scope "admin". The new
    /// device may do no more than this one, and is no administrator.
    ///
    /// - Parameters:
    ///   - name: the device's name; nil if the device proposes it.
    ///   - isReadOnly: whether the device may not write.
    ///   - stores: the only stores that the device will see; nil for those that this one sees.
    ///   - isPage: whether the code signs in a web page instead of a program.
    public func makePairingCode(
        name: String?, isReadOnly: Bool, stores: [String]?, isPage: Bool = false
    ) async throws(SyncTransportError) -> PairingCode {
        let answer: PairingCodeAnswer = try await connection.sendJSON(
            ["pairings"],
            body: .json(
                NewPairing(name: name, readOnly: isReadOnly ? true : nil, stores: stores, page: isPage ? true : nil)))
        guard let code = PairingCode(answer.code) else {
            throw .malformed("\(connection.address): the answer contains no valid code")
        }
        return code
    }

    /// The devices of the account.
    public func devices() async throws(SyncTransportError) -> [DaemonDevice] {
        try await deviceList().devices
    }

    package func deviceList() async throws(SyncTransportError) -> DeviceList {
        try await connection.sendJSON(["devices"])
    }

    /// Renames a device of the account; this one needs the scope "admin".
    @discardableResult
    public func renameDevice(
        id: String, to name: String
    ) async throws(SyncTransportError) -> DaemonDevice {
        try await connection.sendJSON(["devices", id], method: .patch, body: .json(DeviceChange(name: name)))
    }

    /// Removes the device that the token belongs to, whatever its scopes.
    package func removeThisDevice() async throws(SyncTransportError) {
        try await connection.send(
            ["me"], method: .delete, accept: MediaType.json, answerByteLimit: HTTPLimits.smallAnswerByteCount
        ) { _ throws(WireError) in }
    }

    /// Removes a device of the account, which revokes its token and ends its live streams; this one needs the scope
    /// "admin". It may remove itself.
    public func removeDevice(id: String) async throws(SyncTransportError) {
        try await connection.send(
            ["devices", id], method: .delete, accept: MediaType.json, answerByteLimit: HTTPLimits.smallAnswerByteCount
        ) { _ throws(WireError) in }
    }
}

/// The device that a pairing has added.
///
/// For an example see `PairingLine`.
public struct PairedDevice: Sendable {
    public let token: AccessToken
    /// The account's id.
    public let account: String
    public let name: String
    public let id: String
    /// The operations that the token permits: "read", "write", "admin".
    public let scopes: [String]
}
