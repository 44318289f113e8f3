import AsyncHTTPClient
import Foundation
import KVStore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Requests to one daemon with one token, over bounded pools of connections of its own: one for requests and
/// one for streams. A stream keeps its connection as long as it lives, so in one pool enough streams would
/// leave no request a place.
///
/// Follows no redirect and unpacks nothing, so the limits on bytes are the limits on work.
final class DaemonConnection: Sendable {
    let address: DaemonAddress
    let token: AccessToken
    let timeouts: HTTPTimeouts
    private let requests: HTTPClient
    private let streams: HTTPClient
    private let isShutDown = Atomic(false)

    /// `requestCount` requests are under way at a time; further ones wait for one to end.
    init(
        address: DaemonAddress, token: AccessToken, timeouts: HTTPTimeouts,
        requestCount: Int = HTTPLimits.connectionCount
    ) {
        self.address = address
        self.token = token
        self.timeouts = timeouts
        requests = Self.client(timeouts, connectionCount: requestCount)
        streams = Self.client(timeouts, connectionCount: HTTPLimits.streamConnectionCount)
    }

    private static func client(_ timeouts: HTTPTimeouts, connectionCount: Int) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: TimeAmount(timeouts.connect), read: TimeAmount(timeouts.silence)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionCount
        // Back-off is the replica's, which says so to people; a refused connection fails at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration)
    }

    deinit { shutDown() }

    /// Ends what is under way. Never blocks; calling it again does nothing.
    func shutDown() {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
        for client in [requests, streams] { client.shutdown { _ in } }
    }

    /// One GET with its whole answer, which is a success.
    func get(_ path: [String], answerByteCount: Int) async throws(SyncTransportError) -> Data {
        try await send(request(.GET, path), answerByteCount: answerByteCount)
    }

    /// One POST of a JSON document with its whole answer, which is a success.
    func post(
        _ body: Data, to path: [String], answerByteCount: Int
    ) async throws(SyncTransportError) -> Data {
        var request = request(.POST, path)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await send(request, answerByteCount: answerByteCount)
    }

    private func send(
        _ request: HTTPClientRequest, answerByteCount: Int
    ) async throws(SyncTransportError) -> Data {
        var request = request
        request.headers.add(name: "Accept", value: "application/json")
        do {
            return try await withDeadline { [request] in
                let response = try await self.requests.execute(
                    request, timeout: TimeAmount(self.timeouts.request))
                let isSuccess = (200..<300).contains(response.status.code)
                let data = try await self.collect(
                    response.body, limit: isSuccess ? answerByteCount : nil)
                if let error = self.error(response, body: data) { throw error }
                return data
            }
        } catch {
            throw ConnectionFailure.error(error, address: address, timeouts: timeouts)
        }
    }

    /// Opens a stream: the answer's body as it comes.
    func stream(
        _ path: [String], query: [(String, String)], accept: String
    ) async throws(SyncTransportError) -> HTTPClientResponse.Body {
        var request = request(.GET, path, query: query)
        request.headers.add(name: "Accept", value: accept)
        do {
            let response = try await streams.execute(request, timeout: TimeAmount(timeouts.request))
            guard response.status == .ok else {
                let data = try await withDeadline {
                    try await self.collect(response.body, limit: nil)
                }
                throw error(response, body: data)
                    ?? .malformed("status \(response.status.code) to a stream")
            }
            let type = response.headers.first(name: "Content-Type")?.lowercased() ?? ""
            guard type == accept || type.hasPrefix(accept + ";") else {
                throw SyncTransportError.malformed("\(address) does not answer with \(accept)")
            }
            return response.body
        } catch {
            throw ConnectionFailure.error(error, address: address, timeouts: timeouts)
        }
    }

    private func request(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = []
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: address.url(["v1"] + path, query: query))
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer " + token.secret)
        request.headers.add(name: "User-Agent", value: "ubiquity")
        return request
    }

    private func error(_ response: HTTPClientResponse, body: Data) -> SyncTransportError? {
        AnswerStatus.error(
            status: Int(response.status.code),
            retryAfter: response.headers.first(name: "Retry-After"), body: body, address: address,
            token: token)
    }

    /// An answer that says no is cut at its limit; one that says yes must fit.
    private func collect(_ body: HTTPClientResponse.Body, limit: Int?) async throws -> Data {
        var data = Data()
        for try await buffer in body {
            data.append(contentsOf: buffer.readableBytesView)
            if let limit, data.count > limit {
                throw SyncTransportError.malformed(
                    "\(address) sends more than \(limit) bytes in one answer")
            }
            if limit == nil, data.count > HTTPLimits.smallAnswerByteCount { break }
        }
        return data
    }

    /// The client's own deadline ends with the first byte of the answer; this one holds for all of it.
    private func withDeadline(
        _ body: @escaping @Sendable () async throws -> Data
    ) async throws -> Data {
        try await withThrowingTaskGroup(of: Data.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask { [timeouts] in
                try await Task.sleep(for: timeouts.request)
                throw HTTPClientError.deadlineExceeded
            }
            return try await group.next() ?? Data()
        }
    }
}
