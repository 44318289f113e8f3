#if Network
    import AsyncHTTPClient
    import Essentials
    import NIOCore
    import NIOHTTP1
    import NIOPosix

    /// One request on a connection of its own: messages are rare.
    struct HTTPExchange: Sendable {
        /// From the beginning to the head of the answer.
        var limit = Duration.seconds(10)

        func send(
            _ exchange: HTTPDelivery.Exchange
        ) async throws(DeliveryError) -> HTTPDelivery.Answer {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: .init(connect: TimeAmount(limit), read: TimeAmount(limit)),
                decompression: .disabled)
            configuration.httpVersion = .http1Only
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.dnsOverride = [exchange.post.address.host: exchange.target]
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
                configuration: configuration)
            defer { client.shutdown { _ in } }
            var request = HTTPClientRequest(url: exchange.post.address.url)
            request.method = .POST
            request.headers = ["User-Agent": "ubiquity", "Content-Type": "application/json"]
            for (name, value) in exchange.post.headers {
                request.headers.replaceOrAdd(name: name, value: value)
            }
            request.body = .bytes(ByteBuffer(bytes: exchange.post.body))
            do {
                // Of the answer only the head matters; the rest is not read.
                let answer = try await client.execute(request, timeout: TimeAmount(limit))
                return HTTPDelivery.Answer(
                    status: Int(answer.status.code),
                    location: answer.headers.first(name: "Location"),
                    retryAfter: answer.headers.first(name: "Retry-After"))
            } catch {
                throw DeliveryError(reason(error))
            }
        }

        /// Without anything that the other side has said.
        private func reason(_ error: any Error) -> String {
            switch error {
            case is CancellationError: "cancelled"
            case let error as HTTPClientError:
                switch error {
                case .connectTimeout, .deadlineExceeded, .readTimeout, .writeTimeout,
                    .getConnectionFromPoolTimeout:
                    noAnswer
                default: error.shortDescription
                }
            case let error as NIOConnectionError:
                error.connectionErrors.lazy.compactMap { $0.error as? IOError }.first.map(message)
                    ?? "cannot connect"
            case let error as IOError: message(error)
            case ChannelError.connectTimeout: noAnswer
            default: "the connection failed"
            }
        }

        private var noAnswer: String { "no answer within \(limit)" }

        private func message(_ error: IOError) -> String {
            String(cString: strerror(error.errnoCode)).lowercased()
        }
    }
#else
    /// Stands for requests in a build without the trait `Network`.
    struct HTTPExchange: Sendable {
        func send(
            _: HTTPDelivery.Exchange
        ) async throws(DeliveryError) -> HTTPDelivery.Answer {
            throw DeliveryError(
                "this program was built without the network; scripts/install installs all of it")
        }
    }
#endif
