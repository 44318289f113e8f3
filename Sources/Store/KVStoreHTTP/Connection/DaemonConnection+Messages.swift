import Essentials
import KVStoreCore
import KVStoreEssentials
import KVStoreWire
import Synchronization

extension DaemonConnection {
    /// One request with its complete JSON answer; otherwise as `send`.
    func sendJSON<Answer: Decodable>(
        _ path: [String], method: HTTPVerb? = nil, body: HTTPBody? = nil
    ) async throws(SyncTransportError) -> Answer {
        try await send(
            path, method: method, body: body, accept: MediaType.json, answerByteLimit: HTTPLimits.smallAnswerByteCount
        ) { answer throws(WireError) in try answer.decodeJSON() }
    }

    /// In binary, or in JSON after the daemon has refused a binary request.
    func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
        if isBinary.load(ordering: .relaxed) {
            do throws(SyncTransportError) {
                return try await post(
                    HTTPBody(type: MediaType.sync, bytes: Data(WireBinary.encode(request))),
                    accept: "\(MediaType.sync), \(MediaType.json)", store: store)
            } catch {
                guard error.mayRefuseBinary else { throw error }
                isBinary.store(false, ordering: .relaxed)
            }
        }
        return try await post(
            HTTPBody(type: MediaType.json, bytes: WireJSON.encode(request)), accept: MediaType.json, store: store)
    }

    private func post(
        _ body: HTTPBody, accept: String, store: String
    ) async throws(SyncTransportError) -> SyncResponse {
        try await send(
            ["stores", store, "sync"], body: body, accept: accept, answerByteLimit: HTTPLimits.answerByteCount
        ) { answer throws(WireError) in
            guard answer.type == MediaType.sync else { return try answer.decodeJSON() }
            return try answer.bytes.withUnsafeBytes { bytes in
                Result { () throws(WireError) in try WireBinary.decode(from: bytes) }
            }.get()
        }
    }
}

extension SyncTransportError {
    /// Whether a binary request may have been refused for its form. A daemon that knows only JSON answers 400, because
    /// it does not look at the media type; one that knows only another version of the binary form, likewise.
    fileprivate var mayRefuseBinary: Bool {
        guard case .refused(let status, let code, _) = self else { return false }
        return status == 415 || status == 400 && code == "malformed"
    }
}
