import Foundation
public import KVStore

/// What a daemon says besides replication: who a token is, and which devices an account has.
public final class DaemonClient: Sendable {
    private let connection: DaemonConnection

    public init(address: DaemonAddress, token: AccessToken, timeouts: HTTPTimeouts = .init()) {
        connection = DaemonConnection(address: address, token: token, timeouts: timeouts)
    }

    public convenience init(_ credentials: Credentials, timeouts: HTTPTimeouts = .init()) {
        self.init(address: credentials.daemon, token: credentials.token, timeouts: timeouts)
    }

    /// Ends every request that is under way; later ones fail.
    public func close() { connection.shutDown() }

    /// Whom the token stands for.
    public func me() async throws(SyncTransportError) -> DaemonIdentity {
        try await get(["me"])
    }

    /// The devices of the account.
    public func devices() async throws(SyncTransportError) -> [DaemonDevice] {
        let list: DeviceList = try await get(["devices"])
        return list.devices
    }

    private func get<Answer: Decodable>(
        _ path: [String]
    ) async throws(SyncTransportError) -> Answer {
        let data = try await connection.get(
            path, answerByteCount: HTTPLimits.smallAnswerByteCount)
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw .malformed("\(connection.address): \(DecodingFailure.words(error))")
        }
    }
}

/// Whom a token stands for, as `GET /v1/me` says it.
public struct DaemonIdentity: Sendable, Equatable, Decodable {
    /// The account's id.
    public var account: String
    /// The device's name.
    public var device: String
    public var deviceID: String
    /// What the token may do; empty where the daemon does not say.
    public var scopes: [String]
    /// Another epoch is another history of the daemon's data.
    public var epoch: String
    /// The daemon's clock, milliseconds since 1970.
    public var serverTime: Int64

    private enum CodingKeys: String, CodingKey {
        case account, device, deviceID, scopes, epoch, serverTime
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        account = try container.decode(String.self, forKey: .account)
        device = try container.decode(String.self, forKey: .device)
        deviceID = try container.decode(String.self, forKey: .deviceID)
        scopes = try container.decodeIfPresent([String].self, forKey: .scopes) ?? []
        epoch = try container.decode(String.self, forKey: .epoch)
        serverTime = try container.decode(Int64.self, forKey: .serverTime)
    }
}

/// A device of the account, as `GET /v1/devices` says it.
public struct DaemonDevice: Sendable, Equatable, Decodable {
    public var deviceID: String
    public var device: String
    /// Milliseconds since 1970 of its last request; nil before the first.
    public var lastSeen: Int64?
    /// Whether it has a live stream open now.
    public var connected: Bool?
}

private struct DeviceList: Decodable {
    var devices: [DaemonDevice]
}
