import HTTPTypes
import KVStore
import ServerTestSupport
import Testing

/// The world `w`, whose devices have the default store.
extension EmulatorClient {
    /// Writes a value as another device of the account.
    func write(_ value: String, forKey key: String = "color", of account: String = "default") async throws {
        let answer = try await administer(
            .put, "/worlds/w/stores/default/keys/\(key)?account=\(account)",
            body: #"{"type":"string","value":"\#(value)"}"#)
        try #require(answer.status == .ok, "\(answer.text)")
    }

    /// Gives the phone another account, or none.
    func signIn(_ account: String?) async throws {
        let answer = try await administer(
            .put, "/worlds/w/devices/phone/account", body: #"{"account":\#(account.map { "\"\($0)\"" } ?? "null")}"#)
        try #require(answer.status == .ok, "\(answer.text)")
    }

    /// Takes the phone's network away.
    func disconnect() async throws {
        let fault = try await administer(.post, "/worlds/w/devices/phone/faults", body: #"{"effect":"offline"}"#)
        try #require(fault.status == .created, "\(fault.text)")
    }
}

extension AsyncStream<StoreChange> {
    /// The keys of the next notification with this reason; nil if the stream ends before it.
    func next(_ reason: StoreChangeReason) async -> [String]? {
        await first { $0.reason == reason }?.keys
    }
}
