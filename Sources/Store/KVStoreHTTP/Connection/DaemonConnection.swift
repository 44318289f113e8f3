#if Network || PostgreSQL
    import AsyncHTTPClient
    import Essentials
    import KVStoreEssentials
    import KVStoreWire
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import Synchronization

    /// Requests to one daemon with one token or none, over two connection pools: a stream occupies a connection for as
    /// long as it is open, so in a shared pool enough streams would starve requests.
    ///
    /// Redirects are not followed and answers are not decompressed, so limits on bytes are limits on work.
    final class DaemonConnection: Sendable {
        let address: DaemonAddress
        let timeouts: HTTPTimeouts
        private let token: AccessToken?
        /// Nil for a daemon.
        private let account: FollowedAccount?
        private let renamed: (@Sendable (String) -> Void)?
        /// Nil where nobody keeps it.
        private let removal: DeviceRemoval?
        /// Whether syncs are sent in binary: until the daemon refuses one.
        let isBinary = Atomic(true)
        private let requests: HTTPClient
        private let streams: HTTPClient

        /// - Parameters:
        ///   - account: that of a device of an emulator, which requests are for.
        ///   - renamed: called with the device's name whenever the daemon says it.
        ///   - removal: of the device of the token.
        ///   - key: the only key that the daemon may have; nil to trust the authorities that the system trusts.
        ///   - requestCount: concurrent requests; further ones wait.
        init(
            address: DaemonAddress, token: AccessToken?, key: KeyFingerprint? = nil, timeouts: HTTPTimeouts,
            account: FollowedAccount? = nil, renamed: (@Sendable (String) -> Void)? = nil,
            removal: DeviceRemoval? = nil, requestCount: Int = HTTPLimits.connectionCount
        ) {
            self.address = address
            self.token = token
            self.timeouts = timeouts
            self.account = account
            self.renamed = renamed
            self.removal = removal
            requests = Self.client(timeouts, key, connectionCount: requestCount)
            streams = Self.client(timeouts, key, connectionCount: HTTPLimits.streamConnectionCount)
        }

        private static func client(
            _ timeouts: HTTPTimeouts, _ key: KeyFingerprint?, connectionCount: Int
        ) -> HTTPClient {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: .init(connect: TimeAmount(timeouts.connect), read: TimeAmount(timeouts.silence)),
                decompression: .disabled)
            configuration.httpVersion = .http1Only
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionCount
            // The replica backs off and reports errors, so a refused connection fails at once.
            configuration.connectionPool.retryConnectionEstablishment = false
            if let key { configuration.pin(key) }
            // One loop: where a request and its connection have different ones, an answer that comes before the request
            // has been sent and a shutdown right after it can end the process ("A connection that we don't know was
            // released").
            return HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton.next()),
                configuration: configuration)
        }

        deinit { shutDown() }

        /// Ends every request and stream. Does not block, and may be called again.
        func shutDown() {
            for client in [requests, streams] { client.shutdown { _ in } }
        }

        /// One request with its complete answer within `timeouts.request`.
        ///
        /// - Parameter method: by default GET, or POST with a body.
        /// - Throws: also for a status other than 2xx. Ends promptly when the calling task is cancelled.
        func send<Answer>(
            _ path: [String], method: HTTPVerb? = nil, body: HTTPBody? = nil, accept: String, answerByteLimit: Int,
            decode: (HTTPBody) throws(WireError) -> Answer
        ) async throws(SyncTransportError) -> Answer {
            do {
                let mark = try unrejected()
                var request = try HTTPClient.Request(
                    url: address.url(["v1"] + path),
                    method: HTTPMethod(rawValue: (method ?? (body == nil ? .get : .post)).rawValue),
                    headers: headers(accept: accept))
                if let body {
                    request.headers.add(name: "Content-Type", value: body.type)
                    request.body = .data(body.bytes)
                }
                let exchange = requests.execute(
                    request: request, delegate: ResponseAccumulator(request: request, maxBodySize: answerByteLimit),
                    deadline: .now() + TimeAmount(timeouts.request))
                let response = try await withTaskCancellationHandler {
                    try await exchange.get()
                } onCancel: {
                    exchange.cancel()
                }
                try check(response.status, response.headers, body: response.body)
                if mark != nil { removal?.clear() }
                if let renamed, let text = response.headers.first(name: DeviceList.nameField),
                    let name = PercentEncoding.decode(text)
                {
                    renamed(name)
                }
                return try decode(
                    HTTPBody(
                        type: response.headers.mediaType,
                        bytes: response.body.map { Data($0.readableBytesView) } ?? Data()))
            } catch {
                throw transportError(error)
            }
        }

        /// Opens a stream and returns what reads its answer: the bytes that have arrived since the last call, nil at
        /// the end. With the last reference to it the connection closes.
        func stream(_ path: [String], query: [(String, String)]) async throws -> () async throws -> Data? {
            let mark = try unrejected()
            var request = HTTPClientRequest(url: address.url(["v1"] + path, query: query))
            request.headers = headers(accept: MediaType.eventStream)
            let response = try await streams.execute(request, timeout: TimeAmount(timeouts.request))
            if response.status != .ok {
                // The status says enough.
                let body = try? await response.body.collect(upTo: HTTPLimits.smallAnswerByteCount)
                try check(response.status, response.headers, body: body)
            }
            if mark != nil { removal?.clear() }
            guard response.headers.mediaType == MediaType.eventStream else {
                throw WireError.malformed("the answer is not an event stream")
            }
            var body = response.body.makeAsyncIterator()
            return { try await body.next().map { Data($0.readableBytesView) } }
        }

        /// Throws while the token is known to be rejected. Returns the mark of an earlier rejection.
        private func unrejected() throws(SyncTransportError) -> DeviceRemoval.Mark? {
            let mark = removal?.mark
            if let reason = mark?.refusal { throw .unauthorized(reason) }
            return mark
        }

        private func headers(accept type: String) -> HTTPHeaders {
            var headers: HTTPHeaders = ["User-Agent": "ubiquity", "Accept": type]
            if let token { headers.add(name: "Authorization", value: "Bearer " + token.secret) }
            if let account { headers.add(name: DeviceAccount.field, value: account.name ?? "") }
            return headers
        }

        /// `text` without the token, for text from the other side.
        private func redacted(_ text: String) -> String { token?.redacted(text) ?? text }

        /// Throws for a status other than 2xx.
        private func check(
            _ status: HTTPResponseStatus, _ headers: HTTPHeaders, body: ByteBuffer?
        ) throws(SyncTransportError) {
            if (200..<300).contains(status.code) { return }
            let problem = Problem(
                status: Int(status.code), body: body.map { Data($0.readableBytesView) } ?? Data(),
                retryAfter: headers.first(name: "Retry-After"))
            if problem.code == "other-account" { account?.report(problem.account) }
            let text = problem.detail.isEmpty ? problem.title : problem.detail
            let message = redacted(text.isEmpty ? "no explanation; is kvsd running at this address?" : text)
            switch status.code {
            // Right tokens are accepted whatever has failed.
            case 429 where token != nil && problem.code == "failed-authentications":
                throw rejected("the token is unknown, and this address has failed too often")
            case 503 where SyncTransportError.codesOfFailedWrites.contains(problem.code):
                throw .refused(status: problem.status, code: problem.code, message: message)
            case 429, 503: throw .busy(retryAfterSeconds: problem.retryAfterSeconds.map(Double.init))
            case 401: throw rejected(message)
            case 300..<400:
                throw .refused(
                    status: problem.status, code: "redirect",
                    message: "\(address) redirects; use the address that it redirects to")
            default: throw .refused(status: problem.status, code: redacted(problem.code), message: message)
            }
        }

        private func rejected(_ message: String) -> SyncTransportError {
            let text = "\(address): \(message)"
            removal?.record(text)
            return .unauthorized(text)
        }
    }

    extension HTTPHeaders {
        /// The content type without parameters, in lower case; empty if it is missing.
        fileprivate var mediaType: String {
            let type = first(name: "Content-Type") ?? ""
            return type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        }
    }
#endif
