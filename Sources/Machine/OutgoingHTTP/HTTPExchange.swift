#if Network || PostgreSQL
    import Essentials
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL

    /// One request on a connection of its own: messages are rare.
    struct HTTPExchange: Sendable {
        /// From the beginning to the head of the answer.
        var limit = Duration.seconds(10)
        /// Whose certificates are trusted.
        var trust = Trust.system

        /// Read once: certificates of authorities take long to parse.
        final class Trust: Sendable {
            static let system = Trust(.default)
            private let context: Result<NIOSSLContext, any Error>

            init(_ roots: NIOSSLTrustRoots) {
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.trustRoots = roots
                configuration.minimumTLSVersion = .tlsv12
                configuration.applicationProtocols = ["http/1.1"]
                context = Result { [configuration] in
                    try NIOSSLContext(configuration: configuration)
                }
            }

            /// An IP address cannot be sent as SNI.
            func handler(for host: String) throws -> NIOSSLClientHandler {
                let isNumber = NetworkAddress(numbers: host) != nil
                return try NIOSSLClientHandler(context: context.get(), serverHostname: isNumber ? nil : host)
            }
        }

        func send(_ exchange: HTTPDelivery.Exchange) async throws(DeliveryError) -> HTTPDelivery.Answer {
            do { return try await answer(to: exchange) } catch {
                throw DeliveryError(reason(error))
            }
        }

        private func answer(to exchange: HTTPDelivery.Exchange) async throws -> HTTPDelivery.Answer {
            let address = exchange.post.address
            let socket = try SocketAddress(ipAddress: exchange.target, port: address.port)
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let answer = loop.makePromise(of: HTTPDelivery.Answer.self)
            let timer = loop.scheduleTask(in: TimeAmount(limit)) {
                answer.fail(ChannelError.connectTimeout(TimeAmount(limit)))
            }
            defer { timer.cancel() }
            ClientBootstrap(group: loop)
                .connectTimeout(TimeAmount(limit))
                .channelInitializer { channel in
                    // Without an answer in time there is no use for the connection.
                    answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
                    return loop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if address.isEncrypted { try pipeline.addHandler(trust.handler(for: address.host)) }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(Exchange(exchange.post, answer))
                    }
                }
                .connect(to: socket)
                .whenFailure(answer.fail)
            return try await withTaskCancellationHandler {
                try await answer.futureResult.get()
            } onCancel: {
                answer.fail(CancellationError())
            }
        }

        /// Sends the request. Of the answer only the head matters; the rest is not read.
        private final class Exchange: ChannelInboundHandler {
            typealias InboundIn = HTTPClientResponsePart
            typealias OutboundOut = HTTPClientRequestPart

            private let post: HTTPPost
            private let answer: EventLoopPromise<HTTPDelivery.Answer>

            init(_ post: HTTPPost, _ answer: EventLoopPromise<HTTPDelivery.Answer>) {
                self.post = post
                self.answer = answer
            }

            func channelActive(context: ChannelHandlerContext) {
                var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: post.address.target)
                head.headers = [
                    "Host": post.address.authority, "User-Agent": "ubiquity",
                    "Content-Type": "application/json", "Content-Length": "\(post.body.count)",
                ]
                for (name, value) in post.headers { head.headers.replaceOrAdd(name: name, value: value) }
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                let body = ByteBuffer(bytes: post.body)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil))).cascadeFailure(to: answer)
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard case .head(let head) = unwrapInboundIn(data), head.status.code >= 200 else { return }
                answer.succeed(
                    HTTPDelivery.Answer(
                        status: Int(head.status.code),
                        location: head.headers.first(name: "Location"),
                        retryAfter: head.headers.first(name: "Retry-After")))
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                answer.fail(error)
                context.close(promise: nil)
            }

            func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
        }

        /// Without anything that the other side has said.
        private func reason(_ error: any Error) -> String {
            switch error {
            case is CancellationError: "cancelled"
            case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
            case ChannelError.connectTimeout: "no answer within \(limit)"
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
                "TLS failed; is its certificate one that this machine trusts?"
            default: "the connection failed"
            }
        }
    }
#else
    /// Stands for requests in a build without the trait `Network`.
    struct HTTPExchange: Sendable {
        func send(_: HTTPDelivery.Exchange) async throws(DeliveryError) -> HTTPDelivery.Answer {
            throw DeliveryError("this program was built without the network; scripts/install installs all of it")
        }
    }
#endif
